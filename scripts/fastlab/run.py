# SPDX-License-Identifier: GPL-2.0
"""The run stage: an experiment's plan, executed by some machines at a time, and resumed.

results/NAME/ gets experiment.toml, runs.jsonl (the rows), durations.jsonl (how the host's time was
spent) and machines/, what each machine wrote.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fastlab import guest, presets, tools, vm
from fastlab.cache import check_room, explained_full_disk
from fastlab.experiment import keep_experiment, plan, run_key, workload_argv
from fastlab.machines import saved_machine
from fastlab.model import Experiment, FastError, Kernel, Machine, Run
from fastlab.reporter import Reporter
from fastlab.results import Row, RunLog, build_row, finished_keys, latest, simulated
from fastlab.snapshot import CLOCK_SETTLED

_T = TypeVar("_T")


@dataclass(frozen=True)
class Toolbox:
    """What every run of an experiment uses besides its kernel. `id` changes with any of it."""

    id: str
    qemu: Path
    plugin: Path
    image: bytes


@dataclass(frozen=True)
class _Task:
    run: Run
    kernel: Kernel
    key: str


@dataclass(frozen=True)
class _Done:
    row: Row
    # Host seconds outside the workload: load, start of the CPUs, end.
    beside: float


def find_toolbox(build: Path, further: Sequence[str] = ()) -> Toolbox:
    """The tools, from PATH and Meson's build directory; FastError names what is missing.

    `further` are more programs of the guest (guest.find_built()).
    """
    qemu = tools.require_qemu()
    built = guest.find_built(build, further)
    image = guest.build_image(built.programs)
    hardware = [word for name in presets.names() for word in vm.hardware(Machine(preset=name))]
    words = [*hardware, CLOCK_SETTLED]
    parts = [tools.version(qemu), guest.stripped(built.plugin), image]
    parts += [word.encode() for word in words]
    return Toolbox(guest.digest_all(parts), qemu, built.plugin, image)


def current_rows(
    experiment: Experiment, kernels: Mapping[str, Kernel], toolbox: Toolbox, rows: Iterable[Row]
) -> list[Row]:
    """The rows that belong to the experiment as it is now, in the plan's order."""
    by_key = {row["key"]: row for row in latest(rows)}
    keys = (task.key for task in _tasks(experiment, kernels, toolbox))
    return [by_key[key] for key in keys if key in by_key]


def run_experiment(
    experiment: Experiment,
    source: Path,
    kernels: Mapping[str, Kernel],
    toolbox: Toolbox,
    directory: Path,
    reporter: Reporter,
    jobs: int | None = None,
) -> list[Row]:
    """Make every run that is not finished, `jobs` at a time (default: the host's CPUs).

    `source` is the experiment's file, `kernels` are by the name that variants give. Returns the
    current rows; a failed run is a row that says why, and is made again by the next call.
    May be interrupted in any way: the rows written are safe and a further call goes on.
    """
    with RunLog(directory / "runs.jsonl") as log, explained_full_disk(directory):
        if log.warning:
            reporter.say(log.warning)
        keep_experiment(source, experiment, directory)
        tasks = _tasks(experiment, kernels, toolbox)
        finished = finished_keys(log.rows)
        left = [task for task in tasks if task.key not in finished]
        if left:
            jobs = jobs or len(os.sched_getaffinity(0))
            _Execution(experiment, toolbox, directory, log, reporter).execute(left, jobs)
        return current_rows(experiment, kernels, toolbox, log.rows)


def _tasks(experiment: Experiment, kernels: Mapping[str, Kernel], toolbox: Toolbox) -> list[_Task]:
    tasks = []
    for run in plan(experiment):
        kernel = kernels[run.variant.kernel]
        tasks.append(_Task(run, kernel, run_key(run, kernel.id, toolbox.id)))
    return tasks


