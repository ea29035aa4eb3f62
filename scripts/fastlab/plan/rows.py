# SPDX-License-Identifier: GPL-2.0
"""One row per run: what a backend measured, and how the run is judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, TypeVar, cast

from fastlab.base.metrics import DECIDED, FIRED, HINTS, LATENCIES, MODEL_UNITS, NAMED, PERCENTILES
from fastlab.base.model import SCHEMA_VERSION, Kernel, Machine, Run
from fastlab.plan import presets

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


@dataclass(frozen=True)
class Measured:
    """What a backend measured in a run. `machine` says where, `complaint` why it cannot be trusted,
    "" if it can."""

    backend: str
    machine: dict[str, Any]
    counters: dict[str, Counter]
    elapsed_ns: int | None
    throughput: float | None
    complaint: str = ""
    latencies: Mapping[str, dict[str, int | None]] = field(default_factory=dict)


def simulated(
    machine: Machine, document: Mapping[str, Any] | None, output: Mapping[str, Any] | None
) -> Measured:
    """By the plugin's JSON document; `output` is the benchmark's. None: there was none."""
    document = document or {}
    elapsed = elapsed_ns(document)
    iterations = (output or {}).get("iterations")
    return Measured(
        "sim",
        machine_record(machine),
        _counters(document),
        elapsed,
        iterations * 1e9 / elapsed if iterations and elapsed else None,
        _complaint(machine, document),
        document.get("latencies", {}),
    )


@dataclass(frozen=True)
class Ending:
    """How a run ended. `output` is the benchmark's JSON object, `mechanism` what the kernel counted
    meanwhile, `exit_status` the benchmark's; each None if there was none. `duration` is host
    seconds. `failure` says what the executor saw go wrong (a hang, a panic)."""

    output: Mapping[str, Any] | None
    mechanism: Mapping[str, int] | None
    exit_status: int | None
    duration: float
    failure: str = ""


def build_row(
    *,
    run: Run,
    argv: Sequence[str],
    measured: Measured,
    kernel: Kernel,
    key: str,
    tools_id: str,
    ending: Ending,
) -> Row:
    """Make a run's row and judge it; `argv` is the benchmark's."""
    output = ending.output or {}
    status, reason = how_it_ended(run, ending, measured.complaint)
    row = Row(
        schema=SCHEMA_VERSION,
        key=key,
        kernel=kernel_id(kernel),
        tools=tools_id,
        variant=run.variant.name,
        policy=run.variant.policy,
        knobs=dict(run.variant.knobs),
        features=list(run.variant.features),
        cpus=run.variant.cpus,
        benchmark=run.workload.benchmark,
        threads=run.workload.threads,
        argv=list(argv),
        seed=run.seed,
        machine=measured.machine,
        backend=measured.backend,
        counters=measured.counters,
        check=output.get("check"),
        check_detail=output.get("check_detail", ""),
        mechanism=dict(ending.mechanism) if ending.mechanism is not None else None,
        elapsed_ns=measured.elapsed_ns,
        throughput=measured.throughput,
        thread_throughput=output.get("thread_throughput"),
        context_switches=output.get("context_switches"),
        migrations=output.get("migrations"),
        fairness=output.get("fairness"),
        exit_status=ending.exit_status,
        duration=ending.duration,
        status=status,
        reason=reason,
    )
    if profile := output.get("profile"):
        row["profile"] = cast(Waits, {name: profile[name] for name in Waits.__annotations__})
    if measured.latencies:
        row["latencies"] = dict(measured.latencies)
    return row


def kernel_id(kernel: Kernel) -> KernelId:
    """The kernel as a row holds it."""
    return KernelId(series=kernel.series, variant=kernel.variant, id=kernel.id)


def builds_of(kernels: Mapping[str, Kernel], tools_id: str) -> Builds:
    """Of kernels by the name that variants give."""
    return Builds({name: kernel_id(kernel) for name, kernel in kernels.items()}, tools_id)


def how_it_ended(run: Run, ending: Ending, complaint: str) -> tuple[Status, str]:
    """The run's status, and why it is not ok; `complaint` is the backend's.

    "failed": there is nothing to trust. "invalid": it ran, but not what its variant says: FAST
    fired with the policy off, or has no counters. Neither enters a comparison. That FAST never
    fired says nothing of one run: never_fired().
    """
    reason = ending.failure or _failure(run, ending.output or {}, ending.exit_status) or complaint
    if reason:
        return "failed", reason
    reason = _invalidity(run, ending.mechanism)
    return ("invalid" if reason else "ok"), reason


def elapsed_ns(document: Mapping[str, Any]) -> int | None:
    """The region's length by the modelled machine's own clock, to which no clock of the guest's
    adds its rounding. None: the document does not say."""
    cycles, mhz = document.get("elapsed_cycles"), document.get("mhz")
    return round(cycles * 1000 / mhz) if cycles and mhz else None


def machine_record(machine: Machine) -> dict[str, Any]:
    """The machine as a row holds it."""
    return {**guest_record(machine), "quantum": machine.quantum}


def guest_record(machine: Machine) -> dict[str, Any]:
    """What of the machine a guest has, too, that KVM executes: its sockets are the preset's."""
    return {
        "cpus": machine.cpus,
        "memory_mb": machine.memory_mb,
        "preset": machine.preset_name,
        "preset_id": presets.load(machine.preset).id,
    }


