#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pyelftools 0.33: a call frame instruction that it parses by name cannot be decoded
#
# g++ -Os passes the seventh argument and later ones by PUSH. Where an exception may leave such a call, the function's
#   .eh_frame entry has DW_CFA_GNU_args_size: how much the unwinder is to pop. readelf shows it.
# A good guess: pyelftools lists this instruction with its argument, so get_decoded() gives the entry's table of rules
#   for the frame, too. No rule depends on the instruction.
# Seen: it lists the instruction, and get_decoded() raises ValueError for this entry. Without the instruction it gives
#   the table. A program that unwinds by these tables has to leave the instruction out first.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }

{ python3 -m venv venv && venv/bin/pip -q install pyelftools==0.33; } ||
	fail 2 "cannot be tried: pyelftools 0.33 cannot be installed"
cat >call.cc <<'EOF'
struct guard { ~guard(); };
void nine(int, int, int, int, int, int, int, int, int);
void call(void) { guard g; nine(1, 2, 3, 4, 5, 6, 7, 8, 9); }
EOF
g++ -Os -c call.cc -o call.o || fail 2 "cannot be tried: no g++"
readelf --debug-dump=frames call.o 2>/dev/null | grep -q DW_CFA_GNU_args_size ||
	fail 2 "cannot be tried: this g++ writes no DW_CFA_GNU_args_size"

cat >decode.py <<'EOF'
from elftools.dwarf.callframe import FDE
from elftools.elf.elffile import ELFFile

ARGS_SIZE = 0x2E  # DW_CFA_GNU_args_size

with open("call.o", "rb") as file:
    entries = ELFFile(file).get_dwarf_info().EH_CFI_entries()
(entry,) = (entry for entry in entries if isinstance(entry, FDE))
sizes = [one.args for one in entry.instructions if one.opcode == ARGS_SIZE]
try:
    decoded = f"{len(entry.get_decoded().table)} rows"
except Exception as error:
    decoded = type(error).__name__
entry.instructions = [one for one in entry.instructions if one.opcode != ARGS_SIZE]
print(f"parsed: {sizes}; decoded: {decoded}; without it: {len(entry.get_decoded().table)} rows")
EOF
seen=$(venv/bin/python decode.py) || fail 2 "cannot be tried: the script fails"
echo "$seen (expected: the same rows with the instruction as without)"
[[ $seen == "parsed: [[32]]; decoded: ValueError; without it: "* ]] || fail 1 "this has changed"
