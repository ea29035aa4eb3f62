# SPDX-License-Identifier: GPL-2.0
"""The findings of a comparison, whatever the backend: everything that a report shows.

A finding is one metric of one workload under one variant. Sections that only the simulation or only
a real machine has are empty for the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev
from typing import Any, Literal

from fastlab.base.metrics import Metric
from fastlab.base.model import Experiment, Place
from fastlab.base.text import one_line
from fastlab.plan.rows import Row
from fastlab.statistics.attributed import Attributed
from fastlab.statistics.lock_uses import LockUse
from fastlab.statistics.regret import Regret, Standing, standings

# better, worse: a change that may be claimed. same: the simulation gave equal values. ~: no
# significant change: the interval contains 0, or a test does not find it. refused: significant, but
# below the smallest effect that the calibration allows to claim, or counting changed the runs too
# much. All other verdicts: there is no answer, for `reason`.
Verdict = Literal["better", "worse", "same", "~", "refused", "n/a", "incomplete", "INVALID"]
NO_ANSWER: tuple[Verdict, ...] = ("n/a", "incomplete", "INVALID")
NO_CHANGE: tuple[Verdict, ...] = ("same", "~", "refused")


@dataclass(frozen=True)
class Side:
    """One side's mean, its sample standard deviation in percent of the mean, and the number of
    values. None: not available, or not defined."""

    mean: float | None = None
    deviation_pct: float | None = None
    runs: int = 0


def no_run(metric: str, why: str = "") -> str:
    """The reason of a finding if no run has the metric."""
    return f"no run has {metric}{f': {why}' if why else ''}"


def side(values: Iterable[float], mean: float | None) -> Side:
    """The Side of these values, with the given mean."""
    known = list(values)
    centre = fmean(known) if known else 0
    spread = stdev(known) * 100 / centre if len(known) > 1 and centre else None
    return Side(mean, spread, len(known))


@dataclass(frozen=True)
class Finding(Place):
    """`improvement_pct` is positive if the variant is better. `spread` is the sample standard
    deviation of the seeds' improvements, in percentage points. `low` and `high` are the ends of the
    95 % confidence interval. `p` belongs to the t test after Holm's correction, `p_rank` to the
    rank test. `floor_pct` is the smallest improvement that may be claimed; `detectable_pct` the
    smallest that is found in 95 of 100 such experiments. None: not available. `complete`: no
    planned run is missing. `singles` are the improvements of each seed, or block, by its name."""

    metric: Metric
    variant_name: str
    baseline: Side
    variant: Side
    improvement_pct: float | None
    verdict: Verdict
    reason: str = ""
    spread: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_rank: float | None = None
    floor_pct: float | None = None
    detectable_pct: float | None = None
    complete: bool = True
    singles: tuple[tuple[str, float], ...] = ()

    @property
    def gain(self) -> float | None:
        """The improvement that counts: 0 if no change may be claimed, None without an answer."""
        if self.verdict in NO_ANSWER:
            return None
        return 0.0 if self.verdict in NO_CHANGE else self.improvement_pct


@dataclass(frozen=True)
class LeftOut(Place):
    """Runs that are in no comparison. `which` identifies them in the workload, such as by seed or
    block. `status` is "invalid", "failed" or "missing"."""

    variant_name: str
    which: str
    status: str
    reason: str

    @property
    def sentence(self) -> str:
        which = f", {self.which}" if self.which else ""
        return one_line(
            f"{self.variant_name}: {self.label}, {self.threads} threads{which}: "
            f"{self.status}: {self.reason}"
        )


@dataclass(frozen=True)
class Raw(Place):
    """A run of the comparison, good or bad. `which` is as in LeftOut."""

    variant_name: str
    which: str
    row: Row


@dataclass(frozen=True)
class Mechanism(Place):
    """What FAST did in a workload: the kernel's counters, summed over the compared seeds."""

    variant_name: str
    counters: dict[str, int]


@dataclass(frozen=True)
class Synchronization(Place):
    """Operations at locks, barriers and flags in a workload, means over the seeds.

    Rates are per second of modelled time, shares of the threads' time, 0 to 1. None: the kernel
    does not count hand-offs.
    """

    variant_name: str
    locks: float
    contended: float
    barriers: float
    flags: float
    handoffs: float | None
    context_switches: float
    lock_share: float
    barrier_share: float
    flag_share: float


@dataclass(frozen=True)
class Simulated:
    """What was simulated, on which machine (rows.machine_record()), with which kernels (by the name
    that variants give), and with which tools."""

    experiment: Experiment
    machine: Mapping[str, Any]
    kernels: Mapping[str, Mapping[str, Any]]
    tools: str


