# SPDX-License-Identifier: GPL-2.0
"""`fast stat` and `fast latency`: the C programs fast-stat and fast-latency by the name `fast`.

`fast calibrate` runs fast-calibrate and makes a preset of its output; `fast trace -- PROGRAM` runs
fast-trace under each policy and converts its traces. Both are commands of their own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from fastlab.base.fast_command import fast_command
from fastlab.base.model import FastError
from fastlab.base.progress import Reporter
from fastlab.base.project import work_dir
from fastlab.cli.commands import HELP
from fastlab.cli.common import Commands, project

PROBES = ("stat", "latency")


def add(commands: Commands) -> None:
    for name in PROBES:
        what, own = HELP[name], f"fast-{name}"
        parser = commands.add_parser(
            name,
            help=what,
            usage=f"{fast_command(name)} [OPTION ...] -- PROGRAM [ARGUMENT ...]",
            description=f"{what.capitalize()}, on the running kernel. Every argument goes to the "
            f"program {own}: `{fast_command(name, '--help')}` shows this page, "
            f"`{fast_command(name, '--', '--help')}` that of {own} with its options.",
        )
        parser.set_defaults(command=run, probe=name, argv=())


def handed_through(words: Sequence[str]) -> argparse.Namespace | None:
    """The arguments of a command line that a probe parses itself; None: `fast` parses it.

    A leading `--` hides an option, such as --help, from `fast`.
    """
    if not words or words[0] not in PROBES or words[1:] in (["-h"], ["--help"]):
        return None
    argv = words[2:] if words[1:2] == ["--"] else words[1:]
    return argparse.Namespace(command=run, probe=words[0], argv=tuple(argv))


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Become the program: its exit status and its signals are its own."""
    from fastlab.backend.counting import FAST_LATENCY, FAST_STAT

    program = FAST_STAT if arguments.probe == "stat" else FAST_LATENCY
    path = work_dir(project()) / "user" / program
    if not os.access(path, os.X_OK):
        raise FastError(f"{path}: not built; build the programs first: run `make`")
    sys.stdout.flush()
    os.execv(path, [str(path), *arguments.argv])
