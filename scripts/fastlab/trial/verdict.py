# SPDX-License-Identifier: GPL-2.0
"""Which arm is better for this program? The verdict on a trial's runs, in words.

In the simulation a difference counts if every run of one arm is on the same side of every run of
the other arm: it is then larger than the variation between runs. On a real machine a difference
counts if both tests of the statistics find it; the noise floor is unknown there, and the output
says so. A difference below the relevance limit does not matter. Without the time of every run there
is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Literal, cast

from fastlab.base.metrics import HINTS, NAMED, REAL, SIMULATED, Metric, improvement
from fastlab.plan.paired_plan import BLOCK, PairedRow, first_reasons
from fastlab.plan.rows import Row, fired
from fastlab.plan.rows import value as figure
from fastlab.report.tables import NOT_AVAILABLE, value
from fastlab.statistics import calibration, significance
from fastlab.trial.on_kernel import BLOCKS
from fastlab.trial.runs import Trial

Kind = Literal["helps", "hurts", "no difference", "nothing to act on", "not available"]
Direction = Literal["better", "worse", ""]

TIME = "elapsed_ns"
NO_FLOOR = (
    "The noise floor was not measured: this machine may show differences of off from itself. "
    "`fast run` measures the floor first, and claims nothing below it."
)
NO_LOCKS = "The locks behind the hand-offs are not available here; leave --backend out to see them."
# Reasons that the program itself causes.
_WHY = {
    "hint_class": ": threads with a real-time or deadline policy",
    "hint_mm": ": threads of other processes",
}


@dataclass(frozen=True)
class Change:
    """A metric in two arms: the means over the runs, and the improvement in percent with its
    middle, low and high value. In the simulation these are the median and the range over runs with
    equal quanta; on a real machine, the mean and the 95 % interval. `p` belongs to the t test,
    after Holm's correction over all metrics but the time; `p_rank` to the rank test. None: not
    available, for `reason`. `side` is the direction of a significant difference."""

    off: float | None
    on: float | None
    middle: float | None = None
    low: float | None = None
    high: float | None = None
    side: Direction = ""
    p: float | None = None
    p_rank: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class TrialVerdict:
    """The answer for one policy. `sentence` is for people."""

    policy: str
    kind: Kind
    sentence: str


def metrics(trial: Trial) -> tuple[Metric, ...]:
    """The metrics that a trial shows. For all of them less is better."""
    return tuple(metric for metric in (SIMULATED if trial.simulated else REAL) if metric.words)


def changes(trial: Trial, arm: str, beside: str = "") -> dict[str, Change]:
    """Every metric of an arm compared with another arm, or with the baseline; None for an arm that
    was not run."""
    if trial.simulated:
        off, on = trial.of_arm(beside or trial.baseline), trial.of_arm(arm)
        return {metric.name: _separated(metric, off, on) for metric in metrics(trial)}
    return _tested(trial, arm)


def _separated(metric: Metric, off: Sequence[Row], on: Sequence[Row]) -> Change:
    before, after = (_values(rows, metric.name) for rows in (off, on))
    means = (fmean(before) if before else None, fmean(after) if after else None)
    if not before or not after:
        return Change(*means, reason=f"some run has no {metric.name}")
    side: Direction = ""
    if max(after) < min(before):
        side = "better"
    elif min(after) > max(before):
        side = "worse"
    gains = [improvement(*pair, metric.better) for pair in zip(before, after, strict=True)]
    known = [gain for gain in gains if gain is not None]
    if len(known) < len(gains):
        return Change(*means, side=side, reason="in some run of the baseline it was 0")
    return Change(*means, median(known), min(known), max(known), side)


def _values(rows: Sequence[Row], name: str) -> list[float]:
    """The values of all rows; empty if a row lacks one."""
    numbers = [number for row in rows if (number := figure(row, name)) is not None]
    return numbers if len(numbers) == len(rows) else []


def _tested(trial: Trial, policy: str) -> dict[str, Change]:
    rows = [row for row in cast(Sequence[PairedRow], trial.rows) if row["pair"] == policy]
    failed = first_reasons(row["reason"] for row in rows if row["status"] == "failed")
    blocks = {metric: calibration.blocks_of(rows, metric, BLOCKS) for metric in metrics(trial)}
    tests = {
        metric: significance.paired_test(own.ratios) for metric, own in blocks.items() if own.ratios
    }
    others = [metric for metric in blocks if metric.name != TIME]
    # A metric without a test stays in the family, as in an experiment.
    corrected = significance.holm(tests[metric].p if metric in tests else 1.0 for metric in others)
    p_values = {metric.name: p for metric, p in zip(others, corrected, strict=True)}
    return {
        metric.name: _change(metric, own, tests.get(metric), p_values.get(metric.name), failed)
        for metric, own in blocks.items()
    }


def _change(
    metric: Metric,
    blocks: calibration.Blocks,
    test: significance.Test | None,
    p: float | None,
    failed: str = "",
) -> Change:
    # No mean over only a part of the runs.
    whole = all(len(side) == BLOCKS * BLOCK // 2 for side in blocks.sides)
    off, on = (fmean(side) if whole else None for side in blocks.sides)
    if test is None:
        return Change(off, on, reason="; ".join(filter(None, (blocks.reason, failed))))
    low, high = sorted(significance.percent(end, metric) for end in (test.low, test.high))
    middle = significance.percent(test.mean, metric)
    p = test.p if p is None else p
    side: Direction = ""
    if p <= significance.ALPHA and test.p_rank <= significance.ALPHA:
        side = "better" if middle > 0 else "worse"
    return Change(off, on, middle, low, high, side, p, test.p_rank)


def judge(trial: Trial) -> list[TrialVerdict]:
    """The answer for each arm that is compared."""
    return [
        _judge(trial, arm) if trial.has_policy(arm) else _compare(trial, arm)
        for arm in trial.compared
    ]


def _compare(trial: Trial, arm: str) -> TrialVerdict:
    """The answer for an arm beside the baseline."""
    time, beside = changes(trial, arm)[TIME], trial.baseline
    if time.middle is None:
        sentence = f"What {arm} changes of this program's time is not available: {time.reason}."
        return TrialVerdict(arm, "not available", f"{sentence} Run it again.")
    kind: Kind = "no difference"
    if not time.side:
        size = size_of(_negative(time), trial, plus="+")
        sentence = f"{arm}'s time differs from {beside}'s by no more than run-to-run ({size})"
    elif time.side == "better":
        sentence = f"{arm} takes {size_of(time, trial)} less time than {beside}"
    else:
        sentence = f"{arm} takes {size_of(_negative(time), trial)} more time than {beside}"
    if time.side and _is_small(time, trial):
        sentence += f" (in the median below {trial.request.relevant_pct:g} %)"
    elif time.side:
        kind = "helps" if time.side == "better" else "hurts"
    return TrialVerdict(arm, kind, ", ".join([sentence, *_beside_time(trial, arm)]) + ".")


def _beside_time(trial: Trial, arm: str) -> Iterator[str]:
    """Misses and late wake-ups, where every run of one arm is on the same side of the other's."""
    rows = trial.of_arm(trial.baseline), trial.of_arm(arm)
    misses, wakeup = (_separated(NAMED[name], *rows) for name in ("l3_misses", "wakeup_p99"))
    if misses.side and misses.middle is not None:
        than = "fewer" if misses.side == "better" else "more"
        yield f"{abs(misses.middle):.0f} % {than} misses"
    if wakeup.side and wakeup.middle is not None:
        yield f"p99 wake-up {-wakeup.middle:+.0f} %"


