# SPDX-License-Identifier: GPL-2.0
"""An A/B experiment on a real machine: what is fixed before the first run, and its raw samples.

A comparison is made of blocks, each of four runs in the order ABBA or BAAB, A being the baseline
and B a variant: what drifts steadily during a block is the same on both sides. Which of the two
orders a block has is random, so that what only the first or the last run of a block meets falls
on either side by chance. The blocks in which the baseline stands against itself are the
calibration.

Where the variants run on two kernels, a boot is part of a block: its order is AABB or BBAA, each
side in a boot of its own, that no other block of the comparison shares. What a boot happens to be
like is then in every block anew, those of the calibration too, and so in the noise.

No run counts more than the CPU can count at once: each place in a block is a run for each group of
events (Plan.groups), one after the other, and a metric is that of the runs that count it. In each
calibration block two more runs count nothing, one behind the runs of its first place and one before
those of its last. What counting does to the elapsed time is seen in them.

The backends `perf`, `soft` and `kvm` append a PairedRow for each Slot to runs.jsonl.
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
# Of two kernels. Each side is one boot; a third one for each block would buy less than more blocks.
BOOT_ORDERS: tuple[tuple[Label, ...], ...] = (("A", "A", "B", "B"), ("B", "B", "A", "A"))
BLOCK = 4

# What the kernel counts without hardware counters, by fast-stat's word for all of it.
SOFTWARE = "software"
# fast-stat's word for a run that only takes its time.
NOTHING = "none"

# The backend whose every run is a guest of its own: there two kernels take turns as policies do.
GUESTS = "kvm"
# The backends that have hardware counters, where the machine has them.
COUNTING = ("perf", GUESTS)


class PairedRow(Row):
    """A run of a block. `policy` and `kernel` are those of its side; `pair` names the variant that
    stands against the baseline in this block, in a calibration block the baseline itself. `events`
    is what fast-stat was asked to count, and `others` says why others may have run on the CPUs that
    it counted, if they may. `boot` is the kernel's boot_id. `knobs` are all that the running
    kernel has.

    `circumstances` are a record of plan.circumstances. `latency` is that of a run of its own, made
    after the one that all other fields are of. `latency_missing` says of those of LATENCIES that it
    lacks why they were not measured.
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

    `effect_pct` is the smallest effect worth finding: the calibration says how many blocks that
    takes, up to `max_blocks`. It is one number for the whole experiment, and no result changes it.
    `boots`: the variants run on two kernels, and a boot is part of a block. `groups` are lists of
    events as fast-stat takes them, and a run counts one of them; times are those of the first's
    runs. `latencies`: a second run follows each of these, and measures them. `cpu_list` has the
    machine's CPUs that all runs are kept to; None in plans of before that was looked at.
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
    """One run to make: `side` B runs the variant `pair`, A the baseline. `events` are counted."""

    workload: Workload
    pair: str
    block: int
    position: int
    side: Label
    events: str

    @property
    def key(self) -> str:
        """Its row's. The plan, which does not change, says everything else."""
        load = self.workload
        words = (load.benchmark, load.threads, self.pair, self.block, self.position)
        return "-".join(map(str, words))


@dataclass(frozen=True)
class Dataset:
    """A plan and the rows made for it, good and bad; of a run that was made again only the last."""

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
        """The rows of one comparison, by what their runs counted; each of the plan's groups is
        there."""
        by_group: dict[str, list[PairedRow]] = {
            events: [] for events in (*self.plan.groups, NOTHING)
        }
        for row in self.of(workload, pair):
            by_group.setdefault(row["events"], []).append(row)
        return by_group


