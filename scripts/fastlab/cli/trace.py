# SPDX-License-Identifier: GPL-2.0
"""`fast trace`: record which thread runs where, and the hand-offs between threads."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fastlab.base.model import Place, UsageError
from fastlab.base.progress import Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import OK, Commands, show
from fastlab.cli.options import names, number, path
from fastlab.plan import presets
from fastlab.plan.experiment import load_experiment

if TYPE_CHECKING:
    from fastlab.trace.recording import Recording


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "trace",
        help=HELP["trace"],
        usage="fast trace [options] EXPERIMENT.toml\n       fast trace [options] -- PROGRAM "
        "[ARGUMENT ...]",
        description="Record one run of an experiment in the simulation, without FAST and with it, "
        "or a program on the running kernel with fast-trace. The traces are for ui.perfetto.dev "
        "(.pftrace) and KernelShark (.dat); the picture shows the millisecond with the most "
        "hand-offs of each.",
    )
    parser.set_defaults(command=run, argv=())
    parser.add_argument("experiment", type=Path, nargs="?", metavar="EXPERIMENT.toml")
    parser.add_argument(
        "--run",
        metavar="NAME",
        help="the run to record, such as single_ctr-16 (default: the first)",
    )
    parser.add_argument(
        "--variants",
        type=names,
        metavar="V,...",
        default=(),
        help="variants to record (default: the baseline, and the first variant with a policy)",
    )
    says = "size of the kernel's buffer of each CPU, in KiB (default: 65536, or an eighth of "
    says += "the available memory if that is less)"
    number(parser, "--buffer-kb", says, metavar="KB")
    what = "directory for the traces (default: results/NAME/trace/RUN, results/trace-PROGRAM)"
    path(parser, "--output", what, "DIR")


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if bool(arguments.experiment) == bool(arguments.argv):
        raise UsageError(
            "name either an experiment, as in fast trace experiments/demo.toml, or a program, as "
            "in fast trace -- PROGRAM [ARGUMENT ...]"
        )
    record = _experiment if arguments.experiment else _program
    recordings, directory = record(arguments, reporter)
    return _finish(recordings, directory)


def _experiment(arguments: argparse.Namespace, reporter: Reporter) -> tuple[list[Recording], Path]:
    from fastlab.trace import record_simulated

    experiment = load_experiment(arguments.experiment)
    presets.check_memory(experiment)
    case = record_simulated.pick_case(experiment, arguments.run)
    variants = record_simulated.pick_variants(experiment, arguments.variants)
    default = Path("results", experiment.name, "trace", Place(*case.place).workload)
    directory: Path = arguments.output or default
    request = record_simulated.TraceRequest(
        *(experiment, case, variants, directory, arguments.buffer_kb),
        beside=arguments.experiment.parent,
    )
    return record_simulated.record_experiment(request, reporter), directory


def _program(arguments: argparse.Namespace, reporter: Reporter) -> tuple[list[Recording], Path]:
    from fastlab.trace import record_running

    for option, given in (("--run", arguments.run), ("--variants", arguments.variants)):
        if given:
            raise UsageError(
                f"{option} applies to experiments; a program is recorded on the running kernel"
            )
    default = Path("results", f"trace-{Path(arguments.argv[0]).name}")
    directory: Path = arguments.output or default
    request = record_running.ProgramRequest(arguments.argv, directory, arguments.buffer_kb)
    return record_running.record_program(request, reporter), directory


def _finish(recordings: list[Recording], directory: Path) -> int:
    from fastlab.trace import output

    written = output.write_recordings(recordings, directory)
    show([output.summary(recordings)])
    for doubt in output.doubts(recordings):
        print(f"- {doubt}")
    traces = ", ".join(f"{recording.title}.dat" for recording in recordings)
    print(f"wrote {directory}: {', '.join(file.name for file in written)}")
    print("open the .pftrace in https://ui.perfetto.dev (it stays on this machine), or")
    print(f"{traces} in KernelShark; the picture is {written[-1]}")
    return OK
