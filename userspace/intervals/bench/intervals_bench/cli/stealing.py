# SPDX-License-Identifier: GPL-2.0
"""`fast bench stealing`: how the runtime's workers steal."""

from __future__ import annotations

import argparse

from fastlab.base.progress import Reporter
from fastlab.cli.common import OK, Commands, check_writable, keep, show
from fastlab.cli.options import path


def add_stealing(what: Commands) -> None:
    parser = what.add_parser(
        "stealing",
        help="count how the runtime's workers steal, on a simulated machine of two packages",
    )
    parser.set_defaults(command=_bench_stealing)
    path(parser, "--json", "write the counts to FILE too")


def _bench_stealing(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from intervals_bench import stealing

    check_writable(arguments.json)
    request = stealing.EVERYTHING
    counts = stealing.measure(reporter, request)
    show(stealing.tables(counts))
    keep(arguments.json, stealing.document(counts, request))
    return OK
