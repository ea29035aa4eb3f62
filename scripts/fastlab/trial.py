# SPDX-License-Identifier: GPL-2.0
"""A program under each policy of the FAST kernel, in the deterministic mode; and on one CPU.

A foreign program has no seed. What is varied instead is a property of the machine that no program
may depend on: how long a CPU's turn is.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fastlab import guest, kernels, tools, vm
from fastlab.cache import cache_dir, explained_full_disk, locked
from fastlab.machines import saved_machine
from fastlab.model import FastError, Kernel, Machine, Watchdogs
from fastlab.programs import build_programs
from fastlab.reporter import Reporter
from fastlab.results import elapsed_ns
from fastlab.snapshot import CLOCK_SETTLED
from fastlab.subject import Subject, find_subject
from fastlab.symbols import Symbols, parse_maps

# The quantum of each run, in cycles: around the default, which the machine is known at. With four,
# runs that differ by chance alone stand apart, all of one arm on one side, in 2 of 70 trials.
QUANTA = (1750, 2000, 2250, 2500)
# What the series offers: the values of kernel.sched_fast. The first is the baseline.
POLICIES: Mapping[str, int] = {"off": 0, "strict": 1}
BASELINE = "off"
KERNEL = "fast"
# In one piece, as the cache model wants it.
MAX_MEMORY_MB = 3072
# Saved machines in the cache: one for each program, or version of it.
KEPT = 4
# On a host that is busy with other things.
BOOT_SECONDS = 600.0
# Of a program that fails.
LAST_LINES = 10

# The plugin's counters that are summed over program and kernel.
COUNTERS = ("cycles", "instructions", "l2_misses", "l3_misses", "bus_requests")


@dataclass(frozen=True)
class Arm:
    """How a program is run: under a policy, confined to so many CPUs if not None."""

    policy: str
    cpus: int | None = None

    @property
    def words(self) -> str:
        """For people."""
        return self.policy + (f" on {self.cpus} CPU" if self.cpus else "")


# Every policy, and a control: all the locality there is, and nothing in parallel.
ONE_CPU = "onecpu"
ARMS: Mapping[str, Arm] = {name: Arm(name) for name in POLICIES} | {ONE_CPU: Arm(BASELINE, 1)}


@dataclass(frozen=True)
class Request:
    """A command line, what it needs besides, and the machine to run it in."""

    argv: tuple[str, ...]
    more: tuple[Path, ...]
    machine: Machine
    seconds: float
    directory: Path


@dataclass(frozen=True)
class Lock:
    """A futex and what was done with it; None: not available. `program`: it is the program's own,
    and has a `name`."""

    name: str
    address: int
    program: bool
    wakes: int | None
    handoffs: int
    pi_unlocks: int | None


@dataclass(frozen=True)
class Shot:
    """One run. `values` are by metric, None is "not available"; `latencies` are those of a row
    (results.Row)."""

    arm: str
    quantum: int
    values: Mapping[str, int | None]
    latencies: Mapping[str, Mapping[str, int | None]]
    mechanism: Mapping[str, int]
    locks: tuple[Lock, ...]


@dataclass(frozen=True)
class Trial:
    """All runs of a program. `uncontrolled`: why there is none on one CPU, or ""."""

    request: Request
    kernel: Kernel
    marked: bool
    shots: tuple[Shot, ...]
    uncontrolled: str = ""


class ProgramError(FastError):
    """The program did not end well."""


def run(request: Request, reporter: Reporter) -> Trial:
    """Make all runs, as many at a time as this machine has CPUs.

    A program that does not end well under any policy is a ProgramError that says how it ended. On
    one CPU it may do so: what a program waits for need not come there.
    """
    build_request = kernels.BuildRequest(variants=(KERNEL,))
    project = build_request.places.project
    build = build_programs(project, reporter)
    ours = (build / "userspace/guest/init", build / "userspace/guest/subject")
    plugin = build / "userspace/cachesim/libcachesim.so"
    guest.check_built(build, (*ours, plugin))
    subject = find_subject(
        request.argv, request.more, request.directory, ours, request.machine.memory_mb
    )
    if subject.advice:
        reporter.say(subject.advice)
    (kernel,) = kernels.build(build_request, reporter)
    directory = project / "build/try"
    with locked(cache_dir() / "try.lock", reporter), explained_full_disk(cache_dir()):
        directory.mkdir(parents=True, exist_ok=True)
        image = directory / "guest.cpio"
        image.write_bytes(subject.image)
        simulation = vm.Simulation(tools.require_qemu(), kernel, image, request.machine)
        execution = _Execution(request, subject, simulation, plugin, directory, reporter)
        shots = execution.shots()
        uncontrolled = execution.uncontrolled
    return Trial(request, kernel, subject.marked, tuple(shots), uncontrolled)


class _Execution:
    """One call of run()."""

    def __init__(
        self,
        request: Request,
        subject: Subject,
        simulation: vm.Simulation,
        plugin: Path,
        directory: Path,
        reporter: Reporter,
    ) -> None:
        self._request = request
        self._subject = subject
        self._simulation = simulation
        self._plugin = plugin
        self._directory = directory
        self._reporter = reporter
        self._watchdogs = Watchdogs(boot=BOOT_SECONDS, run=request.seconds)
        self._cancelled = threading.Event()
        # As in a Trial, after shots().
        self.uncontrolled = ""

    def shots(self) -> list[Shot]:
        pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
        try:
            booting = pool.submit(self._saved_machine)
            self._wait("booting the machine", [booting])
            snapshot = booting.result()
            futures = [
                pool.submit(self._try, snapshot, name, quantum)
                for quantum in QUANTA
                for name in ARMS
            ]
            self._wait(f"running {self._subject.path.name}", futures)
            found = [future.result() for future in futures]
            self.uncontrolled = next((one for one in found if isinstance(one, str)), "")
            shots = [one for one in found if isinstance(one, Shot)]
            # A control of fewer runs is none.
            return [one for one in shots if one.arm != ONE_CPU or not self.uncontrolled]
        finally:
            # Also after Ctrl-C and the first failure: the machines end within a glance.
            self._cancelled.set()
            pool.shutdown(cancel_futures=True)

    def _wait(self, task: str, futures: Sequence[Future[Any]]) -> None:
        self._reporter.start(task, len(futures))
        try:
            for done, future in enumerate(as_completed(futures), 1):
                # The first to fail ends all.
                future.result()
                self._reporter.advance(task, done)
        finally:
            self._reporter.finish(task)

    def _saved_machine(self) -> Path:
        version = tools.version(self._simulation.qemu).decode()
        made_of = [version, CLOCK_SETTLED, guest.digest(self._subject.image)]
        snapshot = saved_machine(
            self._simulation, made_of, self._watchdogs, self._cancelled, self._reporter, "try"
        )
        snapshot.parent.touch()
        saved = [path for path in snapshot.parents[1].iterdir() if path.is_dir()]
        for path in sorted(saved, key=lambda path: path.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(path)
            path.with_suffix(".lock").unlink(missing_ok=True)
        return snapshot

    def _try(self, snapshot: Path, name: str, quantum: int) -> Shot | str:
        """A run, or why the control has none."""
        try:
            return self._shot(snapshot, name, quantum)
        except ProgramError as error:
            if name != ONE_CPU:
                raise
            return str(error)

    def _shot(self, snapshot: Path, name: str, quantum: int) -> Shot:
        arm = ARMS[name]
        sysctls = {"kernel.sched_fast": POLICIES[arm.policy]}
        machine = replace(self._simulation.machine, quantum=quantum)
        directory = self._directory / f"{name}-{quantum}"
        try:
            outcome = vm.run_job(
                replace(self._simulation, machine=machine),
                snapshot,
                self._plugin,
                vm.Job(sysctls, self._subject.job(), cpus=arm.cpus),
                directory,
                self._watchdogs,
                self._cancelled,
                futexes="own" if self._subject.marked else "next",
            )
        except vm.WatchdogError as error:
            said = too_long(self._subject.path, self._watchdogs.run, arm.words)
            raise ProgramError(f"{said}\n{error}") from error
        except vm.GuestError as error:
            raise FastError(f"{error}{self._out_of_memory(directory)}") from error
        if outcome.exit_status:
            raise ProgramError(self._explain(outcome, arm, directory))
        if outcome.document is None or outcome.output is None:
            raise ProgramError(
                f"{self._subject.path} ended without a region of interest: it has the markers of "
                f"roi.h, but did not pass them\n(all that the machine said: {directory})"
            )
        maps = parse_maps(outcome.output["maps"])
        return Shot(
            name,
            quantum,
            values(outcome.document, outcome.output),
            outcome.document["latencies"],
            outcome.mechanism or {},
            locks(outcome.document, Symbols(maps, self._subject.path)),
        )

    def _explain(self, outcome: vm.Outcome, arm: Arm, directory: Path) -> str:
        lines = how_it_failed(self._subject.path, outcome.exit_status, arm.words, outcome.errors)
        if self._subject.advice:
            lines.append(self._subject.advice)
        lines.append(f"(all that the machine said: {directory})")
        return "\n".join(lines) + self._out_of_memory(directory)

    def _out_of_memory(self, directory: Path) -> str:
        said = (directory / "serial.log").read_text(errors="replace")
        if "Out of memory" not in said:
            return ""
        return (
            f"\nThe guest was out of memory: give it more than {self._request.machine.memory_mb} "
            "MB (--memory-mb)"
        )


def too_long(path: Path, seconds: float, policy: str) -> str:
    """Of a run that the watchdog ended."""
    return (
        f"{path} took longer than {seconds:g} s with policy {policy}; it hangs, or it needs a "
        "smaller task or more time (--timeout)"
    )


def how_it_failed(path: Path, status: int, policy: str, errors: Sequence[str]) -> list[str]:
    """Of a run with this status: how it ended, and its last words."""
    said = errors[-LAST_LINES:] or ["(it said nothing on its standard error)"]
    return [f"{path} {_ending(status)} with policy {policy}", *said]


def _ending(status: int) -> str:
    """How a program with this status ended, as a shell has it."""
    if status - 128 in signal.valid_signals():
        return f"was ended by {signal.Signals(status - 128).name}"
    return f"ended with status {status}"


def values(document: Mapping[str, Any], output: Mapping[str, Any]) -> dict[str, int | None]:
    """The metrics of a run, from the plugin's document and the runner's."""
    total = document["total"]
    return {
        "elapsed_ns": elapsed_ns(document),
        **{name: total["user"][name] + total["kernel"][name] for name in COUNTERS},
        "context_switches": output["context_switches"],
        "migrations": output["migrations"],
    }


def locks(document: Mapping[str, Any], symbols: Symbols) -> tuple[Lock, ...]:
    """The futexes of a run. Those of other programs cannot be told apart by name."""
    return tuple(
        Lock(
            symbols.describe(one["address"]) if one["program"] else "",
            one["address"],
            one["program"],
            one["wakes"],
            one["handoffs"],
            one["pi_unlocks"],
        )
        for one in document["futexes"]
    )


def of_arm(shots: Iterable[Shot], arm: str) -> list[Shot]:
    """The arm's runs, by their quanta."""
    return sorted((shot for shot in shots if shot.arm == arm), key=lambda shot: shot.quantum)
