# SPDX-License-Identifier: GPL-2.0
"""What the cache model costs: the same simulation with the plugin and without it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastlab import kernels, run, vm
from fastlab.experiment import workload_argv
from fastlab.model import FastError, Machine, Watchdogs, Workload
from fastlab.programs import build_programs
from fastlab.reporter import Reporter

# The benchmark's default options. Without a warm-up all of its work is the region of interest, so
# that the host's time for the benchmark is the time of the region.
WORKLOAD = Workload("single_ctr", 4, ("--warmup=0",))
SEED = 1
ROUNDS = 3


@dataclass(frozen=True)
class SimCost:
    """`instructions` of all guest CPUs in the region of interest, the idle loop's too, and the host
    seconds of each round. The shortest round counts: what else the host does only adds time."""

    instructions: int
    with_model: tuple[float, ...]
    without_model: tuple[float, ...]

    @property
    def instructions_per_second(self) -> float:
        """Guest instructions per host second with the model."""
        return self.instructions / min(self.with_model)

    @property
    def slowdown(self) -> float:
        """Host time with the model as a multiple of that without it."""
        return min(self.with_model) / min(self.without_model)

    def text(self) -> str:
        """For people."""
        return "\n".join(
            (
                f"{WORKLOAD.benchmark}, {WORKLOAD.threads} threads: "
                f"{self.instructions / 1e6:.0f} million guest instructions",
                f"with the cache model:    {_seconds(self.with_model)}",
                f"without the cache model: {_seconds(self.without_model)}",
                f"{self.instructions_per_second / 1e6:.1f} million instructions per second "
                f"with the model, {self.slowdown:.2f} times slower than without it",
            )
        )


def _seconds(rounds: tuple[float, ...]) -> str:
    return ", ".join(f"{one:.2f}" for one in rounds) + " s"


def measure(reporter: Reporter) -> SimCost:
    """Boot the baseline kernel once, then run the workload in turn with the model and without."""
    request = kernels.BuildRequest(variants=("baseline",))
    project = request.places.project
    toolbox = run.find_toolbox(build_programs(project, reporter))
    (kernel,) = kernels.build(request, reporter)
    directory = project / "build/bench-sim"
    directory.mkdir(parents=True, exist_ok=True)
    image = directory / "initramfs"
    image.write_bytes(toolbox.image)
    simulation = vm.Simulation(toolbox.qemu, kernel, image, Machine())
    reporter.say("booting")
    vm.save_machine(simulation, directory / "boot", Watchdogs(), threading.Event())

    def once(plugin: Path | None) -> vm.Outcome:
        return vm.run_job(
            simulation,
            directory / "boot" / vm.SNAPSHOT,
            plugin,
            vm.Job({}, workload_argv(WORKLOAD, SEED)),
            directory / "run",
            Watchdogs(),
            threading.Event(),
        )

    task = "measuring"
    with_model, without_model = [], []
    reporter.start(task, ROUNDS)
    for done in range(ROUNDS):
        reporter.advance(task, done)
        modelled, plain = once(toolbox.plugin), once(None)
        for outcome in (modelled, plain):
            _check(outcome, directory)
        with_model.append(modelled.workload)
        without_model.append(plain.workload)
    reporter.finish(task)
    return SimCost(_instructions(modelled), tuple(with_model), tuple(without_model))


def _check(outcome: vm.Outcome, directory: Path) -> None:
    if not outcome.output or outcome.output.get("check") != "ok":
        raise FastError(
            f"the benchmark ended with status {outcome.exit_status} and without a good result: "
            f"{' '.join(outcome.errors) or outcome.output}; what the machine said: {directory}"
        )


def _instructions(outcome: vm.Outcome) -> int:
    if outcome.document is None:
        raise FastError(
            "the cache model wrote no document: did the region of interest begin and end?"
        )
    total: dict[str, Any] = outcome.document["total"]
    return sum(total[mode]["instructions"] for mode in ("user", "kernel", "idle"))
