# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line: says what would happen, or sets the preload and becomes the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intervals_openmp import copies
from intervals_openmp.program import NOT_RUN, Program, Refused, check_loadable, find, libraries

HERE = Path(__file__).parent
SERVED, NOT_SERVED, USAGE = 0, 1, 2
DESCRIPTION = """\
Runs a program with libintervals-gomp in the place of GCC's OpenMP library, also where a wheel of
Python brings a copy of that. The status is the program's; 2: the words are not understood; 126: the
program cannot be run with the library; 127: there is no such program.

  --check  say what would happen, and run nothing. The status is 0 if all OpenMP of the program that
           is known runs on the library, else 1."""


@dataclass(frozen=True)
class Plan:
    """How the program is run: `gcc` and `others` are the OpenMP libraries that it links, `carried`
    those in packages of Python, which it may load."""

    program: Program
    library: Path
    environment: dict[str, str]
    gcc: tuple[str, ...]
    others: tuple[str, ...]
    carried: tuple[Path, ...]


def make_plan(program: Program) -> Plan:
    """Refuses what cannot be run with the library."""
    library = _installed("libgomp.so.1")
    check_loadable(program, library)
    linked, complaints = libraries(program.executed, os.environ)
    missing = [name for name, path in linked.items() if path == "not found" and name != copies.OURS]
    if complaints or missing:
        raise Refused(
            f"{program.executed}: cannot be loaded: {complaints or 'no ' + ', '.join(missing)}"
        )
    carried = copies.of_python(program)
    gcc = [Path(name).name for name in linked if copies.GCC.fullmatch(Path(name).name)]
    names = {*gcc, *(file.name for file in carried if copies.GCC.fullmatch(file.name))}
    preloaded = [library]
    if names - {copies.OURS}:
        preloaded += copies.stand_ins(sorted(names - {copies.OURS}), _installed("empty.so"))
    for path in preloaded:
        if any(sign in str(path) for sign in " \t\n:"):
            raise Refused(
                f"{path}: LD_PRELOAD takes no path with a space or a colon. Install "
                "elsewhere, or set XDG_CACHE_HOME"
            )
    before = os.environ.get("LD_PRELOAD", "")
    environment = {
        **os.environ,
        "LD_PRELOAD": ":".join([*filter(None, [before]), *map(str, preloaded)]),
    }
    loaded, complaints = libraries(program.executed, environment)
    if str(library) not in loaded.values():
        raise Refused(f"{program.executed}: the loader does not preload {library}: {complaints}")
    others = [name for name in linked if copies.OTHERS.fullmatch(Path(name).name)]
    return Plan(program, library, environment, tuple(gcc), tuple(others), tuple(carried))


def _installed(name: str) -> Path:
    path = (HERE / name).resolve()
    if not path.is_file():
        raise Refused(f"{path}: is missing; install libintervals-gomp again")
    return path


def warnings(plan: Plan) -> list[str]:
    told = []
    if plan.others:
        names = ", ".join(Path(name).name for name in plan.others)
        told.append(
            f"{plan.program.name} links {names}, for code of clang or of Intel's "
            "compilers. That code runs there, with threads of its own"
        )
    return told


def tell(plan: Plan) -> bool:
    """Print what would happen. Returns whether all OpenMP that is known runs on the library."""
    name = plan.program.name
    if plan.gcc:
        print(f"{name} links {', '.join(plan.gcc)}: its OpenMP runs on {plan.library}.")
    elif not plan.others:
        print(
            f"{name} links no OpenMP library. Code of GCC that it loads later runs on "
            f"{plan.library}."
        )
    served = not plan.others
    for line in warnings(plan):
        print(f"{line}.")
    for file in plan.carried:
        ours = copies.GCC.fullmatch(file.name)
        print(
            f"{file}: "
            + (
                "not loaded; its users run on the library."
                if ours
                else "not replaced; its users do not run on the library."
            )
        )
        served = served and bool(ours)
    print(f"LD_PRELOAD={plan.environment['LD_PRELOAD']}")
    return served


def main(words: Sequence[str], name: str = "intervals-openmp", before: Sequence[str] = ()) -> int:
    """`before` are the words of an interpreter that runs `words`."""
    usage = f"usage: {name} [--check] {'SCRIPT' if before else 'PROGRAM'} [WORD ...]"
    if words and words[0] in ("-h", "--help"):
        print(f"{usage}\n\n{DESCRIPTION}")
        return SERVED
    check = bool(words) and words[0] == "--check"
    told = words[check:]
    if not told:
        return _fail(name, f"what is to be run? {usage}", USAGE)
    # An interpreter has options of its own, such as -m and -c.
    if told[0].startswith("-") and not before:
        return _fail(name, f"unknown option {told[0]}; {usage}", USAGE)
    command = [*before, *told]
    try:
        plan = make_plan(find(command[0]))
    except Refused as error:
        return _fail(name, str(error), NOT_SERVED if check else error.status)
    if check:
        return SERVED if tell(plan) else NOT_SERVED
    for line in warnings(plan):
        print(f"{name}: {line}", file=sys.stderr)
    sys.stderr.flush()
    try:
        os.execvpe(command[0], command, plan.environment)
    except OSError as error:
        return _fail(name, f"{command[0]}: {error.strerror}", NOT_RUN)


def command() -> int:
    return main(sys.argv[1:])


def _fail(name: str, why: str, status: int) -> int:
    print(f"{name}: {why}", file=sys.stderr)
    return status
