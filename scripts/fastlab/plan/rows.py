# SPDX-License-Identifier: GPL-2.0
"""One row per run: its types, its values, and the check that FAST acted."""

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
    """A counter over the region of interest. The simulation splits it into user and kernel; the
    idle loop is in none of the three."""

    user: int
    kernel: int


class KernelId(TypedDict):
    series: str
    variant: str
    id: str


@dataclass(frozen=True)
class Builds:
    """The builds of an experiment's simulations: kernels by the name that variants give, and the id
    of everything else."""

    kernels: Mapping[str, KernelId]
    tools: str


class Waits(TypedDict):
    """What the threads of a SPLASH-2 program did at locks, barriers and flags, summed over the
    threads. `contended` counts the locks that were taken after a wait. Times are in ns of the
    guest's clock."""

    locks: int
    barriers: int
    flags: int
    contended: int
    lock_ns: int
    barrier_ns: int
    flag_ns: int


class Spans(TypedDict):
    """A number of spans of modelled time, and their sum."""

    count: int
    ns: int


class _EveryRunLock(TypedDict):
    """A lock of the workload in a run, identified by its futex. `name` is the same in every run:
    the object's name, or its place in the heap. `taken_in` and `released_in` are the functions that
    took and released it. Documentation/cache-model.rst, "Futexes", explains the numbers."""

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
    """With attribution, also the places that allocated the lock's memory, if known: functions, with
    file and line of the call if available."""

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
    """Fields that only some arms, workloads, or kinds of machine have. `settings` are an arm's
    further ones (model.SETTINGS). `latencies` (simulation)
    has for each of LATENCIES the number of events, `count`, and mean and percentiles in ns, None
    without events (Documentation/latency.rst). `latency` (real machine) has a histogram: pairs of a
    bucket's upper end in ns and its number of events. `locks` (simulation) are the locks with most
    hand-offs, the first with most."""

    settings: dict[str, Any]
    profile: Waits
    latencies: dict[str, dict[str, int | None]]
    latency: dict[str, list[list[int]]]
    locks: list[RunLock]


AnyRow = TypeVar("AnyRow", bound=Row)


def kernel_id(kernel: Kernel) -> KernelId:
    """The kernel as a row holds it."""
    return KernelId(series=kernel.series, variant=kernel.variant, id=kernel.id)


def builds_of(kernels: Mapping[str, Kernel], tools_id: str) -> Builds:
    """The builds of kernels by the name that variants give."""
    return Builds({name: kernel_id(kernel) for name, kernel in kernels.items()}, tools_id)


def fired(mechanism: Mapping[str, int] | None) -> int:
    """How often FAST decided where a task runs."""
    return sum((mechanism or {}).get(name, 0) for name in DECIDED)


def without_silent(rows: Iterable[AnyRow], arm: Callable[[AnyRow], Hashable]) -> list[AnyRow]:
    """The rows. If FAST never fired in a whole arm, such as a variant's runs of a workload, the
    arm's rows become invalid."""
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
    """Why all runs of a variant and workload say nothing about the variant, or "".

    That is so if FAST fired in none of them. A single run without any event for FAST is a valid
    run: leaving it out would select runs by their result.
    """
    good = [row for row in rows if row["status"] == "ok"]
    # adaptive may decide to move no thread.
    if not good or good[0]["policy"] in ("off", "adaptive"):
        return ""
    if any(fired(row["mechanism"]) for row in good):
        return ""
    if all((row["mechanism"] or {}).get(HINTS) == 0 for row in good):
        return "FAST never fired: no wake-up of exactly one thread (hint_set = 0)"
    return f"FAST never fired: {' + '.join(FIRED)} = 0 with policy {good[0]['policy']}"


def value(row: Row, name: str) -> float | None:
    """A run's value of a metric, user and kernel together (section 3.1 of the paper); None: not
    available."""
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
    """The latency from a real machine's histogram, or from the simulation's figures."""
    metric = NAMED[name]
    figure = name.removeprefix(f"{metric.latency}_")
    if "latency" in row:
        return percentile(row["latency"].get(metric.latency, ()), PERCENTILES[figure])
    return row.get("latencies", {}).get(metric.latency, {}).get(f"{figure}_ns")


def percentile(histogram: Iterable[Sequence[int]], thousandths: int) -> float | None:
    """The upper end of the first bucket that, with all buckets before it, holds `thousandths` of
    the events."""
    buckets = sorted((end, count) for end, count in histogram if count)
    total = sum(count for _, count in buckets)
    seen = 0
    for end, count in buckets:
        seen += count
        if seen * 1000 >= thousandths * total:
            return float(end)
    return None


def latest(rows: Iterable[Row]) -> list[Row]:
    """One row per key: the row of a repeated run replaces the earlier one."""
    return list({row["key"]: row for row in rows}.values())


def finished_keys(rows: Iterable[Row]) -> set[str]:
    """Keys of runs that need not be made again. A failed run is repeated: it may not hang again."""
    return {row["key"] for row in latest(rows) if row["status"] != "failed"}


def counters_digest(rows: Iterable[Row]) -> str:
    """SHA-256 of everything that equal inputs must reproduce: all fields but the host's duration,
    and the fields that identify the tools, `key` and `tools`. Another QEMU that counts the same
    gives the same digest."""
    beside = {"duration", "key", "tools"}
    lines = sorted(
        json.dumps({name: v for name, v in row.items() if name not in beside}, sort_keys=True)
        for row in latest(rows)
    )
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
