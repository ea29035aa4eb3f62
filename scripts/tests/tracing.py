# SPDX-License-Identifier: GPL-2.0
"""A recording whose hand-offs are known, and Perfetto's tables of a trace.

ns   CPU 0                            CPU 1
1000 prog 11 runs                     prog 12 runs
1100                                  12 waits for 0x1000
1200                                  12 sleeps, 13 runs
1300                                  13 waits for 0x1000
1400                                  13 sleeps, idle
2000 11 releases, wakes 12, which FAST moves to CPU 0
2100                                  (the idle CPU 1 looks for work, 12 is kept)
2200 11 sleeps, 12 runs
2500 12 has it
3000 12 releases, wakes 13
3200 12 waits for 0x1000: it has taken it in between, and 13 is too late
3300                                  13 runs, finds it taken, waits again
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

from fastlab.trace.events import parse_events
from fastlab.trace.recording import Recording

LOCK = 0x1000
COUNTED = {"hint_set": 2, "hint_mm": 0, "hint_class": 0, "used": 1, "rejected_affinity": 1}
LINES = """\
cpus=2
fast-trace-7:             prog-12    [001]     0.000001000: sched_waking:         comm=kworker/u:1 pid=5 prio=120 target_cpu=001
fast-trace-7:             prog-12    [001]     0.000001100: sys_enter:            NR 202 (1000, 80, 2, 0, 0, 0)
fast-trace-7:             prog-12    [001]     0.000001200: sched_switch:         prev_comm=prog prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=prog next_pid=13 next_prio=120
fast-trace-7:             prog-13    [001]     0.000001300: sys_enter:            NR 202 (1000, 80, 2, 0, 0, 0)
fast-trace-7:             prog-13    [001]     0.000001400: sched_switch:         prev_comm=prog prev_pid=13 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
fast-trace-7:             prog-11    [000]     0.000002000: sys_enter:            NR 202 (1000, 81, 1, 0, 0, 0)
fast-trace-7:             prog-11    [000]     0.000002010: sched_fast_hint:      comm=prog pid=12 cpu=1 hot_cpu=0 event=hint_set
fast-trace-7:             prog-11    [000]     0.000002020: sched_waking:         comm=prog pid=12 prio=120 target_cpu=001
fast-trace-7:             prog-11    [000]     0.000002030: sched_migrate_task:   comm=prog pid=12 prio=120 orig_cpu=1 dest_cpu=0
fast-trace-7:             prog-11    [000]     0.000002040: sched_wakeup:         comm=prog pid=12 prio=120 target_cpu=000
fast-trace-7:             prog-11    [000]     0.000002050: sched_fast_wakeup:    comm=prog pid=12 cpu=1 hot_cpu=0 event=used
fast-trace-7:             prog-11    [000]     0.000002060: sys_exit:             NR 202 = 1
fast-trace-7:           <idle>-0     [001]     0.000002100: sched_fast_balance:   comm=prog pid=12 cpu=0 hot_cpu=0 event=balance_kept
fast-trace-7:             prog-11    [000]     0.000002200: sched_switch:         prev_comm=prog prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=prog next_pid=12 next_prio=120
fast-trace-7:             prog-12    [000]     0.000002500: sys_exit:             NR 202 = 0
fast-trace-7:             prog-12    [000]     0.000003000: sys_enter:            NR 202 (1000, 81, 1, 0, 0, 0)
fast-trace-7:             prog-12    [000]     0.000003010: sched_fast_hint:      comm=prog pid=13 cpu=1 hot_cpu=0 event=hint_set
fast-trace-7:             prog-12    [000]     0.000003020: sched_waking:         comm=prog pid=13 prio=120 target_cpu=001
fast-trace-7:             prog-12    [000]     0.000003050: sched_fast_wakeup:    comm=prog pid=13 cpu=1 hot_cpu=0 event=rejected_affinity
fast-trace-7:           <idle>-0     [001]     0.000003055: sched_wakeup:         comm=prog pid=13 prio=120 target_cpu=001
fast-trace-7:             prog-12    [000]     0.000003060: sys_exit:             NR 202 = 1
fast-trace-7:           <idle>-0     [001]     0.000003100: sched_switch:         prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=prog next_pid=13 next_prio=120
fast-trace-7:             prog-12    [000]     0.000003200: sys_enter:            NR 202 (1000, 80, 2, 0, 0, 0)
fast-trace-7:             prog-12    [000]     0.000003250: sched_switch:         prev_comm=prog prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
fast-trace-7:             prog-13    [001]     0.000003300: sys_exit:             NR 202 = 0
fast-trace-7:             prog-13    [001]     0.000003400: sys_enter:            NR 202 (1000, 80, 2, 0, 0, 0)
fast-trace-7:             prog-13    [001]     0.000003500: sched_switch:         prev_comm=prog prev_pid=13 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
""".splitlines()  # noqa: E501


def recorded() -> Recording:
    """All of it."""
    return Recording("strict", parse_events(LINES), COUNTED, {LOCK: "lock"})


def perfetto_tables(data: bytes) -> sqlite3.Connection:
    """What trace_processor makes of slices, flows and threads, for where that cannot be had
    (https://perfetto.dev/docs/analysis/sql-tables): just the columns of Documentation/trace.rst."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos  # type: ignore[import-untyped]

    trace = protos.Trace.FromString(data)
    tables = sqlite3.connect(":memory:")
    tables.executescript(
        "CREATE TABLE thread(utid, tid, name); CREATE TABLE thread_track(id, utid);"
        "CREATE TABLE slice(id, ts, dur, name, track_id, parent_id, arg_set_id);"
        "CREATE TABLE flow(slice_out, slice_in); CREATE TABLE args(arg_set_id, key, display_value);"
    )
    for packet in trace.packet:
        if packet.HasField("track_descriptor") and packet.track_descriptor.HasField("thread"):
            track = packet.track_descriptor
            tables.execute("INSERT INTO thread_track VALUES (?, ?)", (track.uuid, track.uuid))
            row = (track.uuid, track.thread.tid, track.thread.thread_name)
            tables.execute("INSERT INTO thread VALUES (?, ?, ?)", row)
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    # trace_processor sorts, and keeps the order of what is at the same time.
    _Slices(tables, protos.TrackEvent).add_all(sorted(events, key=lambda one: one.timestamp))
    return tables


class _Slices:
    def __init__(self, tables: sqlite3.Connection, kinds: Any) -> None:
        self._tables = tables
        self._kinds = kinds
        self._open: dict[int, list[tuple[int, int]]] = {}
        self._flows: dict[int, int] = {}
        self._count = 0

    def add_all(self, packets: list[Any]) -> None:
        for packet in packets:
            event = packet.track_event
            stack = self._open.setdefault(event.track_uuid, [])
            if event.type == self._kinds.TYPE_SLICE_BEGIN:
                self._begin(packet, stack)
            elif event.type == self._kinds.TYPE_SLICE_END:
                number, begun = stack.pop()
                row = (packet.timestamp - begun, number)
                self._tables.execute("UPDATE slice SET dur = ? WHERE id = ?", row)
        assert not any(self._open.values()), "a slice has no end"

    def _begin(self, packet: Any, stack: list[tuple[int, int]]) -> None:
        self._count += 1
        number, event = self._count, packet.track_event
        parent = stack[-1][0] if stack else None
        row = (number, packet.timestamp, event.name, event.track_uuid, parent, number)
        self._tables.execute("INSERT INTO slice VALUES (?, ?, -1, ?, ?, ?, ?)", row)
        stack.append((number, packet.timestamp))
        for fact in event.debug_annotations:
            value = fact.string_value or str(fact.int_value)
            row = (number, f"debug.{fact.name}", value)
            self._tables.execute("INSERT INTO args VALUES (?, ?, ?)", row)
        for flow in event.flow_ids:
            self._flows[flow] = number
        for flow in event.terminating_flow_ids:
            row = (self._flows.pop(flow), number)
            self._tables.execute("INSERT INTO flow VALUES (?, ?)", row)


def recording(**changes: Any) -> Recording:
    return replace(recorded(), **changes)
