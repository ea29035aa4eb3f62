# SPDX-License-Identifier: GPL-2.0
"""The run stage on a machine that is faked: experiments, and what its directory then has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import samples
from fake_machine import FakeMachine
from heard import Heard

from fastlab.backend.block_rows import RealToolbox
from fastlab.backend.contract import run_experiment
from fastlab.backend.running_kernel import RunningKernel
from fastlab.base.model import Experiment, Variant
from fastlab.base.progress import Reporter
from fastlab.plan.paired_plan import Dataset, PairedRow, make_dataset
from fastlab.plan.run_log import read_rows

OFF = Variant("off", "fast")
STRICT = Variant("strict", "fast", "strict")
# Both policies of one kernel, and two kernels.
POLICIES = replace(
    samples.experiment(seeds=(7,), variants=(OFF, STRICT)), baseline="off", primary="elapsed_ns"
)
KERNELS = replace(samples.experiment(), primary="elapsed_ns")

# The calibration's blocks under the fixture few_blocks, and their runs: the four of ABBA, and one
# for each side that counts nothing.
FEW_BLOCKS = 3
CALIBRATION_RUNS = 6 * FEW_BLOCKS


@dataclass(frozen=True)
class Outcome:
    """What there is after a call, and what to boot to go on."""

    dataset: Dataset
    next_boot: str


def execute(
    machine: FakeMachine,
    experiment: Experiment = POLICIES,
    backend: str = "soft",
    reporter: Reporter | None = None,
) -> Outcome:
    directory = machine.root.parent
    source = directory / "source.toml"
    source.write_text("# the experiment\n")
    results = directory / "results"
    return complete(experiment, backend, source, machine.toolbox, results, reporter, machine.root)


def complete(
    experiment: Experiment,
    backend: str,
    source: Path,
    toolbox: RealToolbox,
    results: Path,
    reporter: Reporter | None = None,
    root: Path = Path("/"),
) -> Outcome:
    said = reporter or Heard()
    running = RunningKernel(experiment, backend, toolbox, results, said, root)
    rows = run_experiment(running, experiment, source, results, said)
    return Outcome(make_dataset(running.plan, rows), running.next_boot(rows))


def rows_of(machine: FakeMachine) -> list[PairedRow]:
    rows, _ = read_rows(machine.root.parent / "results/runs.jsonl")
    return rows  # type: ignore[return-value]
