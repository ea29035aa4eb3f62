# SPDX-License-Identifier: GPL-2.0
"""The evaluations of the sources of the intervals runtime, measured again.

An evaluation is a table or figure: its programs, the contenders of its columns, what is measured,
what the source has published, and what it concludes. In each round all points are measured once,
in an order of the round's own, so that whatever else the machine does meets all of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from fastlab.base.model import FastError, UsageError
from intervals_bench.one_run import BenchRun, bench_run
from intervals_bench.peers import SERIAL, default_workers, find_programs
from intervals_bench.rounds import ENVIRONMENT, RoundSession, Turn
from intervals_bench.theses_claims import (
    Conclusion,
    Fails,
    ThesisMachine,
    ThesisPoint,
    ThesisRow,
    ThesisVerdict,
    conclude,
)

# The sources' own: the average of the three best of ten.
ROUNDS = 10
TIMEOUT = 1800.0
NODES = Path("/sys/devices/system/node")

# What only the simulated machine counts, of the programs themselves.
SIMULATED = ("l3_hits", "l3_misses", "remote_memory", "remote_lines")
TOO_SMALL = "of the sizes in the simulated machine nothing overflows"
# What a metric is called in a table; those that are not here have their name in ivl_statistics.
TITLES = {
    "time": "Time",
    "peak_kib": "Most memory resident, KiB",
    "l3_hits": "L3 cache hits",
    "l3_misses": "L3 cache misses",
    "remote_memory": "Lines from the other node's memory",
    "remote_lines": "Lines from the other node's memory and caches",
    "takes": "Take attempts",
    "take_failures": "Take failures",
    "steals": "Steal attempts",
    "steal_failures": "Steal failures",
    "steals_got": "Steals that got something",
    "steals_remote": "Steal attempts at the other node",
    "steals_local": "Steal attempts at the own node",
    "remote_share": "Steal attempts at the other node, of all",
    "steal_miss_ratio": "Steal attempts that got nothing, of all",
    "idles": "Times a worker became idle",
    "wakes": "Times one was woken",
    "fibers": "Stacks made",
}


@dataclass(frozen=True)
class Contender:
    """A column: a runtime's benchmark program, and what its environment says."""

    name: str
    runtime: str = "intervals"
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """A row of a source's table, by contender. `where` is the source's machine; without `workers`
    it is beside whatever is measured of the program."""

    where: str
    program: str
    metric: str
    unit: str
    values: Mapping[str, float]
    workers: int | None = None


