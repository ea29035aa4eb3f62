# SPDX-License-Identifier: GPL-2.0
"""Hand-offs of a recording, by the futex calls in it:

    releasing thread    FUTEX_WAKE of one ----> sched_waking ----> 1
                        |<------------------ latency ------------------>|
    acquiring thread    FUTEX_WAIT ..................................... 0

The waker is in its call when the kernel wakes the waiter, so nothing is guessed. Another thread may
take the lock first. The woken thread then waits for the same word again: nothing was `taken`.

The clocks of two CPUs differ by a turn of the simulation. A waiter that had not fallen asleep yet
may so be back, by its own CPU's clock, before it is woken by its waker's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from fastlab.base.model import FastError
from fastlab.trace.events import Event

# Linux: include/uapi/linux/futex.h, without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
_WAIT, _WAKE, _WAIT_BITSET, _WAKE_BITSET = 0, 1, 9, 10
_COMMAND = 0x7F
_U32 = 0xFFFFFFFF


@dataclass
class HandOff:
    """A futex_wake() that woke one waiter. Times are in ns, threads by their ids.

    None: not in the recording. `acquired` and `to_cpu`: the woken thread was not back before the
    end. `waiting`: it waited before the beginning. `decision` is FAST's tracepoint, None in a
    kernel without it and under policy off.
    """

    lock: int
    releasing: int
    from_cpu: int
    released: int
    returned: int | None = None
    acquiring: int | None = None
    waiting: int | None = None
    woken: int | None = None
    acquired: int | None = None
    to_cpu: int | None = None
    decision: str | None = None
    taken: bool | None = None

    @property
    def latency(self) -> int | None:
        """From the release to the end of the wait."""
        return None if self.acquired is None else self.acquired - self.released


@dataclass
class _Call:
    """A futex call that a thread is in."""

    lock: int
    began: int
    waits: bool
    handoff: HandOff | None = None


@dataclass
class _Follower:
    calls: dict[int, _Call | None] = field(default_factory=dict)
    # By the woken thread: until it has made its next call.
    woken: dict[int, HandOff] = field(default_factory=dict)
    # By a thread whose last call was a wait that ended without a waker: the call and its end.
    back: dict[int, tuple[_Call, Event]] = field(default_factory=dict)
    handoffs: list[HandOff] = field(default_factory=list)

    def enter(self, event: Event) -> None:
        address, command, count = _arguments(event)
        command &= _COMMAND
        waits = command in (_WAIT, _WAIT_BITSET)
        self.back.pop(event.tid, None)
        before = self.woken.get(event.tid)
        if before and before.acquired is not None:
            before.taken = not (waits and address == before.lock)
            del self.woken[event.tid]
        handoff = None
        if command in (_WAKE, _WAKE_BITSET) and count & _U32 == 1:
            handoff = HandOff(address, event.tid, event.cpu, event.ns)
        known = waits or handoff
        self.calls[event.tid] = _Call(address, event.ns, waits, handoff) if known else None

    def leave(self, event: Event) -> None:
        result = int(event.says.rpartition("=")[2])
        call = self.calls.get(event.tid)
        self.calls[event.tid] = None
        if call and call.handoff and result == 1:
            call.handoff.returned = event.ns
            self.handoffs.append(call.handoff)
        elif call and call.handoff:
            # An interrupt woke a thread during the call.
            self.woken.pop(call.handoff.acquiring or 0, None)
        elif event.tid in self.woken and result == 0:
            by = self.woken[event.tid]
            by.acquired, by.to_cpu = event.ns, event.cpu
        elif call and call.waits and result == 0:
            self.back[event.tid] = call, event

    def wake(self, event: Event) -> None:
        call = self.calls.get(event.tid)
        if call and call.handoff and call.handoff.acquiring is None:
            woken = event.number("pid")
            if woken in self.back and self.back[woken][0].lock == call.lock:
                waited, end = self.back.pop(woken)
                call.handoff.acquired, call.handoff.to_cpu = end.ns, end.cpu
                self._woke(call.handoff, woken, event, waited.began)
                return
            # A thread that has not called yet may have been waiting when the recording began.
            theirs = self.calls.get(woken, _Call(call.lock, -1, waits=True))
            if theirs and theirs.waits and theirs.lock == call.lock:
                began = theirs.began if woken in self.calls else None
                self._woke(call.handoff, woken, event, began)

    def _woke(self, handoff: HandOff, woken: int, event: Event, began: int | None) -> None:
        handoff.acquiring, handoff.woken, handoff.waiting = woken, event.ns, began
        self.woken[woken] = handoff

    def decide(self, event: Event) -> None:
        call = self.calls.get(event.tid)
        if call and call.handoff:
            call.handoff.decision = event.text("event")


def find_handoffs(events: Iterable[Event]) -> list[HandOff]:
    """Those whose release is over before the recording is, in the order in which that was."""
    follower = _Follower()
    take = {
        "sys_enter": follower.enter,
        "sys_exit": follower.leave,
        "sched_waking": follower.wake,
        "sched_fast_hint": follower.decide,
        "sched_fast_wakeup": follower.decide,
    }
    for event in events:
        if event.name in take:
            take[event.name](event)
    return follower.handoffs


def _arguments(event: Event) -> tuple[int, int, int]:
    """Address, command and number of a futex call."""
    match = re.match(r"NR \d+ \((\w+), (\w+), (\w+)", event.says)
    if not match:
        raise FastError(f"the trace has a system call without arguments: {event.says!r}")
    address, command, count = (int(word, 16) for word in match.groups())
    return address, command, count
