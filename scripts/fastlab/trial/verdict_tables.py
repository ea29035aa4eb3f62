# SPDX-License-Identifier: GPL-2.0
"""A trial's tables for people, and its document for programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from statistics import fmean, median
from typing import Any, cast

from fastlab.base.demangle import short
from fastlab.base.files import readable
from fastlab.base.metrics import FIRED, HINTS, LATENCIES, MECHANISM, SHOWN_PERCENTILES
from fastlab.base.model import SCHEMA_VERSION, Place
from fastlab.plan.circumstances import from_record
from fastlab.plan.paired_plan import BLOCK, PairedRow, first_reasons
from fastlab.plan.row_making import machine_record
from fastlab.plan.rows import kernel_id
from fastlab.report import lock_tables
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table, Tone, value, without_empty
from fastlab.statistics import environment, paired
from fastlab.statistics.lock_uses import MOST, lock_uses
from fastlab.trial.on_kernel import BLOCKS
from fastlab.trial.runs import BASELINE, ONE_CPU, ErrorOutput, Lock, Trial
from fastlab.trial.verdict import (
    Change,
    Direction,
    TrialVerdict,
    changes,
    metrics,
    remarks,
    size_of,
)

# Of modelled time: what a program takes that does nothing.
SHORT_NS = 2_000_000
# Rows of the table of locks.
SHOWN = 6
TONES: dict[Direction, Tone] = {"better": "gain", "worse": "loss", "": ""}


def tables(trial: Trial) -> list[Table]:
    """The tables for people."""
    runs = sum(timed.arm == trial.baseline for timed in trial.timed)
    parts = [
        _metrics(trial),
        _mechanism(trial),
        _latencies(trial),
        *_locks(trial.locks(), runs, trial.baseline),
    ]
    return [without_empty(table) for table in (*parts, *_lock_uses(trial)) if table.rows]


def _metrics(trial: Trial) -> Table:
    controls = [trial.control] if trial.simulated and trial.control else []
    beside = [changes(trial, name) for name in controls]
    by_policy = [changes(trial, policy) for policy in trial.compared]
    rows = []
    for metric in metrics(trial):
        policies = [changed[metric.name] for changed in by_policy]
        row = [Cell(metric.words), _mean(_off(policies), metric.scale)]
        for change in policies:
            row.append(_mean(change.on, metric.scale))
            row.append(Cell(_size(change, trial), bool(change.side), TONES[change.side]))
        for change in (control[metric.name] for control in beside):
            cell = _mean(change.on, metric.scale)
            row.append(replace(cell, strong=bool(change.side), tone=TONES[change.side]))
        rows.append(row)
    marked = "its region of interest" if trial.marked else "the whole program"
    columns = [
        "",
        trial.baseline,
        *(name for policy_changes in trial.compared for name in (policy_changes, "improvement")),
        *controls,
    ]
    return Table(
        f"{shlex.join(trial.request.argv)}: {marked}, on {_machine(trial)}",
        columns,
        rows,
        _simulated_note(trial) if trial.simulated else _REAL_NOTE,
        kept=columns,
    )


def _off(policies: Sequence[Change]) -> float | None:
    """The baseline's mean. On a real machine each policy has its own runs of the baseline."""
    known = [change.off for change in policies if change.off is not None]
    return fmean(known) if known else None


def _machine(trial: Trial) -> str:
    if not trial.simulated:
        return f"{trial.kernel.id}, backend {trial.request.backend}"
    machine = trial.request.machine
    return f"{machine.cpus} CPUs of {machine.preset_name}"


def _simulated_note(trial: Trial) -> str:
    control = f"{trial.control}: without FAST, on one of the CPUs. " if trial.control else ""
    note = (
        f"Means of {len(trial.of_arm(trial.baseline))} runs, which begin at different times; the "
        f"improvement is the range over the runs. Time is modelled. {control}Coloured: every run "
        f"is on the same side of every run of {trial.baseline}."
    )
    if trial.uncontrolled:
        note += f" {NOT_AVAILABLE}, not available: {trial.uncontrolled.splitlines()[0]}."
    return note