class _Execution:
    """One call of run_experiment(): rows and reports are the calling thread's, machines others'."""

    def __init__(
        self,
        experiment: Experiment,
        toolbox: Toolbox,
        directory: Path,
        log: RunLog,
        reporter: Reporter,
    ) -> None:
        self._experiment = experiment
        self._toolbox = toolbox
        self._directory = directory.absolute()
        self._log = log
        self._reporter = reporter
        self._cancelled = threading.Event()
        self._deadline = time.monotonic() + experiment.watchdogs.total

    def execute(self, tasks: list[_Task], jobs: int) -> None:
        image = self._directory / "guest.cpio"
        image.write_bytes(self._toolbox.image)
        pool = ThreadPoolExecutor(jobs)
        try:
            of_task = [
                vm.Simulation(self._toolbox.qemu, task.kernel, image, task.run.machine)
                for task in tasks
            ]
            booting = {
                simulation: pool.submit(self._saved_machine, simulation)
                for simulation in dict.fromkeys(of_task)
            }
            self._boots(booting.values())
            futures = {
                pool.submit(self._run, task, simulation, booting[simulation].result())
                for task, simulation in zip(tasks, of_task, strict=True)
            }
            self._collect(futures, len(tasks))
        finally:
            # Also after Ctrl-C: the machines end within a glance, and no thread is left.
            self._cancelled.set()
            pool.shutdown(cancel_futures=True)

    def _boots(self, booting: Collection[Future[Path]]) -> None:
        title = "booting the machines"
        self._reporter.start(title, len(booting))
        try:
            for done, future in enumerate(booting, 1):
                self._wait({future})
                future.result()
                self._reporter.advance(title, done)
        finally:
            self._reporter.finish(title)

    def _collect(self, futures: set[Future[_Done]], total: int) -> None:
        title = f"running {self._experiment.name}"
        beside = 0.0
        done = 0
        self._reporter.start(title, total)
        try:
            while futures:
                for future in self._wait(futures):
                    futures.discard(future)
                    outcome = future.result()
                    row = outcome.row
                    self._log.append(row)
                    self._note_duration(outcome)
                    beside += outcome.beside
                    done += 1
                    note = f"{row['variant']} {row['benchmark']} {row['threads']} threads"
                    self._reporter.advance(title, done, note)
                    if row["status"] != "ok":
                        self._reporter.say(f"{row['status']}: {note}: {row['reason']}")
        finally:
            self._reporter.finish(title)
        self._reporter.say(
            f"{done} runs; beside its workload a run took {beside / done:.2f} s on average"
        )

    def _wait(self, futures: set[Future[_T]]) -> set[Future[_T]]:
        """Those that are over, at least one; the total watchdog bites here."""
        left = self._deadline - time.monotonic()
        over, _ = wait(futures, timeout=max(0.0, left), return_when=FIRST_COMPLETED)
        if not over:
            total = self._experiment.watchdogs.total
            raise FastError(
                f"watchdog: the experiment took longer than {total:g} s in all; the "
                f"{len(self._log.rows)} rows written are safe. Run the same command again to go "
                "on, or raise total under [watchdogs]"
            )
        return over

    def _note_duration(self, done: _Done) -> None:
        record = {
            "key": done.row["key"],
            "seconds": done.row["duration"],
            "beside_workload": done.beside,
        }
        with (self._directory / "durations.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")

    def _saved_machine(self, simulation: vm.Simulation) -> Path:
        watchdogs = self._experiment.watchdogs
        made_of = [self._toolbox.id]
        return saved_machine(simulation, made_of, watchdogs, self._cancelled, self._reporter)

    def _run(self, task: _Task, simulation: vm.Simulation, snapshot: Path) -> _Done:
        run = task.run
        names = (run.variant.name, run.workload.benchmark, f"{run.workload.threads}t")
        name = "-".join((*names, f"seed{run.seed}", task.key[:8]))
        directory = self._directory / "machines" / name
        sysctls = {f"kernel.{key}": value for key, value in run.variant.sysctls.items()}
        job = vm.Job(
            sysctls,
            workload_argv(run.workload, run.seed),
            run.variant.features,
            run.variant.cpus,
        )
        begun = time.monotonic()
        outcome = None
        failure = ""
        try:
            outcome = vm.run_job(
                simulation,
                snapshot,
                self._toolbox.plugin,
                job,
                directory,
                self._experiment.watchdogs,
                self._cancelled,
            )
            if outcome.exit_status and outcome.errors:
                said = "\n".join(outcome.errors)
                failure = f"the benchmark ended with status {outcome.exit_status}: {said}"
        except vm.GuestError as error:
            check_room(self._directory)
            failure = str(error)
        duration = time.monotonic() - begun
        document = outcome.document if outcome else None
        output = outcome.output if outcome else None
        row = build_row(
            run=run,
            argv=job.argv,
            measured=simulated(run.machine, document, output),
            kernel=task.kernel,
            key=task.key,
            tools_id=self._toolbox.id,
            output=output,
            mechanism=outcome.mechanism if outcome else None,
            exit_status=outcome.exit_status if outcome else None,
            duration=duration,
            failure=failure,
        )
        return _Done(row, duration - (outcome.workload if outcome else 0.0))
