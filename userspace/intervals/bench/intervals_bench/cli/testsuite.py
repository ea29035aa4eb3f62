# SPDX-License-Identifier: GPL-2.0
"""`fast bench gomp-testsuite`: GCC's tests of its OpenMP library, run on ours."""

from __future__ import annotations

import argparse

from fastlab.base.progress import Reporter
from fastlab.cli.common import OK, Commands, check_writable, keep, project, show
from fastlab.cli.options import names, path
from fastlab.guest import meson
from intervals_bench.programs import OPENMP_LIBRARY


def add_testsuite(what: Commands) -> None:
    suite = what.add_parser(
        "gomp-testsuite",
        help="run GCC's tests of its OpenMP library on ours",
        description="Compile the C, C++ and Fortran run tests of GCC's libgomp, run them with "
        "libintervals-gomp preloaded, and print what passed, failed, and is not applicable.",
    )
    suite.set_defaults(command=_bench_gomp_testsuite)
    path(suite, "--library", "the libintervals-gomp to run them on (default: it is built)")
    path(suite, "--archive", "the sources of GCC (default: the package gcc-12-source)")
    suite.add_argument(
        "--only",
        type=names,
        metavar="PATTERN,...",
        default=(),
        help="only tests of such names, as in libgomp.c/task*",
    )
    path(suite, "--json", "write the results to FILE too")


def _bench_gomp_testsuite(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from intervals_bench import gomp_testsuite

    check_writable(arguments.json)
    archive = arguments.archive or gomp_testsuite.find_archive()
    library = arguments.library
    if not library:
        build = meson.build_programs(project(), reporter)
        library = build / OPENMP_LIBRARY
    request = gomp_testsuite.SuiteRequest(library, archive, arguments.only)
    results = gomp_testsuite.measure(reporter, request)
    show(gomp_testsuite.tables(results))
    keep(arguments.json, gomp_testsuite.document(results))
    return OK
