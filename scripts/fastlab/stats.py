# SPDX-License-Identifier: GPL-2.0
"""From rows to comparisons: baseline against variant, seed by seed.

What is assumed: one seed is one pair, equal in everything but the variant. Values are means over
the seeds that both sides have; the improvement is the paper's formula (section 4.1) on these means,
with its sign turned for metrics of which more is better, so that positive is better everywhere.
The spread is the sample standard deviation of the improvements of the single seeds; it is no
confidence interval. What cannot be computed is None, "not available", never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from fastlab.experiment import plan, workload_argv
from fastlab.model import LATENCIES, METRICS, Better, Case, Experiment, Metric, Place, Run
from fastlab.regret import Regret, Standing, regrets, standings
from fastlab.results import KernelId, Row, latest, machine_record

RATIOS = {
    "l2_miss_ratio": ("l2_misses", "l2_references"),
    "l3_miss_ratio": ("l3_misses", "l3_references"),
}
# These stand in the row by their names, the others among the cache model's counters.
MEASURED = ("elapsed_ns", "throughput", "context_switches", "migrations", "fairness")


@dataclass(frozen=True)
class Comparison(Place):
    """One metric of one workload. Values are means in the metric's unit; improvements in percent,
    spread in percentage points. `complete`: every seed of the experiment is in it. `values` are
    the raw ones, baseline's and variant's, of each seed."""

    metric: Metric
    variant_name: str
    baseline: float | None
    variant: float | None
    improvement_pct: float | None
    spread: float | None
    seeds: tuple[int, ...]
    complete: bool
    values: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Excluded(Place):
    """A run that is in no comparison. `status` is "invalid", "failed" or "missing"."""

    seed: int
    variant_name: str
    status: str
    reason: str


@dataclass(frozen=True)
class Mechanism(Place):
    """What FAST did in a workload: the kernel's counters, summed over the seeds compared."""

    variant_name: str
    counters: dict[str, int]


@dataclass(frozen=True)
class Synchronization(Place):
    """What a workload's threads did at locks, barriers and flags, means over the seeds.

    Rates are per second of modelled time, shares are of the threads' time, 0 to 1. None: the
    kernel counts no hand-offs.
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
class Summary:
    """An experiment's result: all that a report shows."""

    experiment: Experiment
    kernels: dict[str, KernelId]
    tools: str
    comparisons: tuple[Comparison, ...]
    mechanism: tuple[Mechanism, ...]
    synchronization: tuple[Synchronization, ...]
    regrets: tuple[Regret, ...]
    excluded: tuple[Excluded, ...]

    @property
    def variant_names(self) -> tuple[str, ...]:
        """The variants that stand against the baseline."""
        return tuple(
            variant.name
            for variant in self.experiment.variants
            if variant.name != self.experiment.baseline
        )

    @property
    def threads(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(load.threads for load in self.experiment.workloads))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(load.benchmark for load in self.experiment.workloads))

    @property
    def beside_paper(self) -> tuple[str, ...]:
        """The variants to show as the paper shows its own: the only one, or the only policy. It has
        no matrix."""
        if self.axes:
            return ()
        if len(self.variant_names) == 1:
            return self.variant_names
        policies = [one.name for one in self.experiment.variants if one.policy != "off"]
        return tuple(policies) if len(policies) == 1 else ()

    @property
    def standings(self) -> tuple[Standing, ...]:
        return standings(self.regrets)

    @property
    def oracle_arms(self) -> tuple[str, ...]:
        """The arms that the oracle chooses from instead of the baseline."""
        return tuple(name for name in self.variant_names if name in self.experiment.oracle)

    @property
    def axes(self) -> dict[str, tuple[int | str, ...]]:
        """The values of each axis of the matrix, if there is one; numbers ascend."""
        found: dict[str, dict[int | str, None]] = {}
        for case in self.experiment.cases:
            for name, value in case.axes:
                found.setdefault(name, {})[value] = None
        return {
            name: tuple(sorted(values, key=lambda one: one if isinstance(one, int) else 0))
            for name, values in found.items()
        }

    def find(self, variant_name: str, metric: str) -> dict[tuple[int | str, ...], Comparison]:
        """One variant's comparisons of one metric, by Place.key, in the order of the cases."""
        return {
            one.key: one
            for one in self.comparisons
            if one.variant_name == variant_name and one.metric.name == metric
        }


