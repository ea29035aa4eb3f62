# SPDX-License-Identifier: GPL-2.0
"""`fast trust`: what the simulation predicts beside what a machine does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from fastlab.backend.host import without_fast
from fastlab.base import files, tools
from fastlab.base.metrics import SIMULATED
from fastlab.base.progress import Reporter
from fastlab.bench import trust, trust_file, trust_native
from fastlab.cli.common import BELOW, INCOMPLETE, OK, Commands, check_directory, project, show
from fastlab.cli.options import number, path
from fastlab.cli.simulation import simulate
from fastlab.guest import meson
from fastlab.kernel import catalogue
from fastlab.plan import presets
from fastlab.plan.experiment import check_primary, load_experiment
from fastlab.plan.plan_file import check_own


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "trust",
        help="compare what the simulation predicts with what a real machine does",
        description="Run the seven benchmarks in the simulation, free and confined to one CPU, and "
        "compare what it predicts with what this machine does, or with hardware counters of "
        "another.",
    )
    parser.set_defaults(command=run)
    what = parser.add_mutually_exclusive_group(required=True)
    here = "this machine's preset, which `fast calibrate` writes: measure here"
    path(what, "--preset", here, "NAME.toml")
    elsewhere = "what was measured elsewhere, such as experiments/measured/zen3.toml"
    path(what, "--measured", elsewhere, "FILE.toml")
    rounds = (
        "with --preset: how often each benchmark is run, four times each (default: %(default)s)"
    )
    number(parser, "--rounds", rounds, trust_native.ROUNDS)
    path(parser, "--output", "results directory (default: results/trust-NAME)", "DIR")


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    check_directory(arguments.output)
    if arguments.preset:
        return _trust_here(arguments, reporter)
    record = trust_file.load(arguments.measured)
    experiment = load_experiment(record.experiment)
    check_primary(experiment, "sim", SIMULATED)
    presets.check_memory(experiment)
    directory: Path = arguments.output or Path("results", f"trust-{experiment.name}")
    _check_own(directory, experiment.name)
    rows = simulate(experiment, record.experiment, directory / trust.SIMULATION, reporter)
    compared = trust.compare(record.side, trust.predicted(rows), trust.COUNTER_BOUNDS)
    return _show_trust(record.machine, compared, trust.COUNTER_BOUNDS, directory)


def _check_own(directory: Path, experiment: str) -> None:
    """The directory has a simulation of its own in it, and no runs beside that."""
    check_own(directory, "", "sim")
    check_own(directory / trust.SIMULATION, experiment, "sim")


def _trust_here(arguments: argparse.Namespace, reporter: Reporter) -> int:
    preset: Path = arguments.preset
    cpus = trust_native.usable_cpus()
    series = catalogue.load_catalogue(project()).pick_series(None).name
    directory: Path = arguments.output or Path("results", f"trust-{preset.stem}")
    _check_own(directory, trust_native.experiment_name(preset))
    source = trust_native.write_experiment(directory, preset, series, cpus)
    experiment = load_experiment(source)
    # Before all that takes long: what is missing is said at once.
    tools.require_qemu()
    build = meson.build_programs(project(), reporter)
    session = trust_native.NativeSession(build, cpus, arguments.rounds)
    rows = simulate(experiment, source, directory / trust.SIMULATION, reporter)
    prediction = trust.predicted(rows)

    def tell() -> int:
        compared = trust.compare(session.measured(), prediction, trust.CLOCK_BOUNDS)
        machine = f"this machine, {len(cpus)} CPUs"
        return _show_trust(machine, compared, trust.CLOCK_BOUNDS, directory)

    try:
        with without_fast(Path("/")):
            session.run(reporter)
    except KeyboardInterrupt:
        if session.measured():
            tell()
        raise
    return tell()


def _show_trust(
    machine: str,
    compared: Sequence[trust.Compared],
    bounds: Sequence[trust.Bound],
    directory: Path,
) -> int:
    from fastlab.report import markup

    table = trust.table(f"Predicted and measured: {machine}", compared, bounds)
    show([table])
    print("\n".join(trust.sentences(compared)))
    made = [
        ("trust.json", json.dumps(trust.document(compared, table), indent=1) + "\n"),
        ("trust.md", markup.markdown_table(table)),
    ]
    for file in files.write_files(directory, made):
        print(f"wrote {file}")
    if len(trust.agreeing(compared)) >= trust.LEAST:
        return OK
    return INCOMPLETE if len(trust.possible(compared)) >= trust.LEAST else BELOW
