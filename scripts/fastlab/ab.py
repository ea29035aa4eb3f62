# SPDX-License-Identifier: GPL-2.0
"""Does an A/B experiment on a real machine show a change? The statistics of blocks.

What is assumed: a block's two sides differ by a factor, the variant's effect, and by noise that is
independent from block to block. A block is one number, the logarithm of its B mean by its A mean.
Over a comparison's blocks:

* Student's t gives the effect, its 95 % interval and a p-value. It needs the mean of the blocks to
  be about normal. A bootstrap would not, but from a dozen blocks its intervals are too narrow:
  twice as many false claims as are allowed (Documentation/statistics.rst).
* Wilcoxon's signed rank test stands beside it: it needs only that noise is as often up as down, and
  a few wild blocks do not move it.

A change is claimed when t, after Holm's correction over its family, and the rank test both say so,
when it is not below the noise floor of the A/A calibration, and when counting did not change the
elapsed time by more than PERTURBATION_PCT. The primary metric's comparisons are one family, all
others' together are another. Nothing is claimed from blocks that were not planned, or before all
that were planned are there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from fastlab import environment
from fastlab.dataset import (
    BLOCK,
    HARDWARE,
    NOTHING,
    Dataset,
    PairedRow,
    Plan,
    events_of,
    latency_of,
    runs_of_a_block,
    value,
    why_missing,
)
from fastlab.findings import Finding, Findings, Side, Verdict, no_run, side
from fastlab.model import REAL_METRICS, Metric, Workload
from fastlab.results import Counter
from fastlab.stats import improvement

ALPHA = 0.05
POWER = 0.95
# The fewest whose rank test can reach ALPHA: with all signs equal it says 2 / 2**6.
MIN_BLOCKS = 6
# A calibration that finds a difference at this level is an alarm: A is not A.
ALARM = 0.01
# What counting changes by more than this is not what is to be measured.
PERTURBATION_PCT = 5.0

_SIMULATIONS = 2000


@dataclass(frozen=True)
class Test:
    """What the two tests say of a comparison's blocks; `mean`, `low`, `high` are log ratios."""

    mean: float
    low: float
    high: float
    p: float
    p_rank: float


@dataclass(frozen=True)
class Noise:
    """What an A/A comparison says about one metric of one workload, in log ratios.

    `sigma` is the blocks' root mean square, their true mean being 0; `sigma_high` is the upper end
    of its one-sided 95 % interval, with which experiments are planned.
    """

    ratios: tuple[float, ...]
    sigma: float
    sigma_high: float
    p: float

    def floor(self, blocks: int) -> float:
        """95 of 100 A/A comparisons of so many blocks stay below it."""
        return float(stats.t.ppf(1 - ALPHA / 2, len(self.ratios)) * self.sigma / np.sqrt(blocks))

    def detectable(self, blocks: int, comparisons: int) -> float:
        """The smallest effect that is claimed in 95 of 100 experiments of so many blocks, if it is
        one of so many comparisons of a family."""
        above_floor = stats.norm.ppf(POWER) * self.sigma_high / np.sqrt(blocks)
        return max(
            detectable_in_sigmas(blocks, comparisons) * self.sigma_high,
            self.floor(blocks) + float(above_floor),
        )


def both_tests(ratios: NDArray[np.float64], axis: int = -1) -> tuple[Any, Any, Any]:
    """scipy's t test against 0 and the p-values of both tests, along an axis.

    The rank test's is the exact one also where blocks are equal by chance: the permutations that
    scipy would try instead change it little, and take seconds.
    """
    t = stats.ttest_1samp(ratios, 0, axis=axis)
    return t, t.pvalue, stats.wilcoxon(ratios, axis=axis, method="exact").pvalue


def paired_test(ratios: Sequence[float]) -> Test:
    """Both tests on a comparison's blocks, at least two."""
    array = np.asarray(ratios, dtype=np.float64)
    mean = float(array.mean())
    if np.ptp(array) == 0:
        # No noise at all: a count that is the same every time.
        same = 1.0 if mean == 0 else 0.0
        return Test(mean, mean, mean, same, max(same, 2 ** (1.0 - len(array))))
    t, p, p_rank = both_tests(array)
    interval = t.confidence_interval(1 - ALPHA)
    return Test(mean, float(interval.low), float(interval.high), float(p), float(p_rank))