def metric_value(row: Row, metric: str) -> float | None:
    """A run's value of a metric of model.METRICS, user and kernel together (section 3.1)."""
    if metric in MEASURED:
        return row[metric]  # type: ignore[literal-required, no-any-return]
    if metric in RATIOS:
        misses, references = (metric_value(row, name) for name in RATIOS[metric])
        return misses / references if misses is not None and references else None
    latency, _, name = metric.partition("_")
    if latency in LATENCIES:
        return row.get("latencies", {}).get(latency, {}).get(f"{name}_ns")
    counter = row["counters"].get(metric)
    return counter["total"] if counter else None


def improvement(baseline: float, variant: float, better: Better) -> float | None:
    """(baseline - variant) * 100 / baseline, its sign turned where more is better; percent."""
    if baseline == 0:
        return None
    change = (baseline - variant) * 100 / baseline
    return change if better == "lower" else -change


def pair_values(
    metric: Metric, pairs: Iterable[tuple[Row, Row]]
) -> tuple[tuple[float, float], ...]:
    """The metric of each pair of rows; nothing unless all have it."""
    values = [
        (metric_value(base, metric.name), metric_value(other, metric.name)) for base, other in pairs
    ]
    known = [(base, other) for base, other in values if base is not None and other is not None]
    return tuple(known) if len(known) == len(values) else ()


def compare(
    metric: Metric, values: Sequence[tuple[float, float]]
) -> tuple[float | None, float | None, float | None, float | None]:
    """Mean baseline, mean variant, improvement and spread over (baseline, variant) of each seed."""
    if not values:
        return None, None, None, None
    baseline = fmean(base for base, _ in values)
    variant = fmean(other for _, other in values)
    single = [improvement(base, other, metric.better) for base, other in values]
    defined = [value for value in single if value is not None]
    spread = stdev(defined) if len(defined) == len(single) > 1 else None
    return baseline, variant, improvement(baseline, variant, metric.better), spread


def summarise(experiment: Experiment, rows: Iterable[Row]) -> Summary:
    """Compare every variant with the baseline; what is left out is listed with its reason.

    Only rows that the experiment would make as it is now count. Where they come from several
    builds of a kernel or of the tools, the last appended row says which build is meant.
    """
    selection = _select(experiment, rows)
    good: dict[_Cell, Row] = {}
    excluded = []
    for run in plan(experiment):
        row = selection.rows.get(_cell(run))
        if row is not None and row["status"] == "ok":
            good[_cell(run)] = row
        else:
            excluded.append(_excluded(run, row, _cell(run) in selection.outdated))

    comparisons = []
    mechanism = []
    for variant in experiment.variants:
        if variant.name == experiment.baseline:
            continue
        for case in experiment.cases:
            pairs = {
                seed: (good[base], good[other])
                for seed in experiment.seeds
                if (base := (experiment.baseline, case, seed)) in good
                and (other := (variant.name, case, seed)) in good
            }
            mechanism.append(
                Mechanism(*case.place, variant.name, _sum([other for _, other in pairs.values()]))
            )
            comparisons += [
                Comparison(
                    *case.place,
                    metric,
                    variant.name,
                    *compare(metric, values),
                    tuple(pairs),
                    len(pairs) == len(experiment.seeds),
                    values,
                )
                for metric in METRICS
                for values in [pair_values(metric, pairs.values())]
            ]
    return Summary(
        experiment=experiment,
        kernels=selection.kernels,
        tools=selection.tools,
        comparisons=tuple(comparisons),
        mechanism=tuple(mechanism),
        synchronization=tuple(_synchronization(experiment, good)),
        regrets=tuple(regrets(experiment, _times(good))),
        excluded=tuple(excluded),
    )


# A run without its sysctls, which cannot be hashed: variant name, case, seed.
_Cell = tuple[str, Case, int]


