# SPDX-License-Identifier: GPL-2.0
"""`fast run`: make the runs of an experiment, compare them, write the report."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from fastlab.backend import counting
from fastlab.base import tools
from fastlab.base.fast_command import fast_command
from fastlab.base.metrics import SIMULATED
from fastlab.base.model import Experiment, UsageError
from fastlab.base.progress import Reporter
from fastlab.cli.answer import finish
from fastlab.cli.commands import HELP
from fastlab.cli.common import Commands
from fastlab.cli.dry_run import check_results, list_runs, list_slots
from fastlab.cli.options import number, path, scheduler
from fastlab.cli.simulation import kernels_of, simulate
from fastlab.guest import meson
from fastlab.kernel import kernels
from fastlab.kernel.kernels import BuildRequest
from fastlab.plan import presets
from fastlab.plan.experiment import check_primary, load_experiment
from fastlab.plan.paired_plan import GUESTS, make_plan
from fastlab.plan.rows import counters_digest


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "run",
        help=HELP["run"],
        description="Build what an experiment needs, make the missing runs, compare all runs and "
        "write the report.",
    )
    parser.set_defaults(command=run)
    parser.add_argument("experiment", type=Path, metavar="EXPERIMENT.toml")
    parser.add_argument(
        "--backend",
        choices=("sim", *counting.BACKENDS, GUESTS),
        default="sim",
        help="where to count: in the simulation (the default), on the running kernel with hardware "
        "counters (perf) or without (soft), or in guests that KVM executes (kvm)",
    )
    what = "simulations at the same time (default: one for each CPU of this machine)"
    number(parser, "--jobs", what)
    what = "let the workers of a dask scheduler make the simulations (default: this machine)"
    parser.add_argument("--executor", type=scheduler, metavar="dask:ADDRESS", help=what)
    parser.add_argument("--dry-run", action="store_true", help="only list the runs")
    what = "results directory (default: results/NAME, of a real machine results/NAME-BACKEND)"
    path(parser, "--output", what, "DIR")


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    experiment = load_experiment(arguments.experiment)
    if arguments.backend != "sim":
        return _run_real(arguments, experiment, reporter)
    if arguments.executor and arguments.jobs:
        raise UsageError(
            "--jobs is for simulations on this machine; with --executor each worker makes as many "
            "at the same time as it has threads (dask worker --nthreads N)"
        )
    check_primary(experiment, "sim", SIMULATED)
    presets.check_memory(experiment)
    directory: Path = arguments.output or Path("results", experiment.name)
    check_results(directory, experiment, "sim")
    if arguments.dry_run:
        return list_runs(experiment)
    made = simulate(
        experiment,
        arguments.experiment,
        directory,
        reporter,
        arguments.jobs,
        arguments.executor,
    )
    print(f"digest of the results: {counters_digest(made)}")
    return finish(directory, reporter)


def _run_real(arguments: argparse.Namespace, experiment: Experiment, reporter: Reporter) -> int:
    from fastlab.backend import block_rows, contract, kvm_guests, running_kernel
    from fastlab.guest import initramfs, kvm

    name: str = arguments.backend
    if arguments.jobs:
        raise UsageError(f"--jobs is for simulations; backend {name} makes one run at a time")
    if arguments.executor:
        raise UsageError(f"--executor is for simulations; backend {name} measures this machine")
    for workload in experiment.workloads:
        if workload.command:
            raise UsageError(
                f"[[workload]] {workload.benchmark} is for the simulation, not for backend {name}: "
                f"leave it out of the experiment file, or use `{fast_command('try')} --backend`"
            )
    planned = make_plan(experiment, name)
    directory: Path = arguments.output or Path("results", f"{experiment.name}-{name}")
    check_results(directory, experiment, name)
    if arguments.dry_run:
        return list_slots(experiment, planned)
    if experiment.attribute:
        reporter.say(f"attribute has no effect: backend {name} does not count by function")
    if name == GUESTS:
        # Any version will do: only the simulation needs a plugin.
        tools.require("qemu-system-x86_64")
    request = BuildRequest(experiment.series, kernels_of(experiment))
    build = meson.build_programs(request.places.project, reporter)
    toolbox = block_rows.find_real_toolbox(build, experiment)
    next_boot = ""
    source: Path = arguments.experiment
    if name == GUESTS:
        built = kernels.build(request, reporter)
        probe = partial(kvm.probe, built[0], build / initramfs.INIT, reporter)
        by_name = dict(zip(request.variants, built, strict=True))
        machines = kvm_guests.Guests(
            experiment, build, toolbox, by_name, directory, probe, reporter
        )
        contract.run_experiment(machines, experiment, source, directory, reporter)
    else:
        here = running_kernel.RunningKernel(experiment, name, toolbox, directory, reporter)
        made = contract.run_experiment(here, experiment, source, directory, reporter)
        next_boot = here.next_boot(made)
    if next_boot:
        words = ["run", str(source), "--backend", name]
        words += ["--output", str(directory)] if arguments.output else []
        next_boot += f". Then go on: {fast_command(*words)}"
    return finish(directory, reporter, next_boot)
