# SPDX-License-Identifier: GPL-2.0
"""The intervals runtime and its peers, side by side: the same benchmarks in one run.

All programs are measured in turn, round by round, so that whatever else the machine does meets
all of them. A value is the median over all measured runs of all rounds; its spread is the distance
of the quartiles as a share of the median. What cannot be measured is a row with its reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from fastlab.base.metrics import Better
from fastlab.base.model import UsageError
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table
from fastlab.statistics.estimates import estimate
from intervals_bench.one_run import BenchRun, PeerStatus, bench_run
from intervals_bench.programs import HOUSE
from intervals_bench.rounds import ENVIRONMENT, RoundSession, Turn

BENCHMARKS: tuple[str, ...] = (
    "fib",
    "fj",
    "fj_rec",
    "nqueens",
    "uts_t1",
    "uts_t3",
    "matmul",
    "sort",
    "reduce",
    "scan",
    "sor",
    "dag",
    "dfs",
    "chain",
    "wavefront",
    "idle",
    "wake",
    "enter",
    "loop",
    "restart",
)
OURS = "intervals"
SERIAL = "serial"
# Every runtime, and what brings a missing one.
RUNTIMES: dict[str, str] = {
    OURS: "build it",
    SERIAL: "build it",
    "tbb": "install the Debian packages g++ and libtbb-dev",
    "libgomp": "install the Debian package gcc",
    "libomp": "install the Debian packages clang and libomp-dev",
    "rayon": "install the Debian packages cargo and librust-rayon-dev",
    "lace": "name a checkout with --lace",
    "libfork": "name a checkout with --libfork",
}
UNITS = {"ns_per_task": "ns/task", "seconds": "s", "cpu_share": "% of a CPU", "ns": "ns"}
# The runtimes that sleep differ by noise only: no multiple of it is shown.
NOT_COMPARED = ("cpu_share",)

# As main.c has it.
MAX_WORKERS = 4096
TIMEOUT = 120.0
ROUNDS = 5


@dataclass(frozen=True)
class PeerRequest:
    """What to measure. Programs that have not ended after `timeout` seconds are killed."""

    benchmarks: tuple[str, ...] = BENCHMARKS
    runtimes: tuple[str, ...] = tuple(RUNTIMES)
    workers: tuple[int, ...] = ()
    rounds: int = ROUNDS
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        check_known("benchmark", self.benchmarks, BENCHMARKS)
        check_known("runtime", self.runtimes, RUNTIMES)
        if self.workers and self.workers[-1] > MAX_WORKERS:
            raise UsageError(
                f"--workers {self.workers[-1]}: the benchmarks have at most {MAX_WORKERS}; these "
                f"are threads, of which {len(os.sched_getaffinity(0))} run at a time here"
            )


@dataclass(frozen=True)
class PeerPoint:
    """One benchmark under one runtime with `workers` workers."""

    benchmark: str
    runtime: str
    workers: int

    def __str__(self) -> str:
        return f"{self.benchmark}, {self.runtime}, {self.workers} workers"


@dataclass(frozen=True)
class PeerRow:
    """A point's result. `value` is the median of its runs, `best` the least of them. `ratio` is the
    value over that of intervals with as many workers, more than 1 is slower; `speedup` is the value
    with one worker over this one. None: not available."""

    point: PeerPoint
    unit: str
    value: float | None
    best: float | None
    spread: float | None
    runs: int
    peak_kib: int | None
    ratio: float | None
    speedup: float | None
    status: PeerStatus
    reason: str


class PeerSession(RoundSession[PeerPoint]):
    """The peers' measurements."""

    def __init__(self, request: PeerRequest, programs: Mapping[str, Path]) -> None:
        """`programs` are the runtimes that were built."""
        super().__init__(points(request), request.rounds)
        self._timeout = request.timeout
        self._programs = programs
        for point, samples in self.samples.items():
            if point.runtime not in programs:
                samples.status, samples.reason = "not available", RUNTIMES[point.runtime]

    def rows(self) -> list[PeerRow]:
        medians = self.medians()
        return [self._row(point, medians) for point in self.samples]

    def _measure(self, turn: Turn[PeerPoint]) -> BenchRun:
        point = turn.point
        program = str(self._programs[point.runtime])
        command = [program, f"--workers={point.workers}", point.benchmark]
        return bench_run(command, self._timeout, {**ENVIRONMENT, **os.environ})

    def _row(self, point: PeerPoint, medians: Mapping[PeerPoint, float]) -> PeerRow:
        samples, measured, value = self.samples[point], self.values(point), medians.get(point)
        ours = medians.get(PeerPoint(point.benchmark, OURS, point.workers))
        alone = medians.get(PeerPoint(point.benchmark, point.runtime, 1))
        unit = samples.unit
        return PeerRow(
            point,
            unit,
            value,
            min(measured) if value is not None else None,
            estimate(measured).spread if value and len(measured) > 1 else None,
            len(measured),
            round(median(run.peak_kib for run in samples.runs)) if value is not None else None,
            _quotient(value, ours) if unit not in NOT_COMPARED else None,
            _quotient(alone, value) if unit in ("ns_per_task", "seconds") else None,
            *samples.ending(),
        )


