# SPDX-License-Identifier: GPL-2.0
"""The tests on blocks, the noise of a calibration, and the smallest detectable effect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from fastlab.base.metrics import Metric, improvement

ALPHA = 0.05
POWER = 0.95
# The fewest blocks with which the rank test can reach ALPHA: with equal signs its p is 2 / 2**6.
MIN_BLOCKS = 6
# A calibration with a difference at this level is an alarm.
ALARM = 0.01

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
        """The size that 95 of 100 A/A comparisons with `blocks` blocks do not exceed."""
        return float(stats.t.ppf(1 - ALPHA / 2, len(self.ratios)) * self.sigma / np.sqrt(blocks))

    def detectable(self, blocks: int, comparisons: int) -> float:
        """The smallest effect that is claimed in 95 of 100 experiments with `blocks` blocks and a
        family of `comparisons` comparisons."""
        above_floor = stats.norm.ppf(POWER) * self.sigma_high / np.sqrt(blocks)
        return max(
            detectable_in_sigmas(blocks, comparisons) * self.sigma_high,
            self.floor(blocks) + float(above_floor),
        )


def both_tests(ratios: NDArray[np.float64]) -> tuple[Any, Any, Any]:
    """scipy's t test against 0 and the p-values of both tests, along the last axis."""
    t = stats.ttest_1samp(ratios, 0, axis=-1)
    return t, t.pvalue, rank_p(ratios)


def rank_p(ratios: NDArray[np.float64]) -> Any:
    """The exact p-value of Wilcoxon's signed rank test, along the last axis.

    scipy's exact p-value assumes blocks of different sizes and is too small with ties; its
    permutation test takes seconds.
    """
    sizes = np.sort(np.abs(ratios), axis=-1)
    if (np.diff(sizes, axis=-1, prepend=0) > 0).all():
        return stats.wilcoxon(ratios, axis=-1, method="exact").pvalue
    return np.apply_along_axis(_tied_rank_p, -1, ratios)


def _tied_rank_p(ratios: NDArray[np.float64]) -> float:
    """For blocks with ties. A block of 0 is left out; equal sizes share their mean rank, which is
    doubled here to be a whole number."""
    signed = ratios[ratios != 0]
    ranks = np.rint(2 * stats.rankdata(np.abs(signed))).astype(int)
    null = _rank_sums(tuple(ranks))
    rank_sum = ranks[signed > 0].sum()
    return float(min(1.0, 2 * min(null[: rank_sum + 1].sum(), null[rank_sum:].sum())))


@lru_cache
def _rank_sums(ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """The probability of each sum of the positive ranks if all signs are random."""
    null = np.ones(1)
    for rank in ranks:
        null = (np.pad(null, (0, rank)) + np.pad(null, (rank, 0))) / 2
    return null


def paired_test(ratios: Sequence[float]) -> Test:
    """Both tests on a comparison's blocks, at least two."""
    array = np.asarray(ratios, dtype=np.float64)
    mean = float(array.mean())
    if np.ptp(array) == 0:
        # No noise: the count is the same in every block.
        same = 1.0 if mean == 0 else 0.0
        return Test(mean, mean, mean, same, max(same, 2 ** (1.0 - len(array))))
    t, p, p_rank = both_tests(array)
    interval = t.confidence_interval(1 - ALPHA)
    return Test(mean, float(interval.low), float(interval.high), float(p), float(p_rank))


def holm(p_values: Iterable[float]) -> list[float]:
    """Holm's step-down correction: if values of at most ALPHA are claimed, the probability of any
    false claim in the family is at most ALPHA."""
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
    at the level of Holm's first step. Simulated with normal noise; infinite for too few blocks."""
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
    """How often both tests find a change in calibration blocks with a new random order.

    ABBA or BAAB was random, and exchanging A and B in a block turns the sign of its log ratio.
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


def percent(log_ratio: float, metric: Metric) -> float:
    """The paper's improvement, in percent."""
    pct = improvement(1.0, float(np.exp(log_ratio)), metric.better)
    assert pct is not None
    return pct
