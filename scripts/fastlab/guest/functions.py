# SPDX-License-Identifier: GPL-2.0
"""Functions of a program or library, by its symbol tables."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


@dataclass(frozen=True)
class Function:
    """Where it is, in the file's own addresses, and all of its names."""

    value: int
    size: int
    names: frozenset[str]


def function_at(path: Path, address: int) -> Function | None:
    """That which an address of the file lies in; None: no symbol says so."""
    every = functions_of(path)
    index = bisect_right(every, address, key=lambda one: one.value) - 1
    one = every[index] if index >= 0 else None
    return one if one and address < one.value + one.size else None


def functions_of(path: Path) -> Sequence[Function]:
    """All of a file, by their addresses."""
    return _functions(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=32)
def _functions(path: Path, _changed: int) -> Sequence[Function]:
    found: dict[int, Function] = {}
    with path.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if not isinstance(section, SymbolTableSection):
                continue
            for one in section.iter_symbols():
                entry = one.entry
                if entry.st_info.type == "STT_FUNC" and entry.st_shndx != "SHN_UNDEF":
                    known = found.get(entry.st_value)
                    names = (known.names if known else frozenset()) | {one.name}
                    size = max(entry.st_size, known.size if known else 0)
                    found[entry.st_value] = Function(entry.st_value, size, names)
    return sorted(found.values(), key=lambda one: one.value)
