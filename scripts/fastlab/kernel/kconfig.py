# SPDX-License-Identifier: GPL-2.0
"""Kernel configurations: read them, hold them to what was asked for, tell two apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fastlab.base.model import FastError

Config = Mapping[str, str]


def read(path: Path) -> Config:
    """Symbol (without CONFIG_) -> value of a .config or a fragment; "n" for "is not set"."""
    values = {}
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), start=1):
        if match := re.fullmatch(r"CONFIG_(\w+)=(.+)", line):
            values[match[1]] = match[2]
        elif match := re.fullmatch(r"# CONFIG_(\w+) is not set", line):
            values[match[1]] = "n"
        elif line.strip() and not line.startswith("#"):
            raise FastError(
                f"{path}:{number}: {line!r} is neither CONFIG_NAME=value nor "
                "# CONFIG_NAME is not set"
            )
    return values


def verify(config: Config, fragments: Sequence[Path]) -> None:
    """Check that the finished configuration has what the fragments ask for, the last one winning.

    Kconfig drops without a word what a source does not know or what depends on something else.
    """
    wanted = {name: (value, path) for path in fragments for name, value in read(path).items()}
    unmet = [
        f"  CONFIG_{name}={value} of {path.name}: the configuration has {config.get(name, 'n')}"
        for name, (value, path) in wanted.items()
        # A string that is empty may as well not be there.
        if config.get(name, "n") != value and (value != '""' or name in config)
    ]
    if unmet:
        raise FastError(
            "the configuration is not what the fragments ask for:\n"
            + "\n".join(unmet)
            + "\nthis source does not know the symbol, or something it depends on is not set"
        )


def difference(old: Config, new: Config) -> list[str]:
    """One line per symbol that the two set differently, sorted by name."""
    lines = []
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name, "n"), new.get(name, "n")
        if before != after:
            lines.append(f"CONFIG_{name}: {before} -> {after}")
    return lines