def points(request: PeerRequest) -> list[PeerPoint]:
    """All of a round, in its order: the runtimes one after the other for the same work."""
    return [
        PeerPoint(benchmark, runtime, workers)
        for benchmark in request.benchmarks
        for workers in request.workers or default_workers()
        for runtime in request.runtimes
        # A program without a runtime has one thread.
        if runtime != SERIAL or workers == 1
    ]


def default_workers() -> tuple[int, ...]:
    """1, 2, 4, ... and as many as this process may use CPUs."""
    cpus = len(os.sched_getaffinity(0))
    powers = [1 << bit for bit in range(cpus.bit_length())]
    return tuple(sorted({*powers, cpus}))


def find_programs(build: Path, runtimes: Iterable[str] = RUNTIMES) -> dict[str, Path]:
    """The benchmark programs that a build directory has, by runtime."""
    directory = build / HOUSE / "bench"
    found = {}
    for runtime in runtimes:
        for path in (directory / f"bench-{runtime}", directory / f"runtimes/bench-{runtime}"):
            if path.is_file():
                found[runtime] = path
    return found


def check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """All names that there are not, in one UsageError."""
    wrong = [name for name in names if name not in known]
    if wrong:
        raise UsageError(f"no such {what}: {', '.join(wrong)}; there are {', '.join(known)}")


def record(row: PeerRow) -> dict[str, Any]:
    """A row of the JSON file."""
    own = ("best", "spread", "runs", "peak_kib", "ratio", "speedup", "status", "reason")
    value = {row.unit: row.value} if row.unit else {}
    return asdict(row.point) | value | {name: getattr(row, name) for name in own}


def table(rows: Sequence[PeerRow]) -> Table:
    """For people: a line for each row."""
    columns = ("benchmark", "workers", "runtime", "median", "unit", "± %", "peak MiB")
    return Table(
        "Task runtimes, side by side",
        (*columns, f"/ {OURS}", "speed-up"),
        [_line(row) for row in rows],
        "Median over all measured runs; ± is half the distance of the quartiles; "
        f"/ {OURS} is the value as a multiple of that of {OURS} with as many workers, more than "
        "1 is slower; speed-up is against one worker of the same runtime.",
        labels=3,
    )


def failures(rows: Iterable[PeerRow]) -> list[str]:
    """What is wrong with this project's own programs; a peer's failure is a row and no more."""
    return [
        f"{row.point.benchmark}, {row.point.workers} workers: {row.reason}"
        for row in rows
        if row.status == "failed" and row.point.runtime in (OURS, SERIAL)
    ]


def _quotient(value: float | None, other: float | None) -> float | None:
    return value / other if value is not None and other else None


def _line(row: PeerRow) -> list[Cell]:
    head = [Cell(row.point.benchmark), Cell(str(row.point.workers)), Cell(row.point.runtime)]
    if row.value is None:
        tone: Literal["loss", "aside"] = "loss" if row.status == "failed" else "aside"
        said = f"{row.status}: {row.reason}" if row.reason else row.status
        return [*head, Cell(NOT_AVAILABLE), Cell(said, tone=tone), *[Cell("")] * 4]
    return [
        *head,
        Cell(_number(row.value, row.unit)),
        Cell(UNITS.get(row.unit, row.unit)),
        Cell("" if row.spread is None else f"{50 * row.spread:.1f}"),
        Cell("" if row.peak_kib is None else f"{row.peak_kib / 1024:.1f}"),
        _ratio_cell(row),
        Cell("" if row.speedup is None or row.point.workers == 1 else f"{row.speedup:.2f}"),
    ]


def _number(value: float, unit: str) -> str:
    if unit == "cpu_share":
        return f"{100 * value:.4f}"
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def ratio_cell(ratio: float, better: Better) -> Cell:
    """What is shown as 1 is neither a gain nor a loss."""
    shown = round(ratio, 2)
    if shown == 1:
        return Cell(f"{shown:.2f}")
    return Cell(f"{shown:.2f}", tone="gain" if (shown > 1) == (better == "higher") else "loss")


def _ratio_cell(row: PeerRow) -> Cell:
    if row.ratio is None or row.point.runtime == OURS:
        return Cell("")
    return ratio_cell(row.ratio, "higher")
