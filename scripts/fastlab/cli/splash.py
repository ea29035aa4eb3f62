# SPDX-License-Identifier: GPL-2.0
"""`fast splash`: drive an original SPLASH-2 or Splash-3 tree."""

from __future__ import annotations

import argparse
from typing import Any

from fastlab.base.progress import Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import (
    ERROR,
    OK,
    Commands,
    check_directory,
    check_writable,
    complain,
    complain_of,
    keep,
    project,
    show,
)
from fastlab.cli.options import number, path, threads
from fastlab.splash import driver, programs


def add(commands: Commands) -> None:
    parser = commands.add_parser("splash", help=HELP["splash"])
    kinds = parser.add_subparsers(metavar="COMMAND", required=True)
    build = kinds.add_parser("build", help="build its programs outside of the tree")
    build.set_defaults(command=_splash_build)
    runs = kinds.add_parser(
        "run",
        help="build its programs, run them and judge their results",
        description="Build the programs of the tree outside of it, run them at each number of "
        "threads and judge their results.",
    )
    runs.set_defaults(command=_splash_run)
    for subparser in (build, runs):
        add_tree(subparser)
        where = "build/splash, or in the cache of an installed fast"
        path(subparser, "--output", f"where to build (default: in {where})", "DIR")
        subparser.add_argument(
            "programs",
            nargs="*",
            metavar="PROGRAM",
            help=f"only these of {', '.join(programs.NAMES)}",
        )
    threads(runs, driver.THREADS)
    runs.add_argument(
        "--size",
        choices=programs.SIZES,
        default="small",
        help="small: seconds; base: SPLASH-2's own; paper: its Table 2 (default: %(default)s)",
    )
    what = "a program that takes longer counts as hung (default: %(default)s)"
    number(runs, "--timeout", what, int(driver.TIMEOUT), "SECONDS")
    path(runs, "--json", "write the rows to FILE too")


def add_tree(parser: argparse.ArgumentParser) -> None:
    what = "the unpacked SPLASH-2 or Splash-3; it is only read"
    path(parser, "--tree", what, "DIR", required=True)


def _splash_build(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = _splash_request(arguments)
    check_directory(arguments.output)
    built = driver.build(request, reporter)
    for program in built:
        if program.path:
            print(f"{program.program.name}: {program.path}")
    wrong = [program.failure for program in built if program.failure]
    return complain("\n".join(wrong), ERROR) if wrong else OK


def _splash_run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    check_writable(arguments.json)
    check_directory(arguments.output)
    request = _splash_request(
        arguments, threads=arguments.threads, size=arguments.size, timeout=arguments.timeout
    )
    rows: list[driver.TreeRow] = []

    def tell() -> None:
        show([driver.table(rows)])
        keep(arguments.json, driver.document(rows, request))

    try:
        for row in driver.run(request, reporter):
            rows.append(row)
    except KeyboardInterrupt:
        # An older file with results is better than a new file without any.
        if any(row.seconds for row in rows):
            tell()
        raise
    tell()
    where = f"wrong results (the programs' output is in {driver.output_directory(request)}):"
    status = complain_of(where, driver.failures(rows))
    if status == OK and not any(row.verdict == "ok" for row in rows):
        return complain(
            "nothing was run: every program was skipped for the reason in the table", ERROR
        )
    return status


def _splash_request(arguments: argparse.Namespace, **more: Any) -> driver.TreeRequest:
    return driver.TreeRequest(
        root=arguments.tree,
        project=project(),
        programs=tuple(arguments.programs),
        output=arguments.output,
        **more,
    )
