# SPDX-License-Identifier: GPL-2.0
"""A recording for ui.perfetto.dev and trace_processor, in Perfetto's own format.

The scheduler's events are in it as the kernel's, of which Perfetto makes its lanes of CPUs and
states of threads. What they do not say is beside them: hand-offs as slices of both threads, with a
flow from one to the other, balance decisions and migrations as instants, run-queue depths as
counters.
Documentation/trace.rst has the names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fastlab.base.model import FastError
from fastlab.base.project import python_package
from fastlab.trace import lanes
from fastlab.trace.events import Event
from fastlab.trace.handoffs import HandOff
from fastlab.trace.recording import Recording

# Of tracks: a thread's is its id.
_MIGRATIONS, _BALANCE, _DEPTH = 1 << 32, 2 << 32, 3 << 32
# All packets of slices are of one sequence.
_SEQUENCE = 1
# What sched_switch calls the states of a thread (Linux: include/trace/events/sched.h).
_STATES = {"S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128, "R+": 256}

Fact = int | str | None


def perfetto_trace(recording: Recording) -> bytes:
    """The content of a .pftrace."""
    return _Writer(recording).serialize()


class _Writer:
    def __init__(self, recording: Recording) -> None:
        try:
            # It has no types.
            from perfetto.protos.perfetto.trace import perfetto_trace_pb2  # type: ignore[import-untyped]
        except ImportError as error:
            raise FastError(python_package("perfetto")) from error
        self._protos: Any = perfetto_trace_pb2
        self._trace: Any = perfetto_trace_pb2.Trace()
        self._recording = recording

    def serialize(self) -> bytes:
        self._threads()
        self._kernels_events()
        self._tracks()
        for number, handoff in enumerate(self._recording.handoffs, 1):
            self._handoff(handoff, number)
        self._instants()
        for depth in lanes.depths(self._recording.events):
            kind = self._protos.TrackEvent.TYPE_COUNTER
            self._track_event(depth.ns, _DEPTH + depth.cpu, kind).counter_value = depth.threads
        data: bytes = self._trace.SerializeToString()
        return data

    def _packet(self) -> Any:
        packet = self._trace.packet.add()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    def _threads(self) -> None:
        """No event names a thread's process: threads of one name are shown as one process."""
        packet = self._packet()
        packet.timestamp = self._recording.begin
        tree = packet.process_tree
        for name, tids in _by_name(self._recording.names).items():
            tree.processes.add(pid=min(tids), cmdline=[name])
            for tid in sorted(tids):
                tree.threads.add(tid=tid, tgid=min(tids), name=name)

    def _kernels_events(self) -> None:
        of_cpu = defaultdict(list)
        for event in self._recording.events:
            if event.name in _KERNELS:
                of_cpu[event.cpu].append(event)
        for cpu, events in sorted(of_cpu.items()):
            bundle = self._packet().ftrace_events
            bundle.cpu = cpu
            for event in events:
                of_kernel = bundle.event.add(timestamp=event.ns, pid=event.tid)
                fields = getattr(of_kernel, event.name)
                for name in _KERNELS[event.name]:
                    setattr(fields, name, _value(event, name))

    def _tracks(self) -> None:
        for name, tids in _by_name(self._recording.names).items():
            for tid in sorted(tids):
                track = self._packet().track_descriptor
                track.uuid = tid
                track.thread.pid, track.thread.tid, track.thread.thread_name = min(tids), tid, name
        for uuid, name in ((_MIGRATIONS, "migrations"), (_BALANCE, "balance decisions")):
            track = self._packet().track_descriptor
            track.uuid, track.name = uuid, name
        for cpu in sorted({event.cpu for event in self._recording.events}):
            track = self._packet().track_descriptor
            track.uuid, track.name = _DEPTH + cpu, f"runnable threads, CPU {cpu}"
            track.counter.SetInParent()

    def _handoff(self, handoff: HandOff, number: int) -> None:
        recording = self._recording
        lock = recording.lock(handoff.lock)
        facts: Mapping[str, Fact] = {
            "lock": lock,
            "address": f"{handoff.lock:#x}",
            "from": recording.thread(handoff.releasing),
            "to": recording.thread(handoff.acquiring),
            "from_cpu": handoff.from_cpu,
            "to_cpu": handoff.to_cpu,
            "latency_ns": handoff.latency,
            "decision": handoff.decision,
            "taken": None if handoff.taken is None else ("yes" if handoff.taken else "no"),
        }
        begun = self._begin(handoff.released, handoff.releasing, f"release {lock}", facts)
        self._end(handoff.returned or recording.end, handoff.releasing)
        if handoff.acquiring is None or handoff.woken is None:
            return
        begun.flow_ids.append(number)
        waiting = recording.begin if handoff.waiting is None else handoff.waiting
        self._begin(waiting, handoff.acquiring, f"wait {lock}", facts)
        handed = self._begin(handoff.woken, handoff.acquiring, f"handed {lock}", facts)
        handed.terminating_flow_ids.append(number)
        over = recording.end if handoff.acquired is None else handoff.acquired
        self._end(over, handoff.acquiring)
        self._end(over, handoff.acquiring)

    def _instants(self) -> None:
        recording = self._recording
        for event in recording.named("sched_migrate_task"):
            tid, old, new = map(event.number, ("pid", "orig_cpu", "dest_cpu"))
            name = f"{recording.thread(tid)}: CPU {old} to {new}"
            facts = {"tid": tid, "from_cpu": old, "to_cpu": new}
            self._instant(event.ns, _MIGRATIONS, name, facts)
        # The load balancer has found a thread on `cpu` that has a lock-hot CPU.
        for event in recording.named("sched_fast_balance"):
            tid, cpu, hot_cpu = map(event.number, ("pid", "cpu", "hot_cpu"))
            name = f"{recording.thread(tid)}: {event.text('event')}"
            self._instant(event.ns, _BALANCE, name, {"tid": tid, "cpu": cpu, "hot_cpu": hot_cpu})

    def _begin(self, ns: int, tid: int, name: str, facts: Mapping[str, Fact]) -> Any:
        return self._track_event(ns, tid, self._protos.TrackEvent.TYPE_SLICE_BEGIN, name, facts)

    def _end(self, ns: int, tid: int) -> None:
        self._track_event(ns, tid, self._protos.TrackEvent.TYPE_SLICE_END)

    def _instant(self, ns: int, track: int, name: str, facts: Mapping[str, int]) -> None:
        self._track_event(ns, track, self._protos.TrackEvent.TYPE_INSTANT, name, facts)

    def _track_event(
        self, ns: int, track: int, kind: int, name: str = "", facts: Mapping[str, Any] | None = None
    ) -> Any:
        packet = self._packet()
        packet.timestamp = ns
        event = packet.track_event
        event.type, event.track_uuid = kind, track
        if name:
            event.name = name
        for fact, value in (facts or {}).items():
            if isinstance(value, int):
                event.debug_annotations.add(name=fact, int_value=value)
            elif value is not None:
                event.debug_annotations.add(name=fact, string_value=value)
        return event


# Events that Perfetto knows, and their fields.
_KERNELS = {
    "sched_switch": (
        *("prev_comm", "prev_pid", "prev_prio", "prev_state"),
        *("next_comm", "next_pid", "next_prio"),
    ),
    **dict.fromkeys(
        ("sched_waking", "sched_wakeup", "sched_wakeup_new"), ("comm", "pid", "prio", "target_cpu")
    ),
    "sched_migrate_task": ("comm", "pid", "prio", "orig_cpu", "dest_cpu"),
}


def _value(event: Event, field: str) -> int | str:
    if field == "prev_state":
        return _STATES.get(event.text(field), 0)
    return event.text(field) if field.endswith("comm") else event.number(field)


def _by_name(names: Mapping[int, str]) -> dict[str, list[int]]:
    tids_by_name: dict[str, list[int]] = {}
    for tid, name in names.items():
        tids_by_name.setdefault(name, []).append(tid)
    return tids_by_name
