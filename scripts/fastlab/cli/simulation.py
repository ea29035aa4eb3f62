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

    request = kernels.BuildRequest(
        experiment.series or None, recipes=experiment.kernels, directory=source.parent
    )
    # Report what is missing before any long step.
    qemu = tools.require_qemu()
    build = meson.build_programs(request.places.project, reporter)
    toolbox = sim.find_sim_toolbox(
        qemu, build, experiment.benchmarks, sim.balancer(build, experiment.machines)
    )
    built = needs.built_for(experiment.variants, request, reporter)
    machines = sim.Simulator(experiment, built, toolbox, directory, reporter, jobs)
    made = contract.run_experiment(machines, experiment, source, directory, reporter)
    rows = machines.current(made)
    if experiment.attribute:
        in_experiment.profile_experiment(
            machines.requests, rows, built, toolbox.id, build, directory
        )
    return rows
