# SPDX-License-Identifier: GPL-2.0
"""The simulations of an experiment, and all that they need."""

from __future__ import annotations

from pathlib import Path

from fastlab.base import tools
from fastlab.base.model import Experiment
from fastlab.base.progress import Reporter
from fastlab.guest import meson
from fastlab.kernel import kernels, needs
from fastlab.plan.rows import Row


def kernels_of(experiment: Experiment) -> tuple[str, ...]:
    """The kernels that its variants run, each once."""
    return tuple(dict.fromkeys(variant.kernel for variant in experiment.variants))


def simulate(
    experiment: Experiment,
    source: Path,
    directory: Path,
    reporter: Reporter,
    jobs: int | None = None,
) -> list[Row]:
    """Build what an experiment needs, and make its runs."""
    from fastlab.attribution import in_experiment
    from fastlab.backend import contract, sim
    from fastlab.trial import program_machines as programs

    request = kernels.BuildRequest(
        experiment.series or None,
        fragments=programs.FRAGMENTS if any(load.command for load in experiment.workloads) else (),
        recipes=experiment.kernels,
        directory=source.parent,
    )
    # Report what is missing before any long step.
    qemu = tools.require_qemu()
    build = meson.build_programs(request.places.project, reporter)
    more = sim.balancer(build, experiment.machines)
    more |= programs.find_schedulers(experiment.variants, source.parent)
    toolbox = sim.find_sim_toolbox(qemu, build, experiment.benchmarks, more)
    subjects = programs.find_subjects(experiment, source.parent, programs.our_files(build) | more)
    built = needs.built_for(experiment.variants, request, reporter)
    if subjects:
        toolbox = programs.with_programs(toolbox, subjects)
        machines: sim.Simulator = programs.ProgramMachines(
            *(experiment, built, toolbox, directory, reporter), subjects, jobs
        )
    else:
        machines = sim.Simulator(experiment, built, toolbox, directory, reporter, jobs)
    made = contract.run_experiment(machines, experiment, source, directory, reporter)
    rows = machines.current(made)
    if experiment.attribute:
        in_experiment.profile_experiment(
            machines.requests, rows, built, toolbox.id, build, directory
        )
    return rows
