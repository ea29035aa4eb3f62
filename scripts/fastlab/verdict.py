# SPDX-License-Identifier: GPL-2.0
"""Does FAST help this program? A trial's runs compared, in words, as tables and as a document.

A difference counts when every run of the one arm stands on the same side of every run of the other:
then it is larger than what turns of another length make of the same program.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, Literal

from fastlab.model import LATENCIES, SCHEMA_VERSION
from fastlab.results import FIRED, machine_record
from fastlab.tables import NOT_AVAILABLE, Cell, Table, Tone, value
from fastlab.trial import ARMS, BASELINE, ONE_CPU, POLICIES, Lock, Trial, of_arm

Kind = Literal["helps", "hurts", "no difference", "nothing to act on"]
Side = Literal["better", "worse", ""]

# Of all of them less is better. The first decides.
METRICS = {
    "elapsed_ns": "time, ms",
    "cycles": "cycles, all CPUs together",
    "instructions": "instructions",
    "l2_misses": "L2 misses",
    "l3_misses": "L3 misses",
    "bus_requests": "bus requests",
    "context_switches": "context switches",
    "migrations": "migrations",
}
TIME = "elapsed_ns"
# What is shown of a metric whose unit is not one for people: its value divided by this.
UNITS = {TIME: 1e6}
LATENCY_NAMES = {"handoff": "hand-off", "wakeup": "wake-up"}
# The percentiles that are shown, with their columns' names.
LATENCY_COLUMNS = {"p50_ns": "median", "p99_ns": "99 %"}
# Lines of the table of locks.
SHOWN = 6
# Reasons that are the program's own doing.
_WHY = {
    "rejected_class": ": threads with a real-time or deadline policy",
    "rejected_mm": ": threads of other processes",
}
TONES: dict[Side, Tone] = {"better": "gain", "worse": "loss", "": ""}


@dataclass(frozen=True)
class Change:
    """A metric in one arm and in another, run by run. `improvements` are in percent of the run with
    the same quantum; None where that counted nothing."""

    off: tuple[int | None, ...]
    on: tuple[int | None, ...]

    @property
    def improvements(self) -> tuple[float, ...] | None:
        found = []
        for off, on in zip(self.off, self.on, strict=True):
            if not off or on is None:
                return None
            found.append((off - on) * 100 / off)
        return tuple(found)

    @property
    def side(self) -> Side:
        """Where all runs of the other arm stand, if they do."""
        off = [number for number in self.off if number is not None]
        on = [number for number in self.on if number is not None]
        if len(off) < len(self.off) or len(on) < len(self.on):
            return ""
        if max(on) < min(off):
            return "better"
        return "worse" if min(on) > max(off) else ""


@dataclass(frozen=True)
class Verdict:
    """The answer for one policy. `sentence` is for people."""

    policy: str
    kind: Kind
    sentence: str


def changes(trial: Trial, arm: str, beside: str = BASELINE) -> dict[str, Change]:
    """Every metric of the arm beside those of another; None of an arm that was not run."""
    off, on = of_arm(trial.shots, beside), of_arm(trial.shots, arm)
    nothing = (None,) * len(off)
    return {
        name: Change(
            tuple(shot.values[name] for shot in off),
            tuple(shot.values[name] for shot in on) or nothing,
        )
        for name in METRICS
    }


def judge(trial: Trial) -> list[Verdict]:
    """The answer for each policy but the baseline."""
    return [_judge(trial, policy) for policy in POLICIES if policy != BASELINE]


def _judge(trial: Trial, policy: str) -> Verdict:
    idle = idleness([shot.mechanism for shot in of_arm(trial.shots, policy)])
    if idle:
        sentence = f"FAST has nothing to act on in this program: {idle}."
        return _verdict(trial, policy, "nothing to act on", sentence)
    found = changes(trial, policy)
    time = found[TIME]
    percent = _range(time.improvements)
    kind: Kind = "no difference"
    if time.side == "better":
        kind = "helps"
        sentence = f"FAST helps this program: policy {policy} takes {percent} off its time"
    elif time.side == "worse":
        kind = "hurts"
        sentence = f"FAST hurts this program: policy {policy} adds {_added(time)} to its time"
    else:
        sentence = (
            f"FAST makes no difference to this program's time that can be told from that of "
            f"turns of another length: with policy {policy} it improves by {percent}"
        )
    work = found["cycles"]
    if work.side and work.side != time.side:
        does, share = "less", f"{percent_of(work)} fewer"
        if work.side == "worse":
            does, share = "more", f"{_added(work)} more"
        sentence += f"; its CPUs together do {does} work, though ({share} cycles)"
    return _verdict(trial, policy, kind, f"{sentence}.")


def _verdict(trial: Trial, policy: str, kind: Kind, sentence: str) -> Verdict:
    """With what is said of every kind."""
    sentence += _one_cpu(trial, policy, kind) + _left_alone(trial)
    return Verdict(policy, kind, sentence)


def _one_cpu(trial: Trial, policy: str, kind: Kind) -> str:
    """What the control tells, where it beats both the baseline and the policy."""
    time = changes(trial, ONE_CPU)[TIME]
    if time.side != "better" or changes(trial, ONE_CPU, policy)[TIME].side != "better":
        return ""
    less = percent_of(time)
    sentence = f" On one CPU the program takes {less} less time than on all of them without FAST"
    if kind == "helps":
        sentence += ": FAST gains here by gathering the threads, and one CPU does that better"
    return f"{sentence}."


def percent_of(change: Change) -> str:
    """The range of its improvements."""
    return _range(change.improvements)


def _added(change: Change) -> str:
    return _range(-one for one in change.improvements or ())


def idleness(mechanisms: Sequence[Mapping[str, int]]) -> str:
    """Why FAST never decided where a thread runs, or "", by the counters of each run."""
    counted = {name: sum(one[name] for one in mechanisms) for name in mechanisms[0]}
    if any(counted.get(name, 0) for name in FIRED):
        return ""
    hints = counted.pop("hint_set", 0)
    reasons = ", ".join(
        f"{name} {number}{_WHY.get(name, '')}" for name, number in counted.items() if number
    )
    if hints:
        return f"of {hints} hints none was used ({reasons or 'no reason was counted'})"
    if reasons:
        return f"no hand-off of a lock was one that it takes part in ({reasons})"
    return "no thread was woken by a lock's hand-off (hint_set = 0)"


def _left_alone(trial: Trial) -> str:
    total = sum(lock.pi_unlocks or 0 for lock in _locks_of(trial))
    if not total:
        return ""
    return (
        f" FAST leaves locks with priority inheritance alone, which the kernel unlocked "
        f"{value(total / len(of_arm(trial.shots, BASELINE)))} times a run."
    )


def _locks_of(trial: Trial) -> list[Lock]:
    return [lock for shot in of_arm(trial.shots, BASELINE) for lock in shot.locks]


def _range(improvements: Iterable[float] | None) -> str:
    numbers = list(improvements or ())
    if not numbers:
        return NOT_AVAILABLE
    low, high = (f"{round(one, 1) or 0.0:.1f}" for one in (min(numbers), max(numbers)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def tables(trial: Trial) -> list[Table]:
    """For people."""
    found = []
    for policy in POLICIES:
        if policy != BASELINE:
            mechanisms = [shot.mechanism for shot in of_arm(trial.shots, policy)]
            means = {name: fmean(one[name] for one in mechanisms) for name in mechanisms[0]}
            found += [_metrics(trial, policy), mechanism_table(policy, "mean", means)]
    runs = len(of_arm(trial.shots, BASELINE))
    return [*found, _latencies(trial), *locks_table(_locks_of(trial), runs)]


def _metrics(trial: Trial, policy: str) -> Table:
    machine = trial.request.machine
    one_cpu = changes(trial, ONE_CPU)
    rows = []
    for name, change in changes(trial, policy).items():
        unit = UNITS.get(name, 1)
        control = one_cpu[name]
        rows.append(
            [
                Cell(METRICS[name]),
                Cell(_mean(change.off, unit)),
                Cell(_mean(change.on, unit)),
                Cell(_improvement(change), bool(change.side), TONES[change.side]),
                Cell(_mean(control.on, unit), bool(control.side), TONES[control.side]),
            ]
        )
    note = (
        f"Means of {len(of_arm(trial.shots, policy))} runs each, with turns of other lengths; "
        f"the improvement is its range over them. Time is modelled. {ONE_CPU}: without FAST, "
        "confined to one of the CPUs. Coloured: every run stands on the same side of every run "
        f"of {BASELINE}."
    )
    if trial.uncontrolled:
        note += f" {NOT_AVAILABLE}, not available: {trial.uncontrolled.splitlines()[0]}."
    return Table(
        f"{what_ran(trial.request.argv, trial.marked)}, "
        f"on {machine.cpus} CPUs of {machine.preset_name}",
        ["", BASELINE, policy, "improvement", ONE_CPU],
        rows,
        note,
    )


def what_ran(argv: Sequence[str], marked: bool) -> str:
    """The program, and what of it was measured."""
    return f"{shlex.join(argv)}: {'its region of interest' if marked else 'all of it'}"


def _improvement(change: Change) -> str:
    if change.improvements is None and None not in (*change.off, *change.on):
        # Of nothing there is no percentage.
        return "-"
    return percent_of(change)


def _mean(numbers: Sequence[int | None], unit: float) -> str:
    known = [number for number in numbers if number is not None]
    return value(fmean(known) / unit if known and len(known) == len(numbers) else None)


def _latencies(trial: Trial) -> Table:
    shown = [(latency, name) for latency in LATENCIES for name in LATENCY_COLUMNS]
    rows = []
    for arm in ARMS:
        runs = of_arm(trial.shots, arm)
        times = [[shot.latencies[latency][name] for shot in runs] for latency, name in shown]
        rows.append([Cell(arm), *(Cell(_mean(one, 1e3)) for one in times)])
    columns = [f"{LATENCY_NAMES[latency]}, {LATENCY_COLUMNS[name]}" for latency, name in shown]
    return Table(
        "",
        ["latency, us", *columns],
        rows,
        "Of modelled time, means over the runs. "
        f"{NOT_AVAILABLE}: there was none, at least in some run.",
    )


def mechanism_table(policy: str, label: str, numbers: Mapping[str, float]) -> Table:
    """What the kernel counted of its decisions under the policy."""
    # What did not happen needs no column, but for what a reader looks for.
    shown = {
        name: number
        for name, number in numbers.items()
        if number or name in (*FIRED, "hint_set", "expired")
    }
    return Table(
        "",
        [f"what {policy} did", *shown],
        [[Cell(label), *(Cell(value(number)) for number in shown.values())]],
    )


def locks_table(found: Iterable[Lock], runs: int) -> list[Table]:
    """Where the hand-offs of so many runs without FAST come from, the most important locks first;
    no table, if there were none."""
    sums = sorted(filter(_weight, sum_locks(found)), key=_weight, reverse=True)
    total = sum(lock.handoffs for lock in sums)
    if not sums:
        return []
    shown = sums[:SHOWN]
    columns = ["hand-offs come from", "address", f"per run ({BASELINE})", "share"]
    rows = [
        [
            Cell(lock.name),
            Cell(f"{lock.address:#x}" if lock.program else ""),
            Cell(value(lock.handoffs / runs if lock.handoffs else None)),
            Cell(f"{lock.handoffs * 100 / total:.1f} %" if lock.handoffs else NOT_AVAILABLE),
        ]
        for lock in shown
    ]
    if any(lock.pi_unlocks for lock in shown):
        columns.append("")
        for row, lock in zip(rows, shown, strict=True):
            row.append(_remark(lock, runs))
    left = sum(lock.handoffs for lock in sums[SHOWN:])
    note = f"And {value(left / runs)} more of {len(sums) - SHOWN} other futexes." if left else ""
    return [Table("", columns, rows, note)]


def _remark(lock: Lock, runs: int) -> Cell:
    """Nobody says which of these unlocks woke a thread."""
    unlocks = (lock.pi_unlocks or 0) / runs
    text = f"priority inheritance, {value(unlocks)} unlocks" if unlocks else ""
    return Cell(text, tone="aside")


def _weight(lock: Lock) -> int:
    """Of the locks that something can be said of, more first."""
    return lock.handoffs + (lock.pi_unlocks or 0)


def sum_locks(found: Iterable[Lock]) -> list[Lock]:
    """One for each lock of the program, and one for all other programs."""
    sums: dict[tuple[bool, int], Lock] = {}
    for lock in found:
        key = (lock.program, lock.address if lock.program else 0)
        known = sums.get(key)
        if known:
            sums[key] = replace(
                known,
                wakes=_sum(known.wakes, lock.wakes),
                handoffs=known.handoffs + lock.handoffs,
                pi_unlocks=_sum(known.pi_unlocks, lock.pi_unlocks),
            )
        else:
            name = lock.name if lock.program else "other programs that it started"
            sums[key] = replace(lock, name=name, address=key[1])
    return list(sums.values())


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def document(trial: Trial, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """For programs: the verdicts, and every run."""
    kernel = trial.kernel
    return {
        "schema": SCHEMA_VERSION,
        "argv": list(trial.request.argv),
        "backend": "sim",
        "machine": machine_record(trial.request.machine),
        "kernel": {"series": kernel.series, "variant": kernel.variant, "id": kernel.id},
        "marked": trial.marked,
        "uncontrolled": trial.uncontrolled,
        "baseline": BASELINE,
        "verdicts": [
            {
                **asdict(one),
                "improvements": {
                    name: change.improvements for name, change in changes(trial, one.policy).items()
                },
            }
            for one in verdicts
        ],
        "runs": [asdict(shot) for shot in trial.shots],
    }
