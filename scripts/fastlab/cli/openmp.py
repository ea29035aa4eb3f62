# SPDX-License-Identifier: GPL-2.0
"""`fast bench openmp`: OpenMP programs on libgomp, libomp and ours."""

from __future__ import annotations

import argparse

from fastlab.base.progress import Reporter
from fastlab.bench import openmp
from fastlab.cli.common import Commands, check_writable, project
from fastlab.cli.options import number, only, path, threads
from fastlab.cli.rounds import compare
from fastlab.guest import meson


def add_openmp(what: Commands) -> None:
    parser = what.add_parser(
        "openmp",
        help="measure OpenMP programs on libgomp, libomp and libintervals-gomp",
        description="Measure BOTS' kernels without cut-off, constructs and schedules of OpenMP on "
        "libgomp, libomp and libintervals-gomp, in turn, and compare them.",
    )
    parser.set_defaults(command=_bench_openmp)
    only(parser, openmp.BENCHMARKS)
    threads(parser, openmp.THREADS)
    number(parser, "--rounds", "how often each is run (default: %(default)s)", openmp.ROUNDS)
    path(parser, "--json", "write the rows to FILE too")


def _bench_openmp(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = openmp.OpenmpRequest(arguments.only, arguments.threads, arguments.rounds)
    check_writable(arguments.json)
    build = meson.build_benchmarks(project(), [], reporter, meson.OPENMP)
    session = openmp.OpenmpSession(request, build)
    return compare(session, openmp.table, openmp.record, openmp.failures, arguments.json, reporter)
