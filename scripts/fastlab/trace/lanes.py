# SPDX-License-Identifier: GPL-2.0
"""What the CPUs did in a recording: which threads they executed, and what moved between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fastlab.trace.events import Event

IDLE = 0


@dataclass(frozen=True)
class Stretch:
    """A thread on a CPU, from one time to another in ns."""

    cpu: int
    tid: int
    begin: int
    end: int


@dataclass(frozen=True)
class Depth:
    """From `ns` on, `threads` threads are runnable on a CPU, the running one included."""

    ns: int
    cpu: int
    threads: int


def names(events: Sequence[Event]) -> dict[int, str]:
    """Of all threads, by their ids: what each was called last."""
    comms: dict[int, str] = {}
    for event in events:
        comms[event.tid] = event.comm
        if event.name == "sched_switch":
            for side in ("prev", "next"):
                comms[event.number(f"{side}_pid")] = event.text(f"{side}_comm")
        elif event.name.startswith("sched_"):
            comms[event.number("pid")] = event.text("comm")
    return {tid: name for tid, name in comms.items() if tid != IDLE}


def stretches(events: Sequence[Event]) -> list[Stretch]:
    """In the order of their ends. An idle CPU executes nothing."""
    running: dict[int, tuple[int, int]] = {}
    every_stretch = []
    for event in events:
        if event.name == "sched_switch":
            # What a CPU executes first it has executed from the begin on.
            tid, since = running.get(event.cpu, (event.number("prev_pid"), events[0].ns))
            every_stretch.append(Stretch(event.cpu, tid, since, event.ns))
            running[event.cpu] = event.number("next_pid"), event.ns
    every_stretch += [
        Stretch(cpu, tid, since, events[-1].ns) for cpu, (tid, since) in sorted(running.items())
    ]
    return [
        stretch for stretch in every_stretch if stretch.tid != IDLE and stretch.end > stretch.begin
    ]


def depths(events: Sequence[Event]) -> Iterator[Depth]:
    """Each change. A thread that was runnable all along counts from its first event."""
    # The CPU of each thread that is runnable.
    at: dict[int, int] = {}
    last: dict[int, int] = {}
    for event in events:
        for tid, cpu in _moves(event, at):
            if cpu is None:
                at.pop(tid, None)
            elif tid != IDLE:
                at[tid] = cpu
        if event.name.startswith("sched_"):
            count = Counter(at.values())
            for cpu in sorted(count.keys() | last.keys()):
                if count[cpu] != last.get(cpu):
                    last[cpu] = count[cpu]
                    yield Depth(event.ns, cpu, count[cpu])


def _moves(event: Event, at: dict[int, int]) -> Iterator[tuple[int, int | None]]:
    """Which threads are runnable where because of the event; None: no more."""
    if event.name == "sched_switch":
        yield event.number("next_pid"), event.cpu
        # R, or R+ if it was preempted
        runnable = event.text("prev_state").startswith("R")
        yield event.number("prev_pid"), event.cpu if runnable else None
    elif event.name in ("sched_wakeup", "sched_wakeup_new"):
        yield event.number("pid"), event.number("target_cpu")
    elif event.name == "sched_migrate_task" and event.number("pid") in at:
        yield event.number("pid"), event.number("dest_cpu")
