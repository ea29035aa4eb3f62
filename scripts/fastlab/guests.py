# SPDX-License-Identifier: GPL-2.0
"""The run stage in guests that KVM executes: an experiment's blocks, each run a boot of its own.

The guest measures with fast-stat and fast-latency, as the backends on the running kernel do; it
counts with the hardware's counters where the host has them, else with the kernel's.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastlab import environment, guest, kvm, plan_file, tools, vm
from fastlab.boots import Agenda
from fastlab.cache import check_room, explained_full_disk
from fastlab.counting import GROUPS
from fastlab.dataset import (
    GUESTS,
    HARDWARE,
    SOFTWARE,
    Dataset,
    PairedRow,
    Slot,
    make_plan,
    variant_of,
    with_groups,
)
from fastlab.experiment import keep_experiment, workload_argv
from fastlab.model import Case, Experiment, FastError, Kernel, Run
from fastlab.real import Execution
from fastlab.real_machine import (
    LAST_LATENCY_RUN,
    LAST_RUN,
    Answer,
    Toolbox,
    Where,
    paired_row,
    wants_latencies,
    with_latencies,
)
from fastlab.reporter import Reporter
from fastlab.results import RunLog
from fastlab.running import SWITCH, only_user

# Where the host's kernel says that it can count with the hardware.
PMU = "sys/bus/event_source/devices/cpu"
FAST_STAT = "/bin/fast-stat"
FAST_LATENCY = "/bin/fast-latency"
HANDOFF_LIBRARY = "/bin/libfast-handoff.so"
# The guest hands over what its job writes to its output.
OUTPUT = "/proc/self/fd/1"
# What only the documents of these two have.
MEASURED = {"counters", "latencies"}


def check_available(kernel: Kernel, project: Path, reporter: Reporter) -> None:
    """Raises FastError, that says why, where no guest boots with KVM."""
    why = kvm.probe(kernel, project, reporter)
    if why:
        raise FastError(
            f"backend {GUESTS} is not available here: {why}; use --backend soft on a patched "
            "kernel, or the simulation (--backend sim)"
        )


def run_experiment(
    experiment: Experiment,
    source: Path,
    build: Path,
    toolbox: Toolbox,
    kernels: Mapping[str, Kernel],
    directory: Path,
    reporter: Reporter,
    root: Path = Path("/"),
) -> Dataset:
    """Make every run that is not finished, one at a time; what there is then.

    `source` is the experiment's file, `build` Meson's directory, `kernels` has the variants'
    kernels by name, `root` the /proc and /sys of the host. May be interrupted in any way: the rows
    written are safe, and a further call goes on.
    """
    _check_host(experiment, root)
    with (
        only_user(root),
        RunLog(directory / "runs.jsonl") as log,
        explained_full_disk(directory),
    ):
        if log.warning:
            reporter.say(log.warning)
        machine = GuestMachine(experiment, build, toolbox, kernels, directory, root)
        plan_file.keep(directory, machine.plan, experiment, machine.tools_id, bool(log.rows))
        keep_experiment(source, experiment, directory)
        return Execution(experiment, machine, log, reporter).execute().dataset


def _check_host(experiment: Experiment, root: Path) -> None:
    cpus = len(os.sched_getaffinity(0))
    if experiment.machine.cpus > cpus:
        raise FastError(
            f"the experiment's machine has {experiment.machine.cpus} CPUs, and there are {cpus} "
            "here: the guest's would wait for each other, and that would be measured; in the "
            f"experiment file, set cpus = {cpus} or less under [machine]"
        )
    if experiment.primary in HARDWARE and not _has_pmu(root):
        raise FastError(
            f"primary = {experiment.primary} needs hardware counters, and a guest has none here "
            f"(it takes KVM, and {root / PMU} on this machine); in the experiment file, choose "
            "another one, such as elapsed_ns"
        )


def _has_pmu(root: Path) -> bool:
    """Has the guest one? It depends on who executes it, not only on the host."""
    return kvm.ACCELERATOR.lends_pmu and (root / PMU).exists()


class GuestMachine:
    """Makes one run, in a guest that is booted for it."""

    def __init__(
        self,
        experiment: Experiment,
        build: Path,
        toolbox: Toolbox,
        kernels: Mapping[str, Kernel],
        directory: Path,
        root: Path,
    ) -> None:
        self._experiment = experiment
        self._kernels = kernels
        self._directory = directory
        self._root = root
        self._variants = {variant.name: variant for variant in experiment.variants}
        self._qemu = tools.require("qemu-system-x86_64")
        programs = {f"/bin/{name}": path for name, path in toolbox.programs.items()}
        ours = {
            "/init": build / "userspace/guest/init",
            FAST_STAT: toolbox.fast_stat,
            FAST_LATENCY: toolbox.fast_latency,
            HANDOFF_LIBRARY: toolbox.handoff,
        }
        content = guest.build_image(programs | ours)
        self._image = directory / "guest.cpio"
        self._image.write_bytes(content)
        parts = [content, tools.version(self._qemu)]
        parts += [kernel.id.encode() for kernel in kernels.values()]
        # Of the kernels, too: none may be another one in the middle of an experiment.
        self.tools_id = guest.digest_all(parts)
        groups = (*self._groups(), SOFTWARE) if _has_pmu(root) else (SOFTWARE,)
        self.plan = with_groups(make_plan(experiment, GUESTS), groups)

    def _groups(self) -> list[str]:
        """Asks a guest what its CPUs can count at once: they may have less than the host's."""
        kernel = next(iter(self._kernels.values()))
        outcome = self._boot(kernel, vm.Job({}, [FAST_STAT, *GROUPS]), LAST_RUN)
        if outcome.exit_status:
            raise FastError(
                f"backend {GUESTS}: fast-stat cannot count in the guest: {' '.join(outcome.errors)}"
            )
        return [line.strip() for line in outcome.said if line.strip()]

    def here(self, left: Agenda) -> list[Slot]:
        return list(left.left)

    def measure(self, slot: Slot) -> PairedRow:
        variant = self._variants[variant_of(self.plan, slot)]
        kernel = self._kernels[variant.kernel]
        off = {SWITCH: 0} if variant.kernel == "fast" else {}
        run = Run(
            replace(variant, sysctls=off | dict(variant.sysctls)),
            Case(self._experiment.machine, slot.workload),
            self.plan.seed,
        )
        argv = workload_argv(slot.workload, run.seed)
        surroundings = replace(
            environment.capture(self._root),
            kernel=kernel.id,
            command_line=kvm.ACCELERATOR.command_line,
            virtual=True,
        )
        before = environment.activity(self._root)
        answer = self._execute(kernel, run, [FAST_STAT, "--events", slot.events], argv, LAST_RUN)
        after = environment.activity(self._root)
        circumstances = environment.Circumstances(surroundings, before, after)
        where = Where(kernel, str(uuid.uuid4()), self.tools_id, circumstances)
        row = paired_row(self.plan, slot, run, argv, where, answer)
        if not wants_latencies(self.plan, row):
            return row
        answer = self._execute(kernel, run, [FAST_LATENCY], argv, LAST_LATENCY_RUN)
        return with_latencies(row, run, answer)

    def _execute(
        self, kernel: Kernel, run: Run, program: list[str], argv: list[str], scratch: str
    ) -> Answer:
        """A guest in which the program, fast-stat or fast-latency, measures the benchmark."""
        sysctls = {f"kernel.{name}": value for name, value in run.variant.sysctls.items()}
        job = vm.Job(sysctls, [*program, "--roi", "--json", OUTPUT, "--", *argv])
        begun = time.monotonic()
        try:
            outcome = self._boot(kernel, job, scratch)
        except vm.GuestError as error:
            check_room(self._directory)
            return Answer(None, None, None, str(error), duration=time.monotonic() - begun)
        output, measured = _documents(outcome.said)
        failure = ""
        if outcome.exit_status and outcome.errors:
            failure = f"it ended with status {outcome.exit_status}: {' '.join(outcome.errors)}"
            check_room(self._directory)
        return Answer(
            outcome.exit_status, output, measured, failure, outcome.mechanism, outcome.workload
        )

    def _boot(self, kernel: Kernel, job: vm.Job, scratch: str) -> vm.Outcome:
        machine = vm.Simulation(
            self._qemu,
            kernel,
            self._image.absolute(),
            self._experiment.machine,
            accelerator=kvm.ACCELERATOR,
        )
        return vm.boot_job(
            machine,
            job,
            self._directory / scratch,
            self._experiment.watchdogs,
            threading.Event(),
        )


def _documents(
    said: Iterable[str],
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """The benchmark's JSON document, and fast-stat's or fast-latency's."""
    found: dict[bool, Mapping[str, Any]] = {}
    for line in said:
        if line.startswith("{"):
            document = json.loads(line)
            found.setdefault(not MEASURED.isdisjoint(document), document)
    return found.get(False), found.get(True)
