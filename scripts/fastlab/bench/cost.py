# SPDX-License-Identifier: GPL-2.0
"""The costs of the cache model and of attribution, and the gain from pacing QEMU's other threads:
the same simulation with and without each."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fastlab.base.model import Machine, Workload
from fastlab.base.progress import Reporter, steps
from fastlab.bench.bench_machine import BenchMachine, counted, instructions
from fastlab.plan.invocation import workload_argv

# The benchmark's default options. Without a warm-up all of its work is the region of interest, so
# that the host's time for the benchmark is the time of the region.
WORKLOAD = Workload("single_ctr", 4, ("--warmup=0",))
# Each thread has locks of its own.
UNCONTENDED = Workload("mlt_ctr_mlt_lock", 4, ("--warmup=0",))
SEED = 1
ROUNDS = 3


@dataclass(frozen=True)
class SimCost:
    """`instructions` of all guest CPUs in the region of interest, idle loops included, and the host
    seconds of each round. The shortest round counts: other work of the host only adds time."""

    instructions: int
    with_model: tuple[float, ...]
    without_model: tuple[float, ...]
    attributed: tuple[float, ...]
    unpaced: tuple[float, ...]
    # Of a region in which no thread waits for another, with the model.
    uncontended_instructions: int
    uncontended: tuple[float, ...]

    @property
    def instructions_per_second(self) -> float:
        """Guest instructions per host second with the model."""
        return self.instructions / min(self.with_model)

    @property
    def slowdown(self) -> float:
        """Host time with the model as a multiple of that without it."""
        return min(self.with_model) / min(self.without_model)

    @property
    def attribution(self) -> float:
        """Host time with attribution as a multiple of that with the model alone."""
        return min(self.attributed) / min(self.with_model)

    @property
    def unpacing(self) -> float:
        """Host time with the model, but without libpace.so, as a multiple of that with both."""
        return min(self.unpaced) / min(self.with_model)

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
                f"{UNCONTENDED.benchmark}, without contention: {_seconds(self.uncontended)}, "
                f"{self.uncontended_instructions / min(self.uncontended) / 1e6:.1f} million "
                "instructions per second",
                f"with attribution, too:   {_seconds(self.attributed)}, {self.attribution:.2f} "
                "times as long",
                f"without libpace.so:      {_seconds(self.unpaced)}, {self.unpacing:.2f} "
                "times as long",
            )
        )


def _seconds(rounds: tuple[float, ...]) -> str:
    return ", ".join(f"{seconds:.2f}" for seconds in rounds) + " s"


def measure(reporter: Reporter) -> SimCost:
    """Boot the baseline kernel once, then run the workload in turn with the model, with attribution
    too, with a model that is alone in its directory, and without any; and the uncontended one."""
    machine = BenchMachine("bench-sim", Machine(), reporter)
    argv = workload_argv(WORKLOAD, SEED)
    plugin = machine.toolbox.plugin
    alone = _alone(plugin, machine.directory / "alone")
    with_model, without_model, attributed, unpaced, uncontended = [], [], [], [], []
    for _ in steps(reporter, "measuring", range(ROUNDS)):
        modelled = machine.run(argv, plugin)
        with_model.append(modelled.workload)
        attributed.append(machine.run(argv, plugin, attribute=True).workload)
        unpaced.append(machine.run(argv, alone).workload)
        without_model.append(machine.run(argv).workload)
        free = machine.run(workload_argv(UNCONTENDED, SEED), plugin)
        uncontended.append(free.workload)
    return SimCost(
        instructions(counted(modelled)["total"]),
        tuple(with_model),
        tuple(without_model),
        tuple(attributed),
        tuple(unpaced),
        instructions(counted(free)["total"]),
        tuple(uncontended),
    )


def _alone(plugin: Path, directory: Path) -> Path:
    """The plugin without the library that is preloaded beside it."""
    directory.mkdir(exist_ok=True)
    return Path(shutil.copy(plugin, directory))
