# SPDX-License-Identifier: GPL-2.0
"""Simulated A/B experiments with a known effect and known noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import samples

from fastlab.base.model import Workload
from fastlab.plan.circumstances import Activity, Circumstances, Environment, IdleState
from fastlab.plan.paired_plan import NOTHING, Dataset, PairedRow, Plan, Slot, slots
from fastlab.statistics.calibration import calibrate
from fastlab.statistics.findings import Finding, Findings

PLAN = Plan(
    name="real",
    backend="soft",
    primary="elapsed_ns",
    baseline="off",
    variants=("strict",),
    workloads=(Workload("single_ctr", 4),),
    seed=1,
)

QUIET = Environment(
    kernel="6.12.30-fast",
    command_line="quiet",
    cpu="Some CPU",
    cpus=4,
    microcode="0x1",
    governors=("performance",),
    turbo=False,
    smt="off",
    idle_states=(IdleState("POLL", 0), IdleState("C1", 2)),
    numa_nodes=1,
    numa_balancing=False,
    huge_pages="madvise",
    mitigations={"meltdown": "Not affected"},
    virtual=False,
    vendor="Some Vendor",
)
IDLE = Activity(ticks=1000, steal=0, load=0.0, others=0, throttled=0)
CIRCUMSTANCES = asdict(Circumstances(QUIET, IDLE, replace(IDLE, ticks=2000)))


def row(slot: Slot, elapsed_ns: float, **changes: Any) -> PairedRow:
    """The row of a slot that went well, but for `changes`. Only elapsed_ns has a value."""
    of = replace(samples.experiment(), workloads=(slot.workload,))
    made = samples.row(of, samples.run_of(of, "fast" if slot.side == "B" else "baseline"))
    given: dict[str, Any] = {
        **made,
        "backend": "soft",
        "key": slot.key,
        "variant": slot.pair if slot.side == "B" else "off",
        "counters": {},
        "elapsed_ns": elapsed_ns,
        "throughput": None,
        "thread_throughput": None,
        "context_switches": None,
        "migrations": None,
        "fairness": None,
        "pair": slot.pair,
        "side": slot.side,
        "block": slot.block,
        "position": slot.position,
        "events": slot.events,
        "others": None,
        "boot": "the only one",
        "circumstances": CIRCUMSTANCES,
        "latency": {},
        "latency_missing": {},
    }
    return given | changes  # type: ignore[return-value]


# A run's time, given its place in the experiment and whether it is B's.
Simulator = Callable[[Slot, int], float]


def simulator(
    rng: np.random.Generator, noise: float, effect: float = 0.0, drift: float = 0.0
) -> Simulator:
    """Lognormal noise; B is faster by `effect`; each run is slower than the last by `drift`."""

    def one(slot: Slot, number: int) -> float:
        factor = 1 - effect if slot.side == "B" and slot.pair != PLAN.baseline else 1.0
        return float(1e6 * factor * np.exp(noise * rng.standard_normal() + drift * number))

    return one


def measure(plan: Plan, pairs: Iterable[str], blocks: int, simulate: Simulator) -> list[PairedRow]:
    """The rows of all slots. A run that counts nothing takes as long as the one before it."""
    # Making a row from nothing takes longer than all statistics.
    template = row(Slot(plan.workloads[0], plan.baseline, 0, 0, "A", "software"), 0)
    rows: list[PairedRow] = []
    number, elapsed = 0, 0.0
    for slot in slots(plan, pairs, blocks):
        if slot.events != NOTHING:
            elapsed = simulate(slot, number)
            number += 1
        changes = {
            "key": slot.key,
            "benchmark": slot.workload.benchmark,
            "threads": slot.workload.threads,
            "variant": slot.pair if slot.side == "B" else plan.baseline,
            "pair": slot.pair,
            "side": slot.side,
            "block": slot.block,
            "position": slot.position,
            "events": slot.events,
            "elapsed_ns": elapsed,
        }
        rows.append({**template, **changes})  # type: ignore[typeddict-item]
    return rows


def experiment(plan: Plan, simulate: Simulator) -> Dataset:
    """Calibrate, plan the blocks, and make them."""
    calibration = measure(plan, [plan.baseline], plan.calibration_blocks, simulate)
    blocks = calibrate(Dataset(plan, tuple(calibration))).blocks
    assert blocks
    rows = calibration + measure(plan, plan.variants, blocks, simulate)
    return Dataset(plan, tuple(rows))


def simulate(plan: Plan, seed: int = 1, **how: float) -> Dataset:
    return experiment(plan, simulator(np.random.default_rng(seed), **how))


def primary(findings: Findings) -> Finding:
    (found,) = findings.of_metric(findings.primary)
    return found
