# SPDX-License-Identifier: GPL-2.0
"""A run of an experiment on a real machine: its policy switched, its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fastlab import environment, guest
from fastlab.boots import Agenda
from fastlab.cache import check_room
from fastlab.counting import FAST_STAT, Call, Counted, count_run, counters_of
from fastlab.dataset import Dataset, PairedRow, Plan, Slot, variant_of
from fastlab.experiment import benchmark_result, workload_argv
from fastlab.model import Experiment, Kernel, Run
from fastlab.results import Counter, Measured, build_row
from fastlab.running import SWITCH, Running, Sysctls

# The row's own fields of these are the benchmark's; the kernel's counts have them everywhere.
SCHEDULING = ("context_switches", "migrations")


@dataclass(frozen=True)
class Toolbox:
    """What every run uses besides the kernel. `id` changes with any of it."""

    id: str
    fast_stat: Path
    programs: Mapping[str, Path]


def find_toolbox(build: Path, experiment: Experiment) -> Toolbox:
    """The programs in Meson's build directory; a FastError names what is not there."""
    fast_stat = build / FAST_STAT
    names = {workload.benchmark for workload in experiment.workloads}
    programs = {name: guest.program_path(build, name) for name in sorted(names)}
    used = (fast_stat, *programs.values())
    guest.check_built(build, used)
    parts = [guest.stripped(path) for path in used]
    parts += [Path(path).read_bytes() for path in guest.libraries(used)]
    return Toolbox(guest.digest_all(parts), fast_stat, programs)


@dataclass(frozen=True)
class Answer:
    """How a run ended: None is "not available". `counts` is fast-stat's document."""

    status: int | None
    output: Mapping[str, Any] | None
    counts: Mapping[str, Any] | None
    failure: str
    mechanism: Mapping[str, int] | None = None
    duration: float = 0.0


@dataclass(frozen=True)
class Where:
    """On which boot of which kernel, with which programs, and in what surroundings."""

    kernel: Kernel
    boot: str
    tools_id: str
    circumstances: environment.Circumstances


def paired_row(
    plan: Plan, slot: Slot, run: Run, argv: Sequence[str], where: Where, answer: Answer
) -> PairedRow:
    """A slot's row. `run` has all of FAST's sysctls."""
    counters = counters_of(answer.counts)
    surroundings = where.circumstances.environment
    measured = Measured(
        backend=plan.backend,
        machine={
            name: getattr(surroundings, name) for name in ("cpu", "cpus", "virtual", "vendor")
        },
        counters=counters,
        throughput=(answer.output or {}).get("throughput"),
        complaint=_complaint(answer.counts),
    )
    row = build_row(
        run=run,
        argv=argv,
        measured=measured,
        kernel=where.kernel,
        key=_key(slot),
        tools_id=where.tools_id,
        output=answer.output and {**answer.output, **_scheduling(counters)},
        mechanism=answer.mechanism,
        exit_status=answer.status,
        duration=answer.duration,
        failure=answer.failure,
    )
    return PairedRow(
        **row,
        pair=slot.pair,
        side=slot.side,
        block=slot.block,
        position=slot.position,
        boot=where.boot,
        circumstances=environment.record(where.circumstances),
        latency={},
    )


def _key(slot: Slot) -> str:
    """The plan, which does not change, says everything else."""
    load = slot.workload
    words = (load.benchmark, load.threads, slot.pair, slot.block, slot.position)
    return "-".join(map(str, words))


class RealMachine:
    """Makes one run."""

    def __init__(
        self,
        experiment: Experiment,
        plan: Plan,
        toolbox: Toolbox,
        directory: Path,
        root: Path,
        running: Running,
        sysctls: Sysctls,
        dataset: Dataset,
    ) -> None:
        self.plan = plan
        self.running = running
        self._experiment = experiment
        self._toolbox = toolbox
        self._directory = directory
        self._root = root
        self._sysctls = sysctls
        self._variants = {variant.name: variant for variant in experiment.variants}
        # What a variant does not name is as it was when the first runs were made.
        self._others = dict(sysctls.found)
        for row in dataset.rows:
            named = self._variants[row["variant"]].sysctls
            self._others |= {key: one for key, one in row["sysctls"].items() if key not in named}
        for name in self._variants:
            self._switch(name)

    def measure(self, slot: Slot) -> PairedRow:
        name = variant_of(self.plan, slot)
        sysctls = self._switch(name)
        run = Run(replace(self._variants[name], sysctls=sysctls), slot.workload, self.plan.seed)
        program = self._toolbox.programs[slot.workload.benchmark]
        argv = workload_argv(slot.workload, run.seed, program.absolute())
        scratch = (self._directory / "last-run").absolute()
        scratch.mkdir(exist_ok=True)
        seconds = self._experiment.watchdogs.run
        call = Call(argv, seconds, roi=True, directory=scratch, scratch=scratch)
        counted = count_run(call, self._toolbox.fast_stat, self.plan.backend, self._root)
        answer = _answer(call, counted)
        if answer.failure:
            check_room(self._directory)
        where = Where(
            self.running.kernel, self.running.boot, self._toolbox.id, counted.circumstances
        )
        return paired_row(self.plan, slot, run, argv, where, answer)

    def here(self, left: Agenda) -> list[Slot]:
        """What of the agenda this boot can make."""
        return left.here(self.running)

    def _switch(self, name: str) -> dict[str, int]:
        """Set the variant's policy; all of FAST's sysctls as they are then."""
        variant = self._variants[name]
        if variant.kernel != self.running.variant or not self.running.fast:
            return {}
        wanted = {**self._others, SWITCH: 0, **variant.sysctls}
        self._sysctls.set(wanted)
        return wanted


def _answer(call: Call, counted: Counted) -> Answer:
    """What a benchmark's output says of its run."""
    failure = ""
    said = call.errors.read_text(errors="replace").strip()
    if counted.status is None:
        failure = f"watchdog: no end after {call.seconds:g} s; it was killed"
    elif counted.status and said:
        failure = f"it ended with status {counted.status}: {said}"
    lines = call.output.read_text(errors="replace").splitlines()
    return Answer(
        counted.status,
        benchmark_result(lines),
        counted.counts,
        failure,
        counted.mechanism,
        counted.duration,
    )


def _scheduling(counters: Mapping[str, Counter]) -> dict[str, int | None]:
    """The kernel counts them on every machine and for all threads; the benchmark's own figures
    depend on the kernel's configuration."""
    return {name: counters[name]["total"] if name in counters else None for name in SCHEDULING}


def _complaint(counts: Mapping[str, Any] | None) -> str:
    if not counts:
        return "fast-stat wrote no counts"
    if counts["regions"] != 1:
        return f"{counts['regions']} regions of interest in one run; there must be one"
    return ""
