# SPDX-License-Identifier: GPL-2.0
"""The benchmarks and where they are built, as Meson writes them into its build directory.

Each meson.build that has a program of the guest adds it to the manifest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastlab.base.model import FastError
from fastlab.base.project import PROJECT, build_dir
from fastlab.base.toml_table import TomlTable

FILE = "programs.json"
# The suite that every guest has: the paper's lock microbenchmarks.
MICROBENCHMARKS = "microbench"
_NAME = re.compile(r"\w+")


@dataclass(frozen=True)
class GuestProgram:
    """A program of the guest. `path` and `dynamic` are below the build directory; `dynamic` can
    load libraries, and is `path` itself where that is not static. A program without a `suite` is
    no benchmark that an experiment may name."""

    name: str
    suite: str
    path: str
    dynamic: str


def read(build: Path) -> Mapping[str, GuestProgram]:
    """All programs of a build directory, by name, in the order of the builds' files. Raises
    FastError where Meson has not set the directory up."""
    file = build / FILE
    try:
        return _read(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise FastError(
            f"{file}: {error.strerror}; build the programs first: "
            f"meson setup {build} && ninja -C {build}"
        ) from error


@cache
def _read(file: Path, _: int) -> Mapping[str, GuestProgram]:
    return {record["name"]: GuestProgram(**record) for record in json.loads(file.read_bytes())}


def suite(build: Path, name: str) -> tuple[str, ...]:
    """The names of a suite's programs."""
    return tuple(program.name for program in read(build).values() if program.suite == name)


def benchmarks() -> tuple[str, ...]:
    """The names that an experiment may have. Without a build the tuple is empty, so that results
    from another machine can still be read."""
    build = build_dir(PROJECT)
    if not (build / FILE).is_file():
        return ()
    return tuple(program.name for program in read(build).values() if program.suite)


def benchmark(table: TomlTable, key: str) -> str:
    """A benchmark's name in a file. Where nothing has been built yet, the build checks it."""
    names = benchmarks()
    return table.choice(key, names) if names else table.text(key, _NAME, "a benchmark's name")
