# SPDX-License-Identifier: GPL-2.0
"""`fast bench`: measure the laboratory itself, and what plug-ins measure."""

from __future__ import annotations

import argparse

from fastlab.base.progress import Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import OK, Commands, check_writable, complain_of, keep, project, show
from fastlab.cli.options import number, only, path, threads
from fastlab.cli.plugins import add_plugins
from fastlab.cli.rounds import measure, own_command
from fastlab.cli.splash import add_tree
from fastlab.guest import meson
from fastlab.splash import driver, programs, side_by_side


def add(commands: Commands) -> None:
    parser = commands.add_parser("bench", help=HELP["bench"])
    what = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command, says in (
        ("sim", _bench_sim, "measure what the cache model and attribution cost a simulation"),
        (
            "overhead",
            _bench_overhead,
            "count what the series costs a futex_wake, a wake-up, a context switch",
        ),
    ):
        subparser = what.add_parser(name, help=says)
        subparser.set_defaults(command=command)
        if command != _bench_sim:
            path(subparser, "--json", "write the counts to FILE too")
    original = what.add_parser(
        "splash",
        help="measure the SPLASH-2 programs beside those of an original tree",
        description="Measure the SPLASH-2 programs beside those of an original tree with the same "
        "work, in turn, and compare them.",
    )
    original.set_defaults(command=_bench_splash)
    add_tree(original)
    only(original, programs.NAMES, default=())
    threads(original, side_by_side.THREADS)

    number(
        original,
        "--rounds",
        "how often each program is run (default: %(default)s)",
        side_by_side.ROUNDS,
    )
    path(original, "--json", "write the rows to FILE too")
    add_plugins(what)


def _bench_sim(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.bench import cost

    print(cost.measure(reporter).text())
    return OK


def _bench_overhead(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.bench import overhead

    check_writable(arguments.json)
    costs = overhead.measure(reporter)
    show(overhead.tables(costs))
    keep(arguments.json, overhead.document(costs))
    return OK


def _bench_splash(arguments: argparse.Namespace, reporter: Reporter) -> int:
    check_writable(arguments.json)
    request = driver.TreeRequest(
        root=arguments.tree,
        project=project(),
        programs=arguments.only,
        threads=arguments.threads,
        timeout=side_by_side.TIMEOUT,
    )
    with driver.prepared(request, reporter) as (tree, built):
        build = meson.build_programs(request.project, reporter)
        session = side_by_side.SplashSession(request, arguments.rounds, tree, built, build)

        def tell() -> None:
            rows = session.rows()
            show([side_by_side.table(rows)])
            document = side_by_side.document(rows, own_command(), request, arguments.rounds)
            keep(arguments.json, document)

        measure(session, tell, reporter)
    where = f"these have no ratio (what was said is in {driver.output_directory(request)}):"
    return complain_of(where, side_by_side.failures(session.rows()))