_REAL_NOTE = (
    f"Means of {BLOCKS * BLOCK // 2} runs of each policy in {BLOCKS} blocks of ABBA or BAAB, and "
    f"of as many runs of {BASELINE} for each policy; the improvement is the mean over the blocks, "
    "with its 95 % interval. Coloured: the t test (after Holm's correction for all metrics but "
    f"the time) and the rank test find a difference. {NOT_AVAILABLE}: not available. -: 0 in some "
    f"block. There is no control {ONE_CPU}: a program notices that the running kernel confines "
    "it."
)


def _size(change: Change, trial: Trial) -> str:
    # There is no percentage of 0.
    known = change.off is not None and change.on is not None
    return "-" if known and change.middle is None else size_of(change, trial, "")


def _mean(number: float | None, scale: float) -> Cell:
    return Cell(value(None if number is None else number / scale))


def _mechanism(trial: Trial) -> Table:
    """The kernel's counts of its decisions under each policy."""
    counted = {
        change: [row["mechanism"] or {} for row in trial.of_arm(change)]
        for change in filter(trial.has_policy, trial.compared)
    }
    rows = [
        [
            Cell(policy),
            *(Cell(value(fmean(counters.get(name, 0) for counters in of))) for name in MECHANISM),
        ]
        for policy, of in counted.items()
    ]
    return Table("", ["mean of a run", *MECHANISM], rows, kept=[*FIRED, HINTS])


def _latencies(trial: Trial) -> Table:
    """The latencies of each arm's runs, without a verdict."""
    arms = {timed.arm for timed in trial.timed} | ({trial.control} if trial.uncontrolled else set())
    shown = [(latency, name) for latency in LATENCIES for name in SHOWN_PERCENTILES]
    rows = [
        [Cell(arm), *(Cell(_range(trial, arm, latency, name)) for latency, name in shown)]
        for arm in (arm for arm in (trial.baseline, *trial.compared, trial.control) if arm in arms)
    ]
    columns = [f"{LATENCIES[latency]}, {SHOWN_PERCENTILES[name]}" for latency, name in shown]
    time = "modelled time" if trial.simulated else "time, of separate runs without a test"
    note = (
        f"In {time}: the median of the runs, and their range. none: no such event. "
        f"{NOT_AVAILABLE}: not available.{_why_missing(trial)}"
    )
    return Table("", ["latency, us", *columns], rows, note)


def _range(trial: Trial, arm: str, latency: str, name: str) -> str:
    """In microseconds, over the runs in which the latency was measured and occurred."""
    measured = [timed for timed in trial.timed if timed.arm == arm and latency not in timed.missing]
    if not measured:
        return NOT_AVAILABLE
    figures = [number.figures.get(f"{latency}_{name}") for number in measured]
    known = [number for number in figures if number is not None]
    if not known:
        return "none"
    middle, low, high = (value(number / 1000) for number in (median(known), min(known), max(known)))
    return middle if low == high else f"{middle} ({low} to {high})"


def _why_missing(trial: Trial) -> str:
    """The reasons for each latency that some run lacks."""
    text = ""
    for latency, words in LATENCIES.items():
        lacking = [timed.missing[latency] for timed in trial.timed if latency in timed.missing]
        if lacking:
            runs = f"in {len(lacking)} of {len(trial.timed)} runs"
            text += f" {words.capitalize()}, {runs}: {first_reasons(lacking)}."
    return text


def _locks(locks: Iterable[Lock], runs: int, baseline: str) -> list[Table]:
    """The locks that cause the hand-offs of the baseline's `runs` runs, the most important first;
    no table without hand-offs."""
    sums = sorted(filter(_weight, sum_locks(locks)), key=_weight, reverse=True)
    total = sum(lock.handoffs for lock in sums)
    if not sums:
        return []
    shown = sums[:SHOWN]
    columns = ["hand-offs come from", "address", f"per run ({baseline})", "share", ""]
    rows = [
        [
            Cell(lock.name, short=short(lock.name)),
            Cell(f"{lock.address:#x}" if lock.address else ""),
            Cell(value(lock.handoffs / runs if lock.handoffs else None)),
            Cell(f"{lock.handoffs * 100 / total:.1f} %" if lock.handoffs else NOT_AVAILABLE),
            _remark(lock, runs),
        ]
        for lock in shown
    ]
    left = sum(lock.handoffs for lock in sums[SHOWN:])
    note = f"And {value(left / runs)} more of {len(sums) - SHOWN} other futexes." if left else ""
    return [Table("", columns, rows, note)]


