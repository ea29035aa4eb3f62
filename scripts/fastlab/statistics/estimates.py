# SPDX-License-Identifier: GPL-2.0
"""A median and its spread, for measurements of a machine whose noise has outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

# A larger spread means that the machine was doing something else, too.
NOISY = 0.20


@dataclass(frozen=True)
class Estimate:
    """`spread` is the interquartile range divided by the median; 0.1 is 10 %."""

    median: float
    spread: float

    @property
    def noisy(self) -> bool:
        return self.spread > NOISY


def estimate(values: Sequence[float]) -> Estimate:
    """The estimate of at least one value. A single value has the spread 0."""
    middle = median(values)
    if len(values) < 2 or not middle:
        return Estimate(middle, 0.0)
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Estimate(middle, (high - low) / abs(middle))
