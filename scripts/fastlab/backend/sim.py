# SPDX-License-Identifier: GPL-2.0
"""The backend `sim`: an experiment's runs on simulated machines, several at the same time.

results/NAME/ gets durations.jsonl, the use of the host's time, and machines/, the logs of each
machine.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TypeVar

from fastlab.backend.contract import Request
from fastlab.base import tools
from fastlab.base.cache import check_room
from fastlab.base.model import Experiment, Kernel, Machine, Run
from fastlab.base.progress import Reporter
from fastlab.guest import hardware, initramfs, vm
from fastlab.guest.machines import machine_id, saved_machine
from fastlab.guest.run_locks import heap_maps, locks_of
from fastlab.guest.running_vm import GuestError
from fastlab.guest.snapshot import CLOCK_SETTLED
from fastlab.guest.symbols import Symbols, static_maps
from fastlab.plan import plan_file, presets
from fastlab.plan.experiment import plan
from fastlab.plan.invocation import run_key, workload_argv
from fastlab.plan.row_making import Ending, build_row, simulated
from fastlab.plan.rows import Row, builds_of, finished_keys, latest

# The guest's file system, of all workloads that have none of their own.
IMAGE = "guest.cpio"

_T = TypeVar("_T")


@dataclass(frozen=True)
class Toolbox:
    """Everything that a run uses besides its kernel. `id` changes with any of it. `programs` are
    the image's programs with symbols, by their paths in it. `libraries` are what QEMU loads, by
    name, as they were when the id was made. `images` are those of workloads with their own, by
    name."""

    id: str
    qemu: Path
    plugin: Path
    image: bytes
    programs: Mapping[str, Path] = field(default_factory=dict)
    libraries: Mapping[str, bytes] = field(default_factory=dict)
    images: Mapping[str, bytes] = field(default_factory=dict)


def find_sim_toolbox(
    qemu: tools.Qemu,
    build: Path,
    further: Sequence[str] = (),
    more: Mapping[str, Path] = MappingProxyType({}),
) -> Toolbox:
    """QEMU and the files in Meson's build directory; a FastError names missing files.

    `further` are more programs of the guest (initramfs.find_built()), `more` are files by their
    paths in the guest.
    """
    built = initramfs.find_built(build, qemu.plugin_api, further)
    libraries = read_libraries(built.plugin)
    image = initramfs.build_image({**built.programs, **more})
    machines = [Machine(preset=name) for name in presets.names()]
    words = [word for machine in machines for word in hardware.arguments(machine)]
    parts = [tools.version(qemu.path), initramfs.stripped(built.plugin), image]
    parts += [word.encode() for word in (*words, CLOCK_SETTLED)]
    digest = initramfs.digest_all(parts)
    return Toolbox(digest, qemu.path, built.plugin, image, built.programs, libraries)


def read_libraries(plugin: Path) -> dict[str, bytes]:
    """The plugin, and the library beside it if it exists."""
    files = (plugin, plugin.with_name(vm.PACE))
    return {path.name: path.read_bytes() for path in files if path.is_file()}


def _balances(machine: Machine) -> bool:
    return presets.load(machine.preset).shares_l3(machine.cpus)


def balancer(build: Path, machines: Iterable[Machine]) -> dict[str, Path]:
    """The program that guest_argv() needs in the guests of these machines, if any."""
    if not any(map(_balances, machines)):
        return {}
    program = build / initramfs.BALANCED
    initramfs.check_built(build, (program,))
    return {initramfs.BALANCED_PATH: program}


def guest_argv(machine: Machine, argv: Sequence[str]) -> list[str]:
    """The guest's command line for a workload. If CPUs share an L3, in which the scheduler looks
    for idle CPUs, the machine balances first, as after a longer uptime
    (userspace/guest/balanced.c)."""
    return [initramfs.BALANCED_PATH, *argv] if _balances(machine) else [*argv]


def machine_directory(results: Path, request: Request) -> Path:
    """The directory with the logs of a run's machine."""
    run = request.run
    names = (run.variant.name, run.workload.benchmark, f"{run.workload.threads}t")
    return results / "machines" / "-".join((*names, f"seed{run.seed}", request.key[:8]))


def one_cpu_each(jobs: int) -> Callable[[], None]:
    """The initializer of `jobs` threads. If their number is a multiple of the CPUs, each thread and
    its QEMU stay on one CPU: QEMU's two threads alternate a hundred thousand times a second, and
    each switch between CPUs would cost an interrupt and an idle state."""
    cpus = sorted(os.sched_getaffinity(0))
    numbers = itertools.count()

    def stay() -> None:
        if jobs % len(cpus) == 0:
            os.sched_setaffinity(0, {cpus[next(numbers) % len(cpus)]})

    return stay


