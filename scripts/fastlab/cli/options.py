# SPDX-License-Identifier: GPL-2.0
"""Types of arguments, and options that several commands have."""

from __future__ import annotations

import argparse
import math
import re
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

Parser: TypeAlias = "argparse._ActionsContainer"


def count(text: str) -> int:
    """A whole number of at least 1."""
    with suppress(ValueError):
        if (number := int(text)) >= 1:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")


def counts(text: str) -> tuple[int, ...]:
    """Whole numbers, separated by commas."""
    return tuple(sorted({count(word) for word in text.split(",")}))


def names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split(",")))


def command_line(text: str) -> tuple[str, ...]:
    """Its words, as a shell splits it."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}; quote it as for a shell") from error
    if words:
        return words
    raise argparse.ArgumentTypeError(f"{text!r} is no command line: name a program")


def percent(text: str) -> float:
    """A finite number."""
    with suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")


def share(text: str) -> float:
    """A finite number of at least 0."""
    if (number := percent(text)) >= 0:
        return number
    raise argparse.ArgumentTypeError(f"{text!r} is less than 0")


def number(
    parser: Parser, option: str, says: str, default: int | None = None, metavar: str = "N"
) -> None:
    """An option that takes a whole number of at least 1."""
    parser.add_argument(option, type=count, metavar=metavar, default=default, help=says)


# As dask has it: of a scheduler.
_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?([\w.-]+|\[[0-9a-fA-F:]+\]):[0-9]{1,5}")


def scheduler(text: str) -> str:
    """The ADDRESS of dask:ADDRESS."""
    kind, _, address = text.partition(":")
    if kind == "dask" and _ADDRESS.fullmatch(address):
        return address
    raise argparse.ArgumentTypeError(
        f"{text!r} is not dask:ADDRESS with a scheduler's address, such as "
        "dask:tcp://192.0.2.1:8786"
    )


def path(parser: Parser, option: str, says: str, metavar: str = "FILE", **more: Any) -> None:
    """An option that takes a path."""
    parser.add_argument(option, type=Path, metavar=metavar, help=says, **more)


def only(
    parser: Parser,
    known: Iterable[str],
    option: str = "--only",
    default: tuple[str, ...] | None = None,
) -> None:
    """An option that takes some of the known names. Without it: `default`, or all names."""
    every = tuple(known)
    says = f"only these of {', '.join(every)}"
    given = every if default is None else default
    parser.add_argument(option, type=names, metavar="NAME,...", default=given, help=says)


def threads(parser: Parser, default: Sequence[int]) -> None:
    """An option that takes numbers of threads."""
    says = f"numbers of threads (default: {','.join(map(str, default))})"
    parser.add_argument("--threads", type=counts, metavar="N,...", default=default, help=says)