def make_plan(experiment: Experiment, backend: str) -> Plan:
    """The plan of an experiment's A/B. Raises FastError where the primary metric is not one, and
    for what only the simulation has."""
    if experiment.matrix:
        raise FastError(
            f"a [matrix] is for the simulation: backend {backend} has one machine; leave it out "
            "of the experiment file, or use --backend sim"
        )
    for variant in experiment.variants:
        if variant.features or variant.kernel not in ("baseline", "fast"):
            raise FastError(
                f"variant {variant.name} is a control of the simulation (features, kernel "
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
    """The plan with what can be counted here. Raises FastError if that lacks the primary metric."""
    counted = replace(plan, groups=tuple(groups))
    if events_of(counted, plan.primary) is None:
        raise FastError(
            f"primary = {plan.primary} cannot be counted on this CPU, which counts "
            f"{', '.join(groups)}; in the experiment file, choose another one, such as elapsed_ns"
        )
    return counted


def events_of(plan: Plan, metric: str) -> str | None:
    """The group whose runs a metric is taken from; None: no run counts it."""
    if NAMED[metric].source == "kernel":
        return next((group for group in plan.groups if SOFTWARE in group.split(",")), None)
    if metric not in HARDWARE:
        return plan.groups[0]
    needed = set(NAMED[metric].needs)
    return next((group for group in plan.groups if needed <= set(group.split(","))), None)


def slots(plan: Plan, pairs: Iterable[str], blocks: int) -> Iterator[Slot]:
    """The runs of so many blocks of each pair and workload, in the order to make them.

    Blocks vary slowest: an experiment that is interrupted has as much of everything.
    """
    names = tuple(pairs)
    for block in range(blocks):
        for workload in plan.workloads:
            for pair in names:
                # Of its own seed: what else is planned does not change a block's order.
                where = f"{plan.seed} {workload.benchmark} {workload.threads} {pair} {block}"
                if plan.boots:
                    # The same for all comparisons, so that they share their boots.
                    where = f"{plan.seed} {block}"
                order = random.Random(where).choice(BOOT_ORDERS if plan.boots else ORDERS)
                runs = _runs(plan, order, calibrating=pair == plan.baseline)
                for position, (label, events) in enumerate(runs):
                    yield Slot(workload, pair, block, position, label, events)


def _runs(plan: Plan, order: Sequence[Label], calibrating: bool) -> Iterator[tuple[Label, str]]:
    """A block's runs. What drifts steadily is the same for those that count nothing, too, and where
    each side is a boot, each boot has one."""
    for place, label in enumerate(order):
        if calibrating and place == len(order) - 1:
            yield label, NOTHING
        for events in plan.groups:
            yield label, events
        if calibrating and place == 0:
            yield label, NOTHING


def runs_of_a_block(plan: Plan, pair: str) -> int:
    """How many they are."""
    return sum(1 for _ in _runs(plan, ORDERS[0], calibrating=pair == plan.baseline))


def variant_of(plan: Plan, slot: Slot) -> str:
    """The name of the variant that a slot runs."""
    return slot.pair if slot.side == "B" else plan.baseline


def make_dataset(plan: Plan, rows: Iterable[Row]) -> Dataset:
    """The dataset of the rows of a runs.jsonl. Raises FastError for a row that is no slot's."""
    given = list(rows)
    for number, row in enumerate(given, 1):
        missing = PairedRow.__required_keys__ - row.keys()
        if missing or row["backend"] != plan.backend:
            raise FastError(
                f"run {row['key']} is none of backend {plan.backend}'s blocks"
                f" (backend {row['backend']}; it lacks {', '.join(sorted(missing)) or 'nothing'}); "
                "give each backend a results directory of its own"
            )
        why = _misplaced(plan, cast(PairedRow, row))
        if why:
            raise FastError(
                f"runs.jsonl:{number}: run {row['key']} is none that plan.json has: {why}; delete "
                "the line (its run is then made again) or restore the file"
            )
    return Dataset(plan, tuple(cast(PairedRow, row) for row in latest(given)))


def _misplaced(plan: Plan, row: PairedRow) -> str:
    """Why a row is no slot's, or "". Blocks beyond those planned are the statistics' to judge."""
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
    return "" if row["key"] == key else f"its block and position are those of run {key}"


def why_missing(rows: Iterable[PairedRow], metric: str) -> str:
    """Why the metric is not available in those of the runs that lack it, "" if that is unknown."""
    latency = NAMED[metric].latency
    if not latency:
        return ""
    lacking = (row["latency_missing"] for row in rows if value(row, metric) is None)
    return first_reasons(missing.get(latency, f"there was no {latency}") for missing in lacking)


def first_reasons(given: Iterable[str]) -> str:
    """Two of the reasons, and how many more there are: with numbers in them that may be many."""
    reasons = list(dict.fromkeys(given))
    more = [f"and {len(reasons) - 2} reasons more"] if len(reasons) > 2 else []
    return "; ".join([*reasons[:2], *more])
