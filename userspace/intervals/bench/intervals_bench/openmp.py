# SPDX-License-Identifier: GPL-2.0
"""OpenMP programs on libgomp, libomp and libintervals-gomp, side by side: what tasks take, without
cut-off, and what constructs and schedules of loops cost, by EPCC's method.

All are measured in turn, round by round, and in every other round in the opposite order, so that
whatever else the machine does meets all of them. Ours runs the same program as libgomp.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from fastlab.report.tables import NOT_AVAILABLE, Cell, Table
from fastlab.statistics.estimates import estimate
from intervals_bench.gomp_testsuite import check_library
from intervals_bench.one_run import BenchRun, PeerStatus, bench_run
from intervals_bench.peers import UNITS, check_known, ratio_cell
from intervals_bench.programs import HOUSE, OPENMP_LIBRARY
from intervals_bench.rounds import ENVIRONMENT, RoundSession, Turn

OURS = "libintervals-gomp"
REFERENCE = "libgomp"
# Each library, and whose compiler's programs it runs.
LIBRARIES: dict[str, str] = {REFERENCE: "libgomp", "libomp": "libomp", OURS: "libgomp"}

# BOTS' kernels, and their sizes: such that a task of several microseconds, as libgomp's may be with
# two threads, ends within seconds. Of uts only trees whose nodes are known can be checked.
KERNELS: dict[str, int] = {
    "fib": 25,
    "nqueens": 9,
    "uts_t1": 10,
    "uts_t3": 2000,
    "sort": 1 << 20,
    "fft": 1 << 20,
    "alignment": 20,
    "health": 5,
    "floorplan": 10,
    "sparselu_for": 20,
    "sparselu_single": 20,
    "strassen": 512,
}
CONSTRUCTS: tuple[str, ...] = (
    "parallel",
    "for",
    "parallel_for",
    "barrier",
    "single",
    "critical",
    "lock",
    "ordered",
    "atomic",
    "reduction",
)
CHUNKS = (1, 8, 64)
SCHEDULES: tuple[str, ...] = (
    "static",
    *(f"{kind}-{chunk}" for kind in ("static", "dynamic", "guided") for chunk in CHUNKS),
)
BENCHMARKS: tuple[str, ...] = (*KERNELS, *CONSTRUCTS, *SCHEDULES)
THREADS = (1, 2)
ROUNDS = 5
TIMEOUT = 120.0


@dataclass(frozen=True)
class OpenmpRequest:
    """What to measure."""

    benchmarks: tuple[str, ...] = BENCHMARKS
    threads: tuple[int, ...] = THREADS
    rounds: int = ROUNDS
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        check_known("benchmark", self.benchmarks, BENCHMARKS)


@dataclass(frozen=True)
class OpenmpPoint:
    """One benchmark on one library with `threads` threads."""

    benchmark: str
    library: str
    threads: int

    def __str__(self) -> str:
        return f"{self.benchmark}, {self.library}, {self.threads} threads"


@dataclass(frozen=True)
class OpenmpRow:
    """A point's result: the median of its values, the least, half the distance of the quartiles as
    a share of the median, and the median over libgomp's. None: not available, `reason` says why.

    What a construct costs is the difference of two times. Where its values are scattered around 0,
    or below it, the machine has changed by more than that between the two, and there is none.
    """

    point: OpenmpPoint
    unit: str
    value: float | None
    best: float | None
    spread: float | None
    runs: int
    ratio: float | None
    status: PeerStatus
    reason: str


def points(benchmarks: Iterable[str], threads: Sequence[int]) -> list[OpenmpPoint]:
    """All of a round: the libraries one after the other for the same work."""
    return [
        OpenmpPoint(benchmark, library, count)
        for benchmark in benchmarks
        for count in threads
        for library in LIBRARIES
    ]


class LibrarySession(RoundSession[OpenmpPoint]):
    """The same programs on each library."""

    def __init__(self, points: Sequence[OpenmpPoint], rounds: int, build: Path) -> None:
        """`build` has our library."""
        super().__init__(points, rounds)
        self._library = build / OPENMP_LIBRARY
        check_library(self._library)

    def environment(self, point: OpenmpPoint) -> dict[str, str]:
        """What a point's program is run with."""
        environment = {**ENVIRONMENT, **os.environ}
        if point.library == OURS:
            environment["LD_PRELOAD"] = str(self._library.resolve())
        return environment

    def missing(self, point: OpenmpPoint) -> None:
        """Its program is not there, since its library is not."""
        self.samples[point].status = "not available"
        self.samples[point].reason = "install the Debian packages clang and libomp-dev"

    def rows(self) -> list[OpenmpRow]:
        medians = self.medians()
        return [self._row(point, medians) for point in self.samples]

    def values(self, point: OpenmpPoint) -> list[float]:
        """A round is one value, however many a program gives; the first has its threads begin."""
        return [median(run.values) for run in self.samples[point].runs]

    def _order(self, number: int, points: list[OpenmpPoint]) -> Sequence[OpenmpPoint]:
        return points if number % 2 == 0 else points[::-1]

    def medians(self) -> dict[OpenmpPoint, float]:
        """The medians of points whose cost is measurable."""
        return {
            point: value
            for point, value in super().medians().items()
            if _told(value, self._spread(point))
        }

    def _spread(self, point: OpenmpPoint) -> float | None:
        measured = self.values(point)
        return estimate(measured).spread / 2 if len(measured) > 1 else None

    def _row(self, point: OpenmpPoint, medians: Mapping[OpenmpPoint, float]) -> OpenmpRow:
        samples, measured, value = self.samples[point], self.values(point), medians.get(point)
        reference = medians.get(OpenmpPoint(point.benchmark, REFERENCE, point.threads))
        status, reason = samples.ending()
        if status == "ok" and value is None:
            middle = f"{median(measured):.4g} {samples.unit}"
            status, reason = "not available", f"cannot be told from 0: the median is {middle}"
        return OpenmpRow(
            point,
            samples.unit,
            value,
            min(measured) if value is not None else None,
            self._spread(point) if value is not None else None,
            len(measured),
            value / reference if value and reference else None,
            status,
            reason,
        )


