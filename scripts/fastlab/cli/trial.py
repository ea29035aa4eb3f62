# SPDX-License-Identifier: GPL-2.0
"""`fast try`: does FAST help this program?"""

from __future__ import annotations

import argparse

from fastlab.backend.counting import BACKENDS
from fastlab.base.fast_command import fast_command
from fastlab.base.model import UsageError
from fastlab.base.progress import Reporter
from fastlab.cli import tried
from fastlab.cli.commands import HELP
from fastlab.cli.common import Commands
from fastlab.trial.runs import FAST, TrialRequest

USAGE = f"{fast_command('try')} [options] -- PROGRAM [ARGUMENT ...]"


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "try",
        help=HELP["try"],
        usage=USAGE,
        description="Run a program in the simulation, without FAST and under FAST's policies. The "
        "output says which policy helps, by how much, and which locks cause the hand-offs. With "
        "--backend, run it on the running kernel, which must have FAST.",
    )
    parser.set_defaults(command=run, argv=())
    parser.add_argument(
        "--backend",
        choices=("sim", *BACKENDS),
        default="sim",
        help="where to run it: in the simulation (the default), or on the running kernel with "
        "hardware counters (perf) or without (soft)",
    )
    tried.add_options(parser)


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if arguments.backend == "sim":
        return tried.run_arms(arguments, FAST, USAGE, reporter)[1]
    return _try_real(arguments, tried.request_of(arguments, USAGE), reporter)


def _try_real(arguments: argparse.Namespace, request: TrialRequest, reporter: Reporter) -> int:
    from fastlab.trial import on_kernel

    for option, given in (
        ("--with", arguments.more),
        ("--date", arguments.date),
        ("--server", arguments.server),
        ("--cpus", arguments.cpus),
        ("--memory-mb", arguments.memory_mb),
        ("--preset", arguments.preset),
        ("--presets", arguments.presets),
        ("--annotate", arguments.annotate),
    ):
        if given:
            raise UsageError(
                f"{option} describes the simulated machine, and backend {arguments.backend} runs "
                "the program on this machine. Leave one of the two options out"
            )
    return tried.show_trials([on_kernel.run(request, reporter)], arguments.json)
