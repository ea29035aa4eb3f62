# SPDX-License-Identifier: GPL-2.0
"""The intervals runtime and its peers, side by side: the same benchmarks in one run.

All programs are measured in turn, round by round, so that whatever else the machine does meets
all of them. A value is the median over all measured runs of all rounds; its spread is the distance
of the quartiles as a share of the median. What cannot be measured is a row with its reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Literal

from fastlab.compare import write_files
from fastlab.environment import host
from fastlab.model import SCHEMA_VERSION, FastError
from fastlab.process import ask, ending
from fastlab.reporter import Reporter
from fastlab.tables import NOT_AVAILABLE, Cell, Table

Status = Literal["ok", "failed", "not available"]

BENCHMARKS: tuple[str, ...] = (
    "fib",
    "fj",
    "fj_rec",
    "nqueens",
    "uts_t1",
    "uts_t3",
    "matmul",
    "sort",
    "sor",
    "dag",
    "dfs",
    "chain",
    "wavefront",
    "idle",
    "wake",
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
    "java": "install the Debian package default-jdk-headless",
    "lace": "name a checkout with --lace",
    "libfork": "name a checkout with --libfork",
}
UNITS = {"ns_per_task": "ns/task", "seconds": "s", "cpu_share": "% of a CPU", "ns": "ns"}
# The runtimes that sleep differ by noise only: no multiple of it is shown.
NOT_COMPARED = ("cpu_share",)

# What a benchmark program ends with when the benchmark is not written for its runtime (main.c).
NOT_WRITTEN = 3
TIMEOUT = 120.0
ROUNDS = 5
# As deep as main.c makes the stacks of the runtimes that take a size from their program.
ENVIRONMENT = {"OMP_STACKSIZE": "64M"}
# Variables that change what is measured: they are written down.
TELLING = ("INTERVALS_", "OMP_", "KMP_", "GOMP_", "RAYON_", "JAVA_", "JDK_")


@dataclass(frozen=True)
class Request:
    """What to measure. Programs that have not ended after `timeout` seconds are killed."""

    benchmarks: tuple[str, ...] = BENCHMARKS
    runtimes: tuple[str, ...] = tuple(RUNTIMES)
    workers: tuple[int, ...] = ()
    rounds: int = ROUNDS
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        _known("benchmark", self.benchmarks, BENCHMARKS)
        _known("runtime", self.runtimes, RUNTIMES)


@dataclass(frozen=True)
class Point:
    """One benchmark under one runtime with so many workers."""

    benchmark: str
    runtime: str
    workers: int


@dataclass
class Samples:
    """What the rounds so far gave for a point. `reason` says why there will be no more."""

    unit: str = ""
    values: list[float] = field(default_factory=list)
    peaks_kib: list[int] = field(default_factory=list)
    status: Status = "ok"
    reason: str = ""


@dataclass(frozen=True)
class Row:
    """A point's result. `value` is the median of its runs, `best` the least of them. `ratio` is the
    value over that of intervals with as many workers, more than 1 is slower; `speedup` is the value
    with one worker over this one. None: not available."""

    point: Point
    unit: str
    value: float | None
    best: float | None
    spread: float | None
    runs: int
    peak_kib: int | None
    ratio: float | None
    speedup: float | None
    status: Status
    reason: str


class Session:
    """The measurements, round by round; what is there can be shown at any time."""

    def __init__(self, request: Request, programs: Mapping[str, Path]) -> None:
        """`programs` are the runtimes that were built."""
        self._request = request
        self._programs = programs
        self._samples = {point: Samples() for point in points(request)}
        for point, samples in self._samples.items():
            if point.runtime not in programs:
                samples.status = "not available"
                samples.reason = RUNTIMES[point.runtime]

    def run(self, reporter: Reporter) -> None:
        """All rounds. A point that failed is not tried again."""
        task = "measuring"
        reporter.start(task, self._request.rounds * len(self._samples))
        done = 0
        for _ in range(self._request.rounds):
            for point, samples in self._samples.items():
                reporter.advance(
                    task, done, f"{point.benchmark}, {point.runtime}, {point.workers} workers"
                )
                if samples.status == "ok":
                    self._measure(point, samples)
                done += 1
        reporter.finish(task)

    def rows(self) -> list[Row]:
        """One for each point, also for those that nothing is known of."""
        values = {
            point: median(samples.values)
            for point, samples in self._samples.items()
            if samples.values and samples.status == "ok"
        }
        return [_row(point, samples, values) for point, samples in self._samples.items()]

    def _measure(self, point: Point, samples: Samples) -> None:
        command = [
            str(self._programs[point.runtime]),
            f"--workers={point.workers}",
            point.benchmark,
        ]
        try:
            answer = ask(command, self._request.timeout, {**ENVIRONMENT, **os.environ})
        except FastError as error:
            _fail(samples, str(error))
            return
        if answer.status == NOT_WRITTEN:
            samples.status = "not available"
            samples.reason = "not written for this runtime"
            return
        if answer.status:
            _fail(samples, ending(answer.status, answer.errors))
            return
        _take(answer.output, samples)


def points(request: Request) -> list[Point]:
    """All of a round, in its order: the runtimes one after the other for the same work."""
    return [
        Point(benchmark, runtime, workers)
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


def find_programs(build: Path) -> dict[str, Path]:
    """The benchmark programs that a build directory has, by runtime."""
    directory = build / "userspace/intervals/bench"
    found = {}
    for runtime in RUNTIMES:
        for path in (directory / f"bench-{runtime}", directory / f"runtimes/bench-{runtime}"):
            if path.is_file():
                found[runtime] = path
    return found


def document(rows: Iterable[Row], command: str, request: Request) -> dict[str, Any]:
    """The JSON file. Null says "not available"."""
    return {
        "schema": SCHEMA_VERSION,
        "command": command,
        "rounds": request.rounds,
        **host(),
        "environment": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith(TELLING)
        },
        "rows": [_record(row) for row in rows],
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write the JSON file; a reader sees the old or the new one."""
    write_files(path.parent, [(path.name, json.dumps(content, indent=1) + "\n")])


