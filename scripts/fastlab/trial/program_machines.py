# SPDX-License-Identifier: GPL-2.0
"""Programs of the user as workloads of simulated machines, and those that load schedulers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastlab.backend.contract import Request
from fastlab.backend.sim import Simulator, Toolbox
from fastlab.base.model import Experiment, FastError, Kernel, Run, Variant
from fastlab.base.progress import Reporter
from fastlab.guest import initramfs, vm
from fastlab.guest.symbols import Symbols, parse_maps
from fastlab.kernel.sched_ext import SCX_FAST, SCX_FAST_MISSING
from fastlab.plan.rows import Row
from fastlab.trial.subject import RUNNER, Subject, find_program, find_subject

# In Meson's build directory.
SUBJECT = "userspace/guest/subject"
# Delay from run to run: a tick of 1 ms and a quarter, so that no two runs meet the ticks, or the
# slices of another program, in the same phase.
LATER_NS = 1_250_000
# Of a kernel: what programs expect and benchmarks do not need.
FRAGMENTS = ("programs",)


def find_schedulers(arms: Iterable[Variant], directory: Path, build: Path) -> dict[str, Path]:
    """The programs that load the arms' schedulers, by their paths in the guest: scx_fast from
    Meson's `build` directory, any other from the directory or PATH. Raises FastError for one that
    is not there."""
    return {
        vm.scheduler_path(arm): _scheduler(arm, directory, build) for arm in arms if arm.scheduler
    }


def _scheduler(arm: Variant, directory: Path, build: Path) -> Path:
    if arm.scheduler[0] == Path(SCX_FAST).name:
        path = build / SCX_FAST
        if not path.is_file():
            raise FastError(f"arm {arm.name}: scheduler: {path.name} is {SCX_FAST_MISSING}")
        return path
    try:
        path = find_program(arm.scheduler[0], directory)
    except FastError as error:
        raise FastError(
            f"arm {arm.name}: scheduler: {error}; a kernel's source has some in tools/sched_ext, "
            "scx_simple among them"
        ) from error
    with path.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            raise FastError(
                f"arm {arm.name}: scheduler: {path} is no ELF program; name the program that loads "
                "the scheduler, and write its options behind it"
            )
    return path


def our_files(build: Path) -> dict[str, Path]:
    """What a guest needs to run a program of the user, by path in the guest."""
    return {"/init": build / initramfs.INIT, RUNNER: build / SUBJECT}


def find_subjects(
    experiment: Experiment, directory: Path, ours: Mapping[str, Path]
) -> dict[str, Subject]:
    """The experiment's programs by the names of their workloads; `directory` is where their command
    lines begin. `ours` as find_subject() has it."""
    memory_mb = min(machine.memory_mb for machine in experiment.machines)
    libraries = scheduler_libraries(ours)
    subjects = {}
    for workload in experiment.workloads:
        if workload.command:
            try:
                more = [*map(Path, workload.files), *libraries]
                subjects[workload.benchmark] = find_subject(
                    *(workload.command, more, directory.absolute(), ours, memory_mb)
                )
            except FastError as error:
                raise FastError(f"[[workload]] {workload.benchmark}: {error}") from error
    return subjects


def scheduler_libraries(ours: Mapping[str, Path]) -> list[Path]:
    """What the files of ours are linked with: only schedulers are dynamic."""
    return [Path(library) for library in initramfs.libraries(ours.values())]


def with_programs(toolbox: Toolbox, subjects: Mapping[str, Subject]) -> Toolbox:
    """The toolbox with an image for each program. Its id stands for all of them."""
    images = {name: subject.image for name, subject in subjects.items()}
    digest = initramfs.digest_all([toolbox.id.encode(), *images.values()])
    return replace(toolbox, id=digest, images=images)


def maps_of(output: Mapping[str, Any] | None) -> str:
    """The program's /proc/PID/maps, as the runner prints it; "" if unknown."""
    return "\n".join((output or {}).get("maps", []))


class ProgramMachines(Simulator):
    """Simulated machines that run programs, by the names of their workloads, beside benchmarks. A
    seed is the time at which a program begins."""

    def __init__(
        self,
        experiment: Experiment,
        kernels: Mapping[str, Kernel],
        toolbox: Toolbox,
        directory: Path,
        reporter: Reporter,
        subjects: Mapping[str, Subject],
        jobs: int | None = None,
    ) -> None:
        super().__init__(experiment, kernels, toolbox, directory, reporter, jobs)
        self._subjects = subjects

    def _subject(self, run: Run) -> Subject | None:
        return self._subjects.get(run.workload.benchmark)

    def _row(
        self,
        request: Request,
        kernel: Kernel,
        outcome: vm.Outcome | None,
        failure: str,
        duration: float,
    ) -> Row:
        run = request.run
        if outcome and self._subject(run):
            # The runner is not a benchmark, and has no self-check.
            of = {"benchmark": run.workload.benchmark, "threads": 0, "seed": run.seed}
            outcome = replace(outcome, output={**(outcome.output or {}), **of, "check": "ok"})
        return super()._row(request, kernel, outcome, failure, duration)

    def _symbols(self, run: Run, outcome: vm.Outcome) -> Symbols:
        if subject := self._subject(run):
            return Symbols(parse_maps(maps_of(outcome.output)), subject.path)
        return super()._symbols(run, outcome)

    def _words(self, run: Run) -> Sequence[str]:
        if subject := self._subject(run):
            return subject.job(run.seed * LATER_NS)
        return super()._words(run)

    def _programs(self, run: Run) -> Sequence[Path]:
        subject = self._subject(run)
        return subject.binaries if subject else super()._programs(run)

    def _futexes(self, run: Run) -> str:
        subject = self._subject(run)
        return "next" if subject and not subject.marked else super()._futexes(run)
