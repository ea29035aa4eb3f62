# SPDX-License-Identifier: GPL-2.0
"""`fast bench openmp`: OpenMP programs on libgomp, libomp and ours."""

from __future__ import annotations

import argparse

from fastlab.base.progress import Reporter
from fastlab.bench import openmp
from fastlab.cli.common import (
    Commands,
    check_writable,
    complain_of,
    counts,
    keep,
    names,
    number,
    path,
    project,
    show,
)
from fastlab.cli.rounds import measure, own_command
from fastlab.guest import meson


def add_openmp(what: Commands) -> None:
    parser = what.add_parser(
        "openmp",
        help="measure OpenMP programs on libgomp, libomp and libintervals-gomp",
        description="Measure BOTS' kernels without cut-off, constructs and schedules of OpenMP on "
        "libgomp, libomp and libintervals-gomp, in turn, and compare them.",
    )
    parser.set_defaults(command=_bench_openmp)
    parser.add_argument(
        "--only",
        type=names,
        metavar="NAME,...",
        default=openmp.BENCHMARKS,
        help=f"only these of {', '.join(openmp.BENCHMARKS)}",
    )
    parser.add_argument(
        "--threads",
        type=counts,
        metavar="N,...",
        default=openmp.THREADS,
        help="numbers of threads (default: 1,2)",
    )
    number(parser, "--rounds", "how often each is run (default: %(default)s)", openmp.ROUNDS)
    path(parser, "--json", "write the rows to FILE too")


def _bench_openmp(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = openmp.OpenmpRequest(arguments.only, arguments.threads, arguments.rounds)
    check_writable(arguments.json)
    build = meson.build_benchmarks(project(), [], reporter, meson.OPENMP)
    session = openmp.OpenmpSession(request, build)

    def tell() -> None:
        rows = session.rows()
        show([openmp.table(rows)])
        keep(arguments.json, openmp.document(rows, own_command(), request))

    measure(session, tell, reporter)
    return complain_of("these failed:", openmp.failures(session.rows()))
