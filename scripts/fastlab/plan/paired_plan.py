# SPDX-License-Identifier: GPL-2.0
"""The plan of an A/B experiment on a real machine, fixed before the first run, and its raw samples.

A comparison consists of blocks of four runs in the order ABBA or BAAB; A is the baseline and B a
variant. A steady drift during a block affects both sides alike. The order of each block is random,
so an effect that only the first or the last run of a block meets falls on either side by chance. In
the blocks of the calibration the baseline is compared with itself.

If the variants run on two kernels, a boot is part of a block: the order is AABB or BBAA, and each
side has a boot of its own, which no other block of the comparison shares. The effect of a boot then
varies from block to block, also in the calibration, and is part of the noise.

A run counts no more events than the CPU counts at once: each place in a block is a run for each
group of events (Plan.groups), one after the other. A metric is taken from the runs that count it.
Each calibration block has two more runs that count nothing, one behind the runs of its first place
and one before the runs of its last place. They show how counting changes the elapsed time.

The backends `perf`, `soft` and `kvm` append a PairedRow to runs.jsonl for each Slot.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from fastlab.base.metrics import HARDWARE, NAMED, REAL
from fastlab.base.model import Experiment, FastError, Workload
from fastlab.base.text import shown
from fastlab.plan.experiment import check_primary
from fastlab.plan.rows import Row, latest, value

Label = Literal["A", "B"]
ORDERS: tuple[tuple[Label, ...], ...] = (("A", "B", "B", "A"), ("B", "A", "A", "B"))
# The orders for two kernels. Each side is one boot; more blocks are worth more than a third boot.
BOOT_ORDERS: tuple[tuple[Label, ...], ...] = (("A", "A", "B", "B"), ("B", "B", "A", "A"))
BLOCK = 4

# fast-stat's word for all events that the kernel counts without hardware counters.
SOFTWARE = "software"
# fast-stat's word for a run that only measures time.
NOTHING = "none"

# The backend in which every run is a guest: two kernels can take turns within a block.
GUESTS = "kvm"
# Backends with hardware counters, if the machine has them.
COUNTING = ("perf", GUESTS)


class PairedRow(Row):
    """A run of a block. `policy` and `kernel` belong to its side. `pair` names the variant that
    this block compares with the baseline; in a calibration block it names the baseline. `events` is
    what fast-stat counted. `others` says why other programs may have run on the counted CPUs; None:
    they did not. `boot` is the kernel's boot_id. `knobs` are all knobs of the running kernel.

    `circumstances` is a record of plan.circumstances. `latency` comes from a separate run, made
    after the run of all other fields. `latency_missing` has the reason for each of LATENCIES that
    was not measured.
    """

    pair: str
    side: Label
    block: int
    position: int
    events: str
    others: str | None
    boot: str
    circumstances: dict[str, Any]
    latency_missing: dict[str, str]


@dataclass(frozen=True)
class Plan:
    """Fixed before the first run. `primary` is the metric that the experiment is about.

    `effect_pct` is the smallest effect worth finding. The calibration computes the number of blocks
    for it, at most `max_blocks`: one number for the whole experiment, which no result changes.
    `boots`: the variants run on two kernels, and a boot is part of a block. `groups` are lists of
    events as fast-stat takes them; a run counts one group, and times come from runs of the first
    group. `latencies`: a second run after each run of the first group measures latencies.
    `cpu_list` has the CPUs to which all runs are confined; None in older plans.
    """

    name: str
    backend: str
    primary: str
    baseline: str
    variants: tuple[str, ...]
    workloads: tuple[Workload, ...]
    seed: int
    effect_pct: float = 5.0
    calibration_blocks: int = 12
    max_blocks: int = 40
    boots: bool = False
    latencies: bool = False
    groups: tuple[str, ...] = (SOFTWARE,)
    cpu_list: str | None = None


@dataclass(frozen=True)
class Slot:
    """A run to make: side B runs the variant `pair`, side A the baseline. `events` are counted."""

    workload: Workload
    pair: str
    block: int
    position: int
    side: Label
    events: str

    @property
    def key(self) -> str:
        """The key of the slot's row. The plan, which does not change, has everything else."""
        load = self.workload
        words = (load.benchmark, load.threads, self.pair, self.block, self.position)
        return "-".join(map(str, words))


