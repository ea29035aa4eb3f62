# SPDX-License-Identifier: GPL-2.0
"""Tables of locks: hand-offs, hold times, and the functions that take and release each lock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastlab.base.demangle import short
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table, Tone, signed, value
from fastlab.statistics.findings import Findings
from fastlab.statistics.lock_uses import LockUse

# Locks of each workload, and of each case of a matrix.
SHOWN = 3
SHOWN_IN_MATRIX = 1
# Short titles: a terminal must have room for all columns.
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
    "hand-offs: releases per run that woke a waiter of the lock. left: mean number of waiters that "
    "a hand-off leaves. local %: hand-offs to a thread on the CPU that released the lock. moved %: "
    "hand-offs to a thread that began to wait on another CPU. In us of modelled time, means: "
    "hand-off, from the release until the woken thread has the lock; local and remote, the hold "
    "time after a hand-off on the releasing CPU and on another CPU; outside, from a thread's "
    "release to its next wait. gain %: the improvement of the mean hold time. -: no such event; "
    "condition variables and semaphores are not held. A lock is named by its symbol or by its "
    "place in the heap; attribution shows where that was allocated. Uncontended acquisitions are "
    "not counted."
)
CALLERS = (
    "Functions that called the C library for the lock, under any arm; a function without a symbol "
    f"is shown by its return address. {NOT_AVAILABLE}: not available."
)


def locks(findings: Findings) -> list[Table]:
    """The locks of each workload with most hand-offs, one row per arm; then the functions that take
    and release them."""
    most = SHOWN_IN_MATRIX if findings.axes else SHOWN
    shown: list[LockUse] = []
    names: dict[tuple[int | str, ...], list[str]] = {}
    for lock in findings.locks:
        of = names.setdefault(lock.key, [])
        if lock.name not in of:
            of.append(lock.name)
        if of.index(lock.name) < most:
            shown.append(lock)
    note = f"The {most} locks of each workload with most hand-offs. {NOTE}" if most > 1 else NOTE
    return _tables("Locks", shown, note, ["workload"])


def of_program(uses: Sequence[LockUse], note: str) -> list[Table]:
    """The same tables for a single program."""
    return _tables("", uses, f"{note} {NOTE}", [])


def _tables(title: str, uses: Sequence[LockUse], note: str, workload: Sequence[str]) -> list[Table]:
    """The tables. Each row begins with the workload if there is a column for it."""
    rows = [[*_workload(use, workload), *_cells(use)] for use in uses]
    labels = [*workload, "lock"]
    return [
        Table(title, [*labels, "arm", *_OWN], rows, note, len(labels) + 1),
        *_callers(uses, workload),
    ]


def _callers(uses: Sequence[LockUse], workload: Sequence[str]) -> list[Table]:
    """A row for each lock with known callers; no table without any."""
    arms: dict[tuple[int | str, ...], list[LockUse]] = {}
    for use in uses:
        if use.taken_in or use.released_in or use.allocated_in:
            arms.setdefault((*use.key, use.name), []).append(use)
    rows = [
        [
            *_workload(of[0], workload),
            _name(of[0].name),
            _functions(use.allocated_in for use in of),
            _functions(use.taken_in for use in of),
            _functions(use.released_in for use in of),
        ]
        for of in arms.values()
    ]
    columns = [*workload, "lock", "allocated in", "taken in", "released in"]
    return [Table("Callers", columns, rows, CALLERS, len(columns))] if rows else []


def _workload(use: LockUse, column: Sequence[str]) -> list[Cell]:
    return [Cell(use.workload)] if column else []


def _functions(names: Iterable[Iterable[str]]) -> Cell:
    every = sorted({name for some in names for name in some})
    if not every:
        return Cell(NOT_AVAILABLE, tone="aside")
    return Cell(", ".join(every), short=", ".join(dict.fromkeys(map(short, every))))


def _name(lock: str) -> Cell:
    return Cell(lock, short=short(lock))


def _cells(use: LockUse) -> list[Cell]:
    return [
        _name(use.name),
        Cell(use.variant_name),
        Cell(value(use.handoffs)),
        _known(f"{use.left or 0:.2g}", use.left),
        _percent(use.same_cpu_share),
        _percent(use.moved_share),
        _micro(use.handoff_ns),
        _micro(use.hold_local_ns),
        _micro(use.hold_remote_ns),
        _gain(use.gain_pct),
        _micro(use.outside_ns),
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
