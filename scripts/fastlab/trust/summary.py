# SPDX-License-Identifier: GPL-2.0
"""How good the simulation is, in one line: its errors, the rows within the bounds, its speed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from fastlab.plan.rows import Row, value
from fastlab.report.tables import NOT_AVAILABLE
from fastlab.trust.agreement import Bound, Check, Compared, percent_off


def line(compared: Sequence[Compared], bounds: Sequence[Bound], rows: Iterable[Row]) -> str:
    """The mean absolute error of each figure whose bound is a percentage, the number of rows
    within all bounds, and the speed of the predicting runs."""
    errors = ", ".join(_errors(compared, bounds))
    within = sum(comparison.verdict == "within" for comparison in compared)
    return (
        f"mean absolute error of {errors}; {within} of {len(compared)} rows are within all bounds; "
        f"speed {_speed(rows)}"
    )


def _errors(compared: Sequence[Compared], bounds: Sequence[Bound]) -> Iterator[str]:
    for bound in bounds:
        if not bound.is_factor:
            checks = [check for one in compared for check in one.checks if check.bound == bound]
            yield f"{bound.words}: {_mean([*_judged(checks)])}"


def _judged(checks: Iterable[Check]) -> Iterator[int]:
    """The absolute errors of the checks that have a verdict, as the table shows them."""
    for check in checks:
        if check.error is not None and not check.noisy:
            yield abs(percent_off(check.error))


def _mean(errors: Sequence[int]) -> str:
    return f"{fmean(errors):.0f} %" if errors else NOT_AVAILABLE


def _speed(rows: Iterable[Row]) -> str:
    """Instructions of the regions of interest by the host's seconds of the whole runs, of which
    several may have been under way at the same time."""
    good = [row for row in rows if row["status"] == "ok"]
    seconds = sum(row["duration"] for row in good)
    counted = sum(value(row, "instructions") or 0 for row in good)
    if not seconds:
        return NOT_AVAILABLE
    return f"{counted / seconds / 1e6:.1f} million modelled instructions a second of the host"
