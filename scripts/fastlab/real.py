# SPDX-License-Identifier: GPL-2.0
"""The run stage on a real machine: an experiment's blocks on the running kernel, and resumed.

results/NAME-BACKEND/ gets plan.json, experiment.toml, runs.jsonl (the rows) and last-run/, what the
last run and the last latency run wrote.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from fastlab import plan_file
from fastlab.boots import Agenda, agenda
from fastlab.cache import explained_full_disk
from fastlab.counting import check_latencies, find_groups
from fastlab.dataset import (
    Dataset,
    PairedRow,
    Plan,
    Slot,
    latency_of,
    make_dataset,
    make_plan,
    with_groups,
)
from fastlab.experiment import keep_experiment
from fastlab.model import Experiment, FastError
from fastlab.real_machine import RealMachine, Toolbox
from fastlab.reporter import Reporter
from fastlab.results import Row, RunLog
from fastlab.running import Running, Sysctls, only_user, running_kernel

LACKS = {
    "fast": "one with FAST: it has no sysctl kernel.sched_fast",
    "baseline": "one without FAST: it has the sysctl kernel.sched_fast",
}
NEEDED = {
    "fast": "a kernel with FAST (`fast kernel deb` packs one)",
    "baseline": "a kernel without FAST",
}


@dataclass(frozen=True)
class Outcome:
    """What there is after a call. `next_boot` says what to boot to go on, "" if nothing."""

    dataset: Dataset
    next_boot: str


def run_experiment(
    experiment: Experiment,
    backend: str,
    source: Path,
    toolbox: Toolbox,
    directory: Path,
    reporter: Reporter,
    root: Path = Path("/"),
) -> Outcome:
    """Make every run that is not finished and that this boot can make, one at a time.

    `source` is the experiment's file; `root` has the /proc and /sys of the machine. A failed run is
    a row that says why, and is made again by the next call. May be interrupted in any way: the rows
    written are safe, FAST's sysctls are put back, and a further call goes on.
    """
    plan = make_plan(experiment, backend)
    running = running_kernel(root)
    _check_kernel(experiment, plan, running)
    plan = with_groups(plan, find_groups(backend, toolbox.fast_stat))
    if plan.latencies:
        _check_latencies(plan, toolbox, reporter)
    with (
        only_user(root),
        RunLog(directory / "runs.jsonl") as log,
        explained_full_disk(directory),
        Sysctls(root) as sysctls,
    ):
        if log.warning:
            reporter.say(log.warning)
        plan_file.keep(directory, plan, experiment, toolbox.id, bool(log.rows))
        dataset = make_dataset(plan, log.rows)
        _check_pins(dataset, running)
        keep_experiment(source, experiment, directory)
        machine = RealMachine(experiment, plan, toolbox, directory, root, running, sysctls, dataset)
        execution = Execution(experiment, machine, log, reporter)
        left = execution.execute()
        return Outcome(left.dataset, _next_boot(left, running))


def _check_kernel(experiment: Experiment, plan: Plan, running: Running) -> None:
    """One kernel for all variants: it has to be the running one."""
    needed = experiment.variants[0].kernel
    if not plan.boots and needed != running.variant:
        raise FastError(
            f"every variant of this experiment runs on kernel {needed}, and the running kernel, "
            f"{running.release}, is not {LACKS[needed]}; boot {NEEDED[needed]} and run this again"
        )


def _check_latencies(plan: Plan, toolbox: Toolbox, reporter: Reporter) -> None:
    """What is not to be had is said before the first run, too."""
    for name, why in check_latencies(toolbox.fast_latency).items():
        if latency_of(plan.primary) == name:
            raise FastError(
                f"primary = {plan.primary} cannot be measured here: {why}; change that, or choose "
                "another one in the experiment file, such as elapsed_ns"
            )
        reporter.say(f"{name} latency is not available: {why}")


def _check_pins(dataset: Dataset, running: Running) -> None:
    """A side has one kernel from its first run on, and both are of one series."""
    now = running.kernel
    for row in dataset.rows:
        then = row["kernel"]
        if then["variant"] == now.variant and then["id"] != now.id:
            raise FastError(
                f"the first runs with kernel {now.variant} were made by {then['id']}, and {now.id} "
                "is running; boot the first one, or give --output another directory to begin anew"
            )
        if then["series"] != now.series:
            raise FastError(
                f"{then['id']} and {now.id} are of different series: their difference would be "
                "more than FAST; boot a kernel of the same series, or give --output another "
                "directory to begin anew"
            )


def _next_boot(left: Agenda, running: Running) -> str:
    kernel = left.next_kernel()
    if not kernel or left.here(running):
        return ""
    known = {row["kernel"]["variant"]: row["kernel"]["id"] for row in left.dataset.rows}
    name = f"{known[kernel]}, as before" if kernel in known else NEEDED[kernel]
    if kernel == running.variant:
        name = f"the running kernel again ({running.release})"
    return (
        "this boot has made what it can: of two kernels each side of a block is a boot of its own. "
        f"Now boot {name}. At least {left.boots_left()} more boots are needed"
    )


class Machine(Protocol):
    """What makes an experiment's runs."""

    plan: Plan

    def here(self, left: Agenda) -> list[Slot]:
        """What of the agenda can be made now, in the order to make it."""

    def measure(self, slot: Slot) -> PairedRow:
        """Make one run."""


class Execution:
    """One call of run_experiment()."""

    def __init__(
        self, experiment: Experiment, machine: Machine, log: RunLog, reporter: Reporter
    ) -> None:
        self._experiment = experiment
        self._machine = machine
        self._log = log
        self._reporter = reporter
        self._deadline = time.monotonic() + experiment.watchdogs.total

    def execute(self) -> Agenda:
        """Make what can be made; what is left then. A run that fails is not tried again now."""
        kernels = {variant.name: variant.kernel for variant in self._experiment.variants}
        plan = self._machine.plan
        title = f"running {self._experiment.name}"
        tried: set[Slot] = set()
        self._reporter.start(title, 0)
        try:
            while True:
                left = agenda(make_dataset(plan, self._log.rows), kernels)
                now = [slot for slot in self._machine.here(left) if slot not in tried]
                if not now:
                    return left
                self._reporter.start(title, len(tried) + len(now))
                for slot in now:
                    tried.add(slot)
                    self._make(slot, title, len(tried))
        finally:
            self._reporter.finish(title)

    def _make(self, slot: Slot, title: str, number: int) -> None:
        if time.monotonic() > self._deadline:
            raise FastError(
                "watchdog: the experiment took longer than "
                f"{self._experiment.watchdogs.total:g} s in all; the {len(self._log.rows)} rows "
                "written are safe. Run the same command again to go on, or raise total under "
                "[watchdogs]"
            )
        row = self._machine.measure(slot)
        self._log.append(cast(Row, row))
        note = f"{row['variant']} {row['benchmark']} {row['threads']} threads, block {slot.block}"
        self._reporter.advance(title, number, note)
        if row["status"] != "ok":
            self._reporter.say(f"{row['status']}: {note}: {row['reason']}")
