# SPDX-License-Identifier: GPL-2.0
"""One row per run: what a backend measured, and how the run is judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, TypeVar, cast

from fastlab.base.metrics import DECIDED, FIRED, HINTS, NAMED, PERCENTILES
from fastlab.base.model import Kernel

Status = Literal["ok", "invalid", "failed"]


class _EveryCounter(TypedDict):
    unit: str
    total: int


class Counter(_EveryCounter, total=False):
    """One counter over the region of interest. The simulation tells user and kernel apart, and has
    the idle loop in none of the three."""

    user: int
    kernel: int


class KernelId(TypedDict):
    series: str
    variant: str
    id: str


@dataclass(frozen=True)
class Builds:
    """What makes an experiment's simulations: a kernel by the name that variants give, and the id
    of all the rest."""

    kernels: Mapping[str, KernelId]
    tools: str


class Waits(TypedDict):
    """What a SPLASH-2 program's threads did at locks, barriers and flags, of all threads together;
    `contended` of the locks were not free. Nanoseconds are the guest's."""

    locks: int
    barriers: int
    flags: int
    contended: int
    lock_ns: int
    barrier_ns: int
    flag_ns: int


class Spans(TypedDict):
    """How many spans of modelled time, and their sum."""

    count: int
    ns: int


class _EveryRunLock(TypedDict):
    """A lock of the workload's in a run, by its futex. `name` is the same in every run: that of the
    object which it is, or where in the heap it lies; `taken_in` and `released_in` are functions
    that were seen to. Documentation/cache-model.rst, "Futexes", has what the numbers are."""

    name: str
    taken_in: list[str]
    released_in: list[str]
    wakes: int
    handoffs: int
    left: int
    local: int
    remote: int
    moved: int
    handoff: Spans
    hold_local: Spans
    hold_remote: Spans
    outside: Spans


class RunLock(_EveryRunLock, total=False):
    """And, where runs are attributed, the places that have allocated the memory it lies in, if it
    is known: functions, with file and line of the call if they have them."""

    allocated_in: list[str]


class _EveryRow(TypedDict):
    """One run. `None` says "not available"; times are seconds unless the name says otherwise."""

    schema: int
    key: str
    kernel: KernelId
    tools: str
    variant: str
    policy: str
    knobs: dict[str, int]
    features: list[str]
    cpus: int | None
    benchmark: str
    threads: int
    argv: list[str]
    seed: int
    machine: dict[str, Any]
    backend: str
    counters: dict[str, Counter]
    check: str | None
    check_detail: str
    mechanism: dict[str, int] | None
    elapsed_ns: int | None
    throughput: float | None
    thread_throughput: list[float] | None
    context_switches: int | None
    migrations: int | None
    fairness: float | None
    exit_status: int | None
    duration: float
    status: Status
    reason: str


class Row(_EveryRow, total=False):
    """And what only some workloads, or only one kind of machine, tell. Of each of LATENCIES the
    simulation's `latencies` have their number, `count`, and mean and percentiles in ns, None of
    none (Documentation/latency.rst); a real machine's `latency` has a histogram: pairs of a
    bucket's upper end in ns and the number of events in it. `locks` are the simulation's, those of
    most hand-offs first."""

    profile: Waits
    latencies: dict[str, dict[str, int | None]]
    latency: dict[str, list[list[int]]]
    locks: list[RunLock]


AnyRow = TypeVar("AnyRow", bound=Row)


def kernel_id(kernel: Kernel) -> KernelId:
    """The kernel as a row holds it."""
    return KernelId(series=kernel.series, variant=kernel.variant, id=kernel.id)


def builds_of(kernels: Mapping[str, Kernel], tools_id: str) -> Builds:
    """Of kernels by the name that variants give."""
    return Builds({name: kernel_id(kernel) for name, kernel in kernels.items()}, tools_id)