def _failure(run: Run, output: Mapping[str, Any], exit_status: int | None) -> str:
    """Why the run cannot be trusted, by the benchmark itself, or ""."""
    if output.get("check") == "failed":
        return f"self-check failed: {output.get('check_detail') or 'no detail'}"
    if exit_status is None:
        return "the guest ended without the benchmark's exit status"
    if exit_status != 0:
        return f"the benchmark ended with status {exit_status}"
    if not output:
        return "the benchmark printed no result"
    asked = {
        "benchmark": run.workload.benchmark,
        "threads": run.workload.threads,
        "seed": run.seed,
    }
    for name, value in asked.items():
        if output.get(name) != value:
            return f"the benchmark reports {name} {output.get(name)}, asked was {value}"
    if output.get("check") != "ok":
        return f"the benchmark reports check {output.get('check')}, neither ok nor failed"
    return ""


def _complaint(machine: Machine, document: Mapping[str, Any]) -> str:
    """Why the cache model's document cannot be trusted, or ""."""
    if not document:
        return "the cache model wrote no document: did the region of interest begin and end?"
    for name, value in {"preset": machine.preset_name, "cpus": machine.cpus}.items():
        if document.get(name) != value:
            return f"the cache model reports {name} {document.get(name)}, asked was {value}"
    for name in ("elapsed_cycles", "mhz"):
        if not document.get(name):
            return f"the cache model's document lacks {name}"
    for mode in ("user", "kernel"):
        missing = MODEL_UNITS.keys() - document.get("total", {}).get(mode, {}).keys()
        if missing:
            return f"the cache model's document lacks {', '.join(sorted(missing))} ({mode})"
    if not document.get("latencies", {}).keys() >= set(LATENCIES):
        return "the cache model's document lacks latencies: it is not of this version"
    return ""


def _invalidity(run: Run, mechanism: Mapping[str, int] | None) -> str:
    """Why the run says nothing about its variant, or ""."""
    if run.variant.policy == "off":
        times = fired(mechanism)
        return f"FAST fired {times} times with policy off" if times else ""
    if mechanism is None:
        return f"policy {run.variant.policy}, but the kernel has no mechanism counters"
    return ""


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


def _counters(document: Mapping[str, Any]) -> dict[str, Counter]:
    total = document.get("total", {})
    user, kernel = total.get("user", {}), total.get("kernel", {})
    return {
        name: Counter(
            unit=unit, user=user[name], kernel=kernel[name], total=user[name] + kernel[name]
        )
        for name, unit in MODEL_UNITS.items()
        if name in user and name in kernel
    }


def value(row: Row, name: str) -> float | None:
    """A run's value of a metric, user and kernel together (section 3.1); None: not available."""
    metric = NAMED[name]
    if metric.ratio:
        part, whole = (value(row, one) for one in metric.ratio)
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
