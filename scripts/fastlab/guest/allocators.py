# SPDX-License-Identifier: GPL-2.0
"""The allocation functions of programs, which the plugin recognises by their code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from fastlab.guest.functions import functions_of

# userspace/cachesim/allocators.h. C++'s operator new calls one of them.
_NAMES = frozenset(
    ("malloc", "calloc", "realloc", "aligned_alloc", "memalign", "posix_memalign", "free")
)
# Bytes of a function that the plugin compares. A function with fewer than the least is skipped:
# that many bytes are a common prologue.
_MOST_BYTES = 64
_LEAST_BYTES = 16
_PAGE = 4096


def allocators_text(files: Iterable[Path]) -> str:
    """The allocation functions of programs and libraries, as the plugin reads them; other files
    have none."""
    return "".join(f"{line}\n" for path in files for line in _lines(path))


def _lines(path: Path) -> Iterator[str]:
    try:
        every = functions_of(path)
        with path.open("rb") as file:
            elf = ELFFile(file)
            for function in every:
                size = min(function.size, _MOST_BYTES, _PAGE - function.value % _PAGE)
                for name in sorted(_NAMES & function.names):
                    if size >= _LEAST_BYTES:
                        yield f"{name} {function.value:x} {_code(elf, function.value, size).hex()}"
    except ELFError:
        return


def _code(elf: ELFFile, address: int, size: int) -> bytes:
    (offset,) = elf.address_offsets(address, size)
    elf.stream.seek(offset)
    return bytes(elf.stream.read(size))
