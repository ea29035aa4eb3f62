# SPDX-License-Identifier: GPL-2.0
"""`fast bench openmp` and `openmp-suites`: OpenMP programs on libgomp, libomp and ours."""

from __future__ import annotations

import argparse

from fastlab.base.cache import locked
from fastlab.base.progress import Reporter
from fastlab.base.project import work_dir
from fastlab.cli.common import Commands, check_writable, project
from fastlab.cli.options import number, only, path, threads
from fastlab.guest import meson
from intervals_bench import openmp, openmp_suites
from intervals_bench.cli.rounds import compare
from intervals_bench.programs import OPENMP_BENCHMARKS


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

    suites = what.add_parser(
        "openmp-suites",
        help="measure BOTS and EPCC's microbenchmarks, as they are published, on the same",
        description="Build the Barcelona OpenMP Tasks Suite and EPCC's OpenMP microbenchmarks, "
        "unchanged, and measure them on libgomp, libomp and libintervals-gomp, in turn.",
    )
    suites.set_defaults(command=_bench_suites)
    path(suites, "--bots", "a checkout of BOTS (github.com/bsc-pm/bots)", "DIR")
    path(
        suites,
        "--epcc",
        "openmpbench_C_v31 of EPCC's (github.com/EPCCed/epcc-openmp-microbenchmarks)",
        "DIR",
    )
    threads(suites, openmp.THREADS)
    number(suites, "--rounds", "how often each is run (default: %(default)s)", openmp.ROUNDS)
    path(suites, "--json", "write the rows to FILE too")


def _bench_suites(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = openmp_suites.SuitesRequest(
        arguments.bots, arguments.epcc, arguments.threads, arguments.rounds
    )
    check_writable(arguments.json)
    build = meson.build_benchmarks(project(), [], reporter, OPENMP_BENCHMARKS)
    work = work_dir(project()) / "suites"
    with locked(work.with_name(f"{work.name}.lock"), reporter):
        session = openmp_suites.SuitesSession(request, build, work)
        return compare(
            session, openmp.table, openmp.record, openmp.failures, arguments.json, reporter
        )


def _bench_openmp(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = openmp.OpenmpRequest(arguments.only, arguments.threads, arguments.rounds)
    check_writable(arguments.json)
    build = meson.build_benchmarks(project(), [], reporter, OPENMP_BENCHMARKS)
    session = openmp.OpenmpSession(request, build)
    return compare(session, openmp.table, openmp.record, openmp.failures, arguments.json, reporter)
