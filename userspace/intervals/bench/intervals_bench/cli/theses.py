# SPDX-License-Identifier: GPL-2.0
"""`fast bench theses`: what the sources of the intervals runtime measured, measured again."""

from __future__ import annotations

import argparse
from pathlib import Path

from fastlab.base.model import UsageError
from fastlab.base.progress import Reporter
from fastlab.cli.common import OK, Commands, check_directory, complain_of, project
from fastlab.cli.options import names, number, path
from fastlab.cli.rounds import measure, own_command

ROUNDS = 10


def add_theses(what: Commands) -> None:
    parser = what.add_parser(
        "theses",
        help="measure again what the sources of the intervals runtime measured",
        description="Measure a table or figure of the theses that the intervals runtime comes "
        "from, show it beside what they published, and say which of their conclusions are upheld "
        "here. Without a name, list what there is.",
    )
    parser.set_defaults(command=_bench_theses)
    parser.add_argument("name", nargs="?", metavar="NAME", help="of an evaluation")
    parser.add_argument(
        "--only", type=names, metavar="NAME,...", default=(), help="only these of its programs"
    )
    number(parser, "--rounds", f"how often each point is run (default: {ROUNDS})")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument(
        "--quick", action="store_true", help="the sizes of tests: does all of it run?"
    )
    sizes.add_argument(
        "--simulate",
        action="store_true",
        help="in a simulated machine of two NUMA nodes, whose caches and memory it counts",
    )
    path(
        parser,
        "--output",
        "results directory (default: results/theses-NAME, or results/theses-NAME-simulated)",
        "DIR",
    )


def _refuse_options(arguments: argparse.Namespace) -> None:
    """Of a measurement, where none is asked for."""
    for option in ("only", "rounds", "quick", "simulate", "output"):
        if getattr(arguments, option):
            raise UsageError(
                f"--{option} is about a measurement, and without a NAME there is none, only the "
                f"list of names: give one of these, or leave --{option} out"
            )


def _bench_theses(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.guest import meson
    from fastlab.report.markup import markdown_table
    from intervals_bench import theses, theses_catalogue, theses_report, theses_simulated
    from intervals_bench.programs import BENCHMARKS

    if not arguments.name:
        _refuse_options(arguments)
        print(markdown_table(theses_report.listing(theses_catalogue.EVALUATIONS)), end="")
        return OK
    evaluation = theses_catalogue.find(arguments.name)
    machine = theses_simulated.machine() if arguments.simulate else theses.this_machine()
    request = theses.ThesisRequest(
        *(evaluation, arguments.only, arguments.rounds or ROUNDS),
        quick=arguments.quick,
        simulate=machine.cpus if arguments.simulate else 0,
    )
    check_directory(arguments.output)
    name = f"theses-{evaluation.name}{'-simulated' if arguments.simulate else ''}"
    directory = arguments.output or Path("results", name)
    theses_report.check_own(directory, request)
    session: theses.ThesisMeasurement
    if arguments.simulate:
        session = theses_simulated.SimulatedSession(request, reporter)
    else:
        build = (
            meson.build_benchmarks(project(), [], reporter, BENCHMARKS)
            if evaluation.programs
            else Path()
        )
        session = theses.ThesisSession(request, build)

    def tell() -> None:
        rows = session.rows()
        found = theses.verdicts(request, rows, machine)
        print(theses_report.markdown(request, rows, found), end="")
        for file in theses_report.write(directory, own_command(), request, rows, found):
            print(f"wrote {file}")

    measure(session, tell, reporter)
    return complain_of("these failed:", theses.failures(request, session.rows()))