@dataclass(frozen=True)
class Dataset:
    """A plan and its rows, good and bad; only the last row of a repeated run."""

    plan: Plan
    rows: tuple[PairedRow, ...]

    def of(self, workload: Workload, pair: str) -> list[PairedRow]:
        """The rows of one comparison."""
        return [
            row
            for row in self.rows
            if (row["benchmark"], row["threads"]) == (workload.benchmark, workload.threads)
            and row["pair"] == pair
        ]

    def by_events(self, workload: Workload, pair: str) -> dict[str, list[PairedRow]]:
        """The rows of one comparison by the group of events that their runs counted. Every group of
        the plan has an entry."""
        by_group: dict[str, list[PairedRow]] = {
            events: [] for events in (*self.plan.groups, NOTHING)
        }
        for row in self.of(workload, pair):
            by_group.setdefault(row["events"], []).append(row)
        return by_group


def make_plan(experiment: Experiment, backend: str) -> Plan:
    """The plan of an experiment's A/B comparison. Raises FastError if the backend does not measure
    the primary metric, and for features that only the simulation has."""
    if experiment.matrix:
        raise FastError(
            f"a [matrix] is for the simulation: backend {backend} has one machine; leave it out "
            "of the experiment file, or use --backend sim"
        )
    for variant in experiment.variants:
        if variant.features or variant.further or variant.kernel not in ("baseline", "fast"):
            settings = ", ".join(("features", *variant.further))
            raise FastError(
                f"variant {variant.name} is a control of the simulation ({settings}, kernel "
                f"{variant.kernel}), which backend {backend} does not have; leave it out of the "
                "experiment file, or use --backend sim"
            )
        if variant.cpus and backend != GUESTS:
            raise FastError(
                f"variant {variant.name} has cpus = {variant.cpus}: the running kernel cannot "
                "confine a program without telling it, and a program that is told starts fewer "
                "threads; leave the variant out of the experiment file, or use --backend sim or "
                "kvm, whose kernels can"
            )
    measured = [
        metric
        for metric in REAL
        if (experiment.latencies or not metric.latency)
        and (backend in COUNTING or metric.name not in HARDWARE)
    ]
    check_primary(experiment, backend, measured)
    return Plan(
        name=experiment.name,
        backend=backend,
        primary=experiment.primary,
        baseline=experiment.baseline,
        variants=tuple(
            variant.name for variant in experiment.variants if variant.name != experiment.baseline
        ),
        workloads=experiment.workloads,
        seed=experiment.seeds[0],
        boots=backend != GUESTS and len({arm.kernel for arm in experiment.variants}) > 1,
        latencies=experiment.latencies,
    )


def with_groups(plan: Plan, groups: Sequence[str]) -> Plan:
    """The plan with the groups that can be counted here. Raises FastError if none has the primary
    metric."""
    counted = replace(plan, groups=tuple(groups))
    if events_of(counted, plan.primary) is None:
        raise FastError(
            f"primary = {plan.primary} cannot be counted on this CPU, which counts "
            f"{', '.join(groups)}; in the experiment file, choose another one, such as elapsed_ns"
        )
    return counted


def events_of(plan: Plan, metric: str) -> str | None:
    """The group whose runs have the metric; None: no run counts it."""
    if NAMED[metric].source == "kernel":
        return next((group for group in plan.groups if SOFTWARE in group.split(",")), None)
    if metric not in HARDWARE:
        return plan.groups[0]
    needed = set(NAMED[metric].needs)
    return next((group for group in plan.groups if needed <= set(group.split(","))), None)


