# SPDX-License-Identifier: GPL-2.0
"""A program under each policy of the running kernel: blocks of runs, one at a time."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from fastlab import environment, guest
from fastlab.cache import check_room, explained_full_disk
from fastlab.counting import (
    FAST_LATENCY,
    FAST_STAT,
    HANDOFF_LIBRARY,
    Call,
    Histogram,
    Observed,
    count_run,
    counters_of,
    find_groups,
    latencies_of,
    my_cpus,
    time_run,
)
from fastlab.dataset import BLOCK, ORDERS
from fastlab.kernels import Places
from fastlab.model import LATENCIES, FastError, Kernel
from fastlab.programs import build_programs
from fastlab.real import LACKS, NEEDED
from fastlab.reporter import Reporter
from fastlab.results import FIRED, Counter
from fastlab.running import SWITCH, Running, Sysctls, only_user, running_kernel
from fastlab.subject import find_program, is_marked
from fastlab.symbols import Symbols, parse_maps
from fastlab.trial import BASELINE, LAST_LINES, POLICIES, Lock, how_it_failed, too_long

# Of each policy against the baseline: what an A/A calibration has at first.
BLOCKS = 12
# Of each policy: their latencies are shown, not judged.
LATENCY_RUNS = 3


@dataclass(frozen=True)
class Request:
    """A command line, and how to count what it does."""

    argv: tuple[str, ...]
    backend: str
    seconds: float
    directory: Path


@dataclass(frozen=True)
class Shot:
    """One run. It stands in a block of `pair` and the baseline. `others`: why others may have run
    on its CPUs, if they may."""

    policy: str
    pair: str
    block: int
    position: int
    elapsed_ns: int
    counters: Mapping[str, Counter]
    others: str | None
    mechanism: Mapping[str, int]
    duration: float
    circumstances: environment.Circumstances

    def value(self, metric: str) -> float | None:
        """One of REAL_METRICS; None is "not available"."""
        if metric == "elapsed_ns":
            return self.elapsed_ns
        return self.counters[metric]["total"] if metric in self.counters else None


@dataclass(frozen=True)
class Latencies:
    """What a run under fast-latency measured: the histograms of those of LATENCIES that it could,
    in `missing` why not the others, and the locks that were handed over."""

    policy: str
    histograms: Mapping[str, Histogram]
    missing: Mapping[str, str]
    locks: tuple[Lock, ...]


@dataclass(frozen=True)
class Trial:
    """All runs of a program, in the order they were made."""

    request: Request
    kernel: Kernel
    marked: bool
    shots: tuple[Shot, ...]
    latencies: tuple[Latencies, ...]


def run(request: Request, reporter: Reporter, root: Path = Path("/")) -> Trial:
    """Make all runs; `root` has the /proc and /sys of the machine.

    A program that does not end well, in any that is counted, is a FastError that says how it ended.
    If it cannot be run with its latencies measured, there are none. FAST's sysctls are put back in
    any case.
    """
    running = running_kernel(root)
    _check_kernel(request, running)
    path = find_program(request.argv[0], request.directory)
    marked = is_marked(path)
    project = Places().project
    build = build_programs(project, reporter)
    programs = _Programs(build / FAST_STAT, build / FAST_LATENCY)
    guest.check_built(build, [*astuple(programs), build / HANDOFF_LIBRARY])
    groups = find_groups(request.backend, programs.fast_stat)
    scratch = project / "build/try" / request.backend
    scratch.mkdir(parents=True, exist_ok=True)
    call = Call(request.argv, request.seconds, marked, my_cpus(), request.directory, scratch)
    with only_user(root), explained_full_disk(scratch), Sysctls(root) as sysctls:
        # One run counts what decides and the first hardware events: a trial is to be short.
        events = ",".join(dict.fromkeys((groups[0], groups[-1])))
        execution = _Execution(request, path, call, events, programs, root, sysctls)
        shots = execution.shots(reporter)
        latencies = execution.latencies(reporter)
    return Trial(request, running.kernel, marked, tuple(shots), tuple(latencies))


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


@dataclass(frozen=True)
class _Programs:
    """What measures."""

    fast_stat: Path
    fast_latency: Path


class _Execution:
    """One call of run()."""

    def __init__(
        self,
        request: Request,
        path: Path,
        call: Call,
        events: str,
        programs: _Programs,
        root: Path,
        sysctls: Sysctls,
    ) -> None:
        self._request = request
        self._path = path
        self._call = call
        self._events = events
        self._programs = programs
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
            counts["others"],
            mechanism,
            counted.duration,
            counted.circumstances,
        )

    def _count(self, policy: str) -> Observed:
        """A run that ended well."""
        self._sysctls.set({SWITCH: POLICIES[policy]})
        fast_stat = self._programs.fast_stat
        counted = count_run(self._call, fast_stat, self._events, self._root)
        if counted.status == 0:
            return counted
        check_room(self._call.scratch)
        lines = self._how_it_failed(self._call, counted, policy)
        raise FastError("\n".join([*lines, f"(all that it said: {self._call.scratch})"]))

    def _how_it_failed(self, call: Call, observed: Observed, policy: str) -> list[str]:
        errors = call.errors.read_text(errors="replace").splitlines()
        if observed.status is None:
            return [too_long(self._path, self._request.seconds, policy), *errors[-LAST_LINES:]]
        return how_it_failed(self._path, observed.status, policy, errors)

    def latencies(self, reporter: Reporter) -> list[Latencies]:
        """Further runs, the policies in turn. The first that fails ends it: so would the others."""
        task = f"measuring latencies of {self._path.name}"
        scratch = self._call.scratch / "latency"
        scratch.mkdir(exist_ok=True)
        call = replace(self._call, scratch=scratch)
        found: list[Latencies] = []
        reporter.start(task, LATENCY_RUNS * len(POLICIES))
        try:
            for policy in [*POLICIES] * LATENCY_RUNS:
                found.append(self._time(call, policy))
                reporter.advance(task, len(found))
                if len(found[-1].missing) == len(LATENCIES):
                    break
            return found
        finally:
            reporter.finish(task)

    def _time(self, call: Call, policy: str) -> Latencies:
        self._sysctls.set({SWITCH: POLICIES[policy]})
        timed = time_run(call, self._programs.fast_latency, self._root, fixed=True)
        if timed.status != 0 or not timed.document:
            check_room(call.scratch)
            lines = self._how_it_failed(call, timed, policy)
            why = f"under fast-latency {': '.join(dict.fromkeys((lines[0], lines[-1])))}"
            return Latencies(policy, {}, dict.fromkeys(LATENCIES, why), ())
        histograms, missing = latencies_of(timed.document)
        return Latencies(policy, histograms, missing, self._locks(timed.document))

    def _locks(self, document: Mapping[str, Any]) -> tuple[Lock, ...]:
        """The locks of the process whose memory is known are the program's."""
        maps = document["maps"] or {"process": None, "text": ""}
        symbols = Symbols(parse_maps(maps["text"].splitlines()), self._path)
        found = []
        for one in document["locks"]:
            address = int(one["address"], 16)
            ours = one["process"] == maps["process"]
            name = symbols.describe(address) if ours else ""
            found.append(Lock(name, address, ours, None, one["handoffs"], None))
        return tuple(found)