def holm(p_values: Iterable[float]) -> list[float]:
    """Holm's step-down correction: claiming what is at most ALPHA, the chance of any false claim
    in the family is at most ALPHA."""
    given = list(p_values)
    adjusted = [1.0] * len(given)
    largest = 0.0
    for rank, i in enumerate(sorted(range(len(given)), key=given.__getitem__)):
        largest = max(largest, min(1.0, given[i] * (len(given) - rank)))
        adjusted[i] = largest
    return adjusted


@lru_cache
def detectable_in_sigmas(blocks: int, comparisons: int) -> float:
    """The effect, in standard deviations of a block, that both tests find in 95 of 100 comparisons
    at the level of Holm's first step. By simulation with normal noise; infinite for too few."""
    if blocks < MIN_BLOCKS:
        return float("inf")
    noise = np.random.default_rng(blocks).standard_normal((_SIMULATIONS, blocks))

    def lacks(effect: float) -> float:
        _, p, p_rank = both_tests(noise + effect)
        return float(np.mean((p * comparisons <= ALPHA) & (p_rank <= ALPHA))) - POWER

    return float(optimize.bisect(lacks, 0, 100, xtol=1e-2))


def measure_noise(ratios: Sequence[float]) -> Noise:
    """The noise that an A/A comparison's blocks show."""
    array = np.asarray(ratios, dtype=np.float64)
    count = len(array)
    sigma = float(np.sqrt(np.mean(array**2)))
    high = sigma * float(np.sqrt(count / stats.chi2.ppf(ALPHA, count)))
    return Noise(tuple(ratios), sigma, high, paired_test(ratios).p)


def false_positive_rate(noises: Iterable[Noise]) -> float | None:
    """How often both tests find a change in calibration blocks whose order is drawn again.

    ABBA or BAAB was random, and exchanging A and B in a block turns its log ratio's sign.
    """
    rng = np.random.default_rng(0)
    rates = []
    for noise in noises:
        signs = rng.choice((-1.0, 1.0), (_SIMULATIONS, len(noise.ratios)))
        if noise.sigma:
            _, p, p_rank = both_tests(signs * np.asarray(noise.ratios))
            rates.append(np.mean((p <= ALPHA) & (p_rank <= ALPHA)))
        else:
            rates.append(np.float64(0))
    return float(np.mean(rates)) if rates else None


def planned_blocks(plan: Plan, noises: Iterable[Noise]) -> int:
    """The blocks of each comparison that find the plan's effect with the primary metric's noise; at
    most its `max_blocks`."""
    effect = np.log1p(plan.effect_pct / 100)
    comparisons = len(plan.workloads) * len(plan.variants)
    sizes = range(MIN_BLOCKS, plan.max_blocks)

    def needed(noise: Noise) -> int:
        def suffices(blocks: int) -> bool:
            return bool(noise.detectable(blocks, comparisons) <= effect)

        # The more blocks, the less is detectable.
        return MIN_BLOCKS + bisect_left(sizes, True, key=suffices)

    return max(map(needed, noises), default=plan.max_blocks)


@dataclass(frozen=True)
class Blocks:
    """One metric of one comparison: each side's runs, and the log ratios of its whole blocks.

    `reason` says why there is nothing to test, with the verdict that follows from it.
    """

    sides: tuple[tuple[float, ...], tuple[float, ...]]
    means: tuple[float | None, float | None]
    ratios: tuple[float, ...]
    verdict: Verdict | None
    reason: str


