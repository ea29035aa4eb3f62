# SPDX-License-Identifier: GPL-2.0
"""How the intervals runtime's workers steal, counted in a simulated machine of two nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from fastlab.base.model import SCHEMA_VERSION, Machine
from fastlab.base.progress import Reporter
from fastlab.bench.bench_machine import BenchMachine, run_each
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table

PROGRAM = "intervals_stealing"
# A package of this preset is a node.
MACHINE = Machine(cpus=8, preset="xeon-2s")
NODES = 2
# Booting takes the longer the more CPUs take their turns.
BOOT_SECONDS = 600.0

# Kernels and their sizes: the NUMA thesis' MATMUL, one task for each element of the product, and
# two recursive ones.
SIZES: Mapping[str, int] = {"matmul": 128, "nqueens": 8, "sort": 200000}
VICTIMS = ("random", "threshold", "domains", "domains-threshold")
# Half of the workers are on each node.
WORKERS = (2, 4, 6, 8)
SEEDS = 5


@dataclass(frozen=True)
class StealPoint:
    """One row of the measurement."""

    benchmark: str
    victims: str
    workers: int

    def __str__(self) -> str:
        return f"{self.benchmark}-{self.victims}-{self.workers}"


@dataclass(frozen=True)
class Steals:
    """What a run counted: attempts, those that got nothing, and of both those across nodes."""

    seed: int
    steals: int
    steal_failures: int
    steals_remote: int
    steal_failures_remote: int
    puts: int

    @property
    def got(self) -> int:
        """Attempts that got a task."""
        return self.steals - self.steal_failures

    @property
    def got_remote(self) -> int:
        """The remote steals of the thesis' Tables 4.2 and 4.3."""
        return self.steals_remote - self.steal_failures_remote


@dataclass(frozen=True)
class StealRequest:
    """What to measure; the defaults are all of it."""

    sizes: Mapping[str, int]
    workers: Sequence[int] = WORKERS
    seeds: int = SEEDS

    def points(self) -> list[StealPoint]:
        """In the order of the tables."""
        return [
            StealPoint(benchmark, victims, workers)
            for benchmark in self.sizes
            for workers in self.workers
            for victims in VICTIMS
        ]


Counts = Mapping[StealPoint, Sequence[Steals]]

EVERYTHING = StealRequest(SIZES)


def measure(reporter: Reporter, request: StealRequest) -> Counts:
    """Boot the baseline kernel once, and run every point in it, as many at a time as CPUs.

    The same sources, tools and request give the same counts.
    """
    machine = BenchMachine("bench-stealing", MACHINE, reporter, (PROGRAM,), BOOT_SECONDS, NODES)
    points = request.points()

    def count(point: StealPoint) -> Sequence[Steals]:
        name = str(point)
        # Which thief finds which victim depends on time, here the model's.
        outcome = machine.run(argv(point, request), machine.toolbox.plugin, name)
        return parse(outcome.output or {})

    counts: dict[StealPoint, Sequence[Steals]] = {}
    run_each((machine,), reporter, "counting steals", points, count, counts.__setitem__)
    return counts


def argv(point: StealPoint, request: StealRequest) -> list[str]:
    """The program's command line inside the guest."""
    size = request.sizes[point.benchmark]
    words = (point.benchmark, size, point.victims, point.workers, request.seeds)
    return [f"/bin/{PROGRAM}", *map(str, words)]


def parse(output: Mapping[str, Any]) -> list[Steals]:
    """The runs of the program's JSON line."""
    return [
        Steals(**{one.name: int(run[one.name]) for one in fields(Steals)}) for run in output["runs"]
    ]


def document(counts: Counts, request: StealRequest) -> dict[str, Any]:
    """For programs: every run's counts, and what they were counted in."""
    return {
        "schema": SCHEMA_VERSION,
        "machine": asdict(MACHINE),
        "rows": [
            {
                **asdict(point),
                "size": request.sizes[point.benchmark],
                "runs": [asdict(steals) for steals in runs],
            }
            for point, runs in counts.items()
        ],
    }


def tables(counts: Counts) -> list[Table]:
    """For people: the shapes of the NUMA thesis' Table 3.3, and of its Tables 4.2 and 4.3."""
    return [
        _table(
            counts,
            "Steal misses (NUMA thesis, Table 3.3)",
            ("random", "threshold"),
            ("attempts", "got nothing", "miss ratio"),
            _miss_cells,
            "Means over the seeds. Miss ratio: attempts that got nothing, of all attempts, up to "
            "the end of the kernel's last task.",
        ),
        _table(
            counts,
            "Remote and local steals (NUMA thesis, Tables 4.2 and 4.3)",
            ("random", "domains", "domains-threshold"),
            ("remote steals", "local steals", "remote misses", "miss ratio"),
            _remote_cells,
            "Means over the seeds. Remote: from a worker of the other node. Steals got a task, "
            "misses got nothing; miss ratio: remote misses of all remote attempts.",
        ),
    ]


def _table(
    counts: Counts,
    title: str,
    orders: Sequence[str],
    told: Sequence[str],
    cells: Callable[[Sequence[Steals]], list[Cell]],
    note: str,
) -> Table:
    """What is `told` of each of the orders in which victims are tried, side by side."""
    columns = ["benchmark", "workers"]
    for victims in orders:
        columns += [f"{victims}: {told[0]}", *told[1:]]
    rows = []
    for benchmark, workers in dict.fromkeys((one.benchmark, one.workers) for one in counts):
        row = [Cell(benchmark), Cell(str(workers))]
        for victims in orders:
            row += cells(counts[StealPoint(benchmark, victims, workers)])
        rows.append(row)
    return Table(title, columns, rows, note, labels=2)


def _miss_cells(runs: Sequence[Steals]) -> list[Cell]:
    return [
        Cell(_mean(run.steals for run in runs)),
        Cell(_mean(run.steal_failures for run in runs)),
        _ratio(sum(run.steal_failures for run in runs), sum(run.steals for run in runs)),
    ]


def _remote_cells(runs: Sequence[Steals]) -> list[Cell]:
    return [
        Cell(_mean(run.got_remote for run in runs)),
        Cell(_mean(run.got - run.got_remote for run in runs)),
        Cell(_mean(run.steal_failures_remote for run in runs)),
        _ratio(
            sum(run.steal_failures_remote for run in runs), sum(run.steals_remote for run in runs)
        ),
    ]


def _mean(values: Iterable[int]) -> str:
    numbers = list(values)
    return f"{sum(numbers) / len(numbers):.1f}"


def _ratio(part: int, whole: int) -> Cell:
    return Cell(f"{part / whole:.3f}") if whole else Cell(NOT_AVAILABLE, tone="aside")
