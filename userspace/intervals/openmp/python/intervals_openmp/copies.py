# SPDX-License-Identifier: LGPL-2.1-or-later
"""OpenMP libraries that wheels carry, and how the loader is made to take ours in their place.

A wheel's copy has a name of its own, such as libgomp-a34b3233.so.1.0.0, by which the wheel's code
asks for it. The loader loads no file for a name that a loaded library has as its SONAME. So for
each copy an empty library with that SONAME is preloaded; the wheel's code finds all functions in
ours.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from intervals_openmp.program import Program, Refused

GCC = re.compile(r"libgomp([-.].*)?\.so(\.[0-9.]+)?")
# Of clang and of Intel's compilers, whose code calls functions that GCC's library lacks.
OTHERS = re.compile(r"lib(i?omp5?)([-.].*)?\.so(\.[0-9.]+)?")
OURS = "libgomp.so.1"
PYTHON = re.compile(r"python[0-9.]*t?d?")
# Where wheels carry libraries, seen from a directory of sys.path.
PLACES = ("*.libs", "*/lib", "*/.libs")
# The SONAME of the empty library, to be overwritten.
SONAME = b"libintervals-stands-in-for-a-library-whose-name-may-have-as-many-letters-as-this"


def of_python(program: Program) -> list[Path]:
    """OpenMP libraries in the packages of an interpreter of Python."""
    if not PYTHON.fullmatch(program.executed.name):
        return []
    asked = [str(program.executed), "-c", "import sys; print(*sys.path, sep='\\n')"]
    done = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return in_directories(line for line in done.stdout.splitlines() if line)


def in_directories(directories: Iterable[str]) -> list[Path]:
    return sorted(
        file
        for directory in directories
        for place in PLACES
        for file in Path(directory).glob(f"{place}/lib*omp*")
        if GCC.fullmatch(file.name) or OTHERS.fullmatch(file.name)
    )


def stand_ins(names: Iterable[str], empty: Path) -> list[Path]:
    """A library for each of these names, made of the `empty` one in the user's cache."""
    blank = empty.read_bytes()
    if blank.count(SONAME + b"\0") != 1:
        raise Refused(
            f"{empty}: is not the library that was installed; install libintervals-gomp again"
        )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "intervals-openmp"
    made = []
    for name in names:
        encoded = name.encode()
        if len(encoded) > len(SONAME):
            raise Refused(f"{name}: this name of a library is longer than {len(SONAME)} bytes")
        content = blank.replace(SONAME, encoded.ljust(len(SONAME), b"\0"))
        made.append(_kept(cache / name, content))
    return made


def _kept(path: Path, content: bytes) -> Path:
    """Whole at any time: another process may load it."""
    try:
        if path.is_file() and path.read_bytes() == content:
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)
    except OSError as error:
        raise Refused(
            f"{path}: {error.strerror}; set XDG_CACHE_HOME to a directory that you may write"
        ) from None
    return path
