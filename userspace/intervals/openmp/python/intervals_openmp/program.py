# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the kernel and the loader make of a program: its interpreter, its libraries."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import struct
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NOT_FOUND = 127
NOT_RUN = 126
# Scripts whose interpreters are scripts; the kernel follows as many.
DEEPEST = 5
PT_INTERP = 3
CLASSES = {1: "32", 2: "64"}
# Of glibc; the loader of another C library would run the program where it is asked for a list.
GLIBC = re.compile(r"ld-linux[-.]|ld64\.so|ld\.so\.")
LINE = re.compile(r"\t(?:(\S+) => )?(/\S+|not found)")


class Refused(Exception):
    """The program is not run; `status` is the shell's for that."""

    def __init__(self, why: str, status: int = NOT_RUN) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Program:
    """`words` begin with what the kernel executes: for a script that is its interpreter."""

    name: str
    words: tuple[str, ...]

    @property
    def executed(self) -> Path:
        return Path(self.words[0])


def find(name: str) -> Program:
    """A program as the shell finds it, with the interpreters of a script before it."""
    found = _executable(name)
    words: tuple[str, ...] = (found,)
    for _ in range(DEEPEST):
        before = _interpreter(Path(words[0]))
        if not before:
            return Program(name, words)
        words = (*before, *words)
    raise Refused(f"{name}: its interpreters are scripts without end")


def _executable(name: str) -> str:
    found = name if "/" in name else shutil.which(name)
    if found is None:
        raise Refused(f"{name}: no such program in PATH", NOT_FOUND)
    path = Path(found)
    if not path.exists():
        raise Refused(f"{name}: no such file", NOT_FOUND)
    if not path.is_file() or not os.access(path, os.X_OK):
        raise Refused(
            f"{name}: is no program that may be executed; for a script, name its "
            "interpreter before it"
        )
    return found


def _interpreter(path: Path) -> tuple[str, ...]:
    """The words after `#!`, and behind `env` the program that it runs. Empty: no script."""
    try:
        with path.open("rb") as file:
            line = file.readline(256)
    except PermissionError:
        # The kernel may execute what it does not let us read.
        raise Refused(f"{path}: may not be read, so what it needs is not known") from None
    if not line.startswith(b"#!"):
        return ()
    words = line[2:].decode(errors="replace").split(maxsplit=1)
    if not words:
        raise Refused(f"{path}: no interpreter behind #!")
    if Path(words[0]).name != "env" or len(words) == 1:
        return (_executable(words[0]), *(word.strip() for word in words[1:]))
    behind = [word for word in shlex.split(words[1]) if word != "-S"]
    if not behind or behind[0].startswith("-") or "=" in behind[0]:
        raise Refused(
            f"{path}: which program its `env` runs is not known; name the interpreter before it"
        )
    return (_executable(behind[0]), *behind[1:])


@dataclass(frozen=True)
class Elf:
    bits: str
    machine: int
    interpreter: str


def read_elf(path: Path) -> Elf | None:
    """None: another kind of file."""
    with path.open("rb") as file:
        head = file.read(64)
        if head[:4] != b"\x7fELF" or len(head) < 52:
            return None
        bits, order = CLASSES.get(head[4], "?"), "<" if head[5] == 1 else ">"
        (machine,) = struct.unpack_from(order + "H", head, 18)
        wide = bits == "64"
        (at,) = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)
        size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
        interpreter = ""
        for number in range(count):
            file.seek(at + number * size)
            entry = file.read(size)
            if struct.unpack_from(order + "I", entry)[0] == PT_INTERP:
                offset, length = (
                    struct.unpack_from(order + "Q", entry, field)[0]
                    if wide
                    else struct.unpack_from(order + "I", entry, field)[0]
                    for field in ((8, 32) if wide else (4, 16))
                )
                file.seek(offset)
                interpreter = file.read(length).rstrip(b"\0").decode(errors="replace")
    return Elf(bits, machine, interpreter)


def check_loadable(program: Program, library: Path) -> None:
    """Refuses a program for which the loader will not preload the library."""
    path = program.executed
    elf, ours = read_elf(path), read_elf(library)
    if elf is None:
        raise Refused(f"{path}: is neither an ELF program nor a script that begins with #!")
    if ours is None:
        raise Refused(f"{library}: is no library; install libintervals-gomp again")
    if (elf.bits, elf.machine) != (ours.bits, ours.machine):
        raise Refused(f"{path}: is for another machine than the library, {library}")
    if not elf.interpreter:
        raise Refused(
            f"{path}: is linked statically, with an OpenMP library of its own if any; "
            "no library can take its place. Link the program without -static"
        )
    if not GLIBC.match(Path(elf.interpreter).name):
        raise Refused(
            f"{path}: is loaded by {elf.interpreter}, and the library needs glibc's "
            "loader. Compile the program for glibc"
        )
    about = path.stat()
    privileged = about.st_mode & stat.S_ISUID and about.st_uid != os.geteuid()
    privileged = privileged or (about.st_mode & stat.S_ISGID and about.st_gid != os.getegid())
    if privileged or "security.capability" in os.listxattr(path):
        raise Refused(
            f"{path}: runs with more rights than you have, so the loader preloads "
            "nothing. Run a copy without them"
        )


def libraries(path: Path, environment: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """What glibc's loader would load at the start, paths by names, and what it complains of."""
    done = subprocess.run(
        # A name without a slash would be looked for in PATH.
        [str(path.absolute())],
        env={**environment, "LD_TRACE_LOADED_OBJECTS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    found = (LINE.match(line) for line in done.stdout.splitlines())
    return {line[1] or line[2]: line[2] for line in found if line}, done.stderr.strip()
