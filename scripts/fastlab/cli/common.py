# SPDX-License-Identifier: GPL-2.0
"""What the commands share: exit statuses, showing and writing results."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fastlab.base import files
from fastlab.base.model import FastError
from fastlab.base.project import PROJECT

if TYPE_CHECKING:
    from fastlab.report.tables import Table

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

# Documentation/results-format.rst has them for people.
OK = 0
ERROR = 1
BAD_USAGE = 2
INCOMPLETE = 3
BELOW = 4
INTERRUPTED = 130

# Columns of the output without a terminal: wide enough for every table.
LOG_WIDTH = 240


def project() -> Path:
    """The directory of this checkout."""
    return PROJECT


def complain(text: str, status: int) -> int:
    print(f"fast: {text}", file=sys.stderr)
    return status


def complain_of(what: str, each: Iterable[str], status: int = ERROR) -> int:
    """Print a line for each problem. Without any problem the status is OK."""
    lines = [*each]
    return complain("\n  ".join([what, *lines]), status) if lines else OK


def show(shown: Iterable[Table]) -> None:
    """Print tables to stdout."""
    from rich.console import Console

    from fastlab.cli import fitting

    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, LOG_WIDTH)
    for table in shown:
        for drawn in fitting.drawn(table, console):
            console.print(drawn)
            console.print()


def check_writable(file: Path | None) -> None:
    """Before a long measurement: raise FastError if the results cannot be written to this file."""
    if not file:
        return
    if file.is_dir():
        raise FastError(f"{file}: is a directory; name a file in it")
    directory = file.absolute().parent
    if not directory.is_dir():
        raise FastError(f"{file}: its directory does not exist; create it first")
    if not os.access(file if file.exists() else directory, os.W_OK):
        raise FastError(f"{file}: permission denied; name another file")


def check_directory(directory: Path | None) -> None:
    """Raise FastError if files cannot be created in the directory, which may not exist yet."""
    if not directory:
        return
    there = directory.absolute()
    while not os.path.lexists(there):
        there = there.parent
    if not there.is_dir():
        raise FastError(f"{directory}: {there} is a file; name a directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise FastError(f"{directory}: no permission to write to {there}; name another directory")


def keep(file: Path | None, document: dict[str, Any]) -> None:
    """Write the file of --json."""
    if file:
        files.write_json(file, document)
        print(f"wrote {file}")
