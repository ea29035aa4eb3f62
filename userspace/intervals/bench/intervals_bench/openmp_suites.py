# SPDX-License-Identifier: GPL-2.0
"""The Barcelona OpenMP Tasks Suite and EPCC's OpenMP microbenchmarks as they are published, on
libgomp, libomp and libintervals-gomp: built by their own makefiles from a checkout of the user's.

bench/openmp.py measures the same things with programs of this tree.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastlab.base.model import FastError, UsageError
from fastlab.base.process import ask, ending
from intervals_bench.one_run import BenchRun
from intervals_bench.openmp import LIBRARIES, ROUNDS, THREADS, LibrarySession, OpenmpPoint, points
from intervals_bench.rounds import Turn

# What has its programs built, of each.
COMPILERS = {"libgomp": "gcc", "libomp": "clang"}
BUILD_SECONDS = 600.0
RUN_SECONDS = 120.0

# A program's folder, the beginning and the end of its file's name, and its words: sizes that take
# seconds at most where a task takes some microseconds. Without cut-off, and of tied tasks.
BOTS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "fib": ("fib", "fib", "", ("-n", "30")),
    "nqueens": ("nqueens", "nqueens", "", ("-n", "11")),
    "uts": ("uts", "uts", "", ("-f", "inputs/uts/test.input")),
    "sort": ("sort", "sort", "", ("-n", "4194304")),
    "fft": ("fft", "fft", "", ("-n", "1048576")),
    "alignment": (
        *("alignment/alignment_single", "alignment", "single-"),
        ("-f", "inputs/alignment/prot.20.aa"),
    ),
    "health": ("health", "health", "", ("-f", "inputs/health/test.input")),
    "floorplan": ("floorplan", "floorplan", "", ("-f", "inputs/floorplan/input.15")),
    "sparselu_for": ("sparselu/sparselu_for", "sparselu", "for-", ("-n", "25", "-m", "50")),
    "sparselu_single": (
        *("sparselu/sparselu_single", "sparselu", "single-"),
        ("-n", "25", "-m", "50"),
    ),
    "strassen": ("strassen", "strassen", "", ("-n", "512")),
}
# What is taken of a program's output, and its words. A run measures all of them.
EPCC: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "syncbench": (
        (
            *("PARALLEL", "FOR", "PARALLEL FOR", "BARRIER", "SINGLE", "CRITICAL"),
            *("LOCK/UNLOCK", "ORDERED", "ATOMIC", "REDUCTION"),
        ),
        (),
    ),
    "schedbench": (
        (
            "STATIC",
            *(f"{kind} {n}" for kind in ("STATIC", "DYNAMIC", "GUIDED") for n in (1, 8, 64)),
        ),
        # What is to be seen of a schedule is far less than the 15 ms of its own delays.
        ("--delay-time", "0.1"),
    ),
}
OVERHEAD = re.compile(r"^(.+?) overhead += +(\S+) microseconds", re.MULTILINE)
TIME = re.compile(r"^Time Program += +(\S+) seconds", re.MULTILINE)


@dataclass(frozen=True)
class SuitesRequest:
    """Where the checkouts are; None: that suite is not measured."""

    bots: Path | None
    epcc: Path | None
    threads: tuple[int, ...] = THREADS
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        if self.bots is None and self.epcc is None:
            raise UsageError("nothing to measure: say where they are, by --bots DIR or --epcc DIR")
        _check_checkout(self.bots, "BOTS", "omp-tasks/fib/fib.c")
        _check_checkout(self.epcc, "EPCC's microbenchmarks", "syncbench.c")


def _check_checkout(directory: Path | None, of: str, file: str) -> None:
    if directory is not None and not (directory / file).is_file():
        raise FastError(f"{directory} is no checkout of {of}: it has no {file}")


def _names(request: SuitesRequest) -> list[str]:
    return [*(BOTS if request.bots else ()), *(_constructs() if request.epcc else ())]


def _constructs() -> Iterator[str]:
    for names, _ in EPCC.values():
        yield from names


class SuitesSession(LibrarySession):
    """The suites' measurements."""

    def __init__(self, request: SuitesRequest, build: Path, work: Path) -> None:
        """`build` has our library; `work` is for copies of the checkouts, which are built there."""
        super().__init__(points(_names(request), request.threads), request.rounds, build)
        self._work = work
        # By round, program, library and threads: all that a run of EPCC's has measured.
        self._measured: dict[tuple[int, str, str, int], BenchRun | dict[str, float]] = {}
        for library, compiler in COMPILERS.items():
            try:
                build_suites(request, compiler, work)
            except FastError:
                # Without gcc there is nothing to compare; clang may be absent, or its library.
                if library == "libgomp":
                    raise
                for point in self.samples:
                    if LIBRARIES[point.library] == library:
                        self.missing(point)

    def _measure(self, turn: Turn[OpenmpPoint]) -> BenchRun:
        if turn.point.benchmark in BOTS:
            return self._bots(turn.point)
        return self._epcc(turn)

    def _run(self, point: OpenmpPoint, command: Sequence[str], directory: Path) -> BenchRun | str:
        """What it printed."""
        environment = self.environment(point) | {"OMP_NUM_THREADS": str(point.threads)}
        words = ["env", "-C", str(directory), *command]
        try:
            answer = ask(words, RUN_SECONDS, environment)
        except FastError as error:
            return BenchRun("failed", str(error))
        if answer.status:
            return BenchRun("failed", ending(answer.status, answer.errors))
        return answer.output

    def _bots(self, point: OpenmpPoint) -> BenchRun:
        compiler = COMPILERS[LIBRARIES[point.library]]
        _, begin, end, words = BOTS[point.benchmark]
        program = f"bin/{begin}.{compiler}.{end}omp-tasks-tied"
        said = self._run(point, [program, *words, "-c"], self._work / f"bots-{compiler}")
        if isinstance(said, BenchRun):
            return said
        time = TIME.search(said)
        if not re.search(r"^Verification += successful", said, re.MULTILINE):
            return BenchRun("failed", "wrong result")
        if not time:
            return BenchRun("failed", f"printed no time: {said.strip()[:80]}")
        return BenchRun("ok", "", "seconds", (float(time[1]),))

    def _epcc(self, turn: Turn[OpenmpPoint]) -> BenchRun:
        point = turn.point
        compiler = COMPILERS[LIBRARIES[point.library]]
        program, words = next(
            (name, words) for name, (names, words) in EPCC.items() if point.benchmark in names
        )
        key = (turn.round, program, point.library, point.threads)
        if key not in self._measured:
            directory = self._work / f"epcc-{compiler}"
            said = self._run(point, [f"./{program}", *words], directory)
            self._measured[key] = (
                said
                if isinstance(said, BenchRun)
                else {name: float(value) for name, value in OVERHEAD.findall(said)}
            )
        measured = self._measured[key]
        if isinstance(measured, BenchRun):
            return measured
        if point.benchmark not in measured:
            return BenchRun("failed", f"{program} printed no overhead of it")
        return BenchRun("ok", "", "ns", (1000 * measured[point.benchmark],))


