# SPDX-License-Identifier: GPL-2.0
"""The answer of a look: a verdict, a table, and what it could not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fastlab.look.waits import Look, Wait
from fastlab.report.tables import Cell, Table, without_empty

# A lock is contended if its waiters wait for it for this share of their time, or if it is handed
# over, or found taken, so often in a second; a few waits are chance.
CONTENDED_SHARE = 0.05
CONTENDED_RATE = 1000
_FEW = 5
# It takes the program's time.
_MUCH = 0.25
# Hand-offs a second to another CPU, as FAST looks at. At some 10 us each they take 1 % of a CPU.
WORTH_A_TRY = 1000
_SHOWN = 8
_COLUMNS = (
    "waited for",
    "kind",
    "address",
    "threads",
    "waiting",
    "hand-offs/s",
    "found taken/s",
    "in vain",
    "to another CPU",
    "moved",
    "mean, us",
)
_UNSEEN = (
    "not seen: locks that spin, or are free when they are taken; waits in pipes, sockets, files "
    "and timers; 32-bit programs and futex_waitv(); waiters after a requeue"
)


def verdict(look: Look, command: str) -> str:
    """The first line. `command` is how to try FAST on the program."""
    contended = contended_locks(look)
    if contended:
        return f"{_contention(look, contended)} {_worth(look, contended, command)}"
    others = [wait for wait in look.waits if wait.handoffs]
    if not others:
        return "No contended lock: no thread woke another one by a futex call."
    rate = look.rate(sum(wait.handoffs for wait in others))
    return f"No contended lock: {_others(others)} {_times(rate)}. {_worth(look, others, command)}"


def contended_locks(look: Look) -> list[Wait]:
    """The most waited for comes first."""
    return [wait for wait in look.waits if wait.kind == "lock" and _is_contended(look, wait)]


def _is_contended(look: Look, lock: Wait) -> bool:
    times = max(lock.handoffs, lock.found_taken)
    return times >= _FEW and (lock.share >= CONTENDED_SHARE or look.rate(times) >= CONTENDED_RATE)


def _contention(look: Look, locks: Sequence[Wait]) -> str:
    first = locks[0]
    does = "takes the program's time" if first.share >= _MUCH else "is contended"
    number = f"One lock {does}" if len(locks) == 1 else f"{len(locks)} locks are contended, most"
    return (
        f"{number}: {_called(first)} has {_rate(look.rate(first.handoffs))} hand-offs a second, "
        f"its {first.waiters} threads wait for it {_percent(first.share)} of their time, and "
        f"{_percent(first.remote_share)} of hand-offs go to another CPU."
    )


def _called(wait: Wait) -> str:
    what = "" if wait.what == "lock" else f"the {wait.what} "
    return f"{what}{wait.name} ({wait.address:#x})"


def _others(waits: Sequence[Wait]) -> str:
    kinds = {wait.kind: 0 for wait in waits}
    for wait in waits:
        kinds[wait.kind] += wait.handoffs
    says = {
        "lock": "threads hardly wait for locks, and wake each other",
        "condition": "threads wait for conditions, and wake each other",
        "waiter": "threads wait on words of their own, what for is not seen, and wake each other",
    }
    return says[max(kinds, key=lambda kind: kinds[kind])]


def _worth(look: Look, waits: Sequence[Wait], command: str) -> str:
    rate = look.rate(sum(wait.seen_by_fast for wait in waits))
    if rate >= WORTH_A_TRY:
        return f"Worth a try, {_rate(rate)} a second go to another CPU: `{command}`"
    if look.rate(sum(wait.ones for wait in waits)) >= WORTH_A_TRY:
        return "Not worth a try of FAST: nearly all of them stay on their CPU."
    if look.rate(sum(wait.handoffs for wait in waits)) >= WORTH_A_TRY:
        return "Not worth a try of FAST: it looks only at calls that wake one thread."
    return "Not worth a try of FAST: these are too few for it to matter."


def table(look: Look) -> Table:
    """What is waited for, the most first."""
    shown = [wait for wait in look.waits if wait.handoffs or wait.found_taken][:_SHOWN]
    rows = [_row(look, wait) for wait in shown]
    note = (
        "waiting: share of the threads' time; in vain: another thread was faster; moved: the woken "
        "thread continues on another CPU than it waited on; mean: from the release to the end of "
        "the wait, recorded"
    )
    if any(wait.found_taken for wait in shown):
        note += "; found taken: calls of a runtime's function for a lock that is not free"
    return without_empty(Table("What threads wait for", _COLUMNS, rows, note, 3, ["hand-offs/s"]))


def _row(look: Look, wait: Wait) -> list[Cell]:
    mean = f"{wait.handoff_ns / wait.taken / 1e3:.1f}" if wait.taken else "-"
    return [
        Cell(wait.name),
        Cell(wait.what),
        Cell(f"{wait.address:#x}" if wait.kind != "waiter" else ""),
        Cell(f"{wait.waiters}"),
        Cell(_percent(wait.share)),
        Cell(_rate(look.rate(wait.handoffs))),
        Cell(_rate(look.rate(wait.found_taken)) if wait.found_taken else "-"),
        Cell(_part(wait.in_vain, wait.taken) if wait.kind == "lock" else "-"),
        Cell(_part(wait.remote, wait.taken)),
        Cell(_part(wait.moved, wait.taken)),
        Cell(mean),
    ]


def remarks(look: Look) -> list[str]:
    """What the reader has to know of the answer."""
    says = [f"recorded: {look.seconds:.2f} of {look.elapsed:.2f} s, {look.events:,} events"]
    if look.ended:
        says.append(f"the program {look.ended}: the answer is of what it did until then")
    if look.lost:
        says.append(f"{look.lost:,} events came after a buffer was full, and are not counted")
    parked = (wait for wait in look.waits if wait.kind == "waiter" and wait.handoffs >= _FEW)
    if any(wait.share >= CONTENDED_SHARE for wait in parked):
        says.append(
            "words of waiters: a runtime's threads sleep so, or each has a condition of its own; "
            "which lock they wait for is known of Go, parking_lot and Java's monitors, if their "
            "symbols are there"
        )
    return [*says, _UNSEEN]


def document(look: Look, sentence: str) -> dict[str, Any]:
    """For --json."""
    return {
        "schema": 1,
        "verdict": sentence,
        "contended": [asdict(wait) for wait in contended_locks(look)],
        **asdict(look),
    }


def _part(count: int, of: int) -> str:
    return _percent(count / of) if of else "-"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def _times(rate: float) -> str:
    return f"{_rate(rate)} times a second"
