# SPDX-License-Identifier: GPL-2.0
"""The clock of a saved machine, put where every host puts it.

A CPU that has stopped looks idle to QEMU's main thread. Which of QEMU's threads comes first, and
so the load of the host, decides whether the clock stands still with the CPU, or is moved on to
the next timer interrupt, and then whether that interrupt is already pending in the file. The
last two go on alike: the interrupt comes first. So the clock of every machine is moved on.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from fastlab.base.model import FastError

# How settle_clock() does it: part of the name of all that is made of such a machine.
CLOCK_SETTLED = "clock at the next timer interrupt"

# QEMU's vmstate_icount, version 1: the clock's ns ahead of the instructions, and the instructions
# (1 ns each).
_CLOCK = struct.Struct(">qq")
_CLOCK_NUMBERS = struct.pack(">I", 1)
# QEMU's vmstate_apic_common, of which we want next_time; instance 0 (the CPU), version 3.
_TIMER = struct.Struct(">165xq")
_TIMER_NUMBERS = struct.pack(">II", 0, 3)


def settle_clock(snapshot: Path) -> None:
    """Move the clock on to the next timer interrupt of CPU 0, the only CPU that runs."""
    with snapshot.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        clock = _after(content, b"timer/icount", _CLOCK_NUMBERS, snapshot)
        timer = _after(content, b"apic", _TIMER_NUMBERS, snapshot)
        _, instructions = _CLOCK.unpack_from(content, clock)
        (due,) = _TIMER.unpack_from(content, timer)
        if due <= instructions:
            raise FastError(
                f"{snapshot}: no timer interrupt is to come: no guest of ours was stopped"
            )
        _CLOCK.pack_into(content, clock, due - instructions, instructions)


def _after(content: mmap.mmap, name: bytes, numbers: bytes, snapshot: Path) -> int:
    """Where the fields begin that QEMU wrote after this name and these numbers."""
    header = bytes([len(name)]) + name + numbers
    # The devices come last, after the memory, which may hold anything.
    start = content.rfind(header)
    if start < 0:
        raise FastError(
            f"{snapshot}: no {name.decode()!r} in it as QEMU 9.2 to 11.1 saves it; "
            "use one of these versions of QEMU"
        )
    return start + len(header)
