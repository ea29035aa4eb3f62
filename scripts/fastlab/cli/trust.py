# SPDX-License-Identifier: GPL-2.0
"""`fast trust`: the simulation's predictions beside measurements of a real machine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from fastlab.backend.host import without_fast
from fastlab.base import files, manifest, tools
from fastlab.base.metrics import SIMULATED
from fastlab.base.progress import Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import BELOW, INCOMPLETE, OK, Commands, check_directory, project, show
from fastlab.cli.options import number, path
from fastlab.cli.simulation import simulate
from fastlab.guest import meson
from fastlab.kernel import catalogue
from fastlab.plan import presets
from fastlab.plan.experiment import check_primary, load_experiment
from fastlab.plan.plan_file import check_own
from fastlab.plan.rows import Row
from fastlab.trust import agreement, measured_file, native, summary


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "trust",
        help=HELP["trust"],
        description="Run the seven benchmarks in the simulation, free and confined to one CPU, and "
        "compare the predictions with measurements of this machine, or with hardware counters of "
        "another machine.",
    )
    parser.set_defaults(command=run)
    what = parser.add_mutually_exclusive_group(required=True)
    here = "this machine's preset, which `fast calibrate` writes: measure here"
    path(what, "--preset", here, "NAME.toml")
    elsewhere = "measurements of another machine, such as experiments/measured/zen3.toml"
    path(what, "--measured", elsewhere, "FILE.toml")
    rounds = (
        "with --preset: rounds, in each of which every benchmark runs four times (default: "
        "%(default)s)"
    )
    number(parser, "--rounds", rounds, native.ROUNDS)
    path(parser, "--output", "results directory (default: results/trust-NAME)", "DIR")


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    check_directory(arguments.output)
    if arguments.preset:
        return _trust_here(arguments, reporter)
    record = measured_file.load(arguments.measured)
    experiment = load_experiment(record.experiment)
    check_primary(experiment, "sim", SIMULATED)
    presets.check_memory(experiment)
    directory: Path = arguments.output or Path("results", f"trust-{experiment.name}")
    _check_own(directory, experiment.name)
    rows = simulate(experiment, record.experiment, directory / agreement.SIMULATION, reporter)
    compared = agreement.compare(record.side, agreement.predicted(rows), agreement.COUNTER_BOUNDS)
    return _show_trust(record.machine, compared, agreement.COUNTER_BOUNDS, rows, directory)


def _check_own(directory: Path, experiment: str) -> None:
    """Raise FastError if the directory has runs of its own, or another experiment's simulation."""
    check_own(directory, "", "sim")
    check_own(directory / agreement.SIMULATION, experiment, "sim")


def _trust_here(arguments: argparse.Namespace, reporter: Reporter) -> int:
    preset: Path = arguments.preset
    cpus = native.usable_cpus()
    series = catalogue.load_catalogue(project()).pick_series(None).name
    directory: Path = arguments.output or Path("results", f"trust-{preset.stem}")
    _check_own(directory, native.experiment_name(preset))
    native.read_preset(preset)
    # Report what is missing before any long step.
    tools.require_qemu()
    build = meson.build_programs(project(), reporter)
    benchmarks = manifest.suite(build, manifest.MICROBENCHMARKS)
    source = native.write_experiment(directory, preset, series, cpus, benchmarks)
    experiment = load_experiment(source)
    session = native.NativeSession(build, cpus, arguments.rounds)
    rows = simulate(experiment, source, directory / agreement.SIMULATION, reporter)
    prediction = agreement.predicted(rows)

    def tell() -> int:
        compared = agreement.compare(session.measured(), prediction, agreement.CLOCK_BOUNDS)
        machine = f"this machine, {len(cpus)} CPUs"
        return _show_trust(machine, compared, agreement.CLOCK_BOUNDS, rows, directory)

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
    compared: Sequence[agreement.Compared],
    bounds: Sequence[agreement.Bound],
    rows: Sequence[Row],
    directory: Path,
) -> int:
    from fastlab.report import markup

    table = agreement.table(f"Predicted and measured: {machine}", compared, bounds)
    show([table])
    print("\n".join(agreement.sentences(compared)))
    print(summary.line(compared, bounds, rows))
    made = [
        ("trust.json", json.dumps(agreement.document(compared, table), indent=1) + "\n"),
        ("trust.md", markup.markdown_table(table)),
    ]
    for file in files.write_files(directory, made):
        print(f"wrote {file}")
    if len(agreement.agreeing(compared)) >= agreement.LEAST:
        return OK
    return INCOMPLETE if len(agreement.possible(compared)) >= agreement.LEAST else BELOW
