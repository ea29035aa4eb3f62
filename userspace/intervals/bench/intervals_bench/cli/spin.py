# SPDX-License-Identifier: GPL-2.0
"""`fast bench spin`: how long a worker should search before it sleeps."""

from __future__ import annotations

import argparse

from fastlab.base.progress import Reporter
from fastlab.cli.common import OK, Commands, check_writable, keep, show
from fastlab.cli.options import path


def add_spin(what: Commands) -> None:
    parser = what.add_parser(
        "spin",
        help="measure how long a worker should search before it sleeps, on simulated "
        "machines of 4, 16 and 64 CPUs and on this one",
    )
    parser.set_defaults(command=_bench_spin)
    path(parser, "--json", "write the rows to FILE too")


def _bench_spin(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from intervals_bench import spin

    check_writable(arguments.json)
    request = spin.EVERYTHING
    rows = spin.measure(reporter, request)
    show(spin.tables(rows))
    keep(arguments.json, spin.document(rows, request))
    return OK
