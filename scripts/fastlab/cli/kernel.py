# SPDX-License-Identifier: GPL-2.0
"""`fast kernel`: build, pack and list kernels."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fastlab.base.progress import PlainReporter, Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import OK, Commands, check_directory
from fastlab.cli.options import path
from fastlab.kernel import kernels


def add(commands: Commands) -> None:
    parser = commands.add_parser("kernel", help=HELP["kernel"])
    kernel = parser.add_subparsers(metavar="COMMAND", required=True)

    build = kernel.add_parser("build", help="build the kernels that experiments boot")
    build.set_defaults(command=_kernel_build)
    build.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="V",
        help="only this variant; may be repeated (default: all of Kbuild/kernels.toml)",
    )
    build.add_argument(
        "--fragment",
        action="append",
        default=[],
        metavar="F",
        help="merge Kbuild/F.config too; may be repeated",
    )

    deb = kernel.add_parser("deb", help="make Debian packages of the patched kernel for bare metal")
    deb.set_defaults(command=_kernel_deb)
    path(deb, "--config", "configuration (default: the running kernel's)")
    path(deb, "--output", "directory for the packages (default: here)", "DIR", default=Path())

    for subparser in (build, deb):
        subparser.add_argument(
            "series", nargs="?", metavar="SERIES", help="such as 6.12 (default: the primary one)"
        )
        path(subparser, "--source", "build from your own source", "DIR|TARBALL")

    listing = kernel.add_parser("list", help="list the built kernels and their directories")
    listing.set_defaults(command=_kernel_list)


def _kernel_build(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = kernels.BuildRequest(
        arguments.series,
        tuple(arguments.variant),
        arguments.source,
        tuple(arguments.fragment),
    )
    kernels.build(request, reporter)
    return OK


def _kernel_deb(arguments: argparse.Namespace, reporter: Reporter) -> int:
    check_directory(arguments.output)
    request = kernels.DebRequest(
        arguments.output, arguments.series, arguments.source, arguments.config
    )
    kernels.deb(request, reporter)
    return OK


def _kernel_list(arguments: argparse.Namespace, reporter: Reporter) -> int:
    kernels.list_kernels(kernels.Places(), PlainReporter(sys.stdout))
    return OK
