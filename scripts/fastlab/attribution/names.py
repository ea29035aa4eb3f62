# SPDX-License-Identifier: GPL-2.0
"""Names for the plugin's addresses: functions, source lines, and data."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from fastlab.backend.costs import Site
from fastlab.base.demangle import demangle, demangle_all
from fastlab.base.files import readable
from fastlab.base.model import Kernel
from fastlab.guest.functions import defined
from fastlab.guest.source_lines import SourceLine, find_lines
from fastlab.guest.symbols import Symbols
from fastlab.kernel import debug_info

UNKNOWN = "???"
KERNEL = "kernel"
OTHERS = "other programs"

_KERNEL_MAP = 0xFFFFFFFF80000000


class CodePlace(NamedTuple):
    """The origin of an instruction. Without debug information `file` is UNKNOWN and `line` 0.
    Without a symbol the function has the binary's name."""

    binary: str
    function: str
    file: str
    line: int


# Start addresses and names of functions or data, sorted.
_Table = list[tuple[int, str]]


class _Binary:
    """An ELF file's functions, and the lines of source that have been looked up."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lines: dict[int, SourceLine] = {}

    def learn(self, weights: Mapping[int, int]) -> None:
        self.lines = find_lines(self._path, weights)

    @cached_property
    def _functions(self) -> _Table:
        try:
            with self._path.open("rb") as file:
                return _functions(ELFFile(file))
        except (ELFError, OSError):
            return []

    def place(self, binary: str, address: int) -> CodePlace:
        file, line = self.lines.get(address, (UNKNOWN, 0))
        function = _last(self._functions, address) or _unnamed(binary)
        return CodePlace(binary, function, file, line)


def _functions(elf: ELFFile) -> _Table:
    """The functions and the gaps between them, which have no name. A stripped file has only its
    interface."""
    names: dict[int, str] = {}
    ends: dict[int, str] = {}
    for symbol in defined(elf, ("STT_FUNC", "STT_GNU_IFUNC")):
        names[symbol.entry.st_value] = symbol.name
        if symbol.entry.st_size:
            ends[symbol.entry.st_value + symbol.entry.st_size] = ""
    named = dict(zip(names, demangle_all(names.values()), strict=True))
    return sorted((ends | named).items())


class KernelNames:
    """The kernel's names, from its System.map, and source lines if its debug-info build exists.

    A per-CPU variable is named with its CPU if `per_cpu` has the CPUs' areas.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._binary = _Binary(debug_info.with_lines(kernel))
        self._code: _Table = []
        self._data: _Table = []
        for line in Path(kernel.system_map).read_text().splitlines():
            address, kind, name = line.split()
            table = self._code if kind in "tTwW" else self._data
            table.append((int(address, 16), name))
        self._code.sort()
        self._data.sort()
        named = {name: address for address, name in self._data}
        self._per_cpu_size = named.get("__per_cpu_end", 0) - named.get("__per_cpu_start", 0)
        self._end = named.get("_end", 0)

    def learn(self, weights: Mapping[int, int]) -> None:
        self._binary.learn(weights)

    def code(self, address: int) -> CodePlace:
        file, line = self._binary.lines.get(address, (UNKNOWN, 0))
        return CodePlace(KERNEL, _last(self._code, address) or _unnamed(KERNEL), file, line)

    def data(self, address: int, per_cpu: Sequence[int]) -> str:
        """For people: an object and the offset in it, or only the address."""
        for cpu, base in enumerate(per_cpu):
            if 0 <= address - base < self._per_cpu_size:
                return f"{_described(self._data, address - base)} of CPU {cpu}"
        if _KERNEL_MAP <= address < self._end:
            return _described(self._data, address)
        return f"{KERNEL} memory ({address:#x})"


class ProgramNames:
    """The names of a program with these `symbols`. If they cover only files, `elsewhere` describes
    all other memory."""

    def __init__(self, symbols: Symbols, elsewhere: str = "") -> None:
        self._symbols = symbols
        self._elsewhere = elsewhere
        self._binaries: dict[Path, _Binary] = {}

    def learn(self, weights: Mapping[int, int]) -> None:
        """Look up source lines for addresses of its code, the costliest first."""
        by_file: dict[Path, dict[int, int]] = {}
        for address, weight in weights.items():
            located = self._symbols.locate(address)
            if located:
                by_file.setdefault(located[0], {})[located[1]] = weight
        for path, own in by_file.items():
            self._binary(path).learn(own)

    def code(self, address: int) -> CodePlace:
        located = self._symbols.locate(address)
        if not located:
            where = self._elsewhere or self._symbols.describe(address).partition("+")[0]
            return CodePlace(where, _unnamed(where), UNKNOWN, 0)
        path, own = located
        return self._binary(path).place(str(path), own)

    def data(self, address: int) -> str:
        """For people; a different text for each address."""
        if self._symbols.locate(address):
            return demangle(self._symbols.describe(address))
        return f"{self._elsewhere or self._symbols.describe(address)} ({address:#x})"

    def _binary(self, path: Path) -> _Binary:
        return self._binaries.setdefault(path, _Binary(path))


def is_object(name: str) -> bool:
    """Is it the name of an object, not of memory that is known only by address?"""
    return not name.endswith(")")


class Names:
    """The names of everything that a run executes, except other programs than the requested one."""

    def __init__(self, kernel: KernelNames, program: ProgramNames) -> None:
        self._kernel = kernel
        self._program = program

    def code(self, site: Site) -> CodePlace:
        if site.kernel:
            return self._kernel.code(site.address)
        if site.program:
            return self._program.code(site.address)
        return CodePlace(OTHERS, _unnamed(OTHERS), UNKNOWN, 0)

    def data(self, site: Site, per_cpu: Sequence[int]) -> str:
        if site.program:
            return self._program.data(site.address)
        if not site.kernel or not site.address >> 63:
            return f"memory of {OTHERS} ({site.address:#x})"
        return self._kernel.data(site.address, per_cpu)


def _unnamed(binary: str) -> str:
    """Readers of callgrind's format merge functions with equal name and file."""
    return f"({readable(Path(binary).name)})"


def _last(table: _Table, address: int) -> str:
    """The name of the last entry at or before the address."""
    index = bisect_right(table, address, key=lambda entry: entry[0]) - 1
    return table[index][1] if index >= 0 else ""


def _described(table: _Table, address: int) -> str:
    index = bisect_right(table, address, key=lambda entry: entry[0]) - 1
    if index < 0:
        return f"{address:#x}"
    start, name = table[index]
    return f"{name}+{address - start:#x}" if address > start else name
