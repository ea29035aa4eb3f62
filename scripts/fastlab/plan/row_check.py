# SPDX-License-Identifier: GPL-2.0
"""Detects impossible rows: a results directory may come from another machine, or may have been
edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastlab.base import manifest
from fastlab.base.metrics import LATENCIES, NAMED
from fastlab.base.text import shown
from fastlab.plan.circumstances import from_record
from fastlab.plan.paired_plan import PairedRow
from fastlab.plan.rows import Row, RunLock

# page_faults is counted on a real machine and compared nowhere.
COUNTERS = (*NAMED, "page_faults")
LARGEST = 2**64
# Not fairness, which lies between 0 and 1.
_COUNTS = {"threads", "seed", "duration", *(NAMED.keys() & Row.__required_keys__)} - {"fairness"}


def impossible(row: Mapping[str, Any]) -> str:
    """Why a row is impossible, or "". All fields exist."""
    return next(_impossible(row), "")


def _impossible(row: Mapping[str, Any]) -> Iterator[str]:
    # `fast doctor` needs no package.
    import msgspec

    real = row["backend"] != "sim"
    try:
        msgspec.convert(row, PairedRow if real else Row)
    except msgspec.ValidationError as error:
        yield str(error)
    if real:
        yield from _of_a_block(row)
    known = manifest.benchmarks()
    # A program of the user has no number of threads.
    built_in = row["threads"] != 0
    if built_in and known and row["benchmark"] not in known:
        yield f"unknown benchmark {shown(row['benchmark'])}; there are {', '.join(known)}"
    for name in sorted(_COUNTS):
        yield from _no_count(name, row[name])
    if row["status"] == "ok" and row["elapsed_ns"] == 0:
        yield "elapsed_ns is 0; allowed: more than 0"
    for name in ("threads", "seed") if built_in else ():
        if (f"--{name}", str(row[name])) not in zip(row["argv"], row["argv"][1:], strict=False):
            yield f"{name} is {row[name]}, and argv says {' '.join(row['argv'])}"
    for number, rate in enumerate(row["thread_throughput"] or (), 1):
        yield from _no_count(f"thread_throughput of thread {number}", rate)
    fairness = row["fairness"]
    if fairness is not None and not 0 <= fairness <= 1:
        yield f"fairness is {fairness!r}, and it lies between 0 and 1"
    for name, value in (row["mechanism"] or {}).items():
        yield from _no_count(f"mechanism {name}", value)
    for name, counter in row["counters"].items():
        yield from _counter(name, counter)
    for name, figures in row.get("latencies", {}).items():
        yield from _no_latency(name)
        for figure, value in figures.items():
            yield from _no_count(f"{name} {figure}", value)
    for name, value in row.get("profile", {}).items():
        yield from _no_count(f"profile {name}", value)
    for lock in row.get("locks", ()):
        yield from _lock(lock)


def _of_a_block(row: Mapping[str, Any]) -> Iterator[str]:
    """Checks of fields that only rows of a real machine have."""
    for name in ("block", "position"):
        yield from _no_count(name, row[name])
    try:
        from_record(row["circumstances"])
    except ValueError as error:
        yield f"circumstances: {error}"
    for name in (*row.get("latency", {}), *row["latency_missing"]):
        yield from _no_latency(name)
    for name, histogram in row.get("latency", {}).items():
        for bucket in histogram:
            if len(bucket) != 2:
                yield f"a bucket of {name} is {shown(bucket)}; allowed: an end and a number"
            for number in bucket:
                yield from _no_count(f"a bucket of {name}", number)


def _no_latency(name: str) -> Iterator[str]:
    if name not in LATENCIES:
        yield f"unknown latency {name!r}; there are {', '.join(LATENCIES)}"


def _counter(name: str, counter: Mapping[str, Any]) -> Iterator[str]:
    if name not in COUNTERS:
        yield f"unknown metric {name!r}; there are {', '.join(COUNTERS)}"
    parts = [counter[mode] for mode in ("user", "kernel") if mode in counter]
    for number in (counter["total"], *parts):
        yield from _no_count(name, number)
    if len(parts) == 2 and sum(parts) != counter["total"]:
        yield f"{name} is {counter['total']}, and user and kernel together are {sum(parts)}"


def _lock(lock: Mapping[str, Any]) -> Iterator[str]:
    if not lock.keys() <= RunLock.__annotations__.keys():
        yield f"a lock is {lock!r}, with fields that no lock has"
    for name, figure in lock.items():
        if name == "name" or name.endswith("_in"):
            continue
        figures = figure.values() if isinstance(figure, dict) else [figure]
        for number in figures:
            yield from _no_count(f"{name} of lock {lock['name']}", number)


def _no_count(name: str, value: float | None) -> Iterator[str]:
    if value is not None and not 0 <= value < LARGEST:
        yield f"{name} is {shown(value)}; allowed: 0 to 2^64 - 1"
