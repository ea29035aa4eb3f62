# SPDX-License-Identifier: GPL-2.0
"""`fast doctor`: what this machine has, what is missing, and what would be installed."""

from __future__ import annotations

import argparse
import shutil
import textwrap

from fastlab.base.progress import Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import ERROR, OK, Commands, project

WIDTH = 18


def add(commands: Commands) -> None:
    what = HELP["doctor"]
    parser = commands.add_parser(
        "doctor",
        help=what,
        description=f"{what.capitalize()}. Changes nothing. The status is 1 if something is "
        "missing that most commands need.",
    )
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.backend import readiness

    # Do not break paths and names of packages.
    wrap = textwrap.TextWrapper(
        shutil.get_terminal_size().columns,
        subsequent_indent=" " * (8 + WIDTH),
        break_long_words=False,
        break_on_hyphens=False,
    )
    missing = False
    for item in readiness.examine(project(), reporter):
        print(wrap.fill(f"{item.state:8}{item.what:{WIDTH}}{item.text}"))
        missing |= item.state == "missing"
    return ERROR if missing else OK
