# SPDX-License-Identifier: GPL-2.0
"""Runtimes whose threads wait for a lock on a word of their own: the kernel does not see the lock.

A function of the runtime that is called only where a lock is not free has the lock's address in a
register. The kernel reports it each time (uprobes).
"""

from __future__ import annotations

import platform
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from fastlab.guest.symbols import parse_maps

# The register of a function's first argument by the C ABI, and by Go's.
_C, _GO = "%di", "%ax"
_MACHINE = "x86_64"
# At the end of a mangled name of Rust.
_HASH = rb"17h[0-9a-f]{16}E"
_LIBJVM = "libjvm.so"
_ENTRY = struct.Struct("<IBBHQQ")
_FUNCTION = 2


@dataclass(frozen=True)
class SlowPath:
    """`symbol` is a pattern of a function's name, `lock` its register with the lock's address.
    `once`: its thread may go on to other work while the lock's turn has not come."""

    what: str
    symbol: bytes
    lock: str
    once: bool = False


FUNCTIONS = (
    SlowPath("mutex of Go", rb"(?:internal/)?sync\.runtime_SemacquireMutex", _GO, once=True),
    SlowPath("RWMutex of Go", rb"sync\.runtime_SemacquireRWMutexR?", _GO, once=True),
    SlowPath("mutex of parking_lot", rb"_ZN11parking_lot9raw_mutex8RawMutex9lock_slow" + _HASH, _C),
    SlowPath(
        "RwLock of parking_lot",
        rb"_ZN11parking_lot10raw_rwlock9RawRwLock\d+lock_(?:exclusive|shared)_slow" + _HASH,
        _C,
    ),
    SlowPath("monitor of Java", rb"_ZN13ObjectMonitor(?:6EnterI|14enter_internal)E\w+", _C),
)


@dataclass(frozen=True)
class Probe:
    """A function at an offset in a file."""

    function: SlowPath
    path: Path
    offset: int

    @property
    def word(self) -> str:
        """For fast-look's --probe."""
        how = "once" if self.function.once else "each"
        return f"{how}:{self.function.lock}:{self.offset:#x}:{self.path}"


def files_of(program: Path) -> list[Path]:
    """The files of a program that is to be started in which a runtime's functions may be."""
    program = program.resolve()
    libjvm = program.parents[1] / "lib/server" / _LIBJVM
    return [program, *([libjvm] if libjvm.is_file() else [])]


def files_of_process(program: Path, maps: str) -> list[Path]:
    """The same of one that runs, by /proc/PID/maps."""
    paths = dict.fromkeys(Path(mapping.path) for mapping in parse_maps(maps) if mapping.path)
    return [program, *(path for path in paths if path.name == _LIBJVM and path.is_file())]


def probes_of(paths: Sequence[Path]) -> list[Probe]:
    """What can be probed in these files."""
    if platform.machine() != _MACHINE:
        return []
    return [probe for path in paths for probe in _probes(path)]


def _probes(path: Path) -> Iterator[Probe]:
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            for function, address in _addresses(elf):
                offset = next(iter(elf.address_offsets(address)), None)
                if offset is not None:
                    yield Probe(function, path, offset)
    except (ELFError, OSError):
        # A script, or not to be read.
        return


def _addresses(elf: ELFFile) -> Iterator[tuple[SlowPath, int]]:
    """Found in the table of names: a runtime has tens of thousands of symbols."""
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return
    names: bytes = elf.get_section(table["sh_link"]).data()
    wanted = {
        found.start(1): function
        for function in FUNCTIONS
        for found in re.finditer(rb"\0(" + function.symbol + rb")(?=\0)", names)
    }
    entries = _ENTRY.iter_unpack(table.data()) if wanted else ()
    for name, info, _, section, value, _ in entries:
        if name in wanted and info & 0xF == _FUNCTION and section:
            yield wanted[name], value
