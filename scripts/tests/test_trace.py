# SPDX-License-Identifier: GPL-2.0
"""Recordings: hand-offs and lanes of events, and what is written of them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tracing import COUNTED, LINES, LOCK, perfetto_tables, recording

from fastlab.base.model import FastError
from fastlab.trace import lanes, output, timeline
from fastlab.trace.events import Event, parse_events, read_events
from fastlab.trace.handoffs import HandOff, find_handoffs
from fastlab.trace.perfetto_file import perfetto_trace
from fastlab.trace.recording import Recording

PROJECT = Path(__file__).resolve().parents[2]

EVENTS = parse_events(LINES)


def without(*names: str) -> Recording:
    """As a kernel without these tracepoints records it."""
    return recording(events=[one for one in EVENTS if one.name not in names], mechanism=None)


def test_events() -> None:
    assert len(EVENTS) == len(LINES) - 1
    first = EVENTS[0]
    assert (first.ns, first.cpu, first.tid, first.comm) == (1000, 1, 12, "prog")
    assert (first.name, first.text("comm"), first.number("pid")) == (
        "sched_waking",
        "kworker/u:1",
        5,
    )


def test_names_with_spaces_and_the_flags_of_newer_ones() -> None:
    line = (
        "  Web Content-1 of 2-77    [003] d..2.   12.000000345: sched_waking:   "
        "comm=a b=c pid=9 prio=120 target_cpu=001"
    )
    (event,) = parse_events([line])
    assert (event.comm, event.tid, event.cpu) == ("Web Content-1 of 2", 77, 3)
    assert event.ns == 12_000_000_345
    assert event.number("pid") == 9


def test_an_event_that_is_not_as_expected() -> None:
    with pytest.raises(FastError, match="sched_waking has no target"):
        EVENTS[0].text("target")
    (event,) = parse_events(["a-1 [000] 1.000000000: sys_enter: NR 202"])
    with pytest.raises(FastError, match="without arguments"):
        find_handoffs([event])


def test_handoffs() -> None:
    assert find_handoffs(EVENTS) == [
        HandOff(LOCK, 11, 0, 2000, 2060, 12, 1100, 2020, 2500, 0, "used", True),
        HandOff(LOCK, 12, 0, 3000, 3060, 13, 1300, 3020, 3300, 1, "rejected_affinity", False),
    ]
    assert [one.latency for one in find_handoffs(EVENTS)] == [500, 300]


def test_a_waiter_is_back_by_its_clock_before_it_is_woken_by_its_wakers() -> None:
    call = "NR 202 (10, {}, {}, 0, 0, 0)"
    events = [
        Event(100, 0, 7, "prog", "sys_enter", call.format("80", "2")),
        Event(110, 2, 8, "prog", "sys_enter", call.format("81", "1")),
        Event(120, 0, 7, "prog", "sys_exit", "NR 202 = 0"),
        Event(130, 2, 8, "prog", "sched_waking", "comm=prog pid=7 prio=120 target_cpu=000"),
        Event(140, 2, 8, "prog", "sys_exit", "NR 202 = 1"),
        Event(150, 0, 7, "prog", "sys_enter", call.format("81", "1")),
    ]
    assert find_handoffs(events) == [HandOff(16, 8, 2, 110, 140, 7, 100, 130, 120, 0, None, True)]
    # It has made another call since: the hand-off is another thread's.
    events.insert(3, Event(125, 0, 7, "prog", "sys_enter", call.format("81", "1")))
    (found,) = find_handoffs(events)
    assert found.acquiring is None


def test_a_kernel_without_decisions_hands_over_as_well() -> None:
    found = without("sched_fast_hint", "sched_fast_wakeup").handoffs
    assert [(one.acquiring, one.decision) for one in found] == [(12, None), (13, None)]


def test_who_waited_before_the_recording_began() -> None:
    found = find_handoffs([one for one in EVENTS if one.ns >= 2000])
    assert [(one.acquiring, one.waiting) for one in found] == [(12, None), (13, None)]


def test_who_is_back_after_its_end() -> None:
    (one,) = find_handoffs([one for one in EVENTS if one.ns < 2500])
    assert (one.acquiring, one.acquired, one.latency, one.taken) == (12, None, None, None)


def test_an_interrupt_within_the_call_hands_nothing_over() -> None:
    lines = [line.replace("NR 202 = 1", "NR 202 = 0") for line in LINES]
    assert find_handoffs(parse_events(lines)) == []
    # It wakes another thread before the call wakes its waiter.
    lines = list(LINES)
    other = next(line for line in lines if "sched_waking" in line and "pid=12" in line)
    lines.insert(lines.index(other), other.replace("pid=12", "pid=13").replace("2020", "2015"))
    # 13 waits for another word.
    lines = [re.sub(r"(0\.000001300.*NR 202 \()1000", r"\g<1>2000", line) for line in lines]
    assert find_handoffs(parse_events(lines))[0].acquiring == 12


def changed(ns: int, old: str, new: str) -> list[Event]:
    """The events, with other words in that of this time."""
    when = f"0.{ns:09}:"
    return parse_events(line.replace(old, new) if when in line else line for line in LINES)


def test_who_is_interrupted_or_in_time_out_has_not_acquired() -> None:
    for error in (-4, -110):
        first, _ = find_handoffs(changed(2500, "= 0", f"= {error}"))
        assert (first.acquiring, first.acquired, first.taken) == (12, None, None)


def test_who_then_waits_for_another_lock_has_taken_this_one() -> None:
    assert [one.taken for one in find_handoffs(changed(3400, "(1000,", "(2000,"))] == [True, True]


def test_who_wakes_all_hands_nothing_over() -> None:
    lines = [line.replace("(1000, 81, 1,", "(1000, 81, 7fffffff,") for line in LINES]
    assert find_handoffs(parse_events(lines)) == []


def test_stretches() -> None:
    found = lanes.stretches(EVENTS)
    assert [(one.cpu, one.tid, one.begin, one.end) for one in found] == [
        (1, 12, 1000, 1200),
        (1, 13, 1200, 1400),
        (0, 11, 1000, 2200),
        (0, 12, 2200, 3250),
        (1, 13, 3100, 3500),
    ]


def test_what_moved() -> None:
    assert [one.ns for one in recording().named("sched_migrate_task")] == [2030]
    assert [one.ns for one in recording().named("sched_fast_balance")] == [2100]
    assert lanes.names(EVENTS) == {5: "kworker/u:1", 11: "prog", 12: "prog", 13: "prog"}


def test_depths() -> None:
    found = [(one.ns, one.cpu, one.threads) for one in lanes.depths(EVENTS)]
    # 11, which runs from the begin on, shows when it goes.
    assert found == [
        (1200, 1, 1),
        (1400, 1, 0),
        (2040, 0, 1),
        (3055, 1, 1),
        (3250, 0, 0),
        (3500, 1, 0),
    ]
    # A preempted thread is still runnable.
    preempted = lanes.depths(changed(3250, "prev_state=S", "prev_state=R+"))
    assert [(one.ns, one.cpu, one.threads) for one in preempted][-2:] == [
        (3055, 1, 1),
        (3500, 1, 0),
    ]


def query() -> str:
    """The one that the documentation gives."""
    text = (PROJECT / "Documentation/trace.rst").read_text()
    block = text.split(".. code-block:: sql\n\n", 1)[1]
    return "\n".join(re.match(r"((?:    .*\n)+)", block)[0].splitlines())  # type: ignore[index]


WAITED = [("prog 13", "prog 12", "lock", 1, 2.0), ("prog 12", "prog 11", "lock", 1, 1.4)]


def test_who_waited_how_long_for_whom() -> None:
    tables = perfetto_tables(perfetto_trace(recording()))
    assert tables.execute(query()).fetchall() == WAITED


@pytest.fixture
def trace_processor(tmp_path: Path) -> Iterator[Any]:
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig  # type: ignore[import-untyped]

    path = tmp_path / "strict.pftrace"
    path.write_bytes(perfetto_trace(recording()))
    config = TraceProcessorConfig(bin_path=shutil.which("trace_processor_shell"))
    try:
        processor = TraceProcessor(trace=str(path), config=config)
    except Exception as error:
        pytest.skip(f"trace_processor is not there and cannot be downloaded: {error}")
    yield processor
    processor.close()


def test_in_trace_processor(trace_processor: Any) -> None:
    found = [tuple(vars(row).values()) for row in trace_processor.query(query())]
    assert found == WAITED
    # The scheduler's own lanes.
    (row,) = trace_processor.query("SELECT count(*) AS n FROM sched WHERE utid != 0 AND dur > 0")
    assert row.n >= 4


def test_a_slice_says_all_about_its_handoff() -> None:
    tables = perfetto_tables(perfetto_trace(recording()))
    facts = dict(
        tables.execute(
            "SELECT key, display_value FROM args JOIN slice USING (arg_set_id) "
            "WHERE name = 'handed lock' AND ts = 2020"
        )
    )
    assert facts == {
        "debug.lock": "lock",
        "debug.address": "0x1000",
        "debug.from": "prog 11",
        "debug.to": "prog 12",
        "debug.from_cpu": "0",
        "debug.to_cpu": "0",
        "debug.latency_ns": "500",
        "debug.decision": "used",
        "debug.taken": "yes",
    }


def test_what_the_recording_cuts_off_has_slices_nonetheless() -> None:
    cut = recording(events=[one for one in EVENTS if 2000 <= one.ns < 2500])
    tables = perfetto_tables(perfetto_trace(cut))
    found = tables.execute("SELECT name, ts, dur FROM slice").fetchall()
    assert sorted(found) == [
        ("handed lock", 2020, 180),
        ("release lock", 2000, 60),
        ("wait lock", 2000, 200),
    ]


def test_everything_else_in_perfettos_file() -> None:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

    trace = protos.Trace.FromString(perfetto_trace(recording()))
    bundles = [one.ftrace_events for one in trace.packet if one.HasField("ftrace_events")]
    assert [(one.cpu, len(one.event)) for one in bundles] == [(0, 6), (1, 6)]
    switch = bundles[1].event[1].sched_switch
    assert (switch.prev_pid, switch.prev_state, switch.next_comm) == (12, 1, "prog")
    events = [one.track_event for one in trace.packet if one.HasField("track_event")]
    instants = [one for one in events if one.type == protos.TrackEvent.TYPE_INSTANT]
    told = [
        (one.name, {fact.name: fact.int_value for fact in one.debug_annotations})
        for one in instants
    ]
    assert told == [
        ("prog 12: CPU 1 to 0", {"tid": 12, "from_cpu": 1, "to_cpu": 0}),
        ("prog 12: balance_kept", {"tid": 12, "cpu": 0, "hot_cpu": 0}),
    ]
    counters = [one for one in events if one.type == protos.TrackEvent.TYPE_COUNTER]
    assert len(counters) == 6
    titles = [one.track_descriptor.name for one in trace.packet if one.track_descriptor.name]
    assert titles == [
        "migrations",
        "balance decisions",
        "runnable threads, CPU 0",
        "runnable threads, CPU 1",
    ]


def test_the_picture() -> None:
    both = [replace(without("sched_fast_hint"), title="baseline"), recording()]
    svg = timeline.timeline(both, "svg").decode()
    assert svg == timeline.timeline(both, "svg").decode()
    assert "baseline: 2 hand-offs, 1 to another CPU" in svg
    assert "CPU 1" in svg
    assert "<title>thread 12 on CPU 0 for" in svg
    assert "<title>500 ns from thread 11 on CPU 0 to thread 12 on CPU 0</title>" in svg
    # What comes earlier or later is not shown.
    assert "strict: 1 hand-offs" in timeline.timeline([recording()], "svg", 900).decode()


def test_the_picture_is_of_the_busiest_stretch() -> None:
    """A program begins with a millisecond without hand-offs, has one after 2 ms, two after 5."""
    later = [replace(one, ns=one.ns + 5_000_000) for one in EVENTS]
    early = [replace(one, ns=one.ns + 2_000_000) for one in EVENTS if one.ns <= 2500]
    long = recording(events=[replace(EVENTS[0], ns=0), *early, *later])
    svg = timeline.timeline([long], "svg").decode()
    assert "strict: 2 hand-offs, 1 to another CPU" in svg
    assert "<title>300 ns from thread 12 on CPU 0 to thread 13 on CPU 1</title>" in svg
    # Not beyond the end.
    assert timeline.busiest(long) == long.end - 1_000_000
    # Each time is written out.
    late = recording(events=[EVENTS[0], *(replace(one, ns=one.ns + 10**10) for one in EVENTS)])
    assert ">9999.6</text>" in timeline.timeline([late], "svg").decode()
    # Of stretches that are equally busy the first one; without any, the begin.
    assert timeline.busiest(long, 500) == 2_002_000
    assert timeline.busiest(long, 1001) == 5_002_000
    assert timeline.busiest(recording(events=EVENTS[:3])) == EVENTS[0].ns


def test_what_is_written(tmp_path: Path) -> None:
    written = output.write_recordings([recording()], tmp_path)
    assert [one.name for one in written] == ["strict.pftrace", "timeline.svg"]
    (row,) = output.summary([recording()]).rows
    assert [cell.text for cell in row] == ["strict", "2", "1", "1", "0.4", "1", "0.00"]


def test_doubts() -> None:
    assert output.doubts([recording(), without("sched_fast_hint")]) == []
    lost = recording(mechanism={**COUNTED, "hint_mm": 1})
    (doubt,) = output.doubts([lost])
    assert doubt.endswith("2 woken threads by the trace, and about 3 by its counters")
    # Off, neither has any.
    off = without("sched_fast_hint", "sched_fast_wakeup")
    assert output.doubts([replace(off, mechanism=dict.fromkeys(COUNTED, 0))]) == []


def test_a_file_that_is_no_trace(tmp_path: Path) -> None:
    if not shutil.which("trace-cmd"):
        pytest.skip("trace-cmd is not installed")
    path = tmp_path / "trace.dat"
    path.write_bytes(b"no trace")
    with pytest.raises(FastError, match=r"trace\.dat: trace-cmd cannot read it"):
        read_events(path)
