# SPDX-License-Identifier: GPL-2.0
"""The time of one run of a SPLASH-2 program, ours or an original tree's, with the same work.

It is that of the parallel phase, as the program itself says. A result that is not right has none.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from fastlab.base.model import FastError
from fastlab.base.process import ask, ending, last_words
from fastlab.plan.splash_sizes import size_words
from fastlab.splash import driver
from fastlab.splash.checks import Judgement
from fastlab.splash.driver import TreeJob, TreeRow
from fastlab.splash.programs import WATER_CUTOFF, Invocation, Program, matrix

# Why there is no time.
Failure = Literal["wrong", "failed", "hung", "skipped"]

# How our programs end when their own check fails; their JSON has the reason.
CHECK_FAILED = 1

# What theirs call the parallel phase, in microseconds (CLOCK of our macros).
_KERNEL = r"Total time without initialization *: +"
_BARNES = r"TRACKTIME *= +"
_WATER = r"Measured Time \(2nd timestep onward\) = +"


@dataclass(frozen=True)
class SplashCase:
    """A program and what it is given: `size` is theirs (splash_programs), `options` are ours.

    `phase` is the beginning of the line in which theirs prints its time. `tested_apart`: its own
    test would be in that time, so that it is run with it once before, and without it after that.
    `pairs` are how often a round has it: more than once where a run is short.
    """

    program: str
    problem: str
    size: str
    options: Mapping[str, Any] = field(hash=False)
    phase: str = _KERNEL
    tested_apart: bool = False
    pairs: int = 1


# Of a simulation theirs do not count the first two steps, or the first; ours have the forces before
# the first step, or a step, in the warm-up. Both count as many steps.
CASES: tuple[SplashCase, ...] = (
    SplashCase("barnes", "92,000 bodies, 2 steps", "92000", {"bodies": 92000, "steps": 2}, _BARNES),
    # The paper's, and the most work that comes with a tree, which is not much.
    *(
        SplashCase("cholesky", f"{name}.O", name, {"order": "natural"}, pairs=pairs)
        for name, pairs in (("d750", 8), ("tk29", 4))
    ),
    SplashCase("fft", "2^22 points", "22", {"m": 22}, tested_apart=True),
    SplashCase(
        "fmm",
        "32,000 particles, 3 steps",
        "32000",
        {"particles": 32000, "steps": 3, "clusters": 2},
    ),
    *(
        SplashCase(f"lu_{kind}contiguous", "2048 x 2048", "2048", {"n": 2048, "b": 16})
        for kind in ("", "non")
    ),
    SplashCase("radix", "2^24 keys, radix 1024", str(1 << 24), {"n": 1 << 24, "r": 1024}),
    *(
        SplashCase(
            f"water_{kind}",
            f"{molecules:,} molecules, 2 steps",
            str(molecules),
            {"molecules": molecules, "steps": 2, "energy_every": 2, "cutoff": float(WATER_CUTOFF)},
            _WATER,
        )
        for kind, molecules in (("nsquared", 4096), ("spatial", 9261))
    ),
)


class NoTimeError(Exception):
    """Why a run has no time."""

    def __init__(self, failure: Failure, reason: str) -> None:
        super().__init__(reason)
        self.failure = failure


def our_command(case: SplashCase, threads: int, path: Path, sources: Path) -> list[str]:
    """`sources` are the original program's, which bring the matrices: FastError if they do not."""
    options = dict(case.options)
    if case.program == "cholesky":
        options["matrix"] = matrix(sources, case.size)
    return [str(path), *size_words(options), f"--threads={threads}", "--json"]


def time_ours(command: Sequence[str], timeout: float) -> tuple[str, int]:
    """Run our program once: the command, and the ns of its parallel phase. Raises NoTimeError."""
    try:
        answer = ask(command, timeout)
    except FastError as error:
        raise NoTimeError("failed", str(error)) from error
    if answer.status not in (0, CHECK_FAILED):
        raise NoTimeError("failed", ending(answer.status, answer.errors))
    try:
        result = json.loads(answer.output)
        right, detail = result["check"] == "ok", result["check_detail"]
        ns = int(result["elapsed_ns"])
    except (ValueError, KeyError, TypeError) as error:
        words = last_words(answer.errors or answer.output)
        raise NoTimeError("failed", f"printed no result: {words}") from error
    if answer.status or not right:
        raise NoTimeError("wrong", f"self-check: {detail}")
    return shlex.join(command), ns


class Theirs:
    """The original program for a case."""

    def __init__(
        self, case: SplashCase, job: TreeJob, references: dict[SplashCase, TreeRow]
    ) -> None:
        """`references` has the first right result of each case, which later results must match."""
        self._case = case
        self._job = job
        self._references = references
        self._tested = not case.tested_apart

    def run(self) -> tuple[str, int]:
        """As time_ours()."""
        if not self._tested:
            self._attempt(self._job)
            self._tested = True
        job = self._job
        if self._case.tested_apart:
            job = replace(job, program=_untested(job.program))
        row = self._attempt(job)
        output = (job.directory / driver.OUTPUT).read_text(errors="replace")
        match = re.search(rf"^{self._case.phase}(\d+)", output, re.MULTILINE)
        if not match or not int(match[1]):
            raise NoTimeError("failed", "it did not print the time of its parallel phase")
        return row.command, 1000 * int(match[1])

    def _attempt(self, job: TreeJob) -> TreeRow:
        row = driver.attempt(job)
        reference = self._references.get(self._case)
        if reference:
            row = driver.compared(row, reference, job.program)
        if row.verdict != "ok":
            raise NoTimeError(row.verdict, row.detail)
        self._references.setdefault(self._case, row)
        return row


def _untested(program: Program) -> Program:
    """Without the program's own test."""

    def call(directory: Path, size: str, threads: int) -> Invocation:
        given = program.call(directory, size, threads)
        return replace(given, arguments=[word for word in given.arguments if word != "-t"])

    return replace(program, call=call, judge=lambda run: Judgement(True, "not tested"))
