# SPDX-License-Identifier: GPL-2.0
"""One recorded run, with all that was made of its events."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fastlab.base.demangle import demangle
from fastlab.base.metrics import LOOKED_AT
from fastlab.guest.symbols import Symbols, parse_maps
from fastlab.trace import handoffs, lanes
from fastlab.trace.events import Event
from fastlab.trace.handoffs import HandOff


@dataclass(frozen=True)
class Loss:
    """Lost events: their number, the CPUs with full buffers, and the size of each buffer."""

    events: int
    cpus: Sequence[int]
    buffer_kb: int


@dataclass(frozen=True)
class Recording:
    """`title` says what ran, such as a variant's name. `mechanism` is what FAST's counters counted
    meanwhile, None where there are none; `locks` has names for addresses. Where buffers were full,
    `events` end before the first event that is lost."""

    title: str
    events: Sequence[Event]
    mechanism: Mapping[str, int] | None
    locks: Mapping[int, str]
    lost: Loss | None = None

    @cached_property
    def handoffs(self) -> list[HandOff]:
        return handoffs.find_handoffs(self.events)

    @cached_property
    def names(self) -> dict[int, str]:
        return lanes.names(self.events)

    def named(self, name: str) -> list[Event]:
        """Its events of a tracepoint."""
        return [event for event in self.events if event.name == name]

    def thread(self, tid: int | None) -> str:
        """For people."""
        return "unknown" if tid is None else f"{self.names.get(tid, 'thread')} {tid}"

    def lock(self, address: int) -> str:
        return self.locks.get(address) or f"{address:#x}"

    @property
    def begin(self) -> int:
        return self.events[0].ns

    @property
    def end(self) -> int:
        return self.events[-1].ns

    @property
    def looked_at(self) -> int:
        """Woken threads that FAST has looked at, by its tracepoint."""
        return len(self.named("sched_fast_hint"))

    @property
    def counted(self) -> int:
        """The same by its counters, which count nothing where it is off."""
        return sum(self.mechanism[name] for name in LOOKED_AT) if self.mechanism else 0


def recording_of(
    title: str, events: Sequence[Event], document: Mapping[str, Any], program: Path
) -> Recording:
    """Of all events of a trace, and of what fast-trace's document says of it."""
    lost: dict[int, int] = {record["cpu"]: record["events"] for record in document["lost"]}
    loss = Loss(sum(lost.values()), sorted(lost), document["buffer_kb"]) if lost else None
    whole = _before_losses(events, set(lost))
    locks = lock_names(whole, document["maps"], program)
    return Recording(title, whole, document["mechanism"], locks, loss)


def _before_losses(events: Sequence[Event], cpus: Collection[int]) -> Sequence[Event]:
    """Those up to the time when the first buffer of these CPUs was full. A full buffer takes no
    event more, so its CPU's last event is from then."""
    last = {event.cpu: event.ns for event in events if event.cpu in cpus}
    until = min((last.get(cpu, events[0].ns) for cpu in cpus), default=events[-1].ns)
    return [event for event in events if event.ns <= until]


def lock_names(events: Sequence[Event], maps: str | None, program: Path) -> dict[int, str]:
    """Names for the words that were handed over, by the program's memory map, if that is known."""
    if not maps:
        return {}
    symbols = Symbols(parse_maps(maps), program)
    addresses = {handoff.lock for handoff in handoffs.find_handoffs(events)}
    return {address: demangle(symbols.describe(address)) for address in addresses}
