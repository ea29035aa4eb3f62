# SPDX-License-Identifier: GPL-2.0
"""`fast look`: which lock do a program's threads wait for, on the running kernel?"""

from __future__ import annotations

import argparse
import shlex

from fastlab.base.fast_command import fast_command
from fastlab.base.model import UsageError
from fastlab.base.progress import Reporter
from fastlab.cli.commands import HELP
from fastlab.cli.common import OK, Commands, check_writable, keep, show
from fastlab.cli.options import number, path

USAGE = (
    f"{fast_command('look')} [options] -- PROGRAM [ARGUMENT ...]\n"
    f"       {fast_command('look')} [options] --pid PID [-- PROGRAM [ARGUMENT ...]]"
)


def add(commands: Commands) -> None:
    parser = commands.add_parser(
        "look",
        help=HELP["look"],
        usage=USAGE,
        description="Run a program on the running kernel, as root, and say which lock its threads "
        "wait for, how often it is handed over, how much of that goes to another CPU, and whether "
        "`fast try` is worth it. No kernel is built, and nothing is simulated.",
    )
    parser.set_defaults(command=run, argv=())
    what = "look at this process instead, for 5 seconds or for as long as PROGRAM runs"
    number(parser, "--pid", what, metavar="PID")
    path(parser, "--json", "write all data to FILE too")


def run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.look import answer, record

    if not arguments.argv and arguments.pid is None:
        raise UsageError(f"no program given: {USAGE}")
    check_writable(arguments.json)
    seen = record.look(record.LookRequest(arguments.argv, arguments.pid), reporter)
    program = arguments.argv if arguments.pid is None else ("PROGRAM",)
    sentence = answer.verdict(seen, f"{fast_command('try')} -- {shlex.join(program)}")
    print(sentence, "", sep="\n")
    found = answer.table(seen)
    if found.rows:
        show([found])
    for remark in answer.remarks(seen):
        print(f"- {remark}")
    keep(arguments.json, answer.document(seen, sentence))
    return OK