def build_suites(request: SuitesRequest, compiler: str, work: Path) -> None:
    """Let each suite's own makefiles build it, in a copy of the checkout. A FastError says what
    they said."""
    if not shutil.which(compiler):
        raise FastError(f"{compiler} is not installed")
    if request.bots:
        copy = _copy(request.bots, work / f"bots-{compiler}")
        _build(["env", "-C", str(copy), "bash", "configure", "--compiler", compiler])
        (copy / "bin").mkdir(exist_ok=True)
        for folder, *_ in BOTS.values():
            _build(["make", "-s", "-C", str(copy / "omp-tasks" / folder)])
    if request.epcc:
        copy = _copy(request.epcc, work / f"epcc-{compiler}")
        flags = "-O1 -fopenmp"
        settings = [f"CC={compiler}", f"CFLAGS={flags}", f"LDFLAGS={flags}", "LIBS=-lm"]
        _build(["make", "-s", "-C", str(copy), *settings, *EPCC])


def _copy(checkout: Path, copy: Path) -> Path:
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns(".git")
    try:
        # What a link that leads nowhere stands for, nothing needs.
        shutil.copytree(checkout, copy, ignore=ignored, ignore_dangling_symlinks=True)
    except shutil.Error as error:
        source, _, why = error.args[0][0]
        raise FastError(f"{source}: cannot be copied: {why}") from error
    return copy


def _build(command: Sequence[str]) -> None:
    try:
        answer = ask(command, BUILD_SECONDS)
    except FastError as error:
        raise FastError(f"{' '.join(command)}: {error}") from error
    if answer.status:
        raise FastError(f"{' '.join(command)}: {ending(answer.status, answer.errors)}")
