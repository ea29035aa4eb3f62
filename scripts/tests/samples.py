# SPDX-License-Identifier: GPL-2.0
"""Rows with a known effect, for the tests of what comes after the runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from fastlab.base.metrics import EVENTS, MODEL_UNITS
from fastlab.base.model import Experiment, Kernel, Machine, Run, Variant, Workload
from fastlab.plan.experiment import plan
from fastlab.plan.invocation import run_key, workload_argv
from fastlab.plan.plan_file import simulations
from fastlab.plan.row_making import Ending, build_row, simulated
from fastlab.plan.rows import Row
from fastlab.statistics import simulated as statistics
from fastlab.statistics.findings import Findings

BASELINE = Variant("baseline", "baseline")
FAST = Variant("fast", "fast", "strict")
ONE_CPU = Variant("onecpu", "baseline", cpus=1)
WAKE_CPU = Variant("wakecpu", "wakecpu")
# The first two variants as an experiment's file has them.
VARIANTS = """
[[variant]]
name = "baseline"
kernel = "baseline"

[[variant]]
name = "fast"
kernel = "fast"
policy = "strict"
"""
MECHANISM = {
    "hint_set": 100,
    "hint_mm": 0,
    "hint_class": 0,
    "used": 60,
    "same_cpu": 20,
    "moot": 4,
    "rejected_affinity": 1,
    "rejected_offline": 0,
    "rejected_class": 0,
    "rejected_depth": 15,
    "delayed": 2,
    "balance_kept": 3,
}


def experiment(
    benchmarks: tuple[str, ...] = ("single_ctr",),
    threads: tuple[int, ...] = (4,),
    seeds: tuple[int, ...] = (1, 2, 3),
    variants: tuple[Variant, ...] = (BASELINE, FAST),
    oracle: tuple[str, ...] = (),
) -> Experiment:
    return Experiment(
        name="sample",
        series="6.12",
        machine=Machine(),
        variants=variants,
        baseline="baseline",
        workloads=tuple(
            Workload(name, count, ("--iterations=2000",))
            for name in benchmarks
            for count in threads
        ),
        seeds=seeds,
        oracle=oracle,
    )


def summarise(of: Experiment, rows: Iterable[Row]) -> Findings:
    """Of simulations of which no more is known."""
    return statistics.summarise(simulations(of), rows)


def arms(
    times: Mapping[str, Mapping[int, int]], threads: tuple[int, ...] = (4,), seeds: int = 1
) -> tuple[Experiment, list[Row]]:
    """An experiment of the arms baseline, onecpu, fast and wakecpu, the first three being the
    oracle's, and its rows: the elapsed ns of each arm by thread count, 10 % more for each further
    seed. An arm or a thread count that `times` does not have, was not run."""
    variants = (BASELINE, ONE_CPU, FAST, WAKE_CPU)
    oracle = ("baseline", "onecpu", "fast")
    of = experiment(("single_ctr",), threads, tuple(range(1, seeds + 1)), variants, oracle)
    rows = []
    for run in plan(of):
        time = times.get(run.variant.name, {}).get(run.workload.threads)
        if time is not None:
            elapsed = time * (9 + run.seed) // 10
            rows.append(row(of, run, {"elapsed_cycles": elapsed, "cycles": 2 * elapsed}))
    return of, rows


def document(elapsed_cycles: int = 1_000_000, **total: int) -> dict[str, Any]:
    """The plugin's document with these totals; each counter that is not named has 1000."""
    totals = {name: total.get(name, 1000) for name in MODEL_UNITS}
    kernel = {name: value // 4 for name, value in totals.items()}
    user = {name: value - kernel[name] for name, value in totals.items()}
    idle = {name: 77 for name in MODEL_UNITS}
    return {
        "schema": 1,
        "preset": "rx4640",
        "cpus": 4,
        "mhz": 1000,
        "elapsed_cycles": elapsed_cycles,
        "total": {"user": user, "kernel": kernel, "idle": idle},
        "latencies": {"handoff": latency(900), "wakeup": latency(2600)},
    }


def futex(address: int, **changes: Any) -> dict[str, Any]:
    """A futex of the plugin's document, with ten hand-offs."""
    counts = {"wakes": 12, "handoffs": 10, "pi_unlocks": 0, "left": 5, "local": 6, "remote": 2}
    spans = {
        "handoff": {"count": 8, "ns": 8000},
        "hold_local": {"count": 6, "ns": 1200},
        "hold_remote": {"count": 2, "ns": 1800},
        "outside": {"count": 4, "ns": 40000},
    }
    return {"program": True, "address": address, "moved": 1, **counts, **spans, **changes}


def latency(median: int) -> dict[str, int | None]:
    """Of 40 hand-offs, or wake-ups, in ns; the longest take ten times as long."""
    times = {"mean": 2, "p50": 1, "p90": 4, "p99": 10, "p99.9": 10, "max": 10}
    return {"count": 40, **{f"{name}_ns": times[name] * median for name in times}}


def output(run: Run, **changes: Any) -> dict[str, Any]:
    """The benchmark's JSON object."""
    return {
        "schema": 1,
        "benchmark": run.workload.benchmark,
        "threads": run.workload.threads,
        "iterations": 2000,
        "seed": run.seed,
        "elapsed_ns": 1_000_000,
        "throughput": 2000.0,
        "context_switches": 50,
        "migrations": 10,
        "fairness": 0.9,
        "thread_throughput": [500.0] * run.workload.threads,
        "check": "ok",
        "check_detail": "",
    } | changes


PROFILE = {
    "locks": 400,
    "contended": 100,
    "barriers": 40,
    "flags": 0,
    "lock_ns": 1_000_000,
    "barrier_ns": 2_000_000,
    "flag_ns": 0,
}


def row(
    of: Experiment,
    run: Run,
    counters: Mapping[str, int] | None = None,
    changes: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Row:
    """The row of a run that went well, but for `changes` of its output and `arguments`."""
    kernel = Kernel(of.series, run.variant.kernel, f"kernel-{run.variant.kernel}", "", "")
    given: dict[str, Any] = {
        "run": run,
        "argv": workload_argv(run.workload, run.seed),
        "kernel": kernel,
        "key": run_key(run, kernel.id, "tools"),
        "tools_id": "tools",
        "document": document(**(counters or {})),
        "output": output(run, **(changes or {})),
        "mechanism": MECHANISM if run.variant.kernel == "fast" else None,
        "exit_status": 0,
        "duration": 12.5,
    }
    given |= arguments
    measured = simulated(run.machine, given.pop("document"), given["output"])
    ending = Ending(
        **{one.name: given.pop(one.name) for one in fields(Ending) if one.name in given}
    )
    return build_row(measured=measured, ending=ending, **given)


def run_of(of: Experiment, variant: str, seed: int = 1) -> Run:
    """The first workload's run of this variant and seed."""
    return next(run for run in plan(of) if run.variant.name == variant and run.seed == seed)


# What the plugin tells of a run's instructions: one of the kernel's, and one of a program's that
# lies in no file. Cycles are hundredths: 5 of them, of which 1 is a stall.
SYSTEM_MAP = "ffffffff81000010 T try_to_wake_up\n"
ATTRIBUTED = {
    "cycle": 100,
    "events": list(EVENTS),
    "code": [
        {"mode": "user", "program": True, "instructions": [[4096, 200, *[1] * 8]]},
        {
            "mode": "kernel",
            "program": False,
            "instructions": [[0xFFFFFFFF81000010, 300, 100, *[2] * 7]],
        },
    ],
    "lines": [],
    "per_cpu": [],
}
