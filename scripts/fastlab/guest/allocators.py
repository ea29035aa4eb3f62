# SPDX-License-Identifier: GPL-2.0
"""The functions by which programs allocate, for the plugin, which knows them by their code."""

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
# Bytes of a function that the plugin compares. With fewer than the least, which are those of many a
# function's prologue, others could be taken for it: it is left out.
_MOST_BYTES = 64
_LEAST_BYTES = 16
_PAGE = 4096


def allocators_text(files: Iterable[Path]) -> str:
    """What programs and libraries have of them, as the plugin reads it; other files have none."""
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