def _told(value: float, spread: float | None) -> bool:
    """Is it more than nothing, and more than half the distance of its quartiles?"""
    return value > 0 and (spread is None or spread < 1)


class OpenmpSession(LibrarySession):
    """The libraries' measurements."""

    def __init__(self, request: OpenmpRequest, build: Path) -> None:
        """`build` has the programs; a library that is not installed has none."""
        super().__init__(points(request.benchmarks, request.threads), request.rounds, build)
        self._timeout = request.timeout
        self._build = build
        for point in self.samples:
            if not self._program(point).is_file():
                self.missing(point)

    def _program(self, point: OpenmpPoint) -> Path:
        compiler = LIBRARIES[point.library]
        if point.benchmark in KERNELS:
            return self._build / HOUSE / f"bench/runtimes/bench-{compiler}"
        return self._build / HOUSE / f"openmp/bench/openmp-overheads-{compiler}"

    def _measure(self, turn: Turn[OpenmpPoint]) -> BenchRun:
        point = turn.point
        words = [str(self._program(point)), f"--workers={point.threads}"]
        if point.benchmark in KERNELS:
            words += ["--repeats=3", f"--size={KERNELS[point.benchmark]}"]
        return bench_run([*words, point.benchmark], self._timeout, self.environment(point))


def table(rows: Sequence[OpenmpRow]) -> Table:
    """For people: a line for each benchmark and number of threads."""
    by_point = {row.point: row for row in rows}
    lines = []
    for benchmark, threads in dict.fromkeys(
        (row.point.benchmark, row.point.threads) for row in rows
    ):
        found = [by_point[OpenmpPoint(benchmark, one, threads)] for one in LIBRARIES]
        unit = next((row.unit for row in found if row.unit), "")
        lines.append(
            [
                Cell(benchmark),
                Cell(str(threads)),
                Cell(UNITS.get(unit, unit)),
                *(_value_cell(row) for row in found),
                _ratio_cell(found[-1]),
            ]
        )
    return Table(
        "OpenMP programs on three libraries",
        ("benchmark", "threads", "unit", *LIBRARIES, f"/ {REFERENCE}"),
        lines,
        "Median over the rounds, ± half the distance of the quartiles; / libgomp is ours as a "
        "multiple of libgomp's, less than 1 is faster. Constructs and schedules: of one of them, "
        f"less the time of the same work without it; {NOT_AVAILABLE} where that difference cannot "
        "be told from 0, as on a machine that does something else, too.",
        labels=2,
    )


def _value_cell(row: OpenmpRow) -> Cell:
    if row.value is None:
        said = f"{row.status}: {row.reason}" if row.status == "failed" else NOT_AVAILABLE
        return Cell(said, tone="loss" if row.status == "failed" else "aside")
    spread = "" if row.spread is None else f" ± {100 * row.spread:.0f} %"
    return Cell(f"{row.value:.4g}{spread}")


def _ratio_cell(row: OpenmpRow) -> Cell:
    if row.ratio is None:
        return Cell(NOT_AVAILABLE, tone="aside")
    return ratio_cell(row.ratio, "lower")


def record(row: OpenmpRow) -> dict[str, Any]:
    """A row of the JSON file."""
    own = ("unit", "value", "best", "spread", "runs", "ratio", "status", "reason")
    return asdict(row.point) | {name: getattr(row, name) for name in own}


def failures(rows: Iterable[OpenmpRow]) -> list[str]:
    """What is wrong with ours; another library's failure is a row and no more."""
    return [
        f"{row.point}: {row.reason}"
        for row in rows
        if row.status == "failed" and row.point.library == OURS
    ]
