# SPDX-License-Identifier: GPL-2.0
"""A trial in the deterministic mode.

A foreign program has no seed. What is varied instead is what no program may depend on: how long a
CPU's turn is, and when the program begins.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastlab.backend.contract import Request, run_experiment
from fastlab.backend.costs import read_costs
from fastlab.backend.sim import Simulator, Toolbox, balancer, read_libraries
from fastlab.base import tools
from fastlab.base.cache import cache_dir, locked, mark_used
from fastlab.base.demangle import demangle
from fastlab.base.metrics import SIMULATED
from fastlab.base.model import Experiment, FastError, Kernel, Run
from fastlab.base.progress import Reporter
from fastlab.base.project import work_dir
from fastlab.guest import initramfs, vm
from fastlab.guest.meson import build_programs
from fastlab.guest.running_vm import GuestError, WatchdogError
from fastlab.guest.snapshot import CLOCK_SETTLED
from fastlab.guest.symbols import Symbols, parse_maps
from fastlab.kernel import kernels
from fastlab.plan.rows import Row, value
from fastlab.plan.run_log import RunLog
from fastlab.trial.runs import (
    ARMS,
    KERNEL,
    ONE_CPU,
    AttributedRun,
    Lock,
    ProgramError,
    Timed,
    Trial,
    TrialRequest,
    end_of_output,
    error_output,
    experiment,
    how_it_failed,
    too_long,
)
from fastlab.trial.subject import RUNNER, RUNNER_TELLS, Subject, find_subject

# The quantum of each run, in cycles: around the default, which the machine is known at. With four,
# runs that differ by chance alone stand apart, all of one arm on one side, in 2 of 70 trials.
QUANTA = (1750, 2000, 2250, 2500)
# How much later than the one before each run begins: by a tick of a millisecond and a quarter of
# one, so that no two meet the ticks, or another program's slices, in the same phase.
LATER_NS = 1_250_000
# Programs, or versions of one, whose saved machines stay in the cache.
KEPT = 4


def run(request: TrialRequest, reporter: Reporter) -> Trial:
    """Make all runs, as many at a time as this machine has CPUs.

    A program that does not end well under any policy is a ProgramError that says how it ended. On
    one CPU it may do so: what a program waits for need not come there.
    """
    build_request = kernels.BuildRequest(variants=(KERNEL,))
    project = build_request.places.project
    # Before all that takes long: what is missing is said at once.
    qemu = tools.require_qemu()
    build = build_programs(project, reporter)
    ours = {"/init": build / initramfs.INIT, RUNNER: build / "userspace/guest/subject"}
    ours |= balancer(build, [request.machine])
    plugin = initramfs.plugin_path(build, qemu.plugin_api)
    initramfs.check_built(build, (*ours.values(), plugin))
    subject = find_subject(
        request.argv, request.more, request.directory, ours, request.machine.memory_mb
    )
    if subject.advice:
        reporter.say(subject.advice)
    (kernel,) = kernels.build(build_request, reporter)
    made_of = [tools.version(qemu.path), CLOCK_SETTLED.encode(), subject.image]
    digest, libraries = initramfs.digest_all(made_of), read_libraries(plugin)
    toolbox = Toolbox(digest, qemu.path, plugin, subject.image, libraries=libraries)
    machines = [
        (replace(request.machine, quantum=quantum), (("quantum", quantum),)) for quantum in QUANTA
    ]
    of = experiment(request, subject.path, ARMS, machines)
    directory = work_dir(project) / "try"
    with locked(cache_dir() / "try.lock", reporter):
        RunLog.begin_anew(directory)
        trier = _TrialMachines(of, kernel, toolbox, directory, reporter, subject)
        try:
            rows = run_experiment(trier, of, None, directory, reporter)
        finally:
            _forget_older(cache_dir() / "try", trier.used)
    failed = [row["reason"] for row in rows if row["status"] == "failed"]
    # A control of fewer runs is none.
    kept = [row for row in rows if row["variant"] != ONE_CPU or not failed]
    timed = [trier.timed[row["key"]] for row in kept]
    uncontrolled = failed[0] if failed else ""
    attributed = [trier.attributed[row["key"]] for row in kept] if request.attribute else []
    return Trial(
        request,
        kernel,
        subject.marked,
        tuple(kept),
        tuple(timed),
        uncontrolled,
        subject.path,
        tuple(attributed),
        error_output([trier.errors[row["key"]] for row in kept]),
    )


def _forget_older(directory: Path, used: Collection[Path]) -> None:
    """Keep the machines of the trials that were last, with the `used` ones of this trial. Those of
    a trial have their time in common, by which they are told from others'."""
    now = time.time_ns()
    for path in used:
        mark_used(path, now)
    if not os.access(directory, os.W_OK):
        return
    # What has a suffix is half a machine.
    saved = [path for path in directory.glob("*") if path.is_dir() and not path.suffix]
    last_used = {path: path.stat().st_mtime_ns for path in saved}
    kept = sorted(set(last_used.values()))[-KEPT:]
    for path in saved:
        if last_used[path] not in kept:
            shutil.rmtree(path)
            path.with_suffix(".lock").unlink(missing_ok=True)


def _maps(output: Mapping[str, Any] | None) -> str:
    """The program's /proc/PID/maps, of which the runner tells the lines; "" if it is not known."""
    return "\n".join((output or {}).get("maps", []))


