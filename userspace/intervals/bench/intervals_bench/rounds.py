# SPDX-License-Identifier: GPL-2.0
"""Benchmark programs that are measured in turn, round by round, so that whatever else the machine
does meets all of them; and what is kept of them, at any time."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Generic, TypeVar

from fastlab.base.model import SCHEMA_VERSION
from fastlab.base.progress import Reporter, steps
from fastlab.statistics.environment import host
from intervals_bench.one_run import BenchRun, PeerStatus

# As deep as main.c makes the stacks of the runtimes that take a size from their program.
ENVIRONMENT = {"OMP_STACKSIZE": "64M"}
# Variables that change what is measured: they are written down.
TELLING = ("INTERVALS_", "OMP_", "KMP_", "GOMP_", "RAYON_", "JAVA_", "JDK_")

_P = TypeVar("_P")


@dataclass
class Samples:
    """The good runs of a point so far. `reason` says why there will be no more, `crashed` that the
    last one did."""

    runs: list[BenchRun] = field(default_factory=list)
    status: PeerStatus = "ok"
    reason: str = ""
    crashed: bool = False

    @property
    def unit(self) -> str:
        return self.runs[-1].unit if self.runs else ""

    def ending(self) -> tuple[PeerStatus, str]:
        """What a row says of a point, also of one that was never run."""
        if self.status == "ok" and not self.runs:
            return "not available", "not measured"
        return self.status, self.reason


@dataclass(frozen=True)
class Turn(Generic[_P]):
    """A point's run in a round."""

    round: int
    point: _P

    def __str__(self) -> str:
        return str(self.point)


class RoundSession(ABC, Generic[_P]):
    """The measurements; what is there can be shown at any time."""

    def __init__(self, points: Sequence[_P], rounds: int) -> None:
        self.samples = {point: Samples() for point in points}
        self.rounds = rounds

    def run(self, reporter: Reporter) -> None:
        """All rounds."""
        turns = [
            Turn(number, point)
            for number in range(self.rounds)
            for point in self._order(number, [*self.samples])
        ]
        self._take_turns(turns, reporter)

    @abstractmethod
    def rows(self) -> Sequence[Any]:
        """One for each point, also for those that nothing is known of."""

    def medians(self) -> dict[_P, float]:
        """Of the points that were measured."""
        return {
            point: median(self.values(point))
            for point, samples in self.samples.items()
            if samples.ending()[0] == "ok"
        }

    def values(self, point: _P) -> list[float]:
        """All that its runs gave."""
        return [value for run in self.samples[point].runs for value in run.values]

    def add(self, turn: Turn[_P], run: BenchRun) -> None:
        """What a run gave. A point that failed stays so, for its first reason."""
        samples = self.samples[turn.point]
        if samples.status != "ok":
            return
        if run.status == "ok":
            samples.runs.append(run)
        else:
            samples.status, samples.reason = run.status, run.reason
            samples.crashed = run.crashed

    def _order(self, number: int, points: list[_P]) -> Sequence[_P]:
        """The points in the order of a round."""
        return points

    def _take_turns(self, turns: Sequence[Turn[_P]], reporter: Reporter) -> None:
        """One after the other. A point that failed is not tried again."""
        for turn in steps(reporter, "measuring", turns, str):
            if self.samples[turn.point].status == "ok":
                self.add(turn, self._measure(turn))

    @abstractmethod
    def _measure(self, turn: Turn[_P]) -> BenchRun:
        """One run."""


def telling_environment() -> dict[str, str]:
    """The variables that are set and change what is measured, by name."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(TELLING)}


def document(rows: Iterable[Mapping[str, Any]], command: str, rounds: int) -> dict[str, Any]:
    """The JSON file. Null says "not available"."""
    return {
        "schema": SCHEMA_VERSION,
        "command": command,
        "rounds": rounds,
        **host(),
        "environment": telling_environment(),
        "rows": [*rows],
    }
