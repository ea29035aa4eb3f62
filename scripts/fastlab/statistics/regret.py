# SPDX-License-Identifier: GPL-2.0
"""The oracle, and the regret of each arm.

The oracle of a workload is the arm with the smallest mean elapsed time among those that the
experiment names: the best choice of a user with full knowledge. An arm's regret is its elapsed time
divided by the oracle's, over the seeds that both have: 1 is as fast as the best choice, 2 takes
twice as long, and an arm that beats all of them is below 1.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from fastlab.base.model import Case, Experiment, Place

# Percent: a smaller difference from the baseline does not count.
WORSE_PCT = 2.0
# The name of all benchmarks together.
ALL = "all"

# The elapsed time of each seed, by variant and case.
Times = Mapping[tuple[str, Case], Mapping[int, float]]


@dataclass(frozen=True)
class Regret(Place):
    """An arm in a workload. Times are in ns, means over the seeds that the arm and the oracle have.
    `oracle` names the oracle's arm; `over_baseline` is the elapsed time divided by the baseline's.
    None: not available. `complete`: no seed of an arm concerned is missing, except of an arm that
    had nothing to act on."""

    variant_name: str
    oracle: str | None
    oracle_ns: float | None
    elapsed_ns: float | None
    regret: float | None
    over_baseline: float | None
    complete: bool

    @property
    def whole(self) -> float | None:
        """The regret if no run is missing. With missing runs the number is not comparable, and is
        in no mean."""
        return self.regret if self.complete else None

    @property
    def is_better(self) -> bool:
        """Than the baseline."""
        return self.over_baseline is not None and self.over_baseline < 1 - WORSE_PCT / 100

    @property
    def is_worse(self) -> bool:
        """Than the baseline."""
        return self.over_baseline is not None and self.over_baseline > 1 + WORSE_PCT / 100


@dataclass(frozen=True)
class Standing:
    """An arm over all workloads: the number of workloads with a whole regret, the mean and the
    worst of these regrets, the workloads in which no arm is faster, and those in which the arm is
    slower than the baseline."""

    variant_name: str
    rows: int
    mean: float | None
    worst: float | None
    best_of: int
    worse: int


def regrets(
    experiment: Experiment, times: Times, silent: Container[tuple[str, Case]]
) -> Iterator[Regret]:
    """Every arm in every workload, the baseline included; nothing without an oracle.

    `silent` are arms whose runs all ended without FAST acting, and which have no times. The oracle
    is complete without them: they would equal the baseline.
    """
    if experiment.oracle:
        for case in experiment.cases:
            yield from _of_case(experiment, case, times, silent)


def _of_case(
    experiment: Experiment, case: Case, times: Times, silent: Container[tuple[str, Case]]
) -> Iterator[Regret]:
    def of(name: str) -> Mapping[int, float]:
        return times.get((name, case), {})

    present = [name for name in experiment.oracle if of(name)]
    # The arms are compared over the same seeds.
    common = [seed for seed in experiment.seeds if all(seed in of(name) for name in present)]
    oracle = (
        min(present, key=lambda name: fmean(of(name)[seed] for seed in common))
        if present and common
        else None
    )
    acting = [name for name in experiment.oracle if (name, case) not in silent]
    whole = present == acting and len(common) == len(experiment.seeds)
    for variant in experiment.variants:
        mine, best = _paired(of(variant.name), of(oracle) if oracle else {})
        own, base = _paired(of(variant.name), of(experiment.baseline))
        yield Regret(
            *case.place,
            variant_name=variant.name,
            oracle=oracle,
            oracle_ns=best,
            elapsed_ns=mine,
            regret=mine / best if mine and best else None,
            over_baseline=own / base if own and base else None,
            complete=whole
            and ((variant.name, case) in silent or len(of(variant.name)) == len(experiment.seeds)),
        )


def _paired(
    first: Mapping[int, float], other: Mapping[int, float]
) -> tuple[float | None, float | None]:
    """The means of both over the seeds that both have."""
    seeds = first.keys() & other.keys()
    if not seeds:
        return None, None
    return fmean(first[seed] for seed in seeds), fmean(other[seed] for seed in seeds)


def values_by_axis(
    figures: Iterable[tuple[Place, float | None]],
) -> dict[tuple[str, str, int | str], list[float]]:
    """The available values by benchmark (or ALL), axis (threads included) and value of the axis."""
    values: dict[tuple[str, str, int | str], list[float]] = {}
    for place, value in figures:
        if value is not None:
            for where in (("threads", place.threads), *place.axes):
                values.setdefault((place.benchmark, *where), []).append(value)
                values.setdefault((ALL, *where), []).append(value)
    return values


def standings(every_regret: Iterable[Regret]) -> tuple[Standing, ...]:
    """Each arm over all workloads, in the order of the arms."""
    by_arm: dict[str, list[Regret]] = {}
    least: dict[tuple[int | str, ...], float] = {}
    for regret in every_regret:
        by_arm.setdefault(regret.variant_name, []).append(regret)
        if regret.whole is not None:
            least[regret.key] = min(regret.whole, least.get(regret.key, regret.whole))
    return tuple(_standing(name, arm, least) for name, arm in by_arm.items())


def _standing(
    name: str, arm: Iterable[Regret], least: Mapping[tuple[int | str, ...], float]
) -> Standing:
    known = [(regret, regret.whole) for regret in arm if regret.whole is not None]
    values = [value for _, value in known]
    return Standing(
        variant_name=name,
        rows=len(known),
        mean=fmean(values) if values else None,
        worst=max(values, default=None),
        best_of=sum(value == least[regret.key] for regret, value in known),
        worse=sum(regret.is_worse for regret, _ in known),
    )
