# SPDX-License-Identifier: GPL-2.0
"""Rows that cannot be: what is in a results directory may have been edited, or made by others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastlab.base.metrics import LATENCIES, NAMED
from fastlab.base.model import BENCHMARKS, INTERVALS_BENCHMARKS, SPLASH_PROGRAMS
from fastlab.plan.rows import Row, RunLock

# Counted on a real machine and compared nowhere.
COUNTERS = (*NAMED, "page_faults")
STATUSES = ("ok", "invalid", "failed")
_WORKLOADS = (*BENCHMARKS, *INTERVALS_BENCHMARKS, *SPLASH_PROGRAMS)
# Fairness is none: it lies between 0 and 1.
_COUNTS = {"threads", "duration", *(NAMED.keys() & Row.__required_keys__)} - {"fairness"}

# Fields that are more than a value, where they are there at all.
_SHAPES: Mapping[str, type] = {
    "counters": dict,
    "mechanism": dict,
    "latencies": dict,
    "locks": list,
    "thread_throughput": list,
}


def impossible(row: Mapping[str, Any]) -> str:
    """What of a row cannot be, or "". Its fields are there."""
    return next(_impossible(row), "")


def _impossible(row: Mapping[str, Any]) -> Iterator[str]:
    for name, shape in _SHAPES.items():
        if row.get(name) is not None and not isinstance(row[name], shape):
            yield f"{name} is {row[name]!r}, and not a {shape.__name__}"
    if row["status"] not in STATUSES:
        yield f"unknown status {row['status']!r}; there are {', '.join(STATUSES)}"
    if row["benchmark"] not in _WORKLOADS:
        yield f"unknown benchmark {row['benchmark']!r}; there are {', '.join(_WORKLOADS)}"
    for name in sorted(_COUNTS):
        yield from _not_a_count(name, row[name])
    for number, rate in enumerate(row["thread_throughput"] or (), 1):
        yield from _not_a_count(f"thread_throughput of thread {number}", rate)
    fairness = row["fairness"]
    if fairness is not None and not (_is_number(fairness) and 0 <= fairness <= 1):
        yield f"fairness is {fairness!r}, and it lies between 0 and 1"
    for name, value in (row["mechanism"] or {}).items():
        yield from _not_a_count(f"mechanism {name}", value)
    for name, counter in row["counters"].items():
        yield from _counter(name, counter)
    for name, figures in row.get("latencies", {}).items():
        yield from _latency(name, figures)
    for lock in row.get("locks", ()):
        yield from _lock(lock)


def _counter(name: str, counter: Any) -> Iterator[str]:
    if name not in COUNTERS:
        yield f"unknown metric {name!r}; there are {', '.join(COUNTERS)}"
    if not isinstance(counter, dict) or not counter.keys() >= {"unit", "total"}:
        yield f"{name} has no unit or no total"
    parts = [counter[mode] for mode in ("user", "kernel") if mode in counter]
    for one in (counter["total"], *parts):
        yield from _not_a_count(name, one)
    if len(parts) == 2 and sum(parts) != counter["total"]:
        yield f"{name} is {counter['total']}, and user and kernel together are {sum(parts)}"


def _latency(name: str, figures: Any) -> Iterator[str]:
    if name not in LATENCIES:
        yield f"unknown latency {name!r}; there are {', '.join(LATENCIES)}"
    if not isinstance(figures, dict):
        yield f"{name} has no figures"
    for figure, value in figures.items():
        yield from _not_a_count(f"{name} {figure}", value)


def _lock(lock: Any) -> Iterator[str]:
    if not isinstance(lock, dict) or not (
        RunLock.__required_keys__ <= lock.keys() <= RunLock.__annotations__.keys()
    ):
        yield f"a lock is {lock!r}, and has not what a lock has"
    for name, figure in lock.items():
        if name == "name" or name.endswith("_in"):
            continue
        figures = figure.values() if isinstance(figure, dict) else [figure]
        for one in figures:
            yield from _not_a_count(f"{name} of lock {lock['name']}", one)


def _not_a_count(name: str, value: Any) -> Iterator[str]:
    if value is not None and not (_is_number(value) and value >= 0):
        yield f"{name} is {value!r}, and it is counted from 0"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
