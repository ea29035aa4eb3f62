# SPDX-License-Identifier: GPL-2.0
"""Our SPLASH-2 programs and those of an original tree, side by side: the same work in one run.

In every round each program runs at each number of threads, ours and theirs one after the other, so
that whatever else the machine does meets both. Their two times are a pair: the ratio is taken pair
by pair, and its median counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, Literal

from fastlab.base.model import SCHEMA_VERSION, FastError
from fastlab.base.progress import Reporter, steps
from fastlab.guest.initramfs import check_built, program_path
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table
from fastlab.splash import driver
from fastlab.splash.driver import BuiltProgram, TreeJob
from fastlab.splash.source_tree import SourceTree
from fastlab.splash.timing import CASES, Failure, NoTimeError, Ours, SplashCase, Theirs, our_command
from fastlab.statistics.environment import host

SplashStatus = Literal["ok", "not measured"] | Failure

THREADS = (1, 2)
ROUNDS = 5
TIMEOUT = 120.0


@dataclass(frozen=True)
class SplashPoint:
    """One row of the measurement."""

    case: SplashCase
    threads: int

    def __str__(self) -> str:
        return f"{self.case.program}, {self.case.problem}, {self.threads} threads"


@dataclass(frozen=True)
class Pair:
    """The times of two runs, one after the other."""

    ours_ns: int
    theirs_ns: int

    @property
    def ratio(self) -> float:
        """Below 1: ours is faster."""
        return self.ours_ns / self.theirs_ns


@dataclass
class SplashSamples:
    """What the rounds so far gave for a point. Unless `status` is "ok" there will be no more, and
    `reason` says why. The commands are those of the last runs."""

    sides: Mapping[str, Ours | Theirs] = field(default_factory=dict)
    status: SplashStatus = "ok"
    reason: str = ""
    pairs: list[Pair] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Spread:
    """A median, and the range."""

    median: float
    least: float
    most: float


@dataclass(frozen=True)
class SplashRow:
    """A point's result. None: there is none, for a reason."""

    point: SplashPoint
    pairs: Sequence[Pair]
    commands: Mapping[str, str]
    ours_ns: Spread | None
    theirs_ns: Spread | None
    ratio: Spread | None
    status: SplashStatus
    reason: str

    @property
    def runs(self) -> int:
        """Pairs that were measured."""
        return len(self.pairs)


class SplashSession:
    """The measurements, round by round; what is there can be shown at any time."""

    def __init__(
        self,
        request: driver.TreeRequest,
        rounds: int,
        tree: SourceTree,
        built: Iterable[BuiltProgram],
        ours: Path,
    ) -> None:
        """`built` is what there is of the tree; `ours` is the directory of our build."""
        theirs = {one.program.name: one for one in built}
        check_built(ours, [program_path(ours, name) for name in theirs])
        self._request = request
        self._rounds = rounds
        self._tree = tree
        self._build = ours
        self._references: dict[SplashCase, driver.TreeRow] = {}
        self._samples = {
            SplashPoint(case, threads): self._begin(case, threads, theirs[case.program])
            for case in CASES
            if case.program in theirs
            for threads in sorted(request.threads)
        }

    def run(self, reporter: Reporter) -> None:
        """All rounds. A point that has failed is not tried again."""
        every = product(range(self._rounds), self._samples)
        for number, point in steps(reporter, "measuring", every, lambda one: str(one[1])):
            samples = self._samples[point]
            for turn in range(point.case.pairs):
                if samples.status == "ok":
                    _measure(samples, ours_first=(number + turn) % 2 == 0)

    def rows(self) -> list[SplashRow]:
        """One for each point, also for those that nothing is known of."""
        return [_row(point, samples) for point, samples in self._samples.items()]

    def _begin(self, case: SplashCase, threads: int, built: BuiltProgram) -> SplashSamples:
        """Before the first round."""
        program, timeout = built.program, self._request.timeout
        sources = self._tree.codes / program.directory
        if built.path is None:
            return SplashSamples(status="failed", reason=f"theirs: {built.failure}")
        if refusal := program.refusal(threads):
            return SplashSamples(status="skipped", reason=f"theirs: {refusal}")
        try:
            command = our_command(case, threads, program_path(self._build, program.name), sources)
        except FastError as error:
            return SplashSamples(status="failed", reason=f"theirs: {error}")
        output = driver.output_directory(self._request) / "bench"
        directory = output / f"{program.name}-{case.size}-{threads}"
        job = TreeJob(program, built.path, sources, case.size, threads, directory, timeout)
        theirs = Theirs(case, job, self._references)
        return SplashSamples({"ours": Ours(command, timeout), "theirs": theirs})


