# SPDX-License-Identifier: GPL-2.0
"""One run on a real machine: its policy switched, under fast-stat, and what went on around it."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fastlab import environment, guest
from fastlab.boots import Agenda
from fastlab.cache import check_room
from fastlab.dataset import Dataset, PairedRow, Plan, Slot, variant_of
from fastlab.experiment import benchmark_result, workload_argv
from fastlab.model import Experiment, FastError, Kernel, Run
from fastlab.process import run_group
from fastlab.results import Counter, Measured, build_row
from fastlab.running import SWITCH, Running, Sysctls, difference, mechanism

# What fast-stat is asked for.
EVENTS: Mapping[str, str] = {"perf": "all", "soft": "software"}
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
    fast_stat = build / "userspace/counters/fast-stat"
    names = {workload.benchmark for workload in experiment.workloads}
    programs = {name: guest.program_path(build, name) for name in sorted(names)}
    used = (fast_stat, *programs.values())
    guest.check_built(build, used)
    parts = [guest.stripped(path) for path in used]
    parts += [Path(path).read_bytes() for path in guest.libraries(used)]
    identity = "".join(guest.digest(part) for part in parts)
    return Toolbox(guest.digest(identity.encode()), fast_stat, programs)


def check_counters(backend: str, toolbox: Toolbox) -> None:
    """Count nothing once: what fast-stat complains of is said before the first run."""
    program, events = str(toolbox.fast_stat), EVENTS[backend]
    with tempfile.NamedTemporaryFile() as counts:
        command = [program, "--events", events, "--json", counts.name, "true"]
        answer = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
    if answer.returncode:
        said = answer.stderr.strip() or f"fast-stat ended with status {answer.returncode}"
        raise FastError(f"backend {backend} is not available here: {said}")


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
    counters = _counters(answer.counts)
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
        surroundings = environment.capture(self._root)
        counted = mechanism(self._root)
        before = environment.activity(self._root)
        begun = time.monotonic()
        answer = self._execute(argv)
        duration = time.monotonic() - begun
        after = environment.activity(self._root)
        if answer.failure:
            check_room(self._directory)
        answer = replace(
            answer, mechanism=difference(counted, mechanism(self._root)), duration=duration
        )
        where = Where(
            self.running.kernel,
            self.running.boot,
            self._toolbox.id,
            environment.Circumstances(surroundings, before, after),
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

    def _execute(self, argv: Sequence[str]) -> Answer:
        directory = (self._directory / "last-run").absolute()
        directory.mkdir(exist_ok=True)
        paths = [directory / name for name in ("output", "errors", "counts.json")]
        output, errors, counts = paths
        counts.unlink(missing_ok=True)
        events = EVENTS[self.plan.backend]
        options = ["--roi", "--events", events, "--json", str(counts)]
        command = [str(self._toolbox.fast_stat.absolute()), *options, "--", *argv]
        seconds = self._experiment.watchdogs.run
        status = None
        failure = ""
        with output.open("wb") as out, errors.open("wb") as err:
            try:
                status = run_group(command, seconds, cwd=directory, stdout=out, stderr=err)
            except subprocess.TimeoutExpired:
                failure = f"watchdog: no end after {seconds:g} s; it was killed"
        said = errors.read_text(errors="replace").strip()
        if status and said:
            failure = f"it ended with status {status}: {said}"
        lines = output.read_text(errors="replace").splitlines()
        return Answer(status, benchmark_result(lines), _document(counts), failure)


def _document(path: Path) -> Mapping[str, Any] | None:
    """fast-stat's; it leaves nothing where it failed or was killed."""
    try:
        found: Mapping[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found


def _counters(counts: Mapping[str, Any] | None) -> dict[str, Counter]:
    """What has a value; the rest is not available."""
    given = counts["counters"] if counts else {}
    return {
        name: Counter(unit=one["unit"], total=one["value"], share=one["share"])
        for name, one in given.items()
        if one["value"] is not None
    }


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
