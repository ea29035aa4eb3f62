# SPDX-License-Identifier: GPL-2.0
"""A trial in the simulation.

A user's program has no seed. The runs vary the length of a CPU's turn and the start time instead,
on which no program may depend.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastlab.backend.contract import Request, run_experiment
from fastlab.backend.costs import read_costs
from fastlab.backend.sim import Toolbox, balancer, read_libraries
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
from fastlab.kernel import kernels, needs
from fastlab.plan.rows import Row, value
from fastlab.plan.run_log import RunLog
from fastlab.trial.opened import opened_by
from fastlab.trial.program_machines import (
    FRAGMENTS,
    LATER_NS,
    ProgramMachines,
    find_schedulers,
    maps_of,
    our_files,
    scheduler_libraries,
)
from fastlab.trial.runs import (
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
    last_lines,
    too_long,
)
from fastlab.trial.subject import RUNNER_TELLS, Subject, find_subject, runners_words

# The quantum of each run in cycles, around the default, for which the machine is validated. With
# four runs of each arm, runs without a real difference separate by arm in 2 of 70 trials.
QUANTA = (1750, 2000, 2250, 2500)
# A shell's status of a program that a signal has ended: this and the signal.
ENDED_BY_SIGNAL = 128
NO_AVX512 = (
    "the simulated processor has AVX2, but not AVX-512: build the program for -march=x86-64-v3"
)
# Programs, or versions of a program, whose saved machines stay in the cache.
KEPT = 4


def run(request: TrialRequest, reporter: Reporter) -> Trial:
    """Make all runs, as many at the same time as this machine has CPUs.

    Raises ProgramError if the program fails in an arm. It may fail in the control: a program can
    wait for progress that never comes on one CPU.
    """
    question = request.question
    build_request = kernels.BuildRequest(
        question.series,
        fragments=FRAGMENTS,
        recipes=question.kernels,
        directory=request.directory,
    )
    project = build_request.places.project
    # Report what is missing before any long step.
    qemu = tools.require_qemu()
    build = build_programs(project, reporter)
    ours = our_files(build) | balancer(build, [request.machine])
    plugin = initramfs.plugin_path(build, qemu.plugin_api)
    initramfs.check_built(build, (*ours.values(), plugin))
    ours |= find_schedulers(question.arms, request.directory, build)
    subject = find_subject(
        request.argv,
        (*request.more, *scheduler_libraries(ours)),
        request.directory,
        ours,
        request.machine.memory_mb,
        request.given,
        opened_by(request.argv, request.directory, request.given, request.seconds, reporter),
    )
    for remark in filter(None, (subject.advice, *subject.remarks)):
        reporter.say(remark)
    built = needs.built_for(question.arms, build_request, reporter)
    made_of = [tools.version(qemu.path), CLOCK_SETTLED.encode(), subject.image]
    digest, libraries = initramfs.digest_all(made_of), read_libraries(plugin)
    toolbox = Toolbox(digest, qemu.path, plugin, subject.image, libraries=libraries)
    machines = [
        (replace(request.machine, quantum=quantum), (("quantum", quantum),)) for quantum in QUANTA
    ]
    of = experiment(request, subject.path, question.arms, machines)
    directory = work_dir(project) / "try"
    with locked(cache_dir() / "try.lock", reporter):
        RunLog.begin_anew(directory)
        trier = _TrialMachines(of, built, toolbox, directory, reporter, subject, question.control)
        try:
            rows = run_experiment(trier, of, None, directory, reporter)
        finally:
            _forget_older(cache_dir() / "try", trier.used)
    failed = [row["reason"] for row in rows if row["status"] == "failed"]
    # An incomplete control is no control.
    kept = [row for row in rows if row["variant"] != question.control or not failed]
    timed = [trier.timed[row["key"]] for row in kept]
    uncontrolled = failed[0] if failed else ""
    attributed = [trier.attributed[row["key"]] for row in kept] if request.attribute else []
    return Trial(
        request,
        next(built[arm.kernel] for arm in question.arms if arm.name == question.baseline),
        subject.marked,
        tuple(kept),
        tuple(timed),
        uncontrolled,
        subject.path,
        tuple(attributed),
        error_output([trier.errors[row["key"]] for row in kept]),
        {arm.name: built[arm.kernel] for arm in question.arms},
    )


def _forget_older(directory: Path, used: Collection[Path]) -> None:
    """Keep the saved machines of the last trials and the `used` machines of this trial. The
    machines of a trial have the same time, which identifies the trial."""
    now = time.time_ns()
    for path in used:
        mark_used(path, now)
    if not os.access(directory, os.W_OK):
        return
    # A path with a suffix is an incomplete machine.
    saved = [path for path in directory.glob("*") if path.is_dir() and not path.suffix]
    last_used = {path: path.stat().st_mtime_ns for path in saved}
    kept = sorted(set(last_used.values()))[-KEPT:]
    for path in saved:
        if last_used[path] not in kept:
            shutil.rmtree(path)
            path.with_suffix(".lock").unlink(missing_ok=True)


class _TrialMachines(ProgramMachines):
    """Simulated machines that run the program. `timed`, `attributed` and `errors` (lines of
    standard error) are by the rows' keys. `used` are the saved machines; some presets have one for
    each quantum."""

    def __init__(
        self,
        of: Experiment,
        built: Mapping[str, Kernel],
        toolbox: Toolbox,
        directory: Path,
        reporter: Reporter,
        subject: Subject,
        control: str,
    ) -> None:
        subjects = {workload.benchmark: subject for workload in of.workloads}
        super().__init__(of, built, toolbox, directory, reporter, subjects)
        self._tried = subject
        self._control = control
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
            # The first failure of an arm other than the control ends the trial.
            if request.run.variant.name != self._control:
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
        row = super()._row(request, kernel, outcome, failure, duration)
        locks = self._locks(request.run, outcome) if outcome else ()
        figures = {metric.name: value(row, metric.name) for metric in SIMULATED if metric.latency}
        self.errors[request.key] = outcome.errors if outcome else ()
        self.timed[request.key] = Timed(request.run.variant.name, figures, {}, locks)
        if self._experiment.attribute and outcome:
            costs = read_costs(self._machine_directory(request) / vm.ATTRIBUTION)
            run = AttributedRun(request.run.variant.name, costs, maps_of(outcome.output))
            self.attributed[request.key] = run
        return row

    def _locks(self, run: Run, outcome: vm.Outcome) -> tuple[Lock, ...]:
        """The futexes of a run. All that are not the program's are the server's, if it has one."""
        ours, names = self._symbols(run, outcome), {}
        if server := self._tried.server:
            maps = "\n".join((outcome.output or {}).get("server_maps", []))
            names = {False: (f"{server.name}: ", Symbols(parse_maps(maps), server))}
        return _locks(outcome.document or {}, {True: ("", ours), **names})

    def _words(self, run: Run, shown: bool = False) -> Sequence[str]:
        return self._tried.job(QUANTA.index(run.machine.quantum) * LATER_NS, shown)

    def _job(self, run: Run, argv: Sequence[str]) -> vm.Job:
        job, given = super()._job(run, argv), self._tried.given
        environment = {**job.environment, **dict(given.environment)}
        return replace(job, environment=environment, date=given.date)

    def _machine_directory(self, request: Request) -> Path:
        return self._directory / f"{request.run.variant.name}-{request.run.machine.quantum}"

    def _good_outcome(
        self, request: Request, simulation: vm.Simulation, snapshot: Path
    ) -> vm.Outcome:
        """The outcome of a run that ended well."""
        arm, path = request.run.variant, self._tried.path
        directory = self._machine_directory(request)
        seconds = self._experiment.watchdogs.run
        try:
            outcome = self._run_job(request, simulation, snapshot)
        except WatchdogError as error:
            server = self._tried.server
            silent = f", or waits for an answer of its server {server.name}" if server else ""
            raise ProgramError(f"{too_long(path, seconds, arm)}{silent}\n{error}") from error
        except GuestError as error:
            raise FastError(f"{error}{self._out_of_memory(directory)}") from error
        everything = f"(logs: {directory})"
        if complaint := runners_words(outcome.exit_status, outcome.errors):
            raise FastError("\n".join([*last_lines(complaint), everything]))
        if self._tried.given.ignore_status and outcome.output is not None:
            outcome = replace(outcome, exit_status=0)
        if outcome.exit_status:
            lines = how_it_failed(path, outcome.exit_status, arm, outcome.errors)
            # For the control only the first line is shown.
            if arm.name != self._control:
                lines += end_of_output(self._output(request, simulation, snapshot))
            lines += [self._tried.advice] if self._tried.advice else []
            lines += [NO_AVX512] if outcome.exit_status == ENDED_BY_SIGNAL + signal.SIGILL else []
            message = "\n".join([*lines, everything])
            raise ProgramError(f"{message}{self._out_of_memory(directory)}")
        if outcome.document is None or outcome.output is None:
            raise ProgramError(
                f"{path} ended without a region of interest: it has the markers of roi.h, but did "
                f"not execute them\n{everything}"
            )
        return outcome

    def _output(self, request: Request, simulation: vm.Simulation, snapshot: Path) -> Sequence[str]:
        """The program's output, from one more run that shows it; empty if that run ends
        differently."""
        try:
            words = self._words(request.run, shown=True)
            outcome = self._run_job(request, simulation, snapshot, words=words)
        except GuestError:
            return ()
        if not outcome.exit_status or not outcome.output_lines:
            return ()
        # The runner's own line follows the output, possibly in the middle of a line.
        *lines, last = outcome.output_lines
        last, _, _ = last.rpartition(RUNNER_TELLS)
        return [*lines, last] if last else lines

    def _out_of_memory(self, directory: Path) -> str:
        log = (directory / "serial.log").read_text(errors="replace")
        if "Out of memory" not in log:
            return ""
        memory_mb = self._experiment.machine.memory_mb
        return f"\nThe guest ran out of memory: give it more than {memory_mb} MB (--memory-mb)"


def _locks(
    document: Mapping[str, Any], symbols: Mapping[bool, tuple[str, Symbols]]
) -> tuple[Lock, ...]:
    """The futexes of a run, named by the symbols, each with a prefix, of the program or not of it.
    Without symbols they have no names."""

    def name(futex: Mapping[str, Any]) -> str:
        if futex["program"] not in symbols:
            return ""
        prefix, known = symbols[futex["program"]]
        return prefix + demangle(known.describe(futex["address"]))

    return tuple(
        Lock(
            name(futex),
            futex["address"],
            futex["program"],
            futex["wakes"],
            futex["handoffs"],
            futex["pi_unlocks"],
        )
        for futex in document.get("futexes", [])
    )
