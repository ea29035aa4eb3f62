# SPDX-License-Identifier: GPL-2.0
"""The machine of a measurement: a kernel that is booted once, and jobs that continue from there."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from fastlab.backend import sim
from fastlab.base import tools
from fastlab.base.cache import locked
from fastlab.base.model import FastError, Machine, Watchdogs
from fastlab.base.progress import Reporter, steps
from fastlab.base.project import work_dir
from fastlab.guest import initramfs, srat, vm
from fastlab.guest.meson import build_programs
from fastlab.kernel import kernels

_P = TypeVar("_P")
_R = TypeVar("_R")


class NoResultError(FastError):
    """A job ended without a good result; `signal` killed its program, or is 0."""

    def __init__(self, text: str, signal: int) -> None:
        super().__init__(text)
        self.signal = signal


class BenchMachine:
    """A machine whose guest has the benchmarks and the `further` programs (initramfs.find_built()).

    `name` is its directory in the project's build/, which keeps the machine's logs; the object
    holds the directory's lock. With more than one of `nodes` it has NUMA nodes, and a kernel with
    NUMA. `variant` is one of Kbuild/kernels.toml, `fragments` are further ones of its
    configuration. run() may be called by several threads, each with a name of its own.
    """

    def __init__(
        self,
        name: str,
        machine: Machine,
        reporter: Reporter,
        further: Sequence[str] = (),
        boot_seconds: float = Watchdogs.boot,
        nodes: int = 1,
        variant: str = "baseline",
        fragments: Sequence[str] = (),
    ) -> None:
        if nodes > 1:
            fragments = (*fragments, "numa")
        request = kernels.BuildRequest(variants=(variant,), fragments=tuple(fragments))
        project = request.places.project
        # Report what is missing before any long step.
        qemu = tools.require_qemu()
        self.toolbox = sim.find_sim_toolbox(qemu, build_programs(project, reporter), further)
        (kernel,) = kernels.build(request, reporter)
        self.directory = work_dir(project) / name
        self._lock = ExitStack()
        lock = self.directory.with_name(f"{self.directory.name}.lock")
        self._lock.enter_context(locked(lock, reporter))
        self.directory.mkdir(parents=True, exist_ok=True)
        content = self.toolbox.image
        if nodes > 1:
            table = srat.srat(machine.cpus, machine.memory_mb, nodes)
            content = initramfs.firmware({"SRAT.aml": table}) + content
        image = self.directory / "initramfs"
        image.write_bytes(content)
        self._simulation = vm.Simulation(self.toolbox.qemu, kernel, image, machine, nodes)
        self._watchdogs = Watchdogs(boot=boot_seconds)
        self._cancelled = threading.Event()
        reporter.say("booting")
        vm.save_machine(self._simulation, self.directory / "boot", self._watchdogs, self._cancelled)

    def run(
        self,
        argv: Sequence[str],
        plugin: Path | None = None,
        name: str = "run",
        fast: Mapping[str, str] = MappingProxyType({}),
        attribute: bool = False,
        quantum: int | None = None,
    ) -> vm.Outcome:
        """One job, from the saved machine on, with `fast` in the files of sched/fast, and turns of
        `quantum` cycles instead of the machine's.

        A job whose output is no good result is an error.
        """
        simulation = self._simulation
        if quantum:
            simulation = replace(simulation, machine=replace(simulation.machine, quantum=quantum))
        outcome = vm.run_job(
            simulation,
            self.directory / "boot" / vm.SNAPSHOT,
            plugin,
            vm.Job(fast, argv),
            self.directory / name,
            self._watchdogs,
            self._cancelled,
            attribute=attribute,
        )
        if not outcome.output or outcome.output.get("check") != "ok":
            raise NoResultError(
                f"the benchmark ended with status {outcome.exit_status} and without a good result: "
                f"{' '.join(outcome.errors) or outcome.output}; "
                f"what the machine said: {self.directory}",
                # As init has it, and a shell.
                max(outcome.exit_status - 128, 0),
            )
        return outcome

    def cancel(self) -> None:
        """End all running and future jobs."""
        self._cancelled.set()


def run_each(
    machines: Iterable[BenchMachine],
    reporter: Reporter,
    task: str,
    points: Sequence[_P],
    measure: Callable[[_P], _R],
    take: Callable[[_P, _R], None],
    note: Callable[[_P], str] = str,
) -> None:
    """Measure each point on one of the machines, as many at a time as this one has CPUs; `take`
    gets what came of them, in their order.

    Interrupted, or when one fails, the machines end at once, and no more begin.
    """
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        results = pool.map(measure, points)
        for point in steps(reporter, task, points, note):
            take(point, next(results))
    except BaseException:
        for machine in machines:
            machine.cancel()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def counted(outcome: vm.Outcome) -> dict[str, Any]:
    """What the cache model says of the region of interest."""
    if outcome.document is None:
        raise FastError(
            "the cache model wrote no document: did the region of interest begin and end?"
        )
    return dict(outcome.document)


def instructions(of: Mapping[str, Any]) -> int:
    """Of what it has of a CPU, or of all; the idle loop's too."""
    return sum(int(of[mode]["instructions"]) for mode in ("user", "kernel", "idle"))
