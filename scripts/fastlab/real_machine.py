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
from fastlab.counting import (
    FAST_LATENCY,
    FAST_STAT,
    HANDOFF_LIBRARY,
    Call,
    Observed,
    count_run,
    counters_of,
    latencies_of,
    my_cpus,
    time_run,
)
from fastlab.dataset import Dataset, PairedRow, Plan, Slot, variant_of
from fastlab.experiment import benchmark_result, workload_argv
from fastlab.model import BENCHMARKS, LATENCIES, SPLASH_PROGRAMS, Case, Experiment, Kernel, Run
from fastlab.results import Counter, Measured, build_row, judge
from fastlab.running import SWITCH, Running, Sysctls

# The row's own fields of these are the benchmark's; the kernel's counts have them everywhere.
SCHEDULING = ("context_switches", "migrations")
# What the simulation runs is static; into these a library can be loaded.
DYNAMIC = (*BENCHMARKS, *SPLASH_PROGRAMS)
# Below the directory of the results: what the last runs wrote.
LAST_RUN = "last-run"
LAST_LATENCY_RUN = "last-run/latency"
# Where the plan has no latencies.
NOT_ASKED = "the experiment does not ask for it with latencies = true"


@dataclass(frozen=True)
class Toolbox:
    """What every run uses besides the kernel. `id` changes with any of it. `handoff` is the library
    that fast-latency, which stands beside it, loads into programs."""

    id: str
    fast_stat: Path
    fast_latency: Path
    handoff: Path
    programs: Mapping[str, Path]


def find_toolbox(build: Path, experiment: Experiment) -> Toolbox:
    """The programs in Meson's build directory; a FastError names what is not there."""
    ours = (build / FAST_STAT, build / FAST_LATENCY, build / HANDOFF_LIBRARY)
    names = {workload.benchmark for workload in experiment.workloads}
    programs = {name: _program_path(build, name) for name in sorted(names)}
    used = (*ours, *programs.values())
    guest.check_built(build, used)
    parts = [guest.stripped(path) for path in used]
    parts += [Path(path).read_bytes() for path in guest.libraries(used)]
    return Toolbox(guest.digest_all(parts), *ours, programs)


def _program_path(build: Path, name: str) -> Path:
    path = guest.program_path(build, name)
    return path.with_name(f"{name}-dynamic") if name in DYNAMIC else path


@dataclass(frozen=True)
class Answer:
    """How a run ended: None is "not available". `document` is fast-stat's or fast-latency's."""

    status: int | None
    output: Mapping[str, Any] | None
    document: Mapping[str, Any] | None
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
    counters = counters_of(answer.document)
    surroundings = where.circumstances.environment
    measured = Measured(
        backend=plan.backend,
        machine={
            name: getattr(surroundings, name) for name in ("cpu", "cpus", "virtual", "vendor")
        },
        counters=counters,
        elapsed_ns=(answer.output or {}).get("elapsed_ns"),
        throughput=(answer.output or {}).get("throughput"),
        complaint=_complaint(answer.document, "fast-stat wrote no counts"),
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
        events=slot.events,
        others=(answer.document or {}).get("others"),
        boot=where.boot,
        circumstances=environment.record(where.circumstances),
        latency={},
        latency_missing={} if plan.latencies else dict.fromkeys(LATENCIES, NOT_ASKED),
    )


def wants_latencies(plan: Plan, row: PairedRow) -> bool:
    """Is a latency run to follow? Not if the row is in no comparison of times."""
    return plan.latencies and row["status"] == "ok" and row["events"] == plan.groups[0]


def with_latencies(row: PairedRow, run: Run, answer: Answer) -> PairedRow:
    """The row with what its latency run measured. It has failed if that has, but one that was not
    what its variant says has only no latencies: what was counted before it was."""
    status, reason = judge(
        run,
        answer.output or {},
        answer.mechanism,
        answer.status,
        answer.failure,
        _complaint(answer.document, "fast-latency wrote no latencies"),
    )
    reason = f"latency run: {reason}"
    if status == "failed" or answer.document is None:
        return {**row, "status": status, "reason": reason}
    if status == "invalid":
        return {**row, "latency_missing": dict.fromkeys(LATENCIES, reason)}
    histograms, missing = latencies_of(answer.document)
    return {**row, "latency": histograms, "latency_missing": missing}


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
        self._cpus = my_cpus()
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
        case = Case(self._experiment.machine, slot.workload)
        run = Run(replace(self._variants[name], sysctls=sysctls), case, self.plan.seed)
        program = self._toolbox.programs[slot.workload.benchmark]
        argv = workload_argv(slot.workload, run.seed, program.absolute())
        call = self._call(argv, LAST_RUN)
        counted = count_run(call, self._toolbox.fast_stat, slot.events, self._root)
        where = Where(
            self.running.kernel, self.running.boot, self._toolbox.id, counted.circumstances
        )
        row = paired_row(self.plan, slot, run, argv, where, self._answer(call, counted))
        if not wants_latencies(self.plan, row):
            return row
        call = self._call(argv, LAST_LATENCY_RUN)
        timed = time_run(call, self._toolbox.fast_latency, self._root)
        return with_latencies(row, run, self._answer(call, timed))

    def _call(self, argv: Sequence[str], scratch: str) -> Call:
        directory = (self._directory / scratch).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        seconds = self._experiment.watchdogs.run
        return Call(argv, seconds, True, self._cpus, directory, directory)

    def _answer(self, call: Call, observed: Observed) -> Answer:
        answer = _answer(call, observed)
        if answer.failure:
            check_room(self._directory)
        return answer

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


def _answer(call: Call, observed: Observed) -> Answer:
    """What a benchmark's output says of its run."""
    failure = ""
    said = call.errors.read_text(errors="replace").strip()
    if observed.status is None:
        failure = f"watchdog: no end after {call.seconds:g} s; it was killed"
    elif observed.status and said:
        failure = f"it ended with status {observed.status}: {said}"
    lines = call.output.read_text(errors="replace").splitlines()
    return Answer(
        observed.status,
        benchmark_result(lines),
        observed.document,
        failure,
        observed.mechanism,
        observed.duration,
    )


def _scheduling(counters: Mapping[str, Counter]) -> dict[str, int | None]:
    """The kernel counts them on every machine and for all threads; the benchmark's own figures
    depend on the kernel's configuration."""
    return {name: counters[name]["total"] if name in counters else None for name in SCHEDULING}


def _complaint(document: Mapping[str, Any] | None, nothing: str) -> str:
    """Why the document cannot be trusted, or ""; `nothing` says that there is none."""
    if not document:
        return nothing
    if document["regions"] != 1:
        return f"{document['regions']} regions of interest in one run; there must be one"
    return ""
