# SPDX-License-Identifier: GPL-2.0
"""The tables of locks: how each fared, for how long it was held, who takes and releases it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastlab.base.demangle import short
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table, Tone, signed, value
from fastlab.statistics.findings import Findings
from fastlab.statistics.lock_uses import LockUse

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
    "by its symbol, or by its place in the heap; attribution tells where that was allocated. Who "
    "takes a lock that is free makes no system call, and is not seen."
)
CALLERS = (
    "Those that were seen to call the C library for it, under any arm; a function without a symbol "
    f"is where it returns to. {NOT_AVAILABLE}: not available."
)


def locks(found: Findings) -> list[Table]:
    """Of each workload the locks of most hand-offs, the arms one below the other; then who takes
    and releases them."""
    most = SHOWN_IN_MATRIX if found.axes else SHOWN
    shown: list[LockUse] = []
    names: dict[tuple[int | str, ...], list[str]] = {}
    for one in found.locks:
        of = names.setdefault(one.key, [])
        if one.name not in of:
            of.append(one.name)
        if of.index(one.name) < most:
            shown.append(one)
    note = f"Of each workload the {most} of most hand-offs. {NOTE}" if most > 1 else NOTE
    return _tables("Locks", shown, note, ["workload"])


def of_program(uses: Sequence[LockUse], note: str) -> list[Table]:
    """The same of a single program."""
    return _tables("", uses, f"{note} {NOTE}", [])


def _tables(title: str, uses: Sequence[LockUse], note: str, workload: Sequence[str]) -> list[Table]:
    """Each row begins with the workload if there is a column for it."""
    rows = [[*_workload(one, workload), *_cells(one)] for one in uses]
    labels = [*workload, "lock"]
    return [
        Table(title, [*labels, "arm", *_OWN], rows, note, len(labels) + 1),
        *_callers(uses, workload),
    ]


def _callers(uses: Sequence[LockUse], workload: Sequence[str]) -> list[Table]:
    """A row for each lock of which somebody was seen; no table without any."""
    arms: dict[tuple[int | str, ...], list[LockUse]] = {}
    for one in uses:
        if one.taken_in or one.released_in or one.allocated_in:
            arms.setdefault((*one.key, one.name), []).append(one)
    rows = [
        [
            *_workload(of[0], workload),
            _name(of[0].name),
            _functions(one.allocated_in for one in of),
            _functions(one.taken_in for one in of),
            _functions(one.released_in for one in of),
        ]
        for of in arms.values()
    ]
    columns = [*workload, "lock", "allocated in", "taken in", "released in"]
    return [Table("Callers", columns, rows, CALLERS, len(columns))] if rows else []


def _workload(one: LockUse, column: Sequence[str]) -> list[Cell]:
    return [Cell(one.workload)] if column else []


def _functions(names: Iterable[Iterable[str]]) -> Cell:
    every = sorted({name for some in names for name in some})
    if not every:
        return Cell(NOT_AVAILABLE, tone="aside")
    return Cell(", ".join(every), short=", ".join(dict.fromkeys(map(short, every))))


def _name(lock: str) -> Cell:
    return Cell(lock, short=short(lock))


def _cells(one: LockUse) -> list[Cell]:
    return [
        _name(one.name),
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
