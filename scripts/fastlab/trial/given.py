# SPDX-License-Identifier: GPL-2.0
"""What a program under test is given besides its command line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fastlab.base.model import FastError

# As the guest's job takes it (userspace/guest/job.h).
MOST_VARIABLES = 64


@dataclass(frozen=True)
class Given:
    """`stdin` is the file that it reads as its input; None: an empty one. `environment` is added to
    its environment. `ignore_status`: a status other than 0 is no failure. `date` is the time of day
    at its start, in seconds since 1970, in the simulation; None: the machine's. `server` is the
    command line of a program that runs beside it in the simulation, or empty. `auto`: the guest
    gets the files that a run on this machine opens."""

    stdin: Path | None = None
    environment: tuple[tuple[str, str], ...] = ()
    ignore_status: bool = False
    date: int | None = None
    server: tuple[str, ...] = ()
    auto: bool = False


NOTHING = Given()


def check_input(file: Path) -> None:
    """Raise FastError if the file cannot be a program's input."""
    if not file.is_file():
        what = "is not a file" if file.exists() else "no such file"
        raise FastError(f"{file}: {what}; --stdin takes the file that the program reads")
    if not os.access(file, os.R_OK):
        raise FastError(f"{file}: cannot be read (--stdin); change its permissions")