def gain(trial: Trial, arm: str) -> float:
    """The improvement of the time in percent, as a limit takes it: 0 if there is none to tell."""
    time = changes(trial, arm)[TIME]
    return time.middle if time.side and time.middle is not None else 0.0


def _judge(trial: Trial, policy: str) -> TrialVerdict:
    idle = idleness([row["mechanism"] or {} for row in trial.of_arm(policy)])
    # adaptive costs time even if it places no thread: it measures.
    if idle and policy != "adaptive":
        sentence = f"Policy {policy} has nothing to act on in this program: {idle}."
        return TrialVerdict(policy, "nothing to act on", sentence)
    by_metric = changes(trial, policy)
    time = by_metric[TIME]
    if time.middle is None:
        sentence = (
            f"The effect of policy {policy} on this program's time is not available: "
            f"{time.reason}. Run it again."
        )
        return TrialVerdict(policy, "not available", sentence)
    size = size_of(time, trial)
    lost = size_of(_negative(time), trial)
    kind: Kind = "no difference"
    if time.side and _is_small(time, trial):
        does = f"takes {size} off" if time.side == "better" else f"adds {lost} to"
        sentence = (
            f"Policy {policy} has no relevant effect on this program: it {does} its time, less "
            f"than {trial.request.relevant_pct:g} %"
            f"{' in the median' if trial.simulated else ''}"
        )
    elif time.side == "better":
        kind = "helps"
        sentence = f"Policy {policy} helps this program: it takes {size} off its time"
    elif time.side == "worse":
        kind = "hurts"
        sentence = f"Policy {policy} hurts this program: it adds {lost} to its time"
    else:
        sentence = (
            f"Policy {policy} has no measurable effect on this program's time "
            f"({size_of(time, trial, plus='+')}, within run-to-run variation)"
        )
    sentence += _evidence(time) if not trial.simulated else _work(by_metric["cycles"], time, trial)
    if idle:
        sentence += " It moved no thread."
    return TrialVerdict(policy, kind, sentence)