def table(rows: Sequence[Row]) -> Table:
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


def failures(rows: Iterable[Row]) -> list[str]:
    """What is wrong with this project's own programs; a peer's failure is a row and no more."""
    return [
        f"{row.point.benchmark}, {row.point.workers} workers: {row.reason}"
        for row in rows
        if row.status == "failed" and row.point.runtime in (OURS, SERIAL)
    ]


def _known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    wrong = [name for name in names if name not in known]
    if wrong:
        raise FastError(f"no such {what}: {', '.join(wrong)}; there are {', '.join(known)}")


def _fail(samples: Samples, reason: str) -> None:
    samples.status = "failed"
    samples.reason = reason


def _take(output: str, samples: Samples) -> None:
    """The lines of a program that says that all is well."""
    try:
        lines = [json.loads(line) for line in output.splitlines()]
        if any(line["check"] != "ok" for line in lines):
            _fail(samples, "wrong result")
            return
        values = [float(line["value"]) for line in lines]
        peaks = [int(line["peak_kib"]) for line in lines]
        units = {str(line["unit"]) for line in lines}
    except (ValueError, KeyError, TypeError):
        _fail(samples, f"printed no result: {output.strip()[:80]}")
        return
    if len(units) != 1:
        _fail(samples, "printed no result" if not lines else "printed results of several units")
        return
    samples.unit = units.pop()
    samples.values += values
    samples.peaks_kib.append(max(peaks))


def _row(point: Point, samples: Samples, values: Mapping[Point, float]) -> Row:
    value = values.get(point)
    ours = values.get(Point(point.benchmark, OURS, point.workers))
    alone = values.get(Point(point.benchmark, point.runtime, 1))
    status, reason = samples.status, samples.reason
    if status == "ok" and value is None:
        status, reason = "not available", "not measured"
    return Row(
        point,
        samples.unit,
        value,
        min(samples.values) if value is not None else None,
        _spread(samples.values) if value is not None else None,
        len(samples.values),
        round(median(samples.peaks_kib)) if value is not None else None,
        _quotient(value, ours) if samples.unit not in NOT_COMPARED else None,
        _quotient(alone, value) if samples.unit in ("ns_per_task", "seconds") else None,
        status,
        reason,
    )


def _quotient(value: float | None, other: float | None) -> float | None:
    return value / other if value is not None and other else None


def _spread(values: Sequence[float]) -> float | None:
    middle = median(values)
    if len(values) < 2 or not middle:
        return None
    low, _, high = quantiles(values, n=4, method="inclusive")
    return (high - low) / middle


def _record(row: Row) -> dict[str, Any]:
    return {
        "benchmark": row.point.benchmark,
        "runtime": row.point.runtime,
        "workers": row.point.workers,
        **({row.unit: row.value} if row.unit else {}),
        "best": row.best,
        "spread": row.spread,
        "runs": row.runs,
        "peak_kib": row.peak_kib,
        "ratio": row.ratio,
        "speedup": row.speedup,
        "status": row.status,
        "reason": row.reason,
    }


def _line(row: Row) -> list[Cell]:
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


def _ratio_cell(row: Row) -> Cell:
    if row.ratio is None or row.point.runtime == OURS:
        return Cell("")
    return Cell(f"{row.ratio:.2f}", tone="gain" if row.ratio > 1 else "loss")
