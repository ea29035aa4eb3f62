# SPDX-License-Identifier: GPL-2.0
"""Our SPLASH-2 programs and an original tree's, side by side, with the same work.

In every round each program runs at each number of threads, ours and theirs one after the other, so
that other load affects both. Their two times are a pair; the result is the median of the pairs'
ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from fastlab.base.model import SCHEMA_VERSION, FastError
from fastlab.base.progress import Reporter, steps
from fastlab.guest.initramfs import check_built, program_path
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table
from fastlab.splash import driver
from fastlab.splash.driver import BuiltProgram, TreeJob
from fastlab.splash.source_tree import SourceTree
from fastlab.splash.timing import (
    CASES,
    Failure,
    NoTimeError,
    SplashCase,
    Theirs,
    our_command,
    time_ours,
)
from fastlab.statistics.environment import host

THREADS = (1, 2)
ROUNDS = 5
TIMEOUT = 120.0


@dataclass(frozen=True)
class Spread:
    """A median, and the range."""

    median: float
    least: float
    most: float


@dataclass
class SplashRow:
    """A case at a number of threads, and its results so far. `pairs` are the times of ours and
    theirs in ns. After a `failure` there are no further runs; `reason` has the cause. `commands`
    are those of the last runs."""

    case: SplashCase
    threads: int
    sides: Mapping[str, Callable[[], tuple[str, int]]] = field(default_factory=dict)
    failure: Failure | None = None
    reason: str = ""
    pairs: list[tuple[int, int]] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.case.program}, {self.case.problem}, {self.threads} threads"

    @property
    def runs(self) -> int:
        """Pairs that were measured."""
        return len(self.pairs)

    @property
    def status(self) -> str:
        return self.failure or ("ok" if self.pairs else "not measured")

    @property
    def ours_ns(self) -> Spread | None:
        return self._spread(ours for ours, _ in self.pairs)

    @property
    def theirs_ns(self) -> Spread | None:
        return self._spread(theirs for _, theirs in self.pairs)

    @property
    def ratio(self) -> Spread | None:
        """Below 1: ours is faster."""
        return self._spread(ours / theirs for ours, theirs in self.pairs)

    def _spread(self, values: Iterable[float]) -> Spread | None:
        """None: there is none, for a reason."""
        known = list(values)
        if self.failure or not known:
            return None
        return Spread(median(known), min(known), max(known))

    def measure(self, ours_first: bool) -> None:
        """One more pair, if both runs have a time."""
        ns = {}
        for name in ("ours", "theirs") if ours_first else ("theirs", "ours"):
            try:
                self.commands[name], ns[name] = self.sides[name]()
            except NoTimeError as error:
                self.failure, self.reason = error.failure, f"{name}: {error}"
                return
        self.pairs.append((ns["ours"], ns["theirs"]))


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
        theirs = {program.program.name: program for program in built}
        check_built(ours, [program_path(ours, name) for name in theirs])
        self._request = request
        self._rounds = rounds
        self._tree = tree
        self._build = ours
        self._references: dict[SplashCase, driver.TreeRow] = {}
        self._rows = [
            self._begin(case, threads, theirs[case.program])
            for case in CASES
            if case.program in theirs
            for threads in sorted(request.threads)
        ]

    def run(self, reporter: Reporter) -> None:
        """All rounds. What has failed is not tried again."""
        every = product(range(self._rounds), self._rows)
        for number, row in steps(reporter, "measuring", every, lambda step: str(step[1])):
            for turn in range(row.case.pairs):
                if not row.failure:
                    row.measure(ours_first=(number + turn) % 2 == 0)

    def rows(self) -> list[SplashRow]:
        """Also those that nothing is known of."""
        return self._rows

    def _begin(self, case: SplashCase, threads: int, built: BuiltProgram) -> SplashRow:
        """Before the first round."""
        program, timeout = built.program, self._request.timeout
        sources = self._tree.codes / program.directory
        if built.path is None:
            return SplashRow(case, threads, {}, "failed", f"theirs: {built.failure}")
        if refusal := program.refusal(threads):
            return SplashRow(case, threads, {}, "skipped", f"theirs: {refusal}")
        try:
            command = our_command(case, threads, program_path(self._build, program.name), sources)
        except FastError as error:
            return SplashRow(case, threads, {}, "failed", f"theirs: {error}")
        output = driver.output_directory(self._request) / "bench"
        directory = output / f"{program.name}-{case.size}-{threads}"
        job = TreeJob(program, built.path, sources, case.size, threads, directory, timeout)
        theirs = Theirs(case, job, self._references)
        return SplashRow(
            case, threads, {"ours": partial(time_ours, command, timeout), "theirs": theirs.run}
        )


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
        "program": row.case.program,
        "problem": row.case.problem,
        "threads": row.threads,
        "ours": row.commands.get("ours"),
        "theirs": row.commands.get("theirs"),
        "ours_ns": [ours for ours, _ in row.pairs],
        "theirs_ns": [theirs for _, theirs in row.pairs],
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
        Cell(row.case.program),
        Cell(row.case.problem),
        Cell(_result(row), tone="" if row.status == "ok" else "aside" if aside else "loss"),
        Cell(str(row.threads)),
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
    return [f"{row}: {_result(row)}" for row in rows if row.status in ("wrong", "failed", "hung")]