def _is_small(time: Change, trial: Trial) -> bool:
    """Is the difference too small to matter? In the simulation the median decides: a single run may
    have met an unrelated effect."""
    return abs(time.middle or 0) < trial.request.relevant_pct


def _work(work: Change, time: Change, trial: Trial) -> str:
    """The change of the cycles, if it differs in direction from the time's."""
    if not work.side or work.side == time.side:
        return "."
    does, share = "less", f"{size_of(work, trial)} fewer"
    if work.side == "worse":
        does, share = "more", f"{size_of(_negative(work), trial)} more"
    return f"; the CPUs together do {does} work, though ({share} cycles)."


def _evidence(change: Change) -> str:
    rank = f"by the rank test {change.p_rank:.2g}" if change.p_rank is not None else ""
    p = f"{change.p:.2g}" if change.p is not None else NOT_AVAILABLE
    return f"; {BLOCKS} blocks, p = {p}, {rank}."


def remarks(trial: Trial, verdicts: Sequence[TrialVerdict]) -> list[str]:
    """Remarks on all policies together, a sentence each."""
    if trial.simulated:
        words = [trial.request.question.words] if trial.request.question.words else []
        return [*words, *_one_cpu(trial, verdicts), *_left_alone(trial)]
    # The reader must be able to tell a missing table from a program without hand-offs.
    unseen = any("handoff" in verdict.missing for verdict in trial.timed)
    return [NO_FLOOR, *([NO_LOCKS] if unseen else [])]


def _one_cpu(trial: Trial, verdicts: Sequence[TrialVerdict]) -> Iterator[str]:
    """The control on one CPU, if it beats both the baseline and a policy."""
    if not trial.control:
        return
    time = changes(trial, trial.control)[TIME]
    beaten = [
        answer
        for answer in verdicts
        if _faster(changes(trial, trial.control, answer.policy)[TIME], trial)
    ]
    if not _faster(time, trial) or not beaten:
        return
    policies = " and ".join(answer.policy for answer in beaten)
    sentence = (
        f"On one CPU the program takes {size_of(time, trial)} less time than on all of them "
        f"without FAST, and less than with {policies}"
    )
    if any(answer.kind == "helps" for answer in beaten):
        sentence += ": FAST gains here by gathering the threads, and one CPU does that better"
    yield f"{sentence}."


def _faster(time: Change, trial: Trial) -> bool:
    """Is the other arm relevantly faster?"""
    return time.side == "better" and not _is_small(time, trial)


def _left_alone(trial: Trial) -> Iterator[str]:
    total = sum(lock.pi_unlocks or 0 for lock in trial.locks())
    if total and any(map(trial.has_policy, trial.compared)):
        yield (
            "FAST does not act on locks with priority inheritance, which the kernel unlocked "
            f"{value(total / len(trial.of_arm(trial.baseline)))} times a run."
        )


def _negative(change: Change) -> Change:
    """The change with its sign turned: the loss."""
    if change.middle is None or change.low is None or change.high is None:
        return change
    return replace(change, middle=-change.middle, low=-change.high, high=-change.low)


def size_of(change: Change, trial: Trial, label: str = "95 % interval: ", plus: str = "") -> str:
    """The improvement as a range over the runs, or with its interval. `plus` is "+" to show the
    sign of gains."""
    if change.middle is None or change.low is None or change.high is None:
        return NOT_AVAILABLE
    # Rounded first: 0.0 has no sign.
    middle, low, high = (
        f"{round(number, 1) or 0.0:{plus}.1f}"
        for number in (change.middle, change.low, change.high)
    )
    if trial.simulated:
        return f"{low} %" if low == high else f"{low} to {high} %"
    return f"{middle} % ({label}{low} to {high})"


def idleness(mechanisms: Iterable[Mapping[str, int]]) -> str:
    """Why FAST never placed a thread, by the counters of each run; "" if it did."""
    counted: dict[str, int] = {}
    for mechanism in mechanisms:
        for name, number in mechanism.items():
            counted[name] = counted.get(name, 0) + number
    if fired(counted):
        return ""
    hints = counted.pop(HINTS, 0)
    reasons = ", ".join(
        f"{name} {number}{_WHY.get(name, '')}" for name, number in counted.items() if number
    )
    if hints:
        return f"none of {hints} hints was used ({reasons or 'no reason was counted'})"
    if reasons:
        return f"FAST acts on none of its hand-offs ({reasons})"
    return "no thread was woken by a lock's hand-off (hint_set = 0)"
