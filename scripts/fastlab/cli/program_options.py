# SPDX-License-Identifier: GPL-2.0
"""Options that say what a program under test is given, for all commands that run one."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime
from pathlib import Path

from fastlab.base.model import UsageError
from fastlab.cli.options import command_line, path
from fastlab.trial.given import MOST_VARIABLES, Given, check_input
from fastlab.trial.subject import check_there, find_program

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TODAY = "today"
AUTO = "auto"


def add_options(parser: argparse.ArgumentParser) -> None:
    what = (
        "a file or a directory that the program needs besides its libraries and the files that "
        f"its arguments name; {AUTO}: what it opens in a run on this machine; may be repeated"
    )
    path(parser, "--with", what, "PATH", dest="more", action="append", default=[])
    path(parser, "--stdin", "the program's input (default: empty)")
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        type=_variable,
        metavar="NAME=VALUE",
        help="a variable of the program's environment; may be repeated",
    )
    parser.add_argument(
        "--ignore-status",
        action="store_true",
        help="a status other than 0 is no failure of the program",
    )
    parser.add_argument(
        "--server",
        type=command_line,
        default=(),
        metavar="COMMAND",
        help="a server that runs beside the program in the simulation: started before it, until it "
        "listens, and ended after it",
    )
    parser.add_argument(
        "--date",
        type=_date,
        metavar="YYYY-MM-DD",
        help=f"the simulated machine's date, or {TODAY} (default: 2020-01-01)",
    )


def given(arguments: argparse.Namespace) -> Given:
    """What the options say. Raises FastError for a file that cannot be the input."""
    if len(arguments.env) > MOST_VARIABLES:
        raise UsageError(f"--env: {len(arguments.env)} variables; at most {MOST_VARIABLES}")
    stdin = Path.cwd() / arguments.stdin if arguments.stdin else None
    if stdin:
        check_input(stdin)
    if arguments.server:
        find_program(arguments.server[0], Path.cwd())
    return Given(
        stdin,
        tuple(arguments.env),
        arguments.ignore_status,
        arguments.date,
        arguments.server,
        Path(AUTO) in arguments.more,
    )


def more_files(arguments: argparse.Namespace) -> tuple[Path, ...]:
    """The files and directories for the guest. Raises FastError for one that does not exist."""
    more = tuple(extra for extra in arguments.more if extra != Path(AUTO))
    for extra in more:
        check_there(Path.cwd() / extra)
    return more


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not _NAME.fullmatch(name) or "\n" in value:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not NAME=VALUE, with a NAME of letters, digits and _, and one line"
        )
    return name, value


def _date(text: str) -> int:
    """Noon of that day by UTC, in seconds since 1970: the same wherever the command runs."""
    try:
        day = datetime.now(UTC) if text == TODAY else datetime.strptime(text, "%Y-%m-%d")
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither {TODAY} nor a day such as 2026-01-31"
        ) from error
    if not 1970 <= day.year < 2200:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed are the years 1970 to 2199")
    return int(day.replace(hour=12, minute=0, second=0, microsecond=0, tzinfo=UTC).timestamp())