def fired(mechanism: Mapping[str, int] | None) -> int:
    """How often FAST decided where a task runs."""
    return sum((mechanism or {}).get(name, 0) for name in DECIDED)


def without_silent(rows: Iterable[AnyRow], arm: Callable[[AnyRow], Hashable]) -> list[AnyRow]:
    """The rows, those invalid in whose whole arm, such as a variant's runs of a workload, FAST
    never fired."""
    given = list(rows)
    arms: dict[Hashable, list[AnyRow]] = {}
    for row in given:
        arms.setdefault(arm(row), []).append(row)
    silent = {name: never_fired(own) for name, own in arms.items()}
    return [
        cast(AnyRow, {**row, "status": "invalid", "reason": silent[arm(row)]})
        if row["status"] == "ok" and silent[arm(row)]
        else row
        for row in given
    ]


def never_fired(rows: Iterable[Row]) -> str:
    """Why all runs of a variant and workload say nothing about that variant, or "".

    They do not if FAST fired in none. A run among others in which there was nothing to act on is
    as good as they are; to leave it out would be to choose runs by what came of them.
    """
    good = [row for row in rows if row["status"] == "ok"]
    # To leave every thread where it would be is a decision of adaptive's, too.
    if not good or good[0]["policy"] in ("off", "adaptive"):
        return ""
    if any(fired(row["mechanism"]) for row in good):
        return ""
    if all((row["mechanism"] or {}).get(HINTS) == 0 for row in good):
        return "FAST never fired: nothing to act on, no wake-up was of one thread (hint_set = 0)"
    return f"FAST never fired: {' + '.join(FIRED)} = 0 with policy {good[0]['policy']}"


def value(row: Row, name: str) -> float | None:
    """A run's value of a metric, user and kernel together (section 3.1); None: not available."""
    metric = NAMED[name]
    if metric.ratio:
        part, whole = (value(row, counter) for counter in metric.ratio)
        return part / whole if part is not None and whole else None
    if metric.latency:
        return _latency(row, name)
    if name == "fairness_min_max":
        threads = row["thread_throughput"]
        return min(threads) / max(threads) if threads and max(threads) else None
    if name in row:
        return row[name]  # type: ignore[literal-required, no-any-return]
    counter = row["counters"].get(name)
    return counter["total"] if counter else None


def _latency(row: Row, name: str) -> float | None:
    """Of a real machine's row, which has a histogram, or of the simulation's, which has figures."""
    metric = NAMED[name]
    figure = name.removeprefix(f"{metric.latency}_")
    if "latency" in row:
        return percentile(row["latency"].get(metric.latency, ()), PERCENTILES[figure])
    return row.get("latencies", {}).get(metric.latency, {}).get(f"{figure}_ns")


def percentile(histogram: Iterable[Sequence[int]], thousandths: int) -> float | None:
    """The upper end of the bucket that so many thousandths of all events do not exceed."""
    buckets = sorted((end, count) for end, count in histogram if count)
    total = sum(count for _, count in buckets)
    seen = 0
    for end, count in buckets:
        seen += count
        if seen * 1000 >= thousandths * total:
            return float(end)
    return None


def latest(rows: Iterable[Row]) -> list[Row]:
    """One row per key: a repeated run (a failed one made again) replaces the earlier row."""
    return list({row["key"]: row for row in rows}.values())


def finished_keys(rows: Iterable[Row]) -> set[str]:
    """Runs not to be made again. A failed run is tried again: the next one may not hang."""
    return {row["key"] for row in latest(rows) if row["status"] != "failed"}


def counters_digest(rows: Iterable[Row]) -> str:
    """SHA-256 of all that the same inputs must give again: everything but the host's duration.

    And but what made the runs, which `key` and `tools` stand for: another QEMU that counts the same
    gives the same digest.
    """
    beside = {"duration", "key", "tools"}
    lines = sorted(
        json.dumps({name: v for name, v in row.items() if name not in beside}, sort_keys=True)
        for row in latest(rows)
    )
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