def _lock_uses(trial: Trial) -> list[Table]:
    """The program's locks under each policy; nothing on a real machine, and for a program without
    hand-offs."""
    arms = {arm: trial.of_arm(arm) for arm in (trial.baseline, *trial.compared)}
    uses = list(lock_uses(Place("", 0, ()), trial.baseline, arms))
    return lock_tables.of_program(uses, f"The {MOST} locks with most hand-offs.") if uses else []


def _remark(lock: Lock, runs: int) -> Cell:
    """The kernel does not report which of these unlocks woke a thread."""
    unlocks = (lock.pi_unlocks or 0) / runs
    text = f"priority inheritance, {value(unlocks)} unlocks" if unlocks else ""
    return Cell(text, tone="aside")


def _weight(lock: Lock) -> int:
    """The importance of a lock; 0 if nothing is known."""
    return lock.handoffs + (lock.pi_unlocks or 0)


def sum_locks(locks: Iterable[Lock]) -> list[Lock]:
    """One sum for each lock of the program and of its server, and one for all other programs."""
    sums: dict[tuple[str, int], Lock] = {}
    for lock in locks:
        # The server's locks may have the same addresses.
        key = ("" if lock.program else lock.name or "others", lock.address if lock.name else 0)
        name = lock.name or "other programs that the program started"
        known = sums.get(key, Lock(name, key[1], lock.program, 0, 0, 0))
        sums[key] = replace(
            known,
            wakes=_sum(known.wakes, lock.wakes),
            handoffs=known.handoffs + lock.handoffs,
            pi_unlocks=_sum(known.pi_unlocks, lock.pi_unlocks),
        )
    return list(sums.values())


def _sum(first: int | None, other: int | None) -> int | None:
    return None if first is None or other is None else first + other


def doubts(trial: Trial) -> list[str]:
    """What makes the numbers doubtful, a sentence each, with the program's error output."""
    sentences = [_wrote(trial.request.argv[0], trial.errors)] if trial.errors else []
    if trial.simulated:
        return [*sentences, *_short(trial)]
    rows = cast(Sequence[PairedRow], trial.rows)
    return [
        *sentences,
        *environment.doubts([from_record(row["circumstances"]) for row in rows]),
        *paired.company(rows),
        "FAST's counters cover the whole machine, hand-offs of other programs included.",
    ]


def _short(trial: Trial) -> list[str]:
    """A program that ends at once has done little but begin."""
    longest = max((row["elapsed_ns"] or 0 for row in trial.of_arm(trial.baseline)), default=0)
    if longest >= SHORT_NS:
        return []
    return [
        f"{trial.request.argv[0]} ends after {value(longest / 1e6)} ms: most of that is its start. "
        "Give it more to do"
    ]


def _wrote(program: str, errors: ErrorOutput) -> str:
    runs = "each run" if errors.runs == errors.every else f"{errors.runs} of {errors.every} runs"
    sentence = (
        f"{program} ended with status 0, but wrote to its standard error in {runs}: check that "
        "it ran correctly"
    )
    return "\n    ".join([sentence, *errors.lines])


def document(trial: Trial, verdicts: Sequence[TrialVerdict]) -> dict[str, Any]:
    """The document for programs: the verdicts and every run."""
    machine = {"machine": machine_record(trial.request.machine)} if trial.simulated else {}
    return {
        "schema": SCHEMA_VERSION,
        "argv": [readable(word) for word in trial.request.argv],
        "backend": trial.request.backend,
        **machine,
        "kernel": kernel_id(trial.kernel),
        "kernels": {arm: kernel_id(kernel) for arm, kernel in trial.kernels.items()},
        "marked": trial.marked,
        "relevant_pct": trial.request.relevant_pct,
        "uncontrolled": trial.uncontrolled,
        "baseline": trial.baseline,
        "verdicts": [
            {
                **asdict(answer),
                "changes": {
                    name: asdict(change) for name, change in changes(trial, answer.policy).items()
                },
            }
            for answer in verdicts
        ],
        "remarks": remarks(trial, verdicts),
        "doubts": doubts(trial),
        "runs": list(trial.rows),
        "latencies": [asdict(timed) for timed in trial.timed],
    }