@dataclass(frozen=True)
class ThesisEvaluation:
    """A program is NAME or NAME-SIZE. `sweep`: with 1, 2, 4, ... workers up to the CPUs, not only
    with as many as CPUs. One without programs says why not, in its conclusions. `simulated` has the
    sizes of those that are run in the simulated machine, and `simulated_mib` is how much a program
    may map there; 0: what it likes."""

    name: str
    source: str
    title: str
    programs: tuple[str, ...] = ()
    contenders: tuple[Contender, ...] = ()
    metrics: tuple[str, ...] = ("time",)
    sweep: bool = False
    published: tuple[Published, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()
    note: str = ""
    simulated: Mapping[str, int] = field(default_factory=dict)
    simulated_mib: int = 0

    def contender(self, name: str) -> Contender:
        return next(one for one in self.contenders if one.name == name)


@dataclass(frozen=True)
class ThesisRequest:
    """What to measure of an evaluation; with `quick` the tests' sizes, whose times say nothing.
    `simulate`: the number of CPUs of a simulated machine; 0: this machine."""

    evaluation: ThesisEvaluation
    programs: tuple[str, ...] = ()
    rounds: int = ROUNDS
    quick: bool = False
    timeout: float = TIMEOUT
    simulate: int = 0

    def __post_init__(self) -> None:
        if self.simulate and not self.evaluation.simulated:
            raise UsageError(f"{self.evaluation.name} has no sizes for the simulated machine")
        wrong = [one for one in self.programs if one not in self.all_programs()]
        if wrong:
            raise UsageError(
                f"{self.evaluation.name} has no program {', '.join(wrong)}; it has "
                f"{', '.join(self.all_programs())}"
            )

    def all_programs(self) -> tuple[str, ...]:
        """That there are where it is measured."""
        return tuple(self.evaluation.simulated) if self.simulate else self.evaluation.programs

    def metrics(self) -> tuple[str, ...]:
        """That are to be had there."""
        every = self.evaluation.metrics
        return every if self.simulate else tuple(one for one in every if one not in SIMULATED)

    def points(self) -> list[ThesisPoint]:
        """In the order of the tables. A program without a runtime has one thread."""
        workers = default_workers()
        if self.simulate:
            workers = tuple(1 << bit for bit in range(self.simulate.bit_length()))
        if not self.evaluation.sweep:
            workers = workers[-1:]
        return [
            ThesisPoint(program, one.name, count)
            for program in self.programs or self.all_programs()
            for one in self.evaluation.contenders
            for count in ((1,) if one.runtime == SERIAL else workers)
        ]


class ThesisMeasurement(RoundSession[ThesisPoint]):
    """The measurements so far, wherever they are made."""

    def __init__(self, request: ThesisRequest) -> None:
        super().__init__(request.points(), request.rounds)
        self.request = request

    def rows(self) -> list[ThesisRow]:
        return [
            ThesisRow(
                point,
                one.unit,
                tuple(map(_counted, one.runs)),
                one.status,
                one.reason,
                one.crashed,
            )
            for point, one in self.samples.items()
        ]


def _counted(run: BenchRun) -> Mapping[str, float]:
    """What a round has of each metric."""
    peak = {"peak_kib": run.peak_kib} if run.peak_kib else {}
    return {"time": median(run.values), **run.counts, **_of_steals(run.counts), **peak}


def _of_steals(counts: Mapping[str, int]) -> Mapping[str, float]:
    """What the sources call steals, by where, and shares of them."""
    steals = counts.get("steals", 0)
    if not steals:
        return {}
    failures, remote = counts["steal_failures"], counts["steals_remote"]
    return {
        "steals_got": steals - failures,
        "steals_local": steals - remote,
        "steal_miss_ratio": failures / steals,
        "remote_share": remote / steals,
    }


class ThesisSession(ThesisMeasurement):
    """On this machine, round by round."""

    def __init__(self, request: ThesisRequest, build: Path) -> None:
        """`build` has the programs."""
        super().__init__(request)
        runtimes = {one.runtime for one in request.evaluation.contenders}
        self._programs = find_programs(build, runtimes)
        missing = sorted(runtimes - set(self._programs))
        if missing:
            raise FastError(
                f"{build} has no benchmark program of {', '.join(missing)}; remove the directory "
                "and run the same command again, which builds them"
            )

    def _order(self, number: int, points: list[ThesisPoint]) -> Sequence[ThesisPoint]:
        # The same command measures in the same order.
        random.Random(number).shuffle(points)
        return points

    def _measure(self, turn: Turn[ThesisPoint]) -> BenchRun:
        point = turn.point
        contender = self.request.evaluation.contender(point.contender)
        name, _, size = point.program.partition("-")
        words = [str(self._programs[contender.runtime]), f"--workers={point.workers}"]
        if self.request.quick:
            words.append("--quick")
        else:
            words += ["--repeats=1", *([f"--size={size}"] if size else [])]
        environment = {**ENVIRONMENT, **os.environ, **contender.environment}
        return bench_run([*words, name], self.request.timeout, environment)


def this_machine() -> ThesisMachine:
    """What the conclusions may need of it."""
    nodes = len([*NODES.glob("node[0-9]*")])
    return ThesisMachine(default_workers()[-1], max(nodes, 1))


def verdicts(
    request: ThesisRequest, rows: Sequence[ThesisRow], machine: ThesisMachine
) -> list[ThesisVerdict]:
    """Of each conclusion of the evaluation, about what was measured of it."""
    by_point = {row.point: row for row in rows}
    most = max((row.point.workers for row in rows), default=1)

    def find(program: str, contender: str, workers: int | None) -> ThesisRow:
        alone = request.evaluation.contender(contender).runtime == SERIAL
        point = ThesisPoint(program, contender, 1 if alone else workers or most)
        return by_point.get(point) or ThesisRow(point, "", (), "not available", "not measured")

    if request.quick:
        why = "measured with the sizes of tests (--quick)"
        return [
            ThesisVerdict(one, "not testable here", one.cannot or why)
            for one in request.evaluation.conclusions
        ]
    return [
        ThesisVerdict(one, "not testable here", TOO_SMALL)
        if request.simulate and not request.evaluation.simulated_mib and _may_fail(one)
        else conclude(one, find, machine)
        for one in request.evaluation.conclusions
    ]


def _may_fail(conclusion: Conclusion) -> bool:
    return any(isinstance(claim, Fails) for claim in conclusion.claims)


def failures(request: ThesisRequest, rows: Sequence[ThesisRow]) -> list[str]:
    """What failed although no source says that it does, or otherwise than the source means."""
    expected = {
        (claim.side.program, claim.side.contender)
        for conclusion in request.evaluation.conclusions
        for claim in conclusion.claims
        if isinstance(claim, Fails)
    }
    return [
        f"{row.point}: {row.reason}"
        for row in rows
        if row.status == "failed"
        and not (row.crashed and (row.point.program, row.point.contender) in expected)
    ]
