# SPDX-License-Identifier: GPL-2.0
"""Functions of a program or library, by its symbol tables."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection


@dataclass(frozen=True)
class Function:
    """Where it is, in the file's own addresses, and all of its names."""

    value: int
    size: int
    names: frozenset[str]


def function_at(path: Path, address: int) -> Function | None:
    """That which an address of the file lies in; None: no symbol says so."""
    every = functions_of(path)
    index = bisect_right(every, address, key=lambda candidate: candidate.value) - 1
    function = every[index] if index >= 0 else None
    return function if function and address < function.value + function.size else None


def functions_of(path: Path) -> Sequence[Function]:
    """All of a file, by their addresses."""
    return _functions(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=32)
def _functions(path: Path, _changed: int) -> Sequence[Function]:
    functions: dict[int, Function] = {}
    with path.open("rb") as file:
        for symbol in defined(ELFFile(file), ["STT_FUNC"]):
            value, size = symbol.entry.st_value, symbol.entry.st_size
            known = functions.get(value, Function(value, 0, frozenset()))
            functions[value] = Function(value, max(size, known.size), known.names | {symbol.name})
    return sorted(functions.values(), key=lambda function: function.value)


def defined(elf: ELFFile, kinds: Collection[str]) -> Iterator[Symbol]:
    """The symbols of these types that the file itself has, of all its tables."""
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            for symbol in section.iter_symbols():
                if symbol.entry.st_info.type in kinds and symbol.entry.st_shndx != "SHN_UNDEF":
                    yield symbol