class Simulator:
    """The backend `sim`: several machines at the same time (default: one for each CPU of the host),
    each booted once.

    `kernels` are by the name that variants give. Rows belong to the calling thread, machines to the
    pool's threads.
    """

    def __init__(
        self,
        experiment: Experiment,
        kernels: Mapping[str, Kernel],
        toolbox: Toolbox,
        directory: Path,
        reporter: Reporter,
        jobs: int | None = None,
    ) -> None:
        self._experiment = experiment
        self._kernels = kernels
        self._toolbox = toolbox
        self._directory = directory.absolute()
        self._reporter = reporter
        self._jobs = jobs or len(os.sched_getaffinity(0))
        self._cancelled = threading.Event()
        # A request's key depends on the builds: rows of another build do not match.
        self.requests = [Request(self._key(run), run) for run in plan(experiment)]

    def _key(self, run: Run) -> str:
        kernel = self._kernels[run.variant.kernel]
        return run_key(run, kernel.id, self._toolbox.id, self._experiment.attribute)

    def check(self) -> None:
        """find_sim_toolbox() and the kernel builds have reported what is missing."""

    @contextmanager
    def opened(self, rows: Sequence[Row]) -> Iterator[None]:
        builds = builds_of(self._kernels, self._toolbox.id)
        plan_file.keep_simulations(self._directory, self._experiment, builds)
        yield

    def pending(self, rows: Sequence[Row]) -> list[Request]:
        finished = finished_keys(rows)
        return [request for request in self.requests if request.key not in finished]

    def current(self, rows: Iterable[Row]) -> list[Row]:
        """The rows that belong to the experiment as it is now, in the plan's order."""
        by_key = {row["key"]: row for row in latest(rows)}
        return [by_key[request.key] for request in self.requests if request.key in by_key]

    def measure(self, requests: Sequence[Request], deadline: float) -> Iterator[Row]:
        images = {name: self._directory / f"guest-{name}.cpio" for name in self._toolbox.images}
        for name, path in images.items():
            path.write_bytes(self._toolbox.images[name])
        image = self._directory / IMAGE
        image.write_bytes(self._toolbox.image)
        # After a rebuild, runs still use the plugin that their id stands for.
        for name, content in self._toolbox.libraries.items():
            (self._directory / name).write_bytes(content)
        pool = ThreadPoolExecutor(self._jobs, initializer=one_cpu_each(self._jobs))
        try:
            of_request = [
                vm.Simulation(
                    self._toolbox.qemu,
                    self._kernels[run.variant.kernel],
                    images.get(run.workload.benchmark, image),
                    run.machine,
                    cmdline=run.variant.cmdline,
                )
                for run in (request.run for request in requests)
            ]
            # Simulations with different quanta may continue from one machine.
            machines = {
                simulation: machine_id(simulation, self._made_of(simulation))
                for simulation in dict.fromkeys(of_request)
            }
            one_of_each = {machine: simulation for simulation, machine in machines.items()}
            booting = {
                machine: pool.submit(self._saved_machine, simulation)
                for machine, simulation in one_of_each.items()
            }
            self._boots(booting.values(), deadline)
            futures = {
                self._start(pool, request, simulation, booting[machines[simulation]].result())
                for request, simulation in zip(requests, of_request, strict=True)
            }
            yield from self._rows(futures, deadline)
        finally:
            # Also after Ctrl-C: the machines end soon, and no thread remains.
            self._cancelled.set()
            pool.shutdown(cancel_futures=True)

    def _start(
        self, pool: Executor, request: Request, simulation: vm.Simulation, snapshot: Path
    ) -> Future[tuple[Row, float]]:
        """Let the run be made: _run()."""
        return pool.submit(self._run, request, simulation, snapshot)

    def _boots(self, booting: Collection[Future[Path]], deadline: float) -> None:
        title = "booting the machines"
        self._reporter.start(title, len(booting))
        try:
            for done, future in enumerate(booting, 1):
                _wait({future}, deadline)
                future.result()
                self._reporter.advance(title, done)
        finally:
            self._reporter.finish(title)

    def _rows(self, futures: set[Future[tuple[Row, float]]], deadline: float) -> Iterator[Row]:
        beside = []
        while futures:
            for future in _wait(futures, deadline):
                futures.discard(future)
                row, seconds = future.result()
                self._note_duration(row, seconds)
                beside.append(seconds)
                yield row
        self._reporter.say(
            f"{len(beside)} runs; besides its workload a run took {fmean(beside):.2f} s on average"
        )

    def _note_duration(self, row: Row, beside: float) -> None:
        record = {"key": row["key"], "seconds": row["duration"], "beside_workload": beside}
        with (self._directory / "durations.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")

    def _saved_machine(self, simulation: vm.Simulation, cached: str = "machines") -> Path:
        """`cached` is the part of the cache."""
        watchdogs, made_of = self._experiment.watchdogs, self._made_of(simulation)
        return saved_machine(
            simulation, made_of, watchdogs, self._cancelled, self._reporter, cached
        )

    def _made_of(self, simulation: vm.Simulation) -> list[str]:
        """What a machine is made of besides kernel and hardware."""
        own = simulation.image.name
        return [self._toolbox.id] if own == IMAGE else [self._toolbox.id, own]

    def _run(
        self, request: Request, simulation: vm.Simulation, snapshot: Path
    ) -> tuple[Row, float]:
        """The row, and the host seconds outside the workload: load, start of the CPUs, end."""
        begun = time.monotonic()
        outcome, failure = self._outcome(request, simulation, snapshot)
        duration = time.monotonic() - begun
        row = self._row(request, simulation.kernel, outcome, failure, duration)
        return row, duration - (outcome.workload if outcome else 0.0)

    def _outcome(
        self, request: Request, simulation: vm.Simulation, snapshot: Path
    ) -> tuple[vm.Outcome | None, str]:
        """The guest's outcome, and why the run failed, or ""."""
        try:
            outcome = self._run_job(request, simulation, snapshot)
        except GuestError as error:
            check_room(self._directory)
            return None, str(error)
        if outcome.exit_status and outcome.errors:
            errors = "\n".join(outcome.errors)
            return outcome, f"the benchmark ended with status {outcome.exit_status}: {errors}"
        return outcome, ""

    def _run_job(
        self,
        request: Request,
        simulation: vm.Simulation,
        snapshot: Path,
        words: Sequence[str] = (),
    ) -> vm.Outcome:
        """`words` replace the workload's command line."""
        run = request.run
        return vm.run_job(
            simulation,
            snapshot,
            self._directory / self._toolbox.plugin.name,
            self._job(run, guest_argv(run.machine, words or self._words(run))),
            self._machine_directory(request),
            self._experiment.watchdogs,
            self._cancelled,
            futexes=self._futexes(run),
            attribute=self._experiment.attribute,
            programs=self._programs(run),
        )

    def _job(self, run: Run, argv: Sequence[str]) -> vm.Job:
        return vm.arm_job(run.variant, argv)

    def _futexes(self, run: Run) -> str:
        """Whose futexes are the program's (vm.run_job())."""
        return "own"

    def _words(self, run: Run) -> Sequence[str]:
        """The workload's command line in the guest."""
        return workload_argv(run.workload, run.seed)

    def _machine_directory(self, request: Request) -> Path:
        return machine_directory(self._directory, request)

    def _row(
        self,
        request: Request,
        kernel: Kernel,
        outcome: vm.Outcome | None,
        failure: str,
        duration: float,
    ) -> Row:
        run = request.run
        output = outcome.output if outcome else None
        mechanism, status = (outcome.mechanism, outcome.exit_status) if outcome else (None, None)
        row = build_row(
            run=run,
            argv=workload_argv(run.workload, run.seed),
            measured=simulated(run.machine, outcome.document if outcome else None, output),
            kernel=kernel,
            key=request.key,
            tools_id=self._toolbox.id,
            ending=Ending(output, mechanism, status, duration, failure),
        )
        if outcome and outcome.document and "futexes" in outcome.document:
            row["locks"] = locks_of(outcome.document, self._symbols(run, outcome))
        return row

    def _symbols(self, run: Run, outcome: vm.Outcome) -> Symbols:
        """Names for the workload's memory."""
        programs = self._programs(run)
        mappings = [mapping for program in programs for mapping in static_maps(program)]
        heap = (outcome.document or {}).get("heap")
        return Symbols([*mappings, *heap_maps(heap)] if mappings else [], Path(*programs))

    def _programs(self, run: Run) -> Sequence[Path]:
        """The workload's program, if its file is known."""
        path = workload_argv(run.workload, run.seed)[0]
        return [self._toolbox.programs[path]] if path in self._toolbox.programs else []


def _wait(futures: set[Future[_T]], deadline: float) -> set[Future[_T]]:
    """The finished futures, at least one."""
    left = max(0.0, deadline - time.monotonic())
    over, _ = wait(futures, timeout=left, return_when=FIRST_COMPLETED)
    if not over:
        raise TimeoutError
    return over
