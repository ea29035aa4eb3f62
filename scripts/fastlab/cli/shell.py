# SPDX-License-Identifier: GPL-2.0
"""`fast shell`: boot a kernel with this file system."""

from __future__ import annotations

import argparse

from fastlab.base.progress import Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import Commands
from fastlab.shell import machine


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "shell",
        usage="%(prog)s [-h] [--variant V] [SERIES] [-- COMMAND...]",
        help=HELP["shell"],
        description="Boot a kernel with this machine's file system, and run a shell or a command "
        "in it. Files that the guest writes are lost when it ends.",
    )
    parser.set_defaults(command=run, argv=())
    parser.add_argument(
        "series", nargs="?", metavar="SERIES", help="such as 6.12 (default: the primary one)"
    )
    parser.add_argument(
        "--variant", metavar="V", default="fast", help="of Kbuild/kernels.toml (default: fast)"
    )


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = machine.ShellRequest(arguments.series, arguments.variant, arguments.argv)
    return machine.run(request, reporter)
