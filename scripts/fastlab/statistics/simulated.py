# SPDX-License-Identifier: GPL-2.0
"""Comparisons of simulated runs: baseline against variant, seed by seed.

Assumption: one seed is one pair that differs only in the variant. Values are means over the seeds
that both sides have. The improvement is the paper's formula (section 4.1) on these means, with the
opposite sign for metrics of which more is better: positive is always better. The spread is the
sample standard deviation of the single seeds' improvements. The 95 % interval belongs to the
improvement, a ratio of means: a run is exact, but seeds differ, and if the interval contains 0
another set of seeds might show the opposite. What cannot be computed is None, "not available",
never 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev

from scipy import stats

from fastlab.base.metrics import HINTS, SIMULATED, Metric, improvement
from fastlab.base.model import Case, Experiment, Place, Run
from fastlab.plan.experiment import plan
from fastlab.plan.invocation import workload_argv
from fastlab.plan.plan_file import Simulations
from fastlab.plan.rows import Builds, KernelId, Row, latest, value, without_silent
from fastlab.statistics.findings import (
    NO_ANSWER,
    Finding,
    Findings,
    LeftOut,
    Mechanism,
    Raw,
    Simulated,
    Synchronization,
    Verdict,
    no_run,
    side,
)
from fastlab.statistics.lock_uses import LockUse, lock_uses
from fastlab.statistics.regret import regrets
from fastlab.statistics.significance import ALPHA


def summarise(made: Simulations, rows: Iterable[Row]) -> Findings:
    """Compare every variant with the baseline. Runs left out are listed with their reason.

    Only rows that match `made` count, of one build of kernels and tools: the builds in `made`, or
    those of the last row.
    """
    experiment = made.experiment
    selected, outdated, builds = _select(made, rows)
    arms = {row["key"]: cell[:2] for cell, row in selected.items()}
    judged = without_silent(selected.values(), lambda row: arms[row["key"]])
    runs = Counter(
        arms[after["key"]]
        for before, after in zip(selected.values(), judged, strict=True)
        if after is not before
    )
    silent = {arm for arm, count in runs.items() if count == len(experiment.seeds)}
    selected = dict(zip(selected, judged, strict=True))
    good: _Good = defaultdict(dict)
    left_out = []
    lacking: dict[Case, list[LeftOut]] = defaultdict(list)
    for run in plan(experiment):
        row = selected.get(_cell(run))
        if row is not None and row["status"] == "ok":
            good[run.variant.name, run.case][run.seed] = row
        else:
            left_out.append(_left_out(run, row, _cell(run) in outdated))
            lacking[run.case].append(left_out[-1])

    findings: list[Finding] = []
    mechanism = []
    others = [
        variant.name for variant in experiment.variants if variant.name != experiment.baseline
    ]
    for name in others:
        for case in experiment.cases:
            base, other = good[experiment.baseline, case], good[name, case]
            pairs = [(base[seed], other[seed]) for seed in base if seed in other]
            mechanism.append(Mechanism(*case.place, name, _sum(row for _, row in pairs)))
            bad = [
                missing
                for missing in lacking[case]
                if missing.variant_name in (name, experiment.baseline)
            ]
            findings += [
                _compare(experiment, case, name, metric, pairs, bad) for metric in SIMULATED
            ]
    times = {
        arm: {seed: row["elapsed_ns"] for seed, row in own.items() if row["elapsed_ns"] is not None}
        for arm, own in good.items()
    }
    machine = experiment.machine
    return Findings(
        title=experiment.name,
        backend="sim",
        baseline=experiment.baseline,
        variants=tuple(others),
        primary=experiment.primary,
        mean="Amean",
        setting={
            "backend": "sim",
            "series": experiment.series,
            "machine": machine.preset_name,
            "cpus": str(machine.cpus),
            "seeds": str(len(experiment.seeds)),
        },
        findings=tuple(findings),
        left_out=tuple(left_out),
        simulation=Simulated(experiment, made.machines[machine], builds.kernels, builds.tools),
        mechanism=tuple(mechanism),
        synchronization=tuple(_synchronization(experiment, good)),
        locks=tuple(_locks(experiment, good)),
        oracle=experiment.oracle,
        regrets=tuple(regrets(experiment, times, silent)),
        raw=tuple(_raw(experiment, selected)),
    )


def _raw(experiment: Experiment, rows: Mapping[_Cell, Row]) -> Iterator[Raw]:
    for case in experiment.cases:
        for variant in experiment.variants:
            for seed in experiment.seeds:
                row = rows.get((variant.name, case, seed))
                if row is not None:
                    yield Raw(*case.place, variant.name, f"seed {seed}", row)


def _compare(
    experiment: Experiment,
    case: Case,
    variant_name: str,
    metric: Metric,
    pairs: Sequence[tuple[Row, Row]],
    bad: Sequence[LeftOut],
) -> Finding:
    """One metric of the existing pairs; `bad` are the missing runs."""
    values = _values(metric, pairs)
    baseline = fmean(base for base, _ in values) if values else None
    variant = fmean(other for _, other in values) if values else None
    pct = None
    if baseline is not None and variant is not None:
        pct = improvement(baseline, variant, metric.better)
    # Without a value in some pair there are no values.
    singles = tuple(
        (f"seed {row['seed']}", single)
        for (row, _), (base, other) in zip(pairs, values, strict=False)
        if (single := improvement(base, other, metric.better)) is not None
    )
    spread = stdev(percent for _, percent in singles) if len(singles) == len(values) > 1 else None
    low, high = _interval(pct, values)
    verdict, reason = _verdict(metric, baseline, pct, bad)
    if verdict not in NO_ANSWER and low is not None and high is not None and low <= 0 <= high:
        verdict = "~" if low < high else "same"
    return Finding(
        *case.place,
        metric=metric,
        variant_name=variant_name,
        baseline=side((base for base, _ in values), baseline),
        variant=side((other for _, other in values), variant),
        improvement_pct=pct,
        verdict=verdict,
        reason=reason,
        spread=spread,
        low=low,
        high=high,
        complete=len(pairs) == len(experiment.seeds),
        singles=singles,
    )


def _values(metric: Metric, pairs: Iterable[tuple[Row, Row]]) -> list[tuple[float, float]]:
    """The metric of each pair of rows; empty unless all have it."""
    values = [(value(base, metric.name), value(other, metric.name)) for base, other in pairs]
    known = [(base, other) for base, other in values if base is not None and other is not None]
    return known if len(known) == len(values) else []


def _interval(
    pct: float | None, values: Sequence[tuple[float, float]]
) -> tuple[float | None, float | None]:
    """The ends of the improvement's 95 % interval; None of a single seed.

    By the residuals of the ratio estimator: W. G. Cochran, Sampling Techniques, section 6.4.
    """
    seeds = len(values)
    if pct is None or seeds < 2:
        return None, None
    baseline = fmean(base for base, _ in values)
    ratio = fmean(other for _, other in values) / baseline
    error = stdev(other - ratio * base for base, other in values) / (sqrt(seeds) * baseline)
    half = float(stats.t.ppf(1 - ALPHA / 2, seeds - 1)) * 100 * error
    return pct - half, pct + half


def _verdict(
    metric: Metric, baseline: float | None, pct: float | None, bad: Sequence[LeftOut]
) -> tuple[Verdict, str]:
    invalid = [run for run in bad if run.status == "invalid"]
    if invalid:
        return "INVALID", invalid[0].reason
    if bad:
        return "incomplete", f"runs are missing or failed: {len(bad)}; {bad[0].reason}"
    if pct is None:
        return "n/a", "the baseline is 0" if baseline == 0 else no_run(metric.name)
    if not pct:
        return "same", ""
    return ("better" if pct > 0 else "worse"), ""


# A run without its knobs, which cannot be hashed: variant name, case, seed.
_Cell = tuple[str, Case, int]
# Runs that count, by variant name and case, and by seed in the plan's order.
_Good = defaultdict[tuple[str, Case], dict[int, Row]]


def _cell(run: Run) -> _Cell:
    return run.variant.name, run.case, run.seed


def _locks(experiment: Experiment, good: _Good) -> Iterator[LockUse]:
    for case in experiment.cases:
        arms = {
            variant.name: list(good[variant.name, case].values()) for variant in experiment.variants
        }
        yield from lock_uses(Place(*case.place), experiment.baseline, arms)


def _synchronization(experiment: Experiment, good: _Good) -> Iterator[Synchronization]:
    """Workloads with a profile, the baseline included."""
    for case in experiment.cases:
        for variant in experiment.variants:
            rows = [row for row in good[variant.name, case].values() if "profile" in row]
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
        handoffs=rate(_sum(rows).get(HINTS, 0)) if counted else None,
        context_switches=rate(sum(row["context_switches"] or 0 for row in rows)),
        lock_share=share("lock_ns"),
        barrier_share=share("barrier_ns"),
        flag_share=share("flag_ns"),
    )


def _select(
    planned: Simulations, rows: Iterable[Row]
) -> tuple[dict[_Cell, Row], set[_Cell], Builds]:
    """The rows of the planned runs from one build; the cells that only other builds have; and that
    build."""
    experiment = planned.experiment
    wanted: dict[tuple[str, tuple[str, ...], int], list[Run]] = {}
    for run in plan(experiment):
        argv = tuple(workload_argv(run.workload, run.seed))
        wanted.setdefault((run.variant.name, argv, run.seed), []).append(run)
    matching = []
    kernels: dict[str, KernelId] = {}
    tools = ""
    for row in latest(rows):
        runs = wanted.get((row["variant"], tuple(row["argv"]), row["seed"]), [])
        made = [
            planned_run
            for planned_run in runs
            if row["machine"] == planned.machines[planned_run.machine]
        ]
        if not made or not _made_by(row, made[0], experiment):
            continue
        (run,) = made
        matching.append((_cell(run), row))
        kernels[run.variant.kernel] = row["kernel"]
        tools = row["tools"]
    meant = planned.builds or Builds(kernels, tools)
    current = {
        cell: row
        for cell, row in matching
        if row["tools"] == meant.tools
        and row["kernel"] == meant.kernels.get(row["kernel"]["variant"])
    }
    return current, {cell for cell, _ in matching} - current.keys(), meant


def _made_by(row: Row, run: Run, experiment: Experiment) -> bool:
    own = any(recipe.name == run.variant.kernel for recipe in experiment.kernels)
    return (
        row["policy"] == run.variant.policy
        and row["knobs"] == dict(run.variant.knobs)
        and row["features"] == list(run.variant.features)
        and row["cpus"] == run.variant.cpus
        and row["kernel"]["variant"] == run.variant.kernel
        and row.get("settings", {}) == run.variant.further
        and (own or row["kernel"]["series"] == experiment.series)
    )


def _left_out(run: Run, row: Row | None, outdated: bool) -> LeftOut:
    which = f"seed {run.seed}"
    if row is None:
        why = "made only with an older kernel or older tools" if outdated else "not made yet"
        return LeftOut(*run.case.place, run.variant.name, which, "missing", why)
    return LeftOut(*run.case.place, run.variant.name, which, row["status"], row["reason"])


def _sum(rows: Iterable[Row]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row["mechanism"] or {})
    return dict(total)
