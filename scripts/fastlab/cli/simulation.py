# SPDX-License-Identifier: GPL-2.0
"""The simulations of an experiment, and all that they need."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fastlab.base import tools
from fastlab.base.model import Experiment, FastError
from fastlab.base.progress import Reporter
from fastlab.base.project import requirements
from fastlab.guest import meson
from fastlab.kernel import kernels, needs
from fastlab.plan.rows import Row

if TYPE_CHECKING:
    from fastlab.backend.sim import Simulator


def kernels_of(experiment: Experiment) -> tuple[str, ...]:
    """The kernels that its variants run, each once."""
    return tuple(dict.fromkeys(variant.kernel for variant in experiment.variants))


def simulate(
    experiment: Experiment,
    source: Path,
    directory: Path,
    reporter: Reporter,
    jobs: int | None = None,
    scheduler: str | None = None,
) -> list[Row]:
    """Build what an experiment needs, and make its runs: here, or by the workers of a scheduler."""
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
    with _simulator(scheduler) as simulator:
        build = meson.build_programs(request.places.project, reporter)
        more = sim.balancer(build, experiment.machines)
        more |= programs.find_schedulers(experiment.variants, source.parent, build)
        toolbox = sim.find_sim_toolbox(qemu, build, experiment.benchmarks, more)
        ours = programs.our_files(build) | more
        subjects = programs.find_subjects(experiment, source.parent, ours)
        if subjects and scheduler:
            raise FastError(
                f"--executor {scheduler}: [[workload]] {next(iter(subjects))} is a program of this "
                "machine; leave --executor out, or the workload"
            )
        built = needs.built_for(experiment.variants, request, reporter)
        machines: sim.Simulator
        if subjects:
            toolbox = programs.with_programs(toolbox, subjects)
            machines = programs.ProgramMachines(
                *(experiment, built, toolbox, directory, reporter), subjects, jobs
            )
        else:
            machines = simulator(experiment, built, toolbox, directory, reporter, jobs)
        made = contract.run_experiment(machines, experiment, source, directory, reporter)
    rows = machines.current(made)
    if experiment.attribute:
        in_experiment.profile_experiment(
            machines.requests, rows, built, toolbox.id, build, directory
        )
    return rows


@contextmanager
def _simulator(scheduler: str | None) -> Iterator[Callable[..., Simulator]]:
    """What makes the runs here, or by the workers of the scheduler with this address."""
    from fastlab.backend import sim

    if scheduler is None:
        yield sim.Simulator
        return
    try:
        from fastlab.backend import dask_workers
    except ModuleNotFoundError as error:
        (needed,) = requirements("dask")
        raise FastError(
            f"--executor needs the Python package {error.name}, which is missing: install it with "
            f"`{sys.executable} -m pip install '{needed}'`"
        ) from error
    with dask_workers.connected(scheduler) as client:
        yield partial(dask_workers.DaskWorkers, client)
