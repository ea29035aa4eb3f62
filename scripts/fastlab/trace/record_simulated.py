# SPDX-License-Identifier: GPL-2.0
"""Recordings of an experiment's run, in simulated machines.

Time is modelled time, and the tracepoints take their share of it: a recorded run is a little slower
than the run of `fast run`, whose numbers stay the ones to quote.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastlab.backend.sim import balancer, find_sim_toolbox, guest_argv
from fastlab.base import tools
from fastlab.base.cache import check_room
from fastlab.base.files import write_files
from fastlab.base.lookup import pick
from fastlab.base.model import Case, Experiment, FastError, Kernel, Place, Variant
from fastlab.base.progress import Reporter
from fastlab.guest import initramfs, vm
from fastlab.guest.machines import saved_machine
from fastlab.guest.meson import build_programs
from fastlab.guest.running_vm import GuestError
from fastlab.kernel import kernels, needs
from fastlab.plan.invocation import workload_argv
from fastlab.trace.events import read_events
from fastlab.trace.recording import Recording, recording_of

FAST_TRACE = "userspace/trace/fast-trace"
_COMMAND = (
    *("/bin/fast-trace", "--roi", "--json", "/proc/self/fd/1"),
    *("--output", "/trace.dat", "--print"),
)


@dataclass(frozen=True)
class TraceRequest:
    """A run of an experiment, and in which variants it is to be recorded. What it leaves goes to
    the directory. `buffer_kb`: of each CPU, in KiB; None: fast-trace's default. `beside` has the
    experiment's file."""

    experiment: Experiment
    case: Case
    variants: Sequence[Variant]
    directory: Path
    buffer_kb: int | None = None
    beside: Path = Path()


def buffer_words(kb: int | None) -> list[str]:
    """fast-trace's option for the size of each CPU's buffer, if it is to have one."""
    return [] if kb is None else ["--buffer-kb", str(kb)]


def pick_case(experiment: Experiment, run: str | None) -> Case:
    """The case that is called so, such as single_ctr-16; the first one if None. A program of the
    user is in none."""
    built_in = [case for case in experiment.cases if not case.workload.command]
    cases = {Place(*case.place).workload: case for case in built_in}
    if not cases:
        raise FastError(
            f"{experiment.name} has no [[benchmark]] to record; `fast trace -- PROGRAM` records a "
            "program on the running kernel"
        )
    if run is None:
        return next(iter(cases.values()))
    return pick(cases, run, "run", f" of {experiment.name}")


def pick_variants(experiment: Experiment, names: Sequence[str]) -> list[Variant]:
    """The variants that are called so; the baseline and the first one with a policy if none is."""
    variants = {variant.name: variant for variant in experiment.variants}
    if names:
        return [pick(variants, name, "variant", f" of {experiment.name}") for name in names]
    with_policy = [variant for variant in experiment.variants if variant.policy != "off"]
    return [variants[experiment.baseline], *with_policy[:1]]


def record_experiment(request: TraceRequest, reporter: Reporter) -> list[Recording]:
    """Make the runs, one after the other, and keep of each its VARIANT.dat."""
    experiment = request.experiment
    build_request = kernels.BuildRequest(
        experiment.series or None, recipes=experiment.kernels, directory=request.beside
    )
    # Before all that takes long: what is missing is said at once.
    qemu = tools.require_qemu()
    build = build_programs(build_request.places.project, reporter)
    machines = _Machines(request, qemu, build, reporter)
    built = needs.built_for(request.variants, build_request, reporter)
    task = f"recording {Place(*request.case.place).workload}"
    reporter.start(task, len(request.variants))
    try:
        recordings = []
        for variant in request.variants:
            recordings.append(machines.record(variant, built[variant.kernel]))
            reporter.advance(task, len(recordings))
        return recordings
    finally:
        reporter.finish(task)


class _Machines:
    """Those that have what records, besides what a run needs."""

    def __init__(
        self, request: TraceRequest, qemu: tools.Qemu, build: Path, reporter: Reporter
    ) -> None:
        self._request = request
        self._reporter = reporter
        self._directory = request.directory.absolute()
        initramfs.check_built(build, [build / FAST_TRACE])
        more = {f"/bin/{name}": tools.require(name) for name in ("trace-cmd", "base64")}
        more["/bin/fast-trace"] = build / FAST_TRACE
        more |= balancer(build, [request.case.machine])
        self._toolbox = find_sim_toolbox(qemu, build, request.experiment.benchmarks, more)
        self._program = initramfs.program_path(build, request.case.workload.benchmark)
        write_files(self._directory, [("guest.cpio", self._toolbox.image)])

    def record(self, variant: Variant, kernel: Kernel) -> Recording:
        request, watchdogs = self._request, self._request.experiment.watchdogs
        machine = request.case.machine
        image = self._directory / "guest.cpio"
        simulation = vm.Simulation(self._toolbox.qemu, kernel, image, machine)
        # Ctrl-C ends this thread, and QEMU with it.
        cancelled = threading.Event()
        snapshot = saved_machine(
            simulation, [self._toolbox.id], watchdogs, cancelled, self._reporter, "machines"
        )
        argv = workload_argv(request.case.workload, request.experiment.seeds[0])
        words = guest_argv(machine, [*_COMMAND, *buffer_words(request.buffer_kb), "--", *argv])
        job = vm.arm_job(variant, words)
        directory = self._directory / "machines" / variant.name
        try:
            outcome = vm.run_job(
                simulation, snapshot, self._toolbox.plugin, job, directory, watchdogs, cancelled
            )
        except GuestError:
            check_room(self._directory)
            raise
        document, trace = handed_over(outcome, variant, directory)
        write_files(self._directory, [(f"{variant.name}.dat", trace)])
        events = read_events(self._directory / f"{variant.name}.dat")
        maps = document["maps"].replace(argv[0], str(self._program))
        return recording_of(variant.name, events, {**document, "maps": maps}, self._program)


def handed_over(
    outcome: vm.Outcome, variant: Variant, directory: Path
) -> tuple[Mapping[str, Any], bytes]:
    """fast-trace's document, and the trace that it has printed after that."""
    everything = f"(all that the machine said: {directory})"
    if outcome.exit_status:
        errors = "\n".join(outcome.errors)
        raise FastError(
            f"{variant.name}: the recording ended with status {outcome.exit_status}: {errors}\n"
            f"{everything}"
        )
    check = (outcome.output or {}).get("check")
    if check != "ok":
        raise FastError(f"{variant.name}: the benchmark's self-check says {check}\n{everything}")
    last = max(i for i, line in enumerate(outcome.output_lines) if line.startswith("{"))
    document: Mapping[str, Any] = json.loads(outcome.output_lines[last])
    try:
        return document, base64.b64decode("".join(outcome.output_lines[last + 1 :]), validate=True)
    except ValueError as error:
        raise FastError(
            f"{variant.name}: the trace has not come whole out of the guest: {error}\n{everything}"
        ) from error