def _cell(run: Run) -> _Cell:
    return run.variant.name, run.case, run.seed


def _times(good: Mapping[_Cell, Row]) -> dict[tuple[str, Case], dict[int, float]]:
    times: dict[tuple[str, Case], dict[int, float]] = {}
    for (variant, case, seed), row in good.items():
        if row["elapsed_ns"] is not None:
            times.setdefault((variant, case), {})[seed] = row["elapsed_ns"]
    return times


def _synchronization(
    experiment: Experiment, good: Mapping[_Cell, Row]
) -> Iterator[Synchronization]:
    """Of the workloads that tell, the baseline's included."""
    for case in experiment.cases:
        for variant in experiment.variants:
            cells = [(variant.name, case, seed) for seed in experiment.seeds]
            rows = [good[cell] for cell in cells if cell in good and "profile" in good[cell]]
            if rows:
                yield _waits(case, variant.name, rows)


def _waits(case: Case, variant_name: str, rows: Sequence[Row]) -> Synchronization:
    nanoseconds = sum(row["elapsed_ns"] or 0 for row in rows)

    def total(name: str) -> int:
        return sum(row["profile"][name] for row in rows)  # type: ignore[literal-required]

    def rate(count: int) -> float:
        return count * 1e9 / nanoseconds

    def share(name: str) -> float:
        return total(name) / (nanoseconds * case.workload.threads)

    counted = all(row["mechanism"] for row in rows)
    return Synchronization(
        *case.place,
        variant_name=variant_name,
        locks=rate(total("locks")),
        contended=total("contended") / (total("locks") or 1),
        barriers=rate(total("barriers")),
        flags=rate(total("flags")),
        handoffs=rate(_sum(rows).get("hint_set", 0)) if counted else None,
        context_switches=rate(sum(row["context_switches"] or 0 for row in rows)),
        lock_share=share("lock_ns"),
        barrier_share=share("barrier_ns"),
        flag_share=share("flag_ns"),
    )


@dataclass(frozen=True)
class _Selection:
    rows: dict[_Cell, Row]
    outdated: set[_Cell]
    kernels: dict[str, KernelId]
    tools: str


def _select(experiment: Experiment, rows: Iterable[Row]) -> _Selection:
    """The rows that the experiment would make as it is now, of one build of each part."""
    records = {machine: machine_record(machine) for machine in experiment.machines}
    wanted: dict[tuple[str, tuple[str, ...]], list[Run]] = {}
    for run in plan(experiment):
        argv = tuple(workload_argv(run.workload, run.seed))
        wanted.setdefault((run.variant.name, argv), []).append(run)
    matching = []
    kernels: dict[str, KernelId] = {}
    tools = ""
    for row in latest(rows):
        runs = wanted.get((row["variant"], tuple(row["argv"])), [])
        made = [one for one in runs if row["machine"] == records[one.machine]]
        if not made or not _made_by(row, made[0], experiment):
            continue
        (run,) = made
        matching.append((_cell(run), row))
        kernels[run.variant.kernel] = row["kernel"]
        tools = row["tools"]
    current = {
        cell: row
        for cell, row in matching
        if row["tools"] == tools and row["kernel"] == kernels[row["kernel"]["variant"]]
    }
    return _Selection(current, {cell for cell, _ in matching} - current.keys(), kernels, tools)


def _made_by(row: Row, run: Run, experiment: Experiment) -> bool:
    return (
        row["policy"] == run.variant.policy
        and row["sysctls"] == dict(run.variant.sysctls)
        and row["features"] == list(run.variant.features)
        and row["cpus"] == run.variant.cpus
        and row["kernel"]["variant"] == run.variant.kernel
        and row["kernel"]["series"] == experiment.series
    )


def _excluded(run: Run, row: Row | None, outdated: bool) -> Excluded:
    why = "made only with an older kernel or older tools" if outdated else "not made yet"
    return Excluded(
        *run.case.place,
        run.seed,
        run.variant.name,
        row["status"] if row else "missing",
        row["reason"] if row else why,
    )


def _sum(rows: Iterable[Row]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row["mechanism"] or {})
    return dict(total)
