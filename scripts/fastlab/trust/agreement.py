# SPDX-License-Identifier: GPL-2.0
"""The cache model against an independent machine: measurements, predictions, and whether they agree
within bounds.

Both sides are figures of workloads in two arms, free and confined to one CPU. A bound applies to
the ratio of the arms, or to the figure of one arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fastlab.base.model import SCHEMA_VERSION, FastError
from fastlab.plan.rows import Row
from fastlab.plan.rows import value as figure
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table, Tone
from fastlab.statistics.estimates import NOISY, Estimate, estimate

# The variants of the predicting experiment, and their names here.
FREE = "baseline"
CONFINED = "onecpu"

# The subdirectory of the results with the simulation of that experiment.
SIMULATION = "simulation"

# The number of benchmarks, of seven, that must be within the bounds.
LEAST = 5

Agreement = Literal["within", "beyond", "too noisy", "not available"]


@dataclass(frozen=True, order=True)
class Point:
    """A workload."""

    benchmark: str
    threads: int

    def __str__(self) -> str:
        return f"{self.benchmark}, {self.threads} threads"


@dataclass(frozen=True)
class Arms:
    """A metric of a workload per iteration, free and confined, in paired runs. Values below
    `resolution` cannot be distinguished from it."""

    pairs: Sequence[tuple[float, float]]
    resolution: float = 0.0

    @property
    def free(self) -> Estimate:
        return estimate([free for free, _ in self.pairs])

    @property
    def confined(self) -> Estimate:
        return estimate([confined for _, confined in self.pairs])

    @property
    def ratio(self) -> Estimate:
        """Free / confined."""
        return estimate([free / confined for free, confined in self.pairs])


METRICS = ("elapsed_ns", "context_switches", "cycles", "l2_misses")

# By metric.
Figures = Mapping[str, Arms]
# What was measured, or predicted.
SideFigures = Mapping[Point, Figures]
# A run's, by metric: an iteration's.
Rates = Mapping[str, float]


@dataclass(frozen=True)
class Bound:
    """A compared figure, in the unit of `per` iterations, and the allowed error of the prediction:
    a fraction of the measured value, or a factor in either direction. A measurement with a larger
    spread than `noise` is not judged."""

    words: str
    metric: str
    what: Literal["free", "confined", "ratio"]
    limit: float
    is_factor: bool = False
    per: int = 1
    noise: float = NOISY


def _switches(what: Literal["free", "confined"]) -> Bound:
    """Context switches are few and vary; a factor of three allows for that."""
    words = f"context switches in 10,000, {what}"
    return Bound(words, "context_switches", what, 3, is_factor=True, per=10_000, noise=1)


# On a machine without hardware counters.
CLOCK_BOUNDS = (
    Bound("time, free / confined", "elapsed_ns", "ratio", 0.15),
    _switches("free"),
    _switches("confined"),
)
# Against hardware counters.
COUNTER_BOUNDS = (
    Bound("cycles, free / confined", "cycles", "ratio", 0.15),
    Bound("L2 misses, free", "l2_misses", "free", 0.25),
    Bound("L2 misses, confined", "l2_misses", "confined", 0.25),
    _switches("free"),
    _switches("confined"),
)


@dataclass(frozen=True)
class Check:
    """A figure per iteration: measured, and predicted unless that is not available. Both are at
    least `floor` when compared."""

    bound: Bound
    measured: Estimate
    predicted: float | None
    floor: float

    @property
    def error(self) -> float | None:
        """Predicted divided by measured; 1 is exact."""
        if self.predicted is None:
            return None
        measured = max(self.measured.median, self.floor)
        return max(self.predicted, self.floor) / measured if measured else None

    @property
    def noisy(self) -> bool:
        return self.measured.spread > self.bound.noise and self.measured.median > self.floor

    @property
    def verdict(self) -> Agreement:
        error = self.error
        if error is None:
            return "not available"
        limit = self.bound.limit
        within = 1 / limit <= error <= limit if self.bound.is_factor else abs(error - 1) <= limit
        # A noisy measurement within the bounds is no evidence.
        return "too noisy" if self.noisy else "within" if within else "beyond"


@dataclass(frozen=True)
class Compared:
    """A workload's checks."""

    point: Point
    checks: Sequence[Check]

    @property
    def verdict(self) -> Agreement:
        """The worst of its checks."""
        verdicts = {check.verdict for check in self.checks}
        order: tuple[Agreement, ...] = ("beyond", "not available", "too noisy", "within")
        return next(agreement for agreement in order if agreement in verdicts)


def predicted(rows: Iterable[Row]) -> SideFigures:
    """The predictions of an experiment's rows: the runs of a seed in both arms are a pair."""
    runs: dict[Point, dict[int, dict[str, Row]]] = {}
    for row in rows:
        if row["status"] == "ok":
            point = Point(row["benchmark"], row["threads"])
            runs.setdefault(point, {}).setdefault(row["seed"], {})[row["variant"]] = row
    side = {}
    for point, seeds in runs.items():
        whole = [arms for arms in seeds.values() if {FREE, CONFINED} <= arms.keys()]
        if whole:
            pairs = [(_rates(arms[FREE]), _rates(arms[CONFINED])) for arms in whole]
            side[point] = paired(pairs, _iterations(whole[0][FREE]), point.threads)
    return side


def paired(runs: Sequence[tuple[Rates, Rates]], iterations: int, threads: int) -> Figures:
    """The figures of paired runs, free and confined, with `iterations` iterations each."""
    # Each thread sleeps until all threads have begun, and until all have ended.
    resolution = {"context_switches": 2 * threads / iterations}
    return {
        metric: Arms(
            [(free[metric], confined[metric]) for free, confined in runs],
            resolution.get(metric, 0.0),
        )
        for metric in runs[0][0]
    }


