# SPDX-License-Identifier: GPL-2.0
"""C++ and Rust names as in the sources, by binutils' c++filt.

Recorded runs keep the linker's names, which are the same on every machine. Only output for people
is demangled.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import lru_cache

# Mangled names of the Itanium ABI and of Rust. A name may be part of a text, as in `libx.so:
# _ZN1a1bE+0x8`.
_MANGLED = re.compile(r"(?<![\w.$])_+[ZR]\w")
# Characters of a name in a terminal's table.
SHORT = 40


def demangle_all(texts: Iterable[str]) -> list[str]:
    """The texts, with C++ and Rust names in place of the linker's. Without c++filt the texts are
    unchanged. A text is one line."""
    names = list(texts)
    mangled = [i for i, text in enumerate(names) if _MANGLED.search(text)]
    filt = shutil.which("c++filt") if mangled else None
    if filt:
        # -i: without the hashes by which Rust tells builds of a crate apart.
        lines = "".join(f"{names[i]}\n" for i in mangled).encode()
        answer = subprocess.run([filt, "-i"], input=lines, capture_output=True)
        told = answer.stdout.decode(errors="replace").split("\n")
        if answer.returncode == 0 and len(told) == len(mangled) + 1:
            for i, text in zip(mangled, told, strict=False):
                names[i] = text
    return names


@lru_cache(maxsize=4096)
def demangle(text: str) -> str:
    """One text, as demangle_all() returns it."""
    return demangle_all([text])[0]


def short(name: str, most: int = SHORT) -> str:
    """A demangled name for a narrow column: without the function's parameters, and with three dots
    for its middle if it is still longer than `most`."""
    name = _without_parameters(name)
    tail = most * 2 // 3
    return name if len(name) <= most else f"{name[: most - tail - 3]}...{name[-tail:]}"


def _without_parameters(name: str) -> str:
    bare = name.removesuffix(" const")
    depth = 0
    for i in range(len(bare) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(bare[i], 0)
        if not depth:
            # Else it is a note behind the name, or the function is `operator()` itself.
            begins = bare.endswith(")") and i and not bare[:i].endswith((" ", "operator"))
            return bare[:i] if begins else name
    return name