@dataclass(frozen=True)
class Findings:
    """`mean` is the kind of mean of all values, arithmetic or geometric. `primary` is the metric
    named before the runs: a change in any other metric is a hint for the next experiment. `setting`
    says what was measured where. `calibration` and `doubts` are sentences that belong beside the
    numbers. `raw` has the compared runs, case by case."""

    title: str
    backend: str
    baseline: str
    variants: tuple[str, ...]
    primary: str
    mean: Literal["Amean", "Gmean"]
    setting: Mapping[str, str]
    findings: tuple[Finding, ...]
    left_out: tuple[LeftOut, ...] = ()
    calibration: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    simulation: Simulated | None = None
    mechanism: tuple[Mechanism, ...] = ()
    synchronization: tuple[Synchronization, ...] = ()
    locks: tuple[LockUse, ...] = ()
    oracle: tuple[str, ...] = ()
    regrets: tuple[Regret, ...] = ()
    raw: tuple[Raw, ...] = ()
    attributed: tuple[Attributed, ...] = ()

    def of_metric(self, metric: str) -> Sequence[Finding]:
        return self._by_metric.get(metric, ())

    def find(self, variant_name: str, metric: str) -> Mapping[tuple[int | str, ...], Finding]:
        """One variant's findings of one metric, by Place.key, in the order of the workloads."""
        return self._by_arm.get((variant_name, metric), {})

    # A report looks up each metric of each arm several times, for hundreds of workloads.
    @cached_property
    def _by_metric(self) -> Mapping[str, Sequence[Finding]]:
        by_metric: dict[str, list[Finding]] = {}
        for finding in self.findings:
            by_metric.setdefault(finding.metric.name, []).append(finding)
        return by_metric

    @cached_property
    def _by_arm(self) -> Mapping[tuple[str, str], Mapping[tuple[int | str, ...], Finding]]:
        by_arm: dict[tuple[str, str], dict[tuple[int | str, ...], Finding]] = {}
        for finding in self.findings:
            by_arm.setdefault((finding.variant_name, finding.metric.name), {})[finding.key] = (
                finding
            )
        return by_arm

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The primary metric first."""
        named = {finding.metric.name: finding.metric for finding in self.findings}
        return tuple(sorted(named.values(), key=lambda metric: metric.name != self.primary))

    @property
    def measured(self) -> tuple[Metric, ...]:
        """The metrics that have a value somewhere."""
        return tuple(
            metric
            for metric in self.metrics
            if any(
                finding.baseline.mean is not None or finding.variant.mean is not None
                for finding in self.of_metric(metric.name)
            )
        )

    @property
    def not_available(self) -> tuple[Metric, ...]:
        """Metrics that no run has, without those that are only not compared yet."""
        return tuple(
            metric
            for metric in self.metrics
            if metric not in self.measured
            and all(finding.verdict == "n/a" for finding in self.of_metric(metric.name))
        )

    def why_not_available(self, metric: str) -> str:
        """Why no run has the metric, if known, or ""."""
        unknown = no_run(metric)
        reasons = [
            finding.reason.removeprefix(unknown).removeprefix(": ")
            for finding in self.of_metric(metric)
        ]
        return "; ".join(filter(None, dict.fromkeys(reasons)))

    @property
    def threads(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(finding.threads for finding in self.findings))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(finding.benchmark for finding in self.findings))

    @property
    def axes(self) -> dict[str, tuple[int | str, ...]]:
        """The values of each axis of the matrix, if there is one; numbers ascend."""
        axes: dict[str, dict[int | str, None]] = {}
        for finding in self.findings:
            for name, value in finding.axes:
                axes.setdefault(name, {})[value] = None
        return {
            name: tuple(sorted(values, key=lambda number: number if isinstance(number, int) else 0))
            for name, values in axes.items()
        }

    @property
    def beside_paper(self) -> tuple[str, ...]:
        """The variants to show like the paper's: the only variant, or the only policy. Not for a
        matrix, nor on a real machine."""
        if self.axes or not self.simulation:
            return ()
        if len(self.variants) == 1:
            return self.variants
        arms = self.simulation.experiment.variants
        policies = [arm.name for arm in arms if arm.policy != "off"]
        return tuple(policies) if len(policies) == 1 else ()

    def fast_first(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names, FAST's policies first: a narrow screen shows these."""
        variants = self.simulation.experiment.variants if self.simulation else ()
        policies = [variant.name for variant in variants if variant.policy != "off"]
        return tuple(sorted(names, key=lambda name: name not in policies))

    @property
    def arms(self) -> tuple[str, ...]:
        """All arms with a regret, in the experiment's order."""
        return tuple(dict.fromkeys(regret.variant_name for regret in self.regrets))

    @property
    def regret_rows(self) -> list[list[Regret]]:
        """The arms of each workload."""
        rows: dict[tuple[int | str, ...], list[Regret]] = {}
        for regret in self.regrets:
            rows.setdefault(regret.key, []).append(regret)
        return list(rows.values())

    @property
    def standings(self) -> tuple[Standing, ...]:
        return standings(self.regrets)

    @property
    def oracle_arms(self) -> tuple[str, ...]:
        """The arms other than the baseline that the oracle chooses from."""
        return tuple(name for name in self.variants if name in self.oracle)