def _measure(samples: SplashSamples, ours_first: bool) -> None:
    """One more pair, if both runs have a time."""
    ns = {}
    for name in ("ours", "theirs") if ours_first else ("theirs", "ours"):
        try:
            timed = samples.sides[name].run()
        except NoTimeError as error:
            samples.status, samples.reason = error.failure, f"{name}: {error}"
            return
        ns[name] = timed.ns
        samples.commands[name] = timed.command
    samples.pairs.append(Pair(ns["ours"], ns["theirs"]))


def _row(point: SplashPoint, samples: SplashSamples) -> SplashRow:
    status, reason, pairs = samples.status, samples.reason, tuple(samples.pairs)
    if status == "ok" and not pairs:
        status = "not measured"
    known = pairs if status == "ok" else ()
    return SplashRow(
        point,
        pairs,
        dict(samples.commands),
        _spread(pair.ours_ns for pair in known),
        _spread(pair.theirs_ns for pair in known),
        _spread(pair.ratio for pair in known),
        status,
        reason,
    )


def _spread(values: Iterable[float]) -> Spread | None:
    values = list(values)
    return Spread(median(values), min(values), max(values)) if values else None


def document(
    rows: Iterable[SplashRow], command: str, request: driver.TreeRequest, rounds: int
) -> dict[str, Any]:
    """The JSON file, with the times of every pair. Null says "not available"."""
    return {
        "schema": SCHEMA_VERSION,
        "command": command,
        "tree": str(request.root),
        "rounds": rounds,
        **host(),
        "rows": [_record(row) for row in rows],
    }


def _record(row: SplashRow) -> dict[str, Any]:
    return {
        "program": row.point.case.program,
        "problem": row.point.case.problem,
        "threads": row.point.threads,
        "ours": row.commands.get("ours"),
        "theirs": row.commands.get("theirs"),
        "ours_ns": [pair.ours_ns for pair in row.pairs],
        "theirs_ns": [pair.theirs_ns for pair in row.pairs],
        "ratio": row.ratio.median if row.ratio else None,
        "least_ratio": row.ratio.least if row.ratio else None,
        "most_ratio": row.ratio.most if row.ratio else None,
        "status": row.status,
        "reason": row.reason,
    }


def table(rows: Sequence[SplashRow]) -> Table:
    """For people: a line for each row."""
    columns = ("program", "problem", "result", "threads", "pairs", "ours, ms", "theirs, ms")
    return Table(
        "SPLASH-2 programs, side by side",
        (*columns, "ours / theirs"),
        [_line(row) for row in rows],
        "The parallel phase, as each program reports it: the median over the pairs, and the range. "
        "Ours / theirs is the median of the pairs' ratios, not the ratio of the medians; below 1, "
        "ours is faster.",
        labels=3,
    )


def _line(row: SplashRow) -> list[Cell]:
    aside = row.status in ("skipped", "not measured")
    head = [
        Cell(row.point.case.program),
        Cell(row.point.case.problem),
        Cell(_result(row), tone="" if row.status == "ok" else "aside" if aside else "loss"),
        Cell(str(row.point.threads)),
    ]
    if not (row.ours_ns and row.theirs_ns and row.ratio):
        return [*head, Cell(""), *[Cell(NOT_AVAILABLE)] * 3]
    return [
        *head,
        Cell(str(row.runs)),
        Cell(_range(row.ours_ns, 1e-6, 1)),
        Cell(_range(row.theirs_ns, 1e-6, 1)),
        Cell(_range(row.ratio, 1, 2), tone="gain" if row.ratio.median < 1 else "loss"),
    ]


def _result(row: SplashRow) -> str:
    """In a line."""
    return f"{row.status}: {row.reason.splitlines()[0]}" if row.reason else row.status


def _range(spread: Spread, unit: float, digits: int) -> str:
    middle, least, most = (
        f"{unit * value:.{digits}f}" for value in (spread.median, spread.least, spread.most)
    )
    return f"{middle} ({least} to {most})"


def failures(rows: Iterable[SplashRow]) -> list[str]:
    """What has no ratio although it was tried, in words."""
    return [
        f"{row.point}: {_result(row)}" for row in rows if row.status in ("wrong", "failed", "hung")
    ]
