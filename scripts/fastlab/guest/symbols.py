# SPDX-License-Identifier: GPL-2.0
"""Names for addresses in a program's memory: what its mappings and symbol tables say."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from fastlab.base.files import readable
from fastlab.guest.functions import defined

_PAGE = 4096
# glibc maps a thread's heap at a multiple of this.
_THREAD_HEAP = 64 << 20
# Below a thread's stack lies a guard of a page, or a few.
_MAX_GUARD = 64 << 10
_GUARD = "---p"


@dataclass(frozen=True)
class MemoryMapping:
    """A line of /proc/PID/maps."""

    start: int
    end: int
    access: str
    offset: int
    path: str


def parse_maps(text: str) -> list[MemoryMapping]:
    """The mappings of /proc/PID/maps (Linux: Documentation/filesystems/proc.rst), as os.fsdecode()
    makes text of it."""
    mappings = []
    # The name of a file may have what splitlines() takes for the end of a line.
    for line in filter(None, text.split("\n")):
        fields = line.split(maxsplit=5)
        start, end = (int(number, 16) for number in fields[0].split("-"))
        path = fields[5] if len(fields) == 6 else ""
        mappings.append(MemoryMapping(start, end, fields[1], int(fields[2], 16), path))
    return mappings


def static_maps(program: Path) -> list[MemoryMapping]:
    """The same for a program that lies where its file says; none for any other."""
    fixed, segments = _segments(program, program.stat().st_mtime_ns)
    return [
        MemoryMapping(
            segment.p_vaddr // _PAGE * _PAGE,
            segment.p_vaddr + segment.p_memsz,
            "",
            segment.p_offset // _PAGE * _PAGE,
            str(program.resolve()),
        )
        for segment in segments
        if fixed
    ]


# Runs of an experiment ask for the same files.
@lru_cache(maxsize=32)
def _segments(path: Path, _changed: int) -> tuple[bool, Sequence[Any]]:
    """Is the file a program that is not moved in memory? And its segments."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        segments = [segment.header for segment in elf.iter_segments("PT_LOAD")]
        return elf.header.e_type == "ET_EXEC", segments


@dataclass(frozen=True)
class _Symbol:
    value: int
    size: int
    local: bool
    name: str


@lru_cache(maxsize=32)
def _objects(path: Path, _changed: int) -> Sequence[_Symbol]:
    """Objects in memory, by their addresses."""
    with path.open("rb") as file:
        symbols = [
            _Symbol(
                symbol.entry.st_value,
                symbol.entry.st_size,
                symbol.entry.st_info.bind == "STB_LOCAL",
                symbol.name,
            )
            for symbol in defined(ELFFile(file), ("STT_OBJECT", "STT_COMMON"))
            if symbol.entry.st_size
        ]
    # Of several names for a place, the last: a global one.
    return sorted(symbols, key=lambda symbol: (symbol.value, not symbol.local, symbol.name))


class Image:
    """An ELF file in memory: `bias` is what its own addresses are moved by, `name` is readable."""

    def __init__(self, path: Path, mapping: MemoryMapping) -> None:
        self.name = readable(path.name)
        self.path = path
        _, segments = _segments(path, path.stat().st_mtime_ns)
        first = next(
            segment
            for segment in segments
            if segment.p_offset // _PAGE * _PAGE
            <= mapping.offset
            < segment.p_offset + segment.p_filesz
        )
        address = first.p_vaddr // _PAGE * _PAGE + mapping.offset - first.p_offset // _PAGE * _PAGE
        self.bias = mapping.start - address
        self.start = self.bias + min(segment.p_vaddr for segment in segments)
        # With what the file does not have: .bss.
        self.end = self.bias + max(segment.p_vaddr + segment.p_memsz for segment in segments)

    @cached_property
    def _symbols(self) -> Sequence[_Symbol]:
        return _objects(self.path, self.path.stat().st_mtime_ns)

    def describe(self, address: int) -> str:
        own = address - self.bias
        index = bisect_right(self._symbols, own, key=lambda candidate: candidate.value) - 1
        if index >= 0:
            symbol = self._symbols[index]
            if own < symbol.value + symbol.size:
                return _offset(symbol.name, own - symbol.value)
        return ""


class Symbols:
    """Names for the addresses of a program that had these mappings.

    `program` is its path; what lies in it needs no mention of the file.
    """

    def __init__(self, mappings: Sequence[MemoryMapping], program: Path) -> None:
        self._mappings = sorted(mappings, key=lambda mapping: mapping.start)
        self._program = program.resolve()
        self._images: list[tuple[Path, Image]] = []
        for path in dict.fromkeys(mapping.path for mapping in self._mappings):
            image = self._image(path)
            if image:
                self._images.append((Path(path), image))

    def describe(self, address: int) -> str:
        """For people: where the address lies, and the object's name if it has one."""
        for path, image in self._images:
            if image.start <= address < image.end:
                ours = path == self._program
                name = image.describe(address)
                if name:
                    return name if ours else f"{image.name}: {name}"
                return f"{image.name}+{address - image.bias:#x}"
        if not self._mappings:
            return "somewhere"
        index = bisect_right(self._mappings, address, key=lambda candidate: candidate.start) - 1
        if index < 0 or address >= self._mappings[index].end:
            return "memory that was given back before the end"
        mapping = self._mappings[index]
        if mapping.path == "[heap]":
            return _offset("heap", address - mapping.start)
        if mapping.path == "[stack]":
            return "stack of the first thread"
        if mapping.path:
            where = readable(mapping.path)
            return f"{where}+{address - mapping.start + mapping.offset:#x}"
        if mapping.start % _THREAD_HEAP == 0:
            return "heap of a thread"
        guard = self._mappings[index - 1]
        if (
            index
            and guard.access == _GUARD
            and guard.end == mapping.start
            and guard.end - guard.start <= _MAX_GUARD
        ):
            return "stack of a thread"
        return "anonymous memory"

    def image(self, address: int) -> Image | None:
        """The file that the address lies in, as it is in memory."""
        return next(
            (image for _, image in self._images if image.start <= address < image.end), None
        )

    def is_program(self, image: Image) -> bool:
        return image.path == self._program

    def is_lasting(self, address: int) -> bool:
        """Does the next run have the same object there, under the same name? Unknown for stacks and
        for memory mapped on demand."""
        heaps = (mapping for mapping in self._mappings if mapping.path == "[heap]")
        return self.image(address) is not None or any(
            heap.start <= address < heap.end for heap in heaps
        )

    def locate(self, address: int) -> tuple[Path, int] | None:
        """The file that the address lies in, and the address that the file itself gives it."""
        image = self.image(address)
        return (image.path, address - image.bias) if image else None

    def _image(self, path: str) -> Image | None:
        """The file, if it is ELF; another may be mapped, too."""
        if not path.startswith("/") or not Path(path).is_file():
            return None
        mapping = next(candidate for candidate in self._mappings if candidate.path == path)
        try:
            return Image(Path(path), mapping)
        except (ELFError, OSError, StopIteration):
            return None


def _offset(name: str, offset: int) -> str:
    return f"{name}+{offset:#x}" if offset else name
