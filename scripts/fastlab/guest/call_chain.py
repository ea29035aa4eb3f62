# SPDX-License-Identifier: GPL-2.0
"""Call chains of a thread with recorded registers and stack, from the unwind tables that every
program and library for x86-64 has (.eh_frame). Nothing is guessed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.callframe import FDE
from elftools.dwarf.constants import DW_CFA
from elftools.elf.elffile import ELFFile

from fastlab.base.files import readable
from fastlab.guest.functions import function_at
from fastlab.guest.source_lines import find_lines
from fastlab.guest.symbols import Image, Symbols

# DWARF's numbers of the registers (the psABI for x86-64, figure 3.36).
_BP, _SP, _RETURN = 6, 7, 16
_WORD = 8
# Frames of the C library and its callers.
_MOST_FRAMES = 16
# What the C library's symbols begin with, in a static program: names that C and POSIX reserve, and
# its way to make a system call that it has no function for; and C++'s operator new.
_RESERVED = ("__", "_IO_", "pthread_", "syscall", "_Znw", "_Zna")
# Of a dynamic program the C library, and what C++ has around it.
_LIBRARIES = ("libc.so", "libpthread.so", "ld-linux", "libstdc++.so")


@dataclass(frozen=True)
class Stopped:
    """A thread at an instruction: its registers, and the words of its stack from `sp` up."""

    pc: int
    sp: int
    bp: int
    stack: Sequence[int]

    def word(self, address: int) -> int | None:
        index, rest = divmod(address - self.sp, _WORD)
        return self.stack[index] if not rest and 0 <= index < len(self.stack) else None


def call_site(symbols: Symbols, thread: Stopped) -> str:
    """The innermost function outside the C library; "" if unknown."""
    return next((name for name, _, _ in _outside(symbols, thread)), "")


def caller_line(symbols: Symbols, thread: Stopped) -> str:
    """The innermost function outside the C library other than the thread's current one, with file
    and line of the call if available."""
    for name, path, at in _outside(symbols, thread, 1):
        line = _line(path, path.stat().st_mtime_ns, at)
        return f"{name} ({line})" if line else name
    return ""


def _outside(symbols: Symbols, thread: Stopped, first: int = 0) -> Iterator[tuple[str, Path, int]]:
    """The functions outside the C library, from depth `first` on (0 is the innermost), each with
    its file and the address in it."""
    for depth, pc in list(enumerate(chain(symbols, thread)))[first:]:
        # A return address may belong to the next function.
        at = pc - (depth > 0)
        image = symbols.image(at)
        if not image or image.name.startswith(_LIBRARIES):
            continue
        own = at - image.bias
        function = function_at(image.path, own)
        if function and any(name.startswith(_RESERVED) for name in function.names):
            continue
        name = min(function.names) if function else f"{image.name}+{own:#x}"
        ours = not function or symbols.is_program(image)
        yield name if ours else f"{image.name}: {name}", image.path, own


@cache
def _line(path: Path, _changed: int, address: int) -> str:
    file, line = find_lines(path, {address: 1}).get(address, ("", 0))
    return f"{readable(Path(file).name)}:{line}" if file else ""


def chain(symbols: Symbols, thread: Stopped) -> list[int]:
    """The thread's address and the return addresses of its callers, as far as the tables and the
    recorded stack reach."""
    addresses = [thread.pc]
    pc, sp, bp = thread.pc, thread.sp, thread.bp
    while len(addresses) < _MOST_FRAMES:
        image = symbols.image(pc)
        rules = _rules(image, pc - (len(addresses) > 1)) if image else None
        frame = rules["cfa"] if rules else None
        if rules is None or frame is None or frame.expr or frame.reg not in (_BP, _SP):
            break
        base = (sp if frame.reg == _SP else bp) + frame.offset
        address = _saved(thread, rules, _RETURN, base)
        if not address or base <= sp:
            break
        saved = _saved(thread, rules, _BP, base)
        pc, sp, bp = address, base, bp if saved is None else saved
        addresses.append(pc)
    return addresses


def _saved(thread: Stopped, rules: Mapping[Any, Any], register: int, base: int) -> int | None:
    """The caller's register as the frame saved it; None: not saved, or unknown."""
    rule = rules.get(register)
    return thread.word(base + rule.arg) if rule and rule.type == "OFFSET" else None


def _rules(image: Image, pc: int) -> Mapping[Any, Any] | None:
    """How to find the caller's frame from this address."""
    entries = _entries(image.path, image.path.stat().st_mtime_ns)
    own = pc - image.bias
    index = bisect_right(entries, own, key=lambda item: item["initial_location"]) - 1
    entry = entries[index] if index >= 0 else None
    if not entry or own >= entry["initial_location"] + entry["address_range"]:
        return None
    # pyelftools does not decode it, and no frame depends on it.
    entry.instructions = [one for one in entry.instructions if one.opcode != DW_CFA.GNU_args_size]
    rows = [row for row in entry.get_decoded().table if row["pc"] <= own]
    return rows[-1] if rows else None


@lru_cache(maxsize=32)
def _entries(path: Path, _changed: int) -> list[FDE]:
    """All entries of a file, by address. Reading those of a large library takes a second."""
    try:
        with path.open("rb") as file:
            dwarf = ELFFile(file).get_dwarf_info(relocate_dwarf_sections=False)
            every = dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else []
            descriptions = [item for item in every if isinstance(item, FDE)]
    except (ELFError, DWARFError):
        return []
    return sorted(descriptions, key=lambda item: item["initial_location"])
