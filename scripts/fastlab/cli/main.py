# SPDX-License-Identifier: GPL-2.0
"""The `fast` command: parses its arguments, calls the stages, prints what they return.

Documentation/results-format.rst has the exit statuses. Results go to stdout, everything else to
stderr.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import shlex
import sys
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from pathlib import Path

from fastlab.base.fast_command import fast_command
from fastlab.base.model import FastError, UsageError
from fastlab.base.process import end_as_interrupted
from fastlab.base.progress import Reporter, make_reporter
from fastlab.base.project import version
from fastlab.cli.commands import HELP, add_commands
from fastlab.cli.common import BAD_USAGE, ERROR, INTERRUPTED, complain
from fastlab.cli.parser import CommandParser
from fastlab.cli.probes import handed_through

Command = Callable[[argparse.Namespace, Reporter], int]

# Errors of standard output if it is not a pipe.
LOST = (errno.ENOSPC, errno.EDQUOT, errno.EIO)

# argcomplete sets it when a shell asks for completions.
COMPLETING = "_ARGCOMPLETE"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status. What argparse refuses raises SystemExit(2)."""
    words = sys.argv[1:] if argv is None else list(argv)
    _settle_streams()
    try:
        arguments = parse(words)
        # A terminated `fast` cleans up like an interrupted one: no child outlives it.
        end_as_interrupted()
        _check_place()
        command: Command = arguments.command
        with make_reporter(sys.stderr) as reporter:
            status = command(arguments, reporter)
        sys.stdout.flush()
        return status
    except UsageError as error:
        return complain(str(error), BAD_USAGE)
    except FastError as error:
        return complain(str(error), ERROR)
    except BrokenPipeError:
        # The reader of stdout, such as `head`, closed it.
        _forget_output()
        return ERROR
    except KeyboardInterrupt:
        message = f"interrupted; finished work is kept. To continue: {fast_command(*words)}"
        return complain(message, INTERRUPTED)
    except OSError as error:
        # Only a stream has no name: not all output arrived.
        if error.filename is None and error.errno not in LOST:
            raise
        if error.filename:
            # Earlier output is good.
            with suppress(OSError):
                sys.stdout.flush()
        _forget_output()
        return complain(f"{error.filename or 'standard output'}: {error.strerror}", ERROR)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments; the words behind `--` are `argv`, the command line of another program."""
    if probe := handed_through(words):
        return probe
    end = words.index("--") if "--" in words else len(words)
    if COMPLETING in os.environ:
        import argcomplete

        argcomplete.autocomplete(make_parser())
    parser = make_parser(words[:end])
    arguments, unknown = parser.parse_known_args(words[:end])
    if unknown and "argv" in arguments and end == len(words):
        own = [word for word in words[1:] if word not in unknown]
        hint = fast_command(words[0], *own, "--", *unknown)
        parser.error(f"put the program and its arguments behind `--`: {hint}")
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if words[end + 1 :] and "argv" not in arguments:
        parser.error(f"{words[0]} runs no other program: {shlex.join(words[end:])}")
    arguments.argv = tuple(words[end + 1 :])
    return arguments


def _settle_streams() -> None:
    """Replace closed streams. A character that the encoding lacks becomes a question mark."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _check_place() -> None:
    try:
        Path.cwd()
    except FileNotFoundError as error:
        why = "the current directory was removed; change to another one, then run it again"
        raise FastError(why) from error


def _forget_output() -> None:
    """Discard pending output, which the exit would write again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_parser(wanted: Container[str] = HELP) -> argparse.ArgumentParser:
    """The parser of the command line; of commands that are not wanted it knows only the names. It
    needs only Python's standard library."""
    parser: argparse.ArgumentParser = CommandParser(
        prog="fast",
        description="Build, boot, run and compare Linux kernels with futex-aware scheduling.",
    )
    message = f"%(prog)s {version()}"
    parser.add_argument("--version", action="version", version=message, help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    add_commands(commands, wanted)
    return parser
