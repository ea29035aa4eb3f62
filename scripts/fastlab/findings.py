# SPDX-License-Identifier: GPL-2.0
"""What a comparison found, whatever it was measured with: the one dataset of all renderings.

A finding is one metric of one workload under one variant. The simulation's are exact, so that every
difference counts; a real machine's are judged by the statistics in ab.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from fastlab.model import Metric, Place
from fastlab.stats import Comparison, Excluded, Summary

# better, worse: a change that may be claimed; same: the simulation gave equal values.
# ~: no significant change. refused: significant, but below what the calibration lets one claim, or
# from runs that counting has changed too much.
# The others say that there is no answer, and `reason` says why.
Verdict = Literal["better", "worse", "same", "~", "refused", "n/a", "incomplete", "INVALID"]
NO_ANSWER: tuple[Verdict, ...] = ("n/a", "incomplete", "INVALID")
NO_CHANGE: tuple[Verdict, ...] = ("same", "~", "refused")


@dataclass(frozen=True)
class Side:
    """One side's values: their mean, their sample standard deviation in percent of it, and how many
    they are. None: not available, or not defined."""

    mean: float | None = None
    deviation_pct: float | None = None
    runs: int = 0


def no_run(metric: str, why: str = "") -> str:
    """The reason of a finding whose metric no run has."""
    return f"no run has {metric}{f': {why}' if why else ''}"


def side(values: Iterable[float], mean: float | None) -> Side:
    """The Side of these values, whose mean of whatever kind is given."""
    known = list(values)
    centre = fmean(known) if known else 0
    spread = stdev(known) * 100 / centre if len(known) > 1 and centre else None
    return Side(mean, spread, len(known))


@dataclass(frozen=True)
class Finding:
    """`improvement_pct` is positive where the variant is better; `low` and `high` are the ends of
    its 95 % confidence interval. `p` is the t test's after Holm's correction, `p_rank` the rank
    test's by itself. `floor_pct` is the smallest improvement that may be claimed, `detectable_pct`
    the smallest that is found in 95 of 100 such experiments. None: not available."""

    benchmark: str
    threads: int
    metric: Metric
    variant_name: str
    baseline: Side
    variant: Side
    improvement_pct: float | None
    verdict: Verdict
    reason: str = ""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_rank: float | None = None
    floor_pct: float | None = None
    detectable_pct: float | None = None

    @property
    def workload(self) -> str:
        return f"{self.benchmark}-{self.threads}"

    @property
    def gain(self) -> float | None:
        """The improvement that counts: 0 where no change may be claimed, None without an answer."""
        if self.verdict in NO_ANSWER:
            return None
        return 0.0 if self.verdict in NO_CHANGE else self.improvement_pct


@dataclass(frozen=True)
class Findings:
    """`mean` names the kind of mean of all values as mmtests does. `primary` is the metric named
    before the runs: a claim about another is a hint for the next experiment. `setting` says what
    was measured where; `calibration` and `doubts` are sentences that belong beside the numbers;
    `left_out` has a line for each run that is in no comparison."""

    title: str
    baseline: str
    variants: tuple[str, ...]
    primary: str
    mean: Literal["Amean", "Gmean"]
    setting: Mapping[str, str]
    findings: tuple[Finding, ...]
    calibration: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def of_metric(self, metric: str) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.metric.name == metric)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The primary metric first."""
        named = {one.metric.name: one.metric for one in self.findings}
        return tuple(sorted(named.values(), key=lambda metric: metric.name != self.primary))

    @property
    def measured(self) -> tuple[Metric, ...]:
        """The metrics that have a value somewhere."""
        return tuple(
            metric
            for metric in self.metrics
            if any(
                one.baseline.mean is not None or one.variant.mean is not None
                for one in self.of_metric(metric.name)
            )
        )

    @property
    def not_available(self) -> tuple[Metric, ...]:
        """Those that no run has; what is only not compared yet is not among them."""
        return tuple(
            metric
            for metric in self.metrics
            if metric not in self.measured
            and all(one.verdict == "n/a" for one in self.of_metric(metric.name))
        )

    def why_not_available(self, metric: str) -> str:
        """What is known of why no run has it, or ""."""
        unknown = no_run(metric)
        reasons = [
            one.reason.removeprefix(unknown).removeprefix(": ") for one in self.of_metric(metric)
        ]
        return "; ".join(filter(None, dict.fromkeys(reasons)))


def from_summary(summary: Summary) -> Findings:
    """The simulation's comparisons as findings."""
    experiment = summary.experiment
    machine = experiment.machine
    return Findings(
        title=experiment.name,
        baseline=experiment.baseline,
        variants=summary.variant_names,
        primary=experiment.primary,
        mean="Amean",
        setting={
            "backend": "sim",
            "series": experiment.series,
            "machine": machine.preset_name,
            "cpus": str(machine.cpus),
            "seeds": str(len(experiment.seeds)),
        },
        findings=tuple(_finding(summary, one) for one in summary.comparisons),
        left_out=tuple(map(_left_out, summary.excluded)),
    )


def _finding(summary: Summary, one: Comparison) -> Finding:
    verdict, reason = _verdict(summary, one)
    return Finding(
        benchmark=_label(one),
        threads=one.threads,
        metric=one.metric,
        variant_name=one.variant_name,
        baseline=side((base for base, _ in one.values), one.baseline),
        variant=side((other for _, other in one.values), one.variant),
        improvement_pct=one.improvement_pct,
        verdict=verdict,
        reason=reason,
    )


def _label(one: Place) -> str:
    """The benchmark, and where it stands on the axes of a matrix."""
    return ",".join([one.benchmark, *(f"{name}={value}" for name, value in one.axes)])


def _verdict(summary: Summary, one: Comparison) -> tuple[Verdict, str]:
    bad = [
        run
        for run in summary.excluded
        if run.key == one.key
        and run.variant_name in (one.variant_name, summary.experiment.baseline)
    ]
    invalid = [run for run in bad if run.status == "invalid"]
    if invalid:
        return "INVALID", invalid[0].reason
    if bad:
        return "incomplete", f"runs are missing or failed: {len(bad)}; {bad[0].reason}"
    if one.improvement_pct is None:
        zero = one.baseline == 0
        return "n/a", "the baseline is 0" if zero else no_run(one.metric.name)
    if not one.improvement_pct:
        return "same", ""
    return ("better" if one.improvement_pct > 0 else "worse"), ""


def _left_out(run: Excluded) -> str:
    return (
        f"{run.variant_name}: {_label(run)}, {run.threads} threads, seed {run.seed}: "
        f"{run.status}: {run.reason}"
    )
