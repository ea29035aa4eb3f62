# SPDX-License-Identifier: GPL-2.0
"""What a backend measured in a run becomes a row, and the row gets its status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from fastlab.base.metrics import LATENCIES, MODEL_UNITS
from fastlab.base.model import SCHEMA_VERSION, Kernel, Machine, Run
from fastlab.plan import presets
from fastlab.plan.rows import Counter, Row, Status, Waits, fired, kernel_id


@dataclass(frozen=True)
class Measured:
    """What a backend measured in a run, and on which machine. `complaint` says why the measurement
    is invalid, or is ""."""

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
    """The measurement in the plugin's JSON document; `output` is the benchmark's document. None:
    there was none."""
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
    """How a run ended. `output` is the benchmark's JSON object, `mechanism` the kernel's counters
    over the run, `exit_status` the benchmark's; None: there was none. `duration` is in host
    seconds. `failure` is what the executor saw, such as a hang or a panic."""

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
    """Make a run's row with its status. `argv` is the benchmark's command line."""
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
    if run.variant.further:
        row["settings"] = run.variant.further
    if profile := output.get("profile"):
        row["profile"] = cast(Waits, {name: profile[name] for name in Waits.__annotations__})
    if measured.latencies:
        row["latencies"] = dict(measured.latencies)
    return row


def how_it_ended(run: Run, ending: Ending, complaint: str) -> tuple[Status, str]:
    """The run's status, and the reason if it is not ok. `complaint` is the backend's.

    failed: the measurement cannot be trusted. invalid: the run was not what its variant says: FAST
    fired with the policy off, or has no counters. Neither is compared. That FAST never fired is
    judged for a whole arm: never_fired().
    """
    reason = ending.failure or _failure(run, ending.output or {}, ending.exit_status) or complaint
    if reason:
        return "failed", reason
    reason = _invalidity(run, ending.mechanism)
    return ("invalid" if reason else "ok"), reason


def elapsed_ns(document: Mapping[str, Any]) -> int | None:
    """The region's length by the modelled machine's clock, which is more exact than any clock of
    the guest. None: the document does not have it."""
    cycles, mhz = document.get("elapsed_cycles"), document.get("mhz")
    return round(cycles * 1000 / mhz) if cycles and mhz else None


def machine_record(machine: Machine) -> dict[str, Any]:
    """The machine as a row holds it."""
    return {**guest_record(machine), "quantum": machine.quantum}


def guest_record(machine: Machine) -> dict[str, Any]:
    """The machine's fields that a KVM guest has, too: its sockets follow the preset."""
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
            return f"the benchmark reports {name} {output.get(name)}, not {value}"
    if output.get("check") != "ok":
        return f"the benchmark reports check {output.get('check')}, neither ok nor failed"
    return ""


def _complaint(machine: Machine, document: Mapping[str, Any]) -> str:
    """Why the cache model's document cannot be trusted, or ""."""
    if not document:
        return "the cache model wrote no document: did the region of interest begin and end?"
    for name, value in {"preset": machine.preset_name, "cpus": machine.cpus}.items():
        if document.get(name) != value:
            return f"the cache model reports {name} {document.get(name)}, not {value}"
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
