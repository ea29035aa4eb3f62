# SPDX-License-Identifier: GPL-2.0
"""Lines of source for addresses of an ELF file, as its DWARF has them."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

# Bytes of line tables that are read per file, those of the costliest units first. This much takes a
# few seconds; a large program has a hundred times as much.
MOST_BYTES = 1 << 20

SourceLine = tuple[str, int]


def find_lines(
    path: Path, weights: Mapping[int, int], most: int = MOST_BYTES
) -> dict[int, SourceLine]:
    """File and line of the addresses, which are the file's own, as far as it tells.

    `weights` are what they cost: of a large file only the units that cost most are read.
    """
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if not elf.has_dwarf_info(strict=True):
                return {}
            return _found(elf.get_dwarf_info(), weights, most)
    except (ELFError, DWARFError, OSError):
        return {}


def _found(dwarf: Any, weights: Mapping[int, int], most: int) -> dict[int, SourceLine]:
    by_unit: dict[int, list[int]] = {}
    unit_of = _units(dwarf)
    for address in weights:
        unit = unit_of(address)
        if unit is not None:
            by_unit.setdefault(unit, []).append(address)
    lines: dict[int, SourceLine] = {}
    left = most
    costly = sorted(by_unit, key=lambda unit: -sum(weights[address] for address in by_unit[unit]))
    for unit in costly:
        program = dwarf.line_program_for_CU(dwarf.get_CU_at(unit))
        if program is None or program.header.unit_length > left:
            continue
        left -= program.header.unit_length
        lines |= _in_unit(dwarf.get_CU_at(unit), program, by_unit[unit])
    return lines


def _units(dwarf: Any) -> Any:
    """A function that has the offset of the unit that an address lies in, or None."""
    aranges = dwarf.get_aranges()
    if aranges is not None:
        return aranges.cu_offset_at_addr
    # Not every compiler writes that table.
    ranges = sorted(_ranges(dwarf))
    starts = [start for start, _, _ in ranges]

    def unit_of(address: int) -> int | None:
        index = bisect_right(starts, address) - 1
        return ranges[index][2] if index >= 0 and address < ranges[index][1] else None

    return unit_of


def _ranges(dwarf: Any) -> Iterator[tuple[int, int, int]]:
    """Begin, end and offset of what the units say of themselves."""
    lists = dwarf.range_lists()
    for unit in dwarf.iter_CUs():
        top = unit.get_top_DIE()
        low = top.attributes.get("DW_AT_low_pc")
        high = top.attributes.get("DW_AT_high_pc")
        base = low.value if low else 0
        if high:
            length = high.value - (base if high.form == "DW_FORM_addr" else 0)
            yield base, base + length, unit.cu_offset
        elif "DW_AT_ranges" in top.attributes and lists is not None:
            for entry in lists.get_range_list_at_offset(top.attributes["DW_AT_ranges"].value, unit):
                if hasattr(entry, "begin_offset"):
                    start = 0 if getattr(entry, "is_absolute", False) else base
                    yield start + entry.begin_offset, start + entry.end_offset, unit.cu_offset
                else:
                    base = entry.base_address


def _in_unit(unit: Any, program: Any, addresses: list[int]) -> dict[int, SourceLine]:
    files = _files(unit, program.header)
    states = [entry.state for entry in program.get_entries() if entry.state is not None]
    # Of several rows for an address the last one holds; a sequence may end where another begins.
    rows = sorted(states, key=lambda state: (state.address, not state.end_sequence))
    starts = [row.address for row in rows]
    lines = {}
    for address in addresses:
        index = bisect_right(starts, address) - 1
        if index >= 0 and not rows[index].end_sequence and rows[index].file in files:
            lines[address] = (files[rows[index].file], rows[index].line)
    return lines


def _files(unit: Any, header: Any) -> dict[int, str]:
    """The paths of a unit's files, by their numbers in its table."""
    top = unit.get_top_DIE().attributes
    where = os.fsdecode(top["DW_AT_comp_dir"].value) if "DW_AT_comp_dir" in top else ""
    # Before DWARF 5 files count from 1, and directory 0, which is not in the table, is where the
    # compiler was started.
    first = 0 if header.version >= 5 else 1
    directories = [""] * first + [os.fsdecode(directory) for directory in header.include_directory]
    return {
        number: os.path.normpath(Path(where, directories[entry.dir_index], os.fsdecode(entry.name)))
        for number, entry in enumerate(header.file_entry, first)
    }