def blocks_of(rows: Sequence[PairedRow], metric: Metric, wanted: int) -> Blocks:
    """Gather a comparison's blocks. `wanted`: how many were planned."""
    bad = [row for row in rows if row["status"] == "invalid"]
    if bad:
        return nothing("INVALID", f"{len(bad)} of {len(rows)} runs: {bad[0]['reason']}")
    extra = [row for row in rows if row["block"] >= wanted]
    if extra:
        return nothing("INVALID", f"{len(extra)} runs are of blocks beyond the {wanted} planned")
    good = [row for row in rows if row["status"] == "ok"]
    known = [(row, number) for row in good if (number := value(row, metric.name)) is not None]
    if not known:
        if good:
            return nothing("n/a", no_run(metric.name, why_missing(good, metric.name)))
        return nothing("incomplete", f"0 of {wanted} blocks are there")
    sides = tuple(
        tuple(number for row, number in known if row["side"] == label) for label in ("A", "B")
    )
    a, b = sides
    if len(known) < len(good):
        lack = len(good) - len(known)
        why = why_missing(good, metric.name)
        reason = f"{lack} of {len(good)} runs have no {metric.name}{f': {why}' if why else ''}"
        return Blocks((a, b), (None, None), (), "n/a", reason)
    halves: dict[int, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row, number in known:
        halves[row["block"]][row["side"] == "B"].append(number)
    whole = [one for one in halves.values() if len(one[0]) == len(one[1]) == BLOCK // 2]
    if len(whole) < wanted:
        reason = f"{len(whole)} of {wanted} blocks are whole"
        return Blocks((a, b), (None, None), (), "incomplete", reason)
    return whole_blocks((a, b), whole)


def whole_blocks(
    sides: tuple[tuple[float, ...], tuple[float, ...]],
    whole: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> Blocks:
    """Blocks that have all their runs: each one's A runs and B runs."""
    means = np.array([[np.mean(half) for half in one] for one in whole])
    if (means <= 0).any():
        count = int((means <= 0).any(axis=1).sum())
        reason = f"in {count} of {len(whole)} blocks a side is 0: there is no ratio"
        return Blocks(sides, (None, None), (), "n/a", reason)
    logs = np.log(means)
    centres = np.exp(logs.mean(axis=0))
    ratios = tuple(float(one) for one in logs[:, 1] - logs[:, 0])
    return Blocks(sides, (float(centres[0]), float(centres[1])), ratios, None, "")


def nothing(verdict: Verdict, reason: str) -> Blocks:
    """No blocks, and why."""
    return Blocks(((), ()), (None, None), (), verdict, reason)


@dataclass(frozen=True)
class Calibration:
    """What the A/A blocks say. `noise` has no entry for what they do not tell. `counting` is the
    elapsed time with a group of events counted by that without, as log ratios."""

    noise: dict[tuple[Workload, str], Noise]
    missing: dict[tuple[Workload, str], str]
    blocks: int | None
    alarms: frozenset[tuple[Workload, str]]
    counting: dict[tuple[Workload, str], Test]


def calibrate(dataset: Dataset) -> Calibration:
    """Judge the A/A blocks. `blocks` are those that each comparison is to have; None while the
    calibration of the primary metric is not there for every workload."""
    plan = dataset.plan
    noise: dict[tuple[Workload, str], Noise] = {}
    missing: dict[tuple[Workload, str], str] = {}
    for workload in plan.workloads:
        rows = dataset.by_events(workload, plan.baseline)
        for metric in REAL_METRICS:
            events = events_of(plan, metric.name)
            if events is None:
                missing[workload, metric.name] = no_run(metric.name)
                continue
            found = blocks_of(rows[events], metric, plan.calibration_blocks)
            if found.ratios:
                noise[workload, metric.name] = measure_noise(found.ratios)
            else:
                missing[workload, metric.name] = found.reason
    primary = [noise.get((workload, plan.primary)) for workload in plan.workloads]
    known = [one for one in primary if one]
    alarms = set()
    for family in (True, False):
        keys = [key for key in noise if (key[1] == plan.primary) == family]
        corrected = holm(noise[key].p for key in keys)
        alarms |= {key for key, p in zip(keys, corrected, strict=True) if p <= ALARM}
    blocks = planned_blocks(plan, known) if len(known) == len(primary) else None
    counting = {
        (workload, events): test
        for workload in plan.workloads
        for events in plan.groups
        if (test := _perturbation(plan, dataset.by_events(workload, plan.baseline), events))
    }
    return Calibration(noise, missing, blocks, frozenset(alarms), counting)


def _perturbation(plan: Plan, rows: Mapping[str, Sequence[PairedRow]], events: str) -> Test | None:
    """The calibration's runs that count these beside those that count nothing, if all are there."""
    halves: dict[int, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for counted, found in ((False, rows[NOTHING]), (True, rows[events])):
        for row in found:
            time = row["elapsed_ns"]
            if time and row["status"] == "ok":
                halves[row["block"]][counted].append(time)
    whole = [one for one in halves.values() if (len(one[0]), len(one[1])) == (BLOCK // 2, BLOCK)]
    if len(whole) < plan.calibration_blocks:
        return None
    return paired_test(whole_blocks(((), ()), whole).ratios)


def analyse(dataset: Dataset) -> Findings:
    """Judge every comparison of an A/B experiment."""
    plan = dataset.plan
    calibration = calibrate(dataset)
    findings: list[Finding] = []
    for primary in (True, False):
        family = [metric for metric in REAL_METRICS if (metric.name == plan.primary) == primary]
        findings += _family(dataset, calibration, family)
    order = {metric.name: i for i, metric in enumerate(REAL_METRICS)}
    findings.sort(key=lambda one: order[one.metric.name])
    runs = [environment.from_record(row["circumstances"]) for row in dataset.rows]
    return Findings(
        title=plan.name,
        baseline=plan.baseline,
        variants=plan.variants,
        primary=plan.primary,
        mean="Gmean",
        setting=_setting(dataset, calibration, runs),
        findings=tuple(findings),
        calibration=tuple(_calibration_lines(plan, calibration)),
        doubts=(
            *environment.doubts(runs),
            *company((row["counters"], row["others"]) for row in dataset.rows),
        ),
        left_out=(
            *(_left_out(row) for row in dataset.rows if row["status"] != "ok"),
            *_not_made(dataset, calibration),
        ),
    )


def _family(dataset: Dataset, calibration: Calibration, metrics: Sequence[Metric]) -> list[Finding]:
    """The comparisons that are corrected for together."""
    plan = dataset.plan
    absent = _absent(dataset)
    tested: list[tuple[Finding, Test | None, Noise | None]] = []
    counting: list[Test | None] = []
    for workload in plan.workloads:
        for variant in plan.variants:
            rows = dataset.by_events(workload, variant)
            for metric in metrics:
                events = events_of(plan, metric.name)
                counting.append(calibration.counting.get((workload, events)) if events else None)
                if events is None or metric.name in absent:
                    reason = no_run(metric.name, absent[metric.name])
                    finding = _not_available(workload, variant, metric, reason)
                    tested.append((finding, None, None))
                else:
                    tested.append(_compare(workload, variant, metric, rows[events], calibration))
    # What could not be tested stays in the family: it was planned.
    corrected = holm(test.p if test else 1.0 for _, test, _ in tested)
    judged = [
        _judge(finding, test, noise, p, calibration.blocks or 0, len(tested))
        for (finding, test, noise), p in zip(tested, corrected, strict=True)
    ]
    return [_unperturbed(one, test) for one, test in zip(judged, counting, strict=True)]


def _unperturbed(finding: Finding, counting: Test | None) -> Finding:
    """No change is claimed of runs that counting has changed. Latencies are of runs that count
    nothing."""
    if finding.verdict not in ("better", "worse") or latency_of(finding.metric.name):
        return finding
    if counting is None:
        reason = "not claimed: what counting does to the elapsed time is not known"
        return replace(finding, verdict="refused", reason=reason)
    pct = _size(counting.mean)
    if abs(pct) <= PERTURBATION_PCT:
        return finding
    reason = f"not claimed: counting changes the elapsed time by {pct:.2g} %"
    return replace(finding, verdict="refused", reason=reason)


def _absent(dataset: Dataset) -> dict[str, str]:
    """The metrics that the backend does not have on this machine, and why if that is known."""
    found = {}
    for metric in REAL_METRICS:
        events = events_of(dataset.plan, metric.name)
        good = [row for row in dataset.rows if row["status"] == "ok" and row["events"] == events]
        if events is None or (good and all(value(row, metric.name) is None for row in good)):
            found[metric.name] = why_missing(good, metric.name)
    return found


def _not_available(workload: Workload, variant: str, metric: Metric, reason: str) -> Finding:
    return Finding(
        benchmark=workload.benchmark,
        threads=workload.threads,
        metric=metric,
        variant_name=variant,
        baseline=Side(),
        variant=Side(),
        improvement_pct=None,
        verdict="n/a",
        reason=reason,
    )


def _compare(
    workload: Workload,
    variant: str,
    metric: Metric,
    rows: Sequence[PairedRow],
    calibration: Calibration,
) -> tuple[Finding, Test | None, Noise | None]:
    """A comparison with everything but the verdict on its test, if it has one."""
    key = workload, metric.name
    blocks = blocks_of(rows, metric, calibration.blocks or 0) if calibration.blocks else None
    if blocks is None:
        blocks = nothing("incomplete", "the A/A calibration of the primary metric is not there")
    noise = calibration.noise.get(key)
    verdict, reason = blocks.verdict, blocks.reason
    if verdict is None and noise is None:
        verdict, reason = "n/a", f"not calibrated: {calibration.missing[key]}"
    if verdict is None and key in calibration.alarms:
        verdict, reason = "INVALID", "the A/A calibration found a difference: A is not A"
    test = paired_test(blocks.ratios) if verdict is None else None
    finding = Finding(
        benchmark=workload.benchmark,
        threads=workload.threads,
        metric=metric,
        variant_name=variant,
        baseline=side(blocks.sides[0], blocks.means[0]),
        variant=side(blocks.sides[1], blocks.means[1]),
        improvement_pct=None,
        verdict=verdict or "~",
        reason=reason,
    )
    return finding, test, noise


def _judge(
    finding: Finding, test: Test | None, noise: Noise | None, p: float, blocks: int, family: int
) -> Finding:
    if test is None or noise is None:
        return finding
    floor, detectable = noise.floor(blocks), noise.detectable(blocks, family)
    ends = sorted(percent(end, finding.metric) for end in (test.low, test.high))
    pct = percent(test.mean, finding.metric)
    verdict: Verdict = "better" if pct > 0 else "worse"
    reason = ""
    if p > ALPHA:
        verdict = "~"
    elif test.p_rank > ALPHA:
        verdict, reason = "~", f"the rank test does not agree (p = {test.p_rank:.2g})"
    elif abs(test.mean) < floor:
        verdict, reason = "refused", f"below the noise floor of {_size(floor):.2g} %"
    return replace(
        finding,
        improvement_pct=pct,
        verdict=verdict,
        reason=reason,
        low=ends[0],
        high=ends[1],
        p=p,
        p_rank=test.p_rank,
        floor_pct=_size(floor),
        detectable_pct=_size(detectable),
    )


def percent(log_ratio: float, metric: Metric) -> float:
    """The paper's improvement, in percent."""
    pct = improvement(1.0, float(np.exp(log_ratio)), metric.better)
    assert pct is not None
    return pct


def _size(log_ratio: float) -> float:
    """A change of this size, up or down, in percent."""
    return float(np.expm1(log_ratio)) * 100


def _counting_line(name: str, events: str, test: Test | None) -> str:
    what = f"{name}: counting {events.replace(',', ', ')}"
    if test is None:
        return f"{what}: what that does to elapsed_ns is not known, uncounted runs are missing."
    mean, low, high = (_size(one) for one in (test.mean, test.low, test.high))
    line = f"{what} changes elapsed_ns by {mean:.2g} % (95 % interval {low:.2g} to {high:.2g} %)"
    if abs(mean) <= PERTURBATION_PCT:
        return f"{line}."
    return f"{line}: more than {PERTURBATION_PCT:g} %, and nothing is claimed from these runs."


def _calibration_lines(plan: Plan, calibration: Calibration) -> Iterable[str]:
    """The noise floor, the rate of false positives, what can be found, and what is wrong."""
    comparisons = len(plan.workloads) * len(plan.variants)
    primary = []
    for workload in plan.workloads:
        noise = calibration.noise.get((workload, plan.primary))
        name = f"{workload.benchmark}-{workload.threads}"
        if noise is None:
            why = calibration.missing[workload, plan.primary]
            yield f"{name}: {plan.primary} is not calibrated: {why}."
            continue
        primary.append(noise)
        if calibration.blocks:
            detectable = noise.detectable(calibration.blocks, comparisons)
            yield (
                f"{name}: noise of {plan.primary} {_size(noise.sigma):.2g} % from block to block; "
                f"noise floor {_size(noise.floor(calibration.blocks)):.2g} %; smallest effect that "
                f"{calibration.blocks} blocks can detect {_size(detectable):.2g} %."
            )
            if detectable > np.log1p(plan.effect_pct / 100):
                yield (
                    f"{name}: {calibration.blocks} blocks are the most that are made, and do not "
                    f"suffice for the {plan.effect_pct:g} % that were asked for."
                )
        for events in plan.groups:
            yield _counting_line(name, events, calibration.counting.get((workload, events)))
    rate = false_positive_rate(primary)
    if rate is not None:
        yield (
            f"False-positive rate: {rate:.1%} of A/A comparisons of {plan.primary} with the "
            f"calibration's noise, by both tests, before correction and floor; {ALPHA:.0%} are "
            "allowed."
        )
    for workload, metric in sorted(
        calibration.alarms, key=lambda key: (key[0].benchmark, key[0].threads, key[1])
    ):
        mean = float(np.mean(calibration.noise[workload, metric].ratios))
        yield (
            f"{workload.benchmark}-{workload.threads}: the baseline differs from itself in "
            f"{metric} by {100 * np.expm1(mean):.2g} %: something is wrong with the set-up."
        )


def _setting(
    dataset: Dataset, calibration: Calibration, runs: Sequence[environment.Circumstances]
) -> dict[str, str]:
    plan = dataset.plan
    blocks = "not calibrated" if calibration.blocks is None else str(calibration.blocks)
    setting = {"backend": plan.backend, "blocks": blocks}
    if runs:
        one = runs[0].environment
        setting |= {
            "cpu": one.cpu or "not available",
            "cpus": str(one.cpus),
            "microcode": one.microcode or "not available",
            "governor": ", ".join(one.governors or ()) or "not available",
            "boots": str(len({row["boot"] for row in dataset.rows})),
            "kernels": ", ".join(sorted({run.environment.kernel or "?" for run in runs})),
        }
    return setting


def company(runs: Iterable[tuple[Mapping[str, Counter], str | None]]) -> Iterable[str]:
    """Doubts about runs, given as their counters and why others may have run on their CPUs.
    Hardware events are those of CPUs, whoever runs there."""
    found = [why for counters, why in runs if why and not counters.keys().isdisjoint(HARDWARE)]
    for why in dict.fromkeys(found):
        yield (
            "Hardware events are those of the measured CPUs, and others may have run on these: "
            f"{why}."
        )


def _left_out(row: PairedRow) -> str:
    return (
        f"{row['pair']}: {row['benchmark']}, {row['threads']} threads, block {row['block']}, "
        f"run {row['position'] + 1} ({row['side']}): {row['status']}: {row['reason']}"
    )


def _not_made(dataset: Dataset, calibration: Calibration) -> Iterable[str]:
    """Runs that are planned and have no row."""
    plan = dataset.plan
    for pair in (plan.baseline, *plan.variants):
        blocks = plan.calibration_blocks if pair == plan.baseline else calibration.blocks
        for workload in plan.workloads:
            where = f"{pair}: {workload.benchmark}, {workload.threads} threads"
            if blocks is None:
                yield f"{where}: missing: the A/A calibration comes first"
                continue
            planned = blocks * runs_of_a_block(plan, pair)
            lack = planned - len(dataset.of(workload, pair))
            if lack > 0:
                yield f"{where}: missing: {lack} of {planned} runs are not made yet"
