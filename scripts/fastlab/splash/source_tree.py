# SPDX-License-Identifier: GPL-2.0
"""An original SPLASH-2 or Splash-3 tree: finding its programs, and building them outside of it.

Each program's directory is copied, without what an earlier build left there, and its own Makefile
is run in the copy, with the project's macros (splash2-harness/macros) in place of the tree's.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import tools
from fastlab.base.model import FastError
from fastlab.base.process import run_group
from fastlab.splash.programs import PROGRAMS, Program

CONFIGS = ("Makefile.config", "makefile.config")
# A program's directory in Splash-4, where all lie side by side.
SPLASH_4 = "lu-contiguous_blocks"
# What m4 makes of a source: X.C or X.c.in becomes X.c.
GENERATED = {".C": ".c", ".H": ".h", ".c.in": ".c", ".h.in": ".h"}
USES_MACROS = re.compile(r"\b(MAIN_ENV|EXTERN_ENV)\b")

# -w: the sources are from 1995 and not ours to tidy up.
CFLAGS = ("-O2", "-g", "-pthread", "-fno-strict-aliasing", "-fcommon", "-w")
M4 = "m4 -s -Ulen -Uindex"
BUILD_SECONDS = 600.0


@dataclass(frozen=True)
class SourceTree:
    """`codes` is the directory that has kernels/ and apps/."""

    root: Path
    codes: Path
    config: Path
    programs: tuple[Program, ...]


def find_macros(project: Path) -> list[Path]:
    """The project's own files, which stand in for the tree's macros."""
    directory = project / "splash2-harness/macros"
    names = ("parmacs.m4", "parmacs.h", *(program.macros for program in PROGRAMS if program.macros))
    return [*(directory / name for name in names), project / "userspace/roi/roi.h"]


def find_tree(root: Path) -> SourceTree:
    """What there is below the directory that a user names; FastError says what it is not."""
    if not root.is_dir():
        raise FastError(f"{root}: no such directory; name an unpacked SPLASH-2 or Splash-3")
    if any((directory / SPLASH_4).is_dir() for directory in (root, root / "Splash-4")):
        raise FastError(
            f"{root}: this is Splash-4, which is not supported: its programs have atomic "
            "operations instead of many locks and barriers; name an unpacked SPLASH-2 or Splash-3"
        )
    codes = root / "codes"
    if not codes.is_dir() and any((root / name).is_dir() for name in ("kernels", "apps")):
        codes = root
    if not codes.is_dir():
        raise FastError(
            f"{root}: not a SPLASH tree: it has no codes/, with kernels/ and apps/ in it"
        )
    config = next((codes / name for name in CONFIGS if (codes / name).is_file()), None)
    if config is None:
        raise FastError(
            f"{codes}: not a whole SPLASH tree: it has no {' or '.join(CONFIGS)}, "
            "which the programs' Makefiles include"
        )
    programs = tuple(
        program for program in PROGRAMS if (codes / program.directory / "Makefile").is_file()
    )
    if not programs:
        wanted = ", ".join(program.directory for program in PROGRAMS)
        raise FastError(f"{codes}: it has none of the nine programs ({wanted})")
    return SourceTree(root, codes, config, programs)


def choose(tree: SourceTree, wanted: Iterable[Program], named: bool) -> list[Program]:
    """The programs of `wanted` in the tree; a missing program that was named is an error."""
    wanted = list(wanted)
    missing = [program for program in wanted if program not in tree.programs]
    if named and missing:
        directories = ", ".join(f"{program.name} ({program.directory})" for program in missing)
        raise FastError(f"{tree.codes}: it has no {directories}")
    return [program for program in wanted if program in tree.programs]


def check(tree: SourceTree, output: Path) -> None:
    """Before anything is written: the tools are there, and `output` is not in the tree."""
    tools.require_all(("gcc", "m4", "make"))
    if output.resolve().is_relative_to(tree.root.resolve()):
        raise FastError(
            f"{output} is inside the tree, which is only read; choose another directory"
        )


def build(tree: SourceTree, program: Program, macros: Sequence[Path], output: Path) -> Path:
    """Build one program below the directory `output`; the path of what was built.

    Not built again while sources, macros and flags are the same. Nothing is written into the tree.
    """
    source = tree.codes / program.directory
    sources = _sources(source)
    if not any(USES_MACROS.search(_text(path)) for path in sources):
        raise FastError(
            f"{source}: no source there uses the PARMACS macros (MAIN_ENV, ...): has m4 been run "
            "on them already? The tree as it was published is needed"
        )
    target = _target(source / "Makefile")
    codes = output / "codes"
    directory = codes / program.directory
    command = _make(program, sources)
    stamp = output / f"{program.name}.stamp"
    digest = _digest([*sorted(_kept(source)), tree.config, *macros], command)
    built = directory / target
    if built.is_file() and stamp.is_file() and stamp.read_text() == digest:
        return built
    stamp.unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=True)
    for path in _kept(source):
        copy = directory / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for path in (tree.config, *macros):
        shutil.copyfile(path, codes / path.name)
    _run(program, command, directory, output / f"{program.name}.log")
    if not built.is_file():
        raise FastError(f"{program.name}: make made no {target} in {directory}")
    stamp.write_text(digest)
    return built


def _sources(directory: Path) -> list[Path]:
    return [path for path in sorted(directory.iterdir()) if path.name.endswith(tuple(GENERATED))]


def _text(path: Path) -> str:
    return path.read_text(errors="replace")


def _target(makefile: Path) -> str:
    match = re.search(r"^TARGET\s*:?=\s*(\S+)", _text(makefile), re.MULTILINE)
    if not match:
        raise FastError(f"{makefile}: it has no TARGET, unlike a Makefile of SPLASH-2")
    return match[1]


def _kept(directory: Path) -> list[Path]:
    """What is copied: not the input sets, and nothing that an earlier build made."""
    made = {_target(directory / "Makefile")}
    for path in _sources(directory):
        for suffix, result in GENERATED.items():
            if path.name.endswith(suffix):
                made.add(path.name.removesuffix(suffix) + result)
    return [
        path
        for path in directory.iterdir()
        if path.is_file() and path.name not in made and path.suffix != ".o"
    ]


def _make(program: Program, sources: Sequence[Path]) -> list[str]:
    """Each variable of the tree's Makefiles that names a tool, a macro file or a place."""
    up = "/".join(".." for _ in Path(program.directory).parts)
    # Sources in .C and .H are C89 with undeclared functions.
    old = any(path.suffix == ".C" for path in sources)
    flags = [*CFLAGS, f"-std={'gnu89' if old else 'gnu11'}", "-include", f"{up}/parmacs.h"]
    macros = [f"{up}/{name}" for name in ("parmacs.m4", program.macros) if name]
    return [
        "make",
        "CC=gcc",
        f"CFLAGS={' '.join(flags)}",
        "LDFLAGS=-lm",
        f"M4={M4}",
        f"MACROS={' '.join(macros)}",
        f"BASEDIR={up}",
    ]


def _digest(files: Iterable[Path], command: Sequence[str]) -> str:
    digest = hashlib.sha256(shlex.join(command).encode())
    for path in files:
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _run(program: Program, command: Sequence[str], directory: Path, log: Path) -> None:
    # Under `make` of the project it would take itself for a part of that.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    with log.open("wb") as output:
        try:
            status = run_group(
                command, BUILD_SECONDS, cwd=directory, stdout=output, env=environment
            )
        except subprocess.TimeoutExpired as error:
            raise FastError(f"{program.name}: make took more than {BUILD_SECONDS:g} s") from error
    if status:
        lines = _text(log).strip().splitlines() or ["it said nothing"]
        first = next((line for line in lines if "error" in line), lines[-1])
        raise FastError(
            f"{program.name} cannot be built: {first}\n"
            f"in {directory}: {shlex.join(command)}\nended with status {status}; {log} has it all"
        )