class _TrialMachines(Simulator):
    """Simulated machines that run the program. `timed`, `attributed` and `errors`, lines of its
    standard error, are by the rows' keys; `used` are the saved machines, of which some presets have
    one for each quantum."""

    def __init__(
        self,
        of: Experiment,
        kernel: Kernel,
        toolbox: Toolbox,
        directory: Path,
        reporter: Reporter,
        subject: Subject,
    ) -> None:
        super().__init__(of, {KERNEL: kernel}, toolbox, directory, reporter)
        self._subject = subject
        self.timed: dict[str, Timed] = {}
        self.attributed: dict[str, AttributedRun] = {}
        self.errors: dict[str, tuple[str, ...]] = {}
        self.used: set[Path] = set()

    def _saved_machine(self, simulation: vm.Simulation, cached: str = "try") -> Path:
        snapshot = super()._saved_machine(simulation, cached)
        self.used.add(snapshot.parent)
        return snapshot

    def _outcome(
        self, request: Request, simulation: vm.Simulation, snapshot: Path
    ) -> tuple[vm.Outcome | None, str]:
        try:
            return self._good_outcome(request, simulation, snapshot), ""
        except ProgramError as error:
            # Of an arm that is no control the first failure ends all.
            if request.run.variant.name != ONE_CPU:
                raise
            return None, str(error)

    def _row(
        self,
        request: Request,
        kernel: Kernel,
        outcome: vm.Outcome | None,
        failure: str,
        duration: float,
    ) -> Row:
        output = (outcome.output if outcome else None) or {}
        # The runner is no benchmark, and there is nothing that it could check.
        of = {"benchmark": request.run.workload.benchmark, "threads": 0, "seed": 0, "check": "ok"}
        outcome = replace(outcome, output={**output, **of}) if outcome else None
        row = super()._row(request, kernel, outcome, failure, duration)
        row["argv"] = list(self._subject.argv)
        locks = (
            _locks(outcome.document or {}, self._symbols(request.run, outcome)) if outcome else ()
        )
        figures = {metric.name: value(row, metric.name) for metric in SIMULATED if metric.latency}
        self.errors[request.key] = outcome.errors if outcome else ()
        self.timed[request.key] = Timed(request.run.variant.name, figures, {}, locks)
        if self._experiment.attribute and outcome:
            costs = read_costs(self._machine_directory(request) / vm.ATTRIBUTION)
            run = AttributedRun(request.run.variant.name, costs, _maps(output))
            self.attributed[request.key] = run
        return row

    def _symbols(self, run: Run, outcome: vm.Outcome) -> Symbols:
        return Symbols(parse_maps(_maps(outcome.output)), self._subject.path)

    def _words(self, run: Run, shown: bool = False) -> Sequence[str]:
        return self._subject.job(QUANTA.index(run.machine.quantum) * LATER_NS, shown)

    def _programs(self, run: Run) -> Sequence[Path]:
        return self._subject.binaries

    def _machine_directory(self, request: Request) -> Path:
        return self._directory / f"{request.run.variant.name}-{request.run.machine.quantum}"

    def _good_outcome(
        self, request: Request, simulation: vm.Simulation, snapshot: Path
    ) -> vm.Outcome:
        """Of a run that ended well."""
        arm, path = request.run.variant, self._subject.path
        directory = self._machine_directory(request)
        seconds = self._experiment.watchdogs.run
        futexes: str = "own" if self._subject.marked else "next"
        try:
            outcome = self._run_job(request, simulation, snapshot, futexes)
        except WatchdogError as error:
            raise ProgramError(f"{too_long(path, seconds, arm)}\n{error}") from error
        except GuestError as error:
            raise FastError(f"{error}{self._out_of_memory(directory)}") from error
        everything = f"(all that the machine said: {directory})"
        if outcome.exit_status:
            lines = how_it_failed(path, outcome.exit_status, arm, outcome.errors)
            # Of the control the first line is shown.
            if arm.name != ONE_CPU:
                lines += end_of_output(self._output(request, simulation, snapshot))
            lines += [self._subject.advice] if self._subject.advice else []
            message = "\n".join([*lines, everything])
            raise ProgramError(f"{message}{self._out_of_memory(directory)}")
        if outcome.document is None or outcome.output is None:
            raise ProgramError(
                f"{path} ended without a region of interest: it has the markers of roi.h, but did "
                f"not pass them\n{everything}"
            )
        return outcome

    def _output(self, request: Request, simulation: vm.Simulation, snapshot: Path) -> Sequence[str]:
        """What the program prints, by one more run that passes it on. None, if that run ends
        otherwise."""
        try:
            words = self._words(request.run, shown=True)
            outcome = self._run_job(request, simulation, snapshot, words=words)
        except GuestError:
            return ()
        if not outcome.exit_status or not outcome.output_lines:
            return ()
        # What the runner tells comes behind it, even in the middle of a line.
        *lines, last = outcome.output_lines
        last, _, _ = last.rpartition(RUNNER_TELLS)
        return [*lines, last] if last else lines

    def _out_of_memory(self, directory: Path) -> str:
        log = (directory / "serial.log").read_text(errors="replace")
        if "Out of memory" not in log:
            return ""
        memory_mb = self._experiment.machine.memory_mb
        return f"\nThe guest was out of memory: give it more than {memory_mb} MB (--memory-mb)"


def _locks(document: Mapping[str, Any], symbols: Symbols) -> tuple[Lock, ...]:
    """The futexes of a run. Those of other programs cannot be told apart by name."""
    return tuple(
        Lock(
            demangle(symbols.describe(futex["address"])) if futex["program"] else "",
            futex["address"],
            futex["program"],
            futex["wakes"],
            futex["handoffs"],
            futex["pi_unlocks"],
        )
        for futex in document.get("futexes", [])
    )