def _rates(row: Row) -> Rates:
    count = _iterations(row)
    given = {name: figure(row, name) for name in METRICS}
    return {name: number / count for name, number in given.items() if number is not None}


def _iterations(row: Row) -> int:
    """Of the region that was counted."""
    for word in row["argv"]:
        if word.startswith("--iterations="):
            return int(word.removeprefix("--iterations="))
    raise FastError(f"{' '.join(row['argv'])}: a run without --iterations predicts nothing")


def compare(
    measured: SideFigures, prediction: SideFigures, bounds: Sequence[Bound]
) -> list[Compared]:
    """Every measured workload with its prediction, if there is one."""
    return [
        Compared(
            point,
            [
                _check(bound, figures[bound.metric], prediction.get(point, {}).get(bound.metric))
                for bound in bounds
            ],
        )
        for point, figures in measured.items()
    ]


def _check(bound: Bound, measured: Arms, prediction: Arms | None) -> Check:
    value: Estimate = getattr(measured, bound.what)
    if prediction is None:
        return Check(bound, value, None, 0.0)
    # The resolution of both sides; a ratio has none.
    floor = 0.0 if bound.what == "ratio" else max(measured.resolution, prediction.resolution)
    return Check(bound, value, getattr(prediction, bound.what).median, floor)


def agreeing(compared: Sequence[Compared]) -> list[str]:
    """The benchmarks with all workloads within the bounds."""
    return _benchmarks(compared, ("within",))


def possible(compared: Sequence[Compared]) -> list[str]:
    """These benchmarks, and those that a better measurement might add."""
    return _benchmarks(compared, ("within", "too noisy", "not available"))


def _benchmarks(compared: Sequence[Compared], verdicts: Sequence[Agreement]) -> list[str]:
    """Those all of whose workloads have one of these verdicts."""
    within: dict[str, bool] = {}
    for comparison in compared:
        name = comparison.point.benchmark
        within[name] = within.get(name, True) and comparison.verdict in verdicts
    return [name for name, right in within.items() if right]


def sentences(compared: Sequence[Compared]) -> list[str]:
    """The result in words, the conclusion first."""
    names = agreeing(compared)
    total = len({comparison.point.benchmark for comparison in compared})
    lines = [
        f"{len(names)} of {total} benchmarks are within the bounds "
        f"({', '.join(names) or 'none'}); at least {LEAST} should be"
    ]
    noisy = [str(comparison.point) for comparison in compared if comparison.verdict == "too noisy"]
    if noisy:
        lines.append(
            f"too noisy to judge: {'; '.join(noisy)}. Measure again when this machine has "
            "nothing else to do"
        )
    lacking = [
        str(comparison.point) for comparison in compared if comparison.verdict == "not available"
    ]
    if lacking:
        lines.append(f"no prediction: {'; '.join(lacking)}")
    return lines


def table(title: str, compared: Sequence[Compared], bounds: Sequence[Bound]) -> Table:
    """For people and for Documentation: a line for each workload."""
    columns = ["benchmark", "verdict", "threads", *(bound.words for bound in bounds)]
    limits = "; ".join(f"{bound_shown.words}: {_limit(bound_shown)}" for bound_shown in bounds)
    note = (
        "Measured / predicted. Free: on all CPUs; confined: to one of them. After ±: interquartile "
        f"range by median. In parentheses: how far the prediction is off. Bounds: {limits}."
    )
    return Table(title, columns, [_line(comparison) for comparison in compared], note, labels=2)


_TONES: Mapping[Agreement, Tone] = {
    "within": "gain",
    "beyond": "loss",
    "too noisy": "aside",
    "not available": "aside",
}


def _line(comparison: Compared) -> list[Cell]:
    line = [
        Cell(comparison.point.benchmark),
        Cell(comparison.verdict, tone=_TONES[comparison.verdict]),
        Cell(str(comparison.point.threads)),
    ]
    return line + [
        Cell(f"{_measured(check)} / {_predicted(check)}", tone=_TONES[check.verdict])
        for check in comparison.checks
    ]


def _measured(check: Check) -> str:
    spread = check.measured.spread
    return _number(check, check.measured.median) + (f" ±{100 * spread:.0f} %" if spread else "")


def _predicted(check: Check) -> str:
    error = check.error
    if check.predicted is None or error is None:
        return NOT_AVAILABLE
    off = f"x {error:.2g}" if check.bound.is_factor else f"{percent_off(error):+} %"
    return f"{_number(check, check.predicted)} ({off})"


def percent_off(error: float) -> int:
    """By how many percent a prediction is off."""
    return round(100 * (error - 1))


def _number(check: Check, value: float) -> str:
    value *= check.bound.per
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _limit(bound: Bound) -> str:
    return f"a factor of {bound.limit:g}" if bound.is_factor else f"{100 * bound.limit:.0f} %"


def document(compared: Sequence[Compared], shown: Table) -> dict[str, Any]:
    """The JSON file. Figures are an iteration's; null says "not available". `table` has what is
    `shown` of them, for Documentation."""
    return {
        "schema": SCHEMA_VERSION,
        "agreeing": agreeing(compared),
        "table": [list(shown.columns), *([cell.text for cell in row] for row in shown.rows)],
        "rows": [
            {
                "benchmark": comparison.point.benchmark,
                "threads": comparison.point.threads,
                "verdict": comparison.verdict,
                "checks": [
                    {
                        "what": check.bound.words,
                        "measured": check.measured.median,
                        "spread": check.measured.spread,
                        "predicted": check.predicted,
                        "floor": check.floor,
                        "limit": check.bound.limit,
                        "verdict": check.verdict,
                    }
                    for check in comparison.checks
                ],
            }
            for comparison in compared
        ],
    }
