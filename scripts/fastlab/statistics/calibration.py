# SPDX-License-Identifier: GPL-2.0
"""The blocks of a comparison, and the A/A calibration."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fastlab.base.metrics import REAL, Metric
from fastlab.base.model import Workload
from fastlab.plan.paired_plan import (
    BLOCK,
    NOTHING,
    Dataset,
    PairedRow,
    Plan,
    events_of,
    why_missing,
)
from fastlab.plan.rows import value
from fastlab.statistics.findings import Verdict, no_run
from fastlab.statistics.significance import (
    ALARM,
    MIN_BLOCKS,
    Noise,
    Test,
    holm,
    measure_noise,
    paired_test,
)


def planned_blocks(plan: Plan, noises: Iterable[Noise]) -> int:
    """The number of blocks of each comparison that find the plan's effect, given the noise of the
    primary metric; at most the plan's `max_blocks`."""
    effect = np.log1p(plan.effect_pct / 100)
    comparisons = len(plan.workloads) * len(plan.variants)
    sizes = range(MIN_BLOCKS, plan.max_blocks)

    def needed(noise: Noise) -> int:
        def suffices(blocks: int) -> bool:
            return bool(noise.detectable(blocks, comparisons) <= effect)

        # The more blocks, the less is detectable.
        return MIN_BLOCKS + bisect_left(sizes, True, key=suffices)

    return max(map(needed, noises), default=plan.max_blocks)


@dataclass(frozen=True)
class Blocks:
    """One metric of one comparison: each side's runs, and the log ratios of its complete blocks.

    `reason` says why there is nothing to test; `verdict` follows from it.
    """

    sides: tuple[tuple[float, ...], tuple[float, ...]]
    means: tuple[float | None, float | None]
    ratios: tuple[float, ...]
    verdict: Verdict | None
    reason: str


def blocks_of(rows: Sequence[PairedRow], metric: Metric, wanted: int) -> Blocks:
    """The blocks of a comparison, of which `wanted` were planned."""
    bad = [row for row in rows if row["status"] == "invalid"]
    if bad:
        return nothing("INVALID", f"{len(bad)} of {len(rows)} runs: {bad[0]['reason']}")
    extra = [row for row in rows if row["block"] >= wanted]
    if extra:
        return nothing("INVALID", f"{len(extra)} runs are of blocks beyond the {wanted} planned")
    good = [row for row in rows if row["status"] == "ok"]
    known = [(row, number) for row in good if (number := value(row, metric.name)) is not None]
    if not known:
        if good:
            return nothing("n/a", no_run(metric.name, why_missing(good, metric.name)))
        return nothing("incomplete", f"0 of {wanted} blocks are there")
    sides = tuple(
        tuple(number for row, number in known if row["side"] == label) for label in ("A", "B")
    )
    a, b = sides
    if len(known) < len(good):
        lack = len(good) - len(known)
        why = why_missing(good, metric.name)
        reason = f"{lack} of {len(good)} runs have no {metric.name}{f': {why}' if why else ''}"
        return Blocks((a, b), (None, None), (), "n/a", reason)
    halves: dict[int, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row, number in known:
        halves[row["block"]][row["side"] == "B"].append(number)
    whole = [half for half in halves.values() if len(half[0]) == len(half[1]) == BLOCK // 2]
    if len(whole) < wanted:
        reason = f"{len(whole)} of {wanted} blocks are whole"
        return Blocks((a, b), (None, None), (), "incomplete", reason)
    return whole_blocks((a, b), whole)


def whole_blocks(
    sides: tuple[tuple[float, ...], tuple[float, ...]],
    whole: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> Blocks:
    """Complete blocks: each one's A runs and B runs."""
    means = np.array([[np.mean(half) for half in block] for block in whole])
    if (means <= 0).any():
        count = int((means <= 0).any(axis=1).sum())
        reason = f"in {count} of {len(whole)} blocks a side is 0: there is no ratio"
        return Blocks(sides, (None, None), (), "n/a", reason)
    logs = np.log(means)
    centres = np.exp(logs.mean(axis=0))
    ratios = tuple(float(ratio) for ratio in logs[:, 1] - logs[:, 0])
    return Blocks(sides, (float(centres[0]), float(centres[1])), ratios, None, "")


def nothing(verdict: Verdict, reason: str) -> Blocks:
    """No blocks, for this reason."""
    return Blocks(((), ()), (None, None), (), verdict, reason)


@dataclass(frozen=True)
class Calibration:
    """The result of the A/A blocks. `noise` has no entry if the noise is unknown. `counting`
    compares the elapsed time with a group of events counted and without, as log ratios."""

    noise: dict[tuple[Workload, str], Noise]
    missing: dict[tuple[Workload, str], str]
    blocks: int | None
    alarms: frozenset[tuple[Workload, str]]
    counting: dict[tuple[Workload, str], Test]


def calibrate(dataset: Dataset) -> Calibration:
    """Judge the A/A blocks. `blocks` is the number of blocks for each comparison; None while the
    calibration of the primary metric is incomplete."""
    plan = dataset.plan
    noise: dict[tuple[Workload, str], Noise] = {}
    missing: dict[tuple[Workload, str], str] = {}
    for workload in plan.workloads:
        rows = dataset.by_events(workload, plan.baseline)
        for metric in REAL:
            events = events_of(plan, metric.name)
            if events is None:
                missing[workload, metric.name] = no_run(metric.name)
                continue
            blocks_found = blocks_of(rows[events], metric, plan.calibration_blocks)
            if blocks_found.ratios:
                noise[workload, metric.name] = measure_noise(blocks_found.ratios)
            else:
                missing[workload, metric.name] = blocks_found.reason
    primary = [noise.get((workload, plan.primary)) for workload in plan.workloads]
    known = [noise_of_workload for noise_of_workload in primary if noise_of_workload]
    alarms = set()
    for family in (True, False):
        keys = [key for key in noise if (key[1] == plan.primary) == family]
        corrected = holm(noise[key].p for key in keys)
        alarms |= {key for key, p in zip(keys, corrected, strict=True) if p <= ALARM}
    blocks = planned_blocks(plan, known) if len(known) == len(primary) else None
    counting = {
        (workload, events): test
        for workload in plan.workloads
        for events in plan.groups
        if (test := _perturbation(plan, dataset.by_events(workload, plan.baseline), events))
    }
    return Calibration(noise, missing, blocks, frozenset(alarms), counting)


def _perturbation(plan: Plan, rows: Mapping[str, Sequence[PairedRow]], events: str) -> Test | None:
    """The calibration's runs that count these events against those that count nothing, if
    complete."""
    halves: dict[int, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for counted, own_rows in ((False, rows[NOTHING]), (True, rows[events])):
        for row in own_rows:
            time = row["elapsed_ns"]
            if time and row["status"] == "ok":
                halves[row["block"]][counted].append(time)
    whole = [
        half for half in halves.values() if (len(half[0]), len(half[1])) == (BLOCK // 2, BLOCK)
    ]
    if len(whole) < plan.calibration_blocks:
        return None
    return paired_test(whole_blocks(((), ()), whole).ratios)
