# SPDX-License-Identifier: GPL-2.0
"""A program under each policy of the running kernel: blocks of runs, one at a time."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fastlab import environment, guest
from fastlab.cache import check_room, explained_full_disk
from fastlab.counting import FAST_STAT, Call, Observed, check_counters, count_run, counters_of
from fastlab.dataset import BLOCK, ORDERS
from fastlab.kernels import Places
from fastlab.model import FastError, Kernel
from fastlab.programs import build_programs
from fastlab.real import LACKS, NEEDED
from fastlab.reporter import Reporter
from fastlab.results import FIRED, Counter
from fastlab.running import SWITCH, Running, Sysctls, only_user, running_kernel
from fastlab.subject import find_program, is_marked
from fastlab.trial import BASELINE, LAST_LINES, POLICIES, how_it_failed, too_long

# Of each policy against the baseline: what an A/A calibration has at first.
BLOCKS = 12


@dataclass(frozen=True)
class Request:
    """A command line, and how to count what it does."""

    argv: tuple[str, ...]
    backend: str
    seconds: float
    directory: Path


@dataclass(frozen=True)
class Shot:
    """One run. It stands in a block of `pair` and the baseline."""

    policy: str
    pair: str
    block: int
    position: int
    elapsed_ns: int
    counters: Mapping[str, Counter]
    mechanism: Mapping[str, int]
    duration: float
    circumstances: environment.Circumstances

    def value(self, metric: str) -> float | None:
        """One of REAL_METRICS; None is "not available"."""
        if metric == "elapsed_ns":
            return self.elapsed_ns
        return self.counters[metric]["total"] if metric in self.counters else None


@dataclass(frozen=True)
class Trial:
    """All runs of a program, in the order they were made."""

    request: Request
    kernel: Kernel
    marked: bool
    shots: tuple[Shot, ...]


def run(request: Request, reporter: Reporter, root: Path = Path("/")) -> Trial:
    """Make all runs; `root` has the /proc and /sys of the machine.

    A program that does not end well, in any of them, is a FastError that says how it ended. FAST's
    sysctls are put back in any case.
    """
    running = running_kernel(root)
    _check_kernel(request, running)
    path = find_program(request.argv[0], request.directory)
    marked = is_marked(path)
    project = Places().project
    build = build_programs(project, reporter)
    fast_stat = build / FAST_STAT
    guest.check_built(build, [fast_stat])
    check_counters(request.backend, fast_stat)
    scratch = project / "build/try" / request.backend
    scratch.mkdir(parents=True, exist_ok=True)
    call = Call(request.argv, request.seconds, marked, request.directory, scratch)
    with only_user(root), explained_full_disk(scratch), Sysctls(root) as sysctls:
        execution = _Execution(request, path, call, fast_stat, root, sysctls)
        shots = execution.shots(reporter)
    return Trial(request, running.kernel, marked, tuple(shots))


def _check_kernel(request: Request, running: Running) -> None:
    if not running.fast:
        raise FastError(
            f"--backend {request.backend} tries the program on the running kernel, and that, "
            f"{running.release}, is not {LACKS['fast']}; boot {NEEDED['fast']}, or leave --backend "
            "out: the simulation needs no such kernel"
        )


def _order(argv: tuple[str, ...]) -> Iterator[tuple[str, str, int, int]]:
    """Policy, pair, block and position of each run. The order of a program's blocks is random, and
    the same in each trial."""
    for block in range(BLOCKS):
        for pair in POLICIES:
            if pair != BASELINE:
                order = random.Random(f"{shlex.join(argv)} {pair} {block}").choice(ORDERS)
                for position, side in enumerate(order):
                    yield (pair if side == "B" else BASELINE), pair, block, position


class _Execution:
    """One call of run()."""

    def __init__(
        self,
        request: Request,
        path: Path,
        call: Call,
        fast_stat: Path,
        root: Path,
        sysctls: Sysctls,
    ) -> None:
        self._request = request
        self._path = path
        self._call = call
        self._fast_stat = fast_stat
        self._root = root
        self._sysctls = sysctls

    def shots(self, reporter: Reporter) -> list[Shot]:
        task = f"running {self._path.name}"
        reporter.start(task, BLOCKS * BLOCK * (len(POLICIES) - 1))
        try:
            # Not one of the blocks': it brings the program and what it reads into memory.
            self._count(BASELINE)
            found = []
            for where in _order(self._request.argv):
                found.append(self._shot(*where))
                reporter.advance(task, len(found))
            return found
        finally:
            reporter.finish(task)

    def _shot(self, policy: str, pair: str, block: int, position: int) -> Shot:
        counted = self._count(policy)
        counts, mechanism = counted.document, counted.mechanism
        if not counts or not counts["elapsed_ns"]:
            raise FastError(
                f"{self._path} ended well with policy {policy}, but fast-stat wrote no counts\n"
                f"(all that it said: {self._call.scratch})"
            )
        assert mechanism is not None
        fired = sum(mechanism.get(name, 0) for name in FIRED)
        if policy == BASELINE and fired:
            raise FastError(
                f"FAST fired {fired} times with policy {policy}: something else on this machine "
                f"sets kernel.{SWITCH}; stop it and try again"
            )
        return Shot(
            policy,
            pair,
            block,
            position,
            counts["elapsed_ns"],
            counters_of(counts),
            mechanism,
            counted.duration,
            counted.circumstances,
        )

    def _count(self, policy: str) -> Observed:
        """A run that ended well."""
        self._sysctls.set({SWITCH: POLICIES[policy]})
        counted = count_run(self._call, self._fast_stat, self._request.backend, self._root)
        if counted.status == 0:
            return counted
        check_room(self._call.scratch)
        errors = self._call.errors.read_text(errors="replace").splitlines()
        if counted.status is None:
            lines = [too_long(self._path, self._request.seconds, policy), *errors[-LAST_LINES:]]
        else:
            lines = how_it_failed(self._path, counted.status, policy, errors)
        raise FastError("\n".join([*lines, f"(all that it said: {self._call.scratch})"]))
