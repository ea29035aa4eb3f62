# SPDX-License-Identifier: GPL-2.0
"""What a table is made of: the JSON file of an experiment or of a command, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NOTHING = "n/a"
# A row's status, and what stands for its figures then.
FAILED = "failed"

Lines = list[Sequence[str]]
Key = tuple[str, int]


class Unfinished(Exception):
    """Of which row nothing is there yet, though it has not failed."""


@dataclass(frozen=True)
class Results:
    """One experiment's summary.json. A row's key is its benchmark and its threads; an experiment
    with a matrix has several rows of a key, told apart by `where`."""

    document: dict[str, Any]

    @property
    def keys(self) -> list[Key]:
        found = dict.fromkeys((row["benchmark"], row["threads"]) for row in self.document["rows"])
        return list(found)

    def rows_of_rounds(self) -> list[dict[str, Any]]:
        """Those of `fast bench theses`, of which none was still to be measured."""
        rows = list(self.document["rows"])
        for row in rows:
            if row["status"] == "ok" and not row["rounds"]:
                raise Unfinished(f"{row['program']}, {row['contender']}: no round")
        return rows

    @property
    def baseline(self) -> str:
        return str(self.document["baseline"])

    @property
    def others(self) -> list[str]:
        return list(self.document["variants"])

    @property
    def simulation(self) -> dict[str, Any]:
        return dict(self.document["simulation"])

    @property
    def arms(self) -> list[str]:
        return [self.baseline, *self.others]

    def row(self, arm: str, key: Key, metric: str, **where: int) -> dict[str, Any] | None:
        for row in self.document["rows"]:
            if (
                (row["variant_name"], row["metric"]) == (arm, metric)
                and (row["benchmark"], row["threads"]) == key
                and all(row[axis] == value for axis, value in where.items())
            ):
                return dict(row)
        return None

    def mean(self, arm: str, key: Key, metric: str) -> float | None:
        """An arm's own figure; the baseline's stands in every row."""
        is_baseline = arm == self.baseline
        for other in self.others if is_baseline else [arm]:
            row = self.row(other, key, metric)
            if row and row["baseline" if is_baseline else "variant"] is not None:
                return float(row["baseline" if is_baseline else "variant"])
        return None

    def improvement(self, arm: str, key: Key, metric: str) -> float | None:
        row = self.row(arm, key, metric)
        return row["improvement_pct"] if row else None

    def spread(self, arm: str, key: Key, metric: str, digits: int = 1, **where: int) -> str:
        """Improvement ± its standard deviation."""
        row = self.row(arm, key, metric, **where)
        if not row or row["improvement_pct"] is None:
            return NOTHING
        mean = decimal(row["improvement_pct"], digits)
        return mean if row["spread"] is None else f"{mean} ± {row['spread']:.{digits}f}"


def entry(part: Sequence[dict[str, Any]], arm: str, key: Key) -> dict[str, Any]:
    """What a part of a summary besides its rows has of an arm; StopIteration if nothing."""
    return next(
        one
        for one in part
        if (one["variant_name"], one["benchmark"], one["threads"]) == (arm, *key)
    )


def decimal(value: float | None, digits: int = 1) -> str:
    """Without a minus before nothing."""
    if value is None:
        return NOTHING
    return f"{round(value, digits) + 0.0:.{digits}f}"


def whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def millis(ns: float | None) -> str:
    return decimal(None if ns is None else ns / 1e6)


METRICS = {
    "elapsed_ns": "elapsed",
    "cycles": "cycles",
    "bus_requests": "bus requests",
    "l2_misses": "L2 misses",
    "l3_misses": "L3 misses",
}
