# SPDX-License-Identifier: GPL-2.0
"""What is known before a run: whether the experiment is refused, and its list of runs."""

from __future__ import annotations

import shlex
from pathlib import Path

from fastlab.base.model import Experiment
from fastlab.cli.common import OK, check_directory, check_writable, project
from fastlab.cli.simulation import kernels_of
from fastlab.kernel.catalogue import load_catalogue
from fastlab.plan.experiment import plan
from fastlab.plan.invocation import workload_argv
from fastlab.plan.paired_plan import COUNTING, GUESTS, NOTHING, Plan, slots, variant_of
from fastlab.plan.plan_file import check_own
from fastlab.plan.run_log import read_rows


def check_results(directory: Path, experiment: Experiment, backend: str) -> None:
    """Checks that need no kernel: the kernels are known, and results can be written."""
    catalogue = load_catalogue(project())
    own = {recipe.name for recipe in experiment.kernels}
    if names := [name for name in kernels_of(experiment) if name not in own]:
        catalogue.pick_variants(catalogue.pick_series(experiment.series), names)
    check_directory(directory)
    rows = directory / "runs.jsonl"
    if rows.exists():
        check_writable(rows)
        check_own(directory, experiment.name, backend)
        read_rows(rows)


def list_runs(experiment: Experiment) -> int:
    """List the runs of the simulation."""
    runs = plan(experiment)
    for run in runs:
        print(f"{run.variant.name}: {shlex.join(workload_argv(run.workload, run.seed))}")
    series = f" {experiment.series}" if experiment.series else ""
    print(f"{len(runs)} runs, kernels{series}: {', '.join(kernels_of(experiment))}")
    return OK


_GROUPS_UNKNOWN = (
    "; with hardware counters each counted run is repeated for each group of events that the CPU "
    "can count at once (fast-stat --groups)"
)


def list_slots(experiment: Experiment, plan: Plan) -> int:
    """List the runs on a real machine."""
    from fastlab.statistics.significance import MIN_BLOCKS

    fewest = min(MIN_BLOCKS, plan.max_blocks)
    own = ", each run in a guest of its own" if plan.backend == GUESTS else ", in one boot"
    calibration = slots(plan, [plan.baseline], plan.calibration_blocks)
    for slot in (*calibration, *slots(plan, plan.variants, fewest)):
        where = f"{slot.pair}, block {slot.block}, run {slot.position + 1} ({slot.side})"
        argv = shlex.join(workload_argv(slot.workload, plan.seed))
        uncounted = ", uncounted" if slot.events == NOTHING else ""
        print(f"{where}: {variant_of(plan, slot)}{uncounted}: {argv}")
    print(
        f"{plan.calibration_blocks} blocks of calibration for each workload, and the first "
        f"{fewest} blocks of each comparison; the calibration decides on more, up to "
        f"{plan.max_blocks}; kernels: {', '.join(kernels_of(experiment))}"
        f"{', each side of a block in a boot of its own' if plan.boots else own}"
        f"{'; a second run of each measures latencies' if plan.latencies else ''}"
        f"{_GROUPS_UNKNOWN if plan.backend in COUNTING else ''}"
    )
    return OK