def slots(plan: Plan, pairs: Iterable[str], blocks: int) -> Iterator[Slot]:
    """The runs of the first `blocks` blocks of each pair and workload, in the order to make them.

    Blocks vary slowest: an interrupted experiment has equally many of each comparison.
    """
    names = tuple(pairs)
    for block in range(blocks):
        for workload in plan.workloads:
            for pair in names:
                # A seed for each block: its order does not depend on the rest of the plan.
                where = f"{plan.seed} {workload.benchmark} {workload.threads} {pair} {block}"
                if plan.boots:
                    # All comparisons have the same order, and share their boots.
                    where = f"{plan.seed} {block}"
                order = random.Random(where).choice(BOOT_ORDERS if plan.boots else ORDERS)
                runs = _runs(plan, order, calibrating=pair == plan.baseline)
                for position, (label, events) in enumerate(runs):
                    yield Slot(workload, pair, block, position, label, events)


def _runs(plan: Plan, order: Sequence[Label], calibrating: bool) -> Iterator[tuple[Label, str]]:
    """The runs of a block. Runs that count nothing stand symmetrically: a steady drift affects both
    sides alike. Where each side is a boot, each boot has one."""
    for place, label in enumerate(order):
        if calibrating and place == len(order) - 1:
            yield label, NOTHING
        for events in plan.groups:
            yield label, events
        if calibrating and place == 0:
            yield label, NOTHING


def runs_of_a_block(plan: Plan, pair: str) -> int:
    """The number of runs of a block."""
    return sum(1 for _ in _runs(plan, ORDERS[0], calibrating=pair == plan.baseline))


def variant_of(plan: Plan, slot: Slot) -> str:
    """The name of the variant that a slot runs."""
    return slot.pair if slot.side == "B" else plan.baseline


def make_dataset(plan: Plan, rows: Iterable[Row]) -> Dataset:
    """The dataset of the rows of a runs.jsonl. Raises FastError for a row that belongs to no
    slot."""
    given = list(rows)
    for number, row in enumerate(given, 1):
        missing = PairedRow.__required_keys__ - row.keys()
        if missing or row["backend"] != plan.backend:
            raise FastError(
                f"run {row['key']} does not belong to backend {plan.backend}"
                f" (backend {row['backend']}; it lacks {', '.join(sorted(missing)) or 'nothing'}); "
                "give each backend a results directory of its own"
            )
        why = _misplaced(plan, cast(PairedRow, row))
        if why:
            raise FastError(
                f"runs.jsonl:{number}: run {row['key']} is not in plan.json: {why}; delete "
                "the line (its run is then made again) or restore the file"
            )
    return Dataset(plan, tuple(cast(PairedRow, row) for row in latest(given)))


def _misplaced(plan: Plan, row: PairedRow) -> str:
    """Why a row belongs to no slot, or "". The statistics check the number of blocks."""
    workload = Workload(row["benchmark"], row["threads"])
    known = [(planned.benchmark, planned.threads) for planned in plan.workloads]
    if (workload.benchmark, workload.threads) not in known:
        return f"no workload is {workload.benchmark}, {workload.threads} threads"
    for name, allowed in (
        ("pair", (plan.baseline, *plan.variants)),
        ("events", (*plan.groups, NOTHING)),
    ):
        if row[name] not in allowed:  # type: ignore[literal-required]
            told = shown(row[name])  # type: ignore[literal-required]
            return f"{name} is {told}, and there are {', '.join(allowed)}"
    pair, block, position = row["pair"], row["block"], row["position"]
    if position >= runs_of_a_block(plan, pair):
        return f"position is {position}, and a block has {runs_of_a_block(plan, pair)} runs"
    key = Slot(workload, pair, block, position, row["side"], row["events"]).key
    return "" if row["key"] == key else f"its block and position belong to run {key}"


def why_missing(rows: Iterable[PairedRow], metric: str) -> str:
    """Why some of the runs lack the metric; "" if unknown."""
    latency = NAMED[metric].latency
    if not latency:
        return ""
    lacking = (row["latency_missing"] for row in rows if value(row, metric) is None)
    return first_reasons(missing.get(latency, f"there was no {latency}") for missing in lacking)


def first_reasons(given: Iterable[str]) -> str:
    """Two of the reasons, and the number of further ones: reasons may contain numbers and be
    many."""
    reasons = list(dict.fromkeys(given))
    more = [f"and {len(reasons) - 2} reasons more"] if len(reasons) > 2 else []
    return "; ".join([*reasons[:2], *more])
