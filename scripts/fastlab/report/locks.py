# SPDX-License-Identifier: GPL-2.0
"""The table of locks: where each was taken, for how long, and what that gained."""

from __future__ import annotations

from collections.abc import Iterable

from fastlab.report.tables import NOT_AVAILABLE, Cell, Table, Tone, signed, value
from fastlab.statistics.findings import Findings
from fastlab.statistics.locks import LockUse

# Of each workload, where there are several; of each point of a matrix.
SHOWN = 3
SHOWN_IN_MATRIX = 1
# Short, for a terminal has to have room for all of them.
_OWN = (
    "hand-offs",
    "left",
    "local %",
    "moved %",
    "hand-off",
    "local",
    "remote",
    "gain %",
    "outside",
)
NOTE = (
    "hand-offs: of a run, releases that woke one of the lock's waiters; left: waiters that each "
    "left behind, on average. Of those that were taken: local %, by a thread on the CPU that "
    "released the lock; moved %, by one that had begun to wait on another CPU. Means in us of "
    "modelled time: hand-off, from the release until the woken thread has the lock; local and "
    "remote, how long it was held after that, where it was released and elsewhere; outside, from a "
    "thread's release to its next wait. gain: the improvement of the mean hold time, local and "
    "remote. -: there was none; condition variables and semaphores are not held. A lock is named "
    "by its symbol, or by its place in the heap, and by the functions that were seen to take it / "
    "to release it; where it was allocated is not known. Who takes a lock that is free makes no "
    "system call, and is not seen."
)


def locks(found: Findings) -> Table:
    """Of each workload the locks of most hand-offs, the arms one below the other."""
    most = SHOWN_IN_MATRIX if found.axes else SHOWN
    shown: list[LockUse] = []
    names: dict[tuple[int | str, ...], list[str]] = {}
    for one in found.locks:
        of = names.setdefault(one.key, [])
        if one.name not in of:
            of.append(one.name)
        if of.index(one.name) < most:
            shown.append(one)
    rows = [[Cell(one.workload), *_cells(one)] for one in shown]
    note = f"Of each workload the {most} of most hand-offs. {NOTE}" if most > 1 else NOTE
    return Table("Locks", ["workload", "lock", "arm", *_OWN], rows, note, 3)


def of_program(uses: Iterable[LockUse], note: str) -> Table:
    """The same of a single program."""
    rows = [_cells(one) for one in uses]
    return Table("", ["lock", "arm", *_OWN], rows, f"{note} {NOTE}", 2)


def _cells(one: LockUse) -> list[Cell]:
    return [
        Cell(_named(one)),
        Cell(one.variant_name),
        Cell(value(one.handoffs)),
        _known(f"{one.left or 0:.2g}", one.left),
        _percent(one.same_cpu_share),
        _percent(one.moved_share),
        _micro(one.handoff_ns),
        _micro(one.hold_local_ns),
        _micro(one.hold_remote_ns),
        _gain(one.gain_pct),
        _micro(one.outside_ns),
    ]


def _named(one: LockUse) -> str:
    """With who takes it / who releases it, or who does both."""
    if not one.taken_in and not one.released_in:
        return one.name
    sides = [", ".join(names) or NOT_AVAILABLE for names in (one.taken_in, one.released_in)]
    return f"{one.name} ({' / '.join(dict.fromkeys(sides))})"


def _known(text: str, number: float | None) -> Cell:
    return Cell("-", tone="aside") if number is None else Cell(text)


def _percent(share: float | None) -> Cell:
    return _known(f"{100 * (share or 0):.0f}", share)


def _micro(ns: float | None) -> Cell:
    number = (ns or 0) / 1000
    return _known(f"{number:,.0f}" if number >= 100 else f"{number:.3g}", ns)


def _gain(percent: float | None) -> Cell:
    if percent is None:
        return Cell("-", tone="aside")
    shown = round(percent, 1)
    tone: Tone = "gain" if shown > 0 else "loss" if shown < 0 else ""
    return Cell(signed(percent), tone=tone)
