# SPDX-License-Identifier: GPL-2.0
"""`fast bench`: measure the laboratory itself, and the runtime."""

from __future__ import annotations

import argparse

from fastlab.base.progress import Reporter
from fastlab.cli.common import OK, Commands, check_writable, keep, project, show
from fastlab.cli.openmp import add_openmp
from fastlab.cli.options import names, path
from fastlab.cli.peers import add_peers
from fastlab.cli.theses import add_theses
from fastlab.guest import meson


def add(commands: Commands) -> None:
    parser = commands.add_parser("bench", help="measure the laboratory itself, and the runtime")
    what = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command, says in (
        ("sim", _bench_sim, "measure what the cache model and attribution cost a simulation"),
        (
            "overhead",
            _bench_overhead,
            "count what the series costs a futex_wake, a wake-up, a context switch",
        ),
        (
            "stealing",
            _bench_stealing,
            "count how the runtime's workers steal, on a simulated machine of two packages",
        ),
    ):
        one = what.add_parser(name, help=says)
        one.set_defaults(command=command)
        if command != _bench_sim:
            path(one, "--json", "write the counts to FILE too")
    add_peers(what)
    add_theses(what)
    add_openmp(what)

    suite = what.add_parser(
        "gomp-testsuite",
        help="run GCC's tests of its OpenMP library on ours",
        description="Compile the C, C++ and Fortran run tests of GCC's libgomp, run them with "
        "libintervals-gomp preloaded, and print what passed, failed, and is not applicable.",
    )
    suite.set_defaults(command=_bench_gomp_testsuite)
    path(suite, "--library", "the libintervals-gomp to run them on (default: it is built)")
    path(suite, "--archive", "the sources of GCC (default: those of gcc-12-source)")
    suite.add_argument(
        "--only",
        type=names,
        metavar="PATTERN,...",
        default=(),
        help="only tests of such names, as in libgomp.c/task*",
    )
    path(suite, "--json", "write the results to FILE too")


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


def _bench_stealing(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.bench import stealing

    check_writable(arguments.json)
    request = stealing.EVERYTHING
    counts = stealing.measure(reporter, request)
    show(stealing.tables(counts))
    keep(arguments.json, stealing.document(counts, request))
    return OK


def _bench_gomp_testsuite(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.bench import gomp_testsuite

    check_writable(arguments.json)
    archive = arguments.archive or gomp_testsuite.find_archive()
    library = arguments.library
    if not library:
        build = meson.build_programs(project(), reporter)
        library = build / "userspace/gomp/libgomp.so.1"
    request = gomp_testsuite.SuiteRequest(library, archive, arguments.only)
    results = gomp_testsuite.measure(reporter, request)
    show(gomp_testsuite.tables(results))
    keep(arguments.json, gomp_testsuite.document(results))
    return OK
