# SPDX-License-Identifier: GPL-2.0
"""The backend `kvm`: an experiment's blocks in guests that KVM executes, each run a boot.

The guest measures with fast-stat and fast-latency, as the backends on the running kernel do; it
counts with the hardware's counters where the host has them and lends them, else with the kernel's.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastlab.backend.block_rows import (
    LAST_LATENCY_RUN,
    LAST_RUN,
    RealToolbox,
    Surroundings,
    paired_row,
    requests,
    wants_latencies,
    with_latencies,
)
from fastlab.backend.boots import agenda
from fastlab.backend.contract import Request
from fastlab.backend.counting import GROUPS, Observed, my_cpus
from fastlab.backend.host import PMU, only_user
from fastlab.base import tools
from fastlab.base.cache import check_room
from fastlab.base.metrics import HARDWARE
from fastlab.base.model import Experiment, FastError, Kernel, Run
from fastlab.base.progress import Reporter
from fastlab.guest import initramfs, kvm, vm
from fastlab.guest.running_vm import GuestError
from fastlab.plan import plan_file
from fastlab.plan.circumstances import Circumstances
from fastlab.plan.invocation import workload_argv
from fastlab.plan.paired_plan import (
    GUESTS,
    SOFTWARE,
    PairedRow,
    make_dataset,
    make_plan,
    with_groups,
)
from fastlab.plan.row_making import guest_record
from fastlab.plan.rows import Row
from fastlab.statistics import environment

FAST_STAT = "/bin/fast-stat"
FAST_LATENCY = "/bin/fast-latency"
HANDOFF_LIBRARY = "/bin/libfast-handoff.so"
# The guest passes its job's output to the host.
OUTPUT = "/proc/self/fd/1"
# Keys that only documents of fast-stat and fast-latency have.
MEASURED = {"counters", "latencies"}
# In fast-stat's error output.
NO_PMU = "no PMU"


def _has_pmu(root: Path) -> bool:
    """Can the guest have a PMU? Only the guest knows: it depends on the hypervisor, too."""
    return kvm.ACCELERATOR.lends_pmu and (root / PMU).exists()


class Guests:
    """Makes one run at a time, in a guest that is booted for it.

    `build` is Meson's directory, `kernels` the variants' kernels by name. `probe` returns why no
    guest boots with KVM, or "" (kvm.probe()). `root` has the /proc and /sys of the host.
    """

    def __init__(
        self,
        experiment: Experiment,
        build: Path,
        toolbox: RealToolbox,
        kernels: Mapping[str, Kernel],
        directory: Path,
        probe: Callable[[], str],
        reporter: Reporter,
        root: Path = Path("/"),
    ) -> None:
        self._cpus = my_cpus()
        self.plan = replace(make_plan(experiment, GUESTS), cpu_list=self._cpus)
        self._experiment = experiment
        self._toolbox = toolbox
        self._kernels = kernels
        self._directory = directory
        self._probe = probe
        self._reporter = reporter
        self._root = root
        self._qemu = tools.require("qemu-system-x86_64")
        self._build = build
        self._image = directory / "guest.cpio"
        self._tools_id = ""

    def check(self) -> None:
        """Does a guest boot, and are there CPUs and counters for it?"""
        why = self._probe()
        if why:
            raise FastError(
                f"backend {GUESTS} is not available here: {why}; use --backend soft on a patched "
                "kernel, or the simulation (--backend sim)"
            )
        cpus = len(os.sched_getaffinity(0))
        asked = self._experiment.machine.cpus
        if asked > cpus:
            raise FastError(
                f"the experiment's machine has {asked} CPUs, and there are {cpus} here: the "
                "guest's would wait for each other, and that would be measured; in the experiment "
                f"file, set cpus = {cpus} or less under [machine]"
            )
        if self.plan.primary in HARDWARE and not _has_pmu(self._root):
            raise FastError(
                f"primary = {self.plan.primary} needs hardware counters, and a guest has none "
                f"here (it takes KVM, and {self._root / PMU} on this machine); in the experiment "
                "file, choose another one, such as elapsed_ns"
            )

    @contextmanager
    def opened(self, rows: Sequence[Row]) -> Iterator[None]:
        with only_user(self._root):
            self._reporter.hold_still()
            programs = {f"/bin/{name}": path for name, path in self._toolbox.programs.items()}
            ours = {
                "/init": self._build / initramfs.INIT,
                FAST_STAT: self._toolbox.fast_stat,
                FAST_LATENCY: self._toolbox.fast_latency,
                HANDOFF_LIBRARY: self._toolbox.handoff,
            }
            content = initramfs.build_image(programs | ours)
            self._image.write_bytes(content)
            parts = [content, tools.version(self._qemu)]
            parts += [kernel.id.encode() for kernel in self._kernels.values()]
            # Of the kernels too, which must not change during an experiment.
            self._tools_id = initramfs.digest_all(parts)
            hardware = self._groups() if _has_pmu(self._root) else []
            self.plan = with_groups(self.plan, (*hardware, SOFTWARE))
            begun = bool(rows)
            plan_file.keep(self._directory, self.plan, self._experiment, self._tools_id, begun)
            yield

    def pending(self, rows: Sequence[Row]) -> list[Request]:
        kernels = {variant.name: variant.kernel for variant in self._experiment.variants}
        left = agenda(make_dataset(self.plan, rows), kernels).left
        return requests(self._experiment, self.plan, left)

    def _groups(self) -> list[str]:
        """The groups of events that a guest's CPUs can count, which may be fewer than the
        host's."""
        kernel = next(iter(self._kernels.values()))
        outcome = self._boot(kernel, vm.Job({}, [FAST_STAT, *GROUPS]), LAST_RUN)
        errors = " ".join(outcome.errors)
        if outcome.exit_status and NO_PMU in errors:
            self._reporter.say(
                "the guest has no PMU, though this machine has one (is the module kvm's enable_pmu "
                "N?): its hardware counters are not available"
            )
            return []
        if outcome.exit_status:
            raise FastError(f"backend {GUESTS}: fast-stat cannot count in the guest: {errors}")
        return [line.strip() for line in outcome.output_lines if line.strip()]

    def measure(self, requests: Sequence[Request], deadline: float) -> Iterator[Row]:
        return (self._measure(request) for request in requests)

    def _measure(self, request: Request) -> PairedRow:
        slot, run = request.slot, request.run
        assert slot
        kernel = self._kernels[run.variant.kernel]
        argv = workload_argv(slot.workload, run.seed)
        counted = self._execute(kernel, run, [FAST_STAT, "--events", slot.events], argv, LAST_RUN)
        guest = guest_record(self._experiment.machine)
        where = Surroundings(kernel, str(uuid.uuid4()), self._tools_id, guest)
        row = paired_row(self.plan, slot, run, argv, where, counted)
        if not wants_latencies(self.plan, row):
            return row
        timed = self._execute(kernel, run, [FAST_LATENCY], argv, LAST_LATENCY_RUN)
        return with_latencies(row, run, timed)

    def _execute(
        self, kernel: Kernel, run: Run, program: list[str], argv: list[str], scratch: str
    ) -> Observed:
        """Boot a guest in which fast-stat or fast-latency measures the benchmark."""
        words = [*program, "--roi", "--json", OUTPUT, "--", *argv]
        job = vm.Job(run.variant.settings, words, cpus=run.variant.cpus)
        surroundings = replace(
            environment.capture(self._root),
            kernel=kernel.id,
            command_line=kvm.ACCELERATOR.command_line,
            virtual=True,
            cpu_list=self._cpus,
        )
        before = environment.activity(self._root, self._cpus)
        begun = time.monotonic()
        outcome, failure = None, ""
        try:
            outcome = self._boot(kernel, job, scratch)
        except GuestError as error:
            failure = str(error)
        duration = time.monotonic() - begun
        after = environment.activity(self._root, self._cpus)
        circumstances = Circumstances(surroundings, before, after)
        if not outcome:
            check_room(self._directory)
            return Observed(
                *(None, None, None, duration, failure),
                document=None,
                circumstances=circumstances,
            )
        output, measured = _documents(outcome.output_lines)
        if outcome.exit_status and outcome.errors:
            failure = f"it ended with status {outcome.exit_status}: {' '.join(outcome.errors)}"
            check_room(self._directory)
        return Observed(
            output,
            outcome.mechanism,
            outcome.exit_status,
            outcome.workload,
            failure,
            document=measured,
            circumstances=circumstances,
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
    output_lines: Iterable[str],
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """The benchmark's JSON document, and that of fast-stat or fast-latency. A killed program wrote
    none."""
    documents: dict[bool, Mapping[str, Any]] = {}
    for line in output_lines:
        if not line.startswith("{"):
            continue
        try:
            document = json.loads(line)
        except ValueError:
            continue
        documents.setdefault(not MEASURED.isdisjoint(document), document)
    return documents.get(False), documents.get(True)
