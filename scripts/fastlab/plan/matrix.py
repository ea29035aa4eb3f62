# SPDX-License-Identifier: GPL-2.0
"""Combinations of values: all of them, or a fraction in which each pair of values occurs.

The fraction is that of a Latin square: every value has its number on its axis, from 0, and a
combination is taken if the sum of its numbers is a multiple of N. The combinations are spread
evenly: along each axis, every N-th is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

Value = int | str
Combination = Mapping[str, Value]


def fraction(axes: Mapping[str, Sequence[Value]], n: int) -> list[Combination]:
    """Every n-th combination, in the order of the axes and values; the last varies fastest."""
    numbered = [list(enumerate(values)) for values in axes.values()]
    return [
        dict(zip(axes, (value for _, value in chosen), strict=True))
        for chosen in product(*numbered)
        if sum(number for number, _ in chosen) % n == 0
    ]


def never_meet(
    axes: Mapping[str, Sequence[Value]], chosen: Sequence[Combination]
) -> tuple[tuple[str, Value], tuple[str, Value]] | None:
    """Two values of different axes that no combination has together; None: there are none."""
    for first, other in combinations(axes, 2):
        met = {(combination[first], combination[other]) for combination in chosen}
        for pair in product(axes[first], axes[other]):
            if pair not in met:
                return (first, pair[0]), (other, pair[1])
    return None
