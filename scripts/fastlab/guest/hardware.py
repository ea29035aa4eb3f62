# SPDX-License-Identifier: GPL-2.0
"""What the guest's machine is to QEMU, and how QEMU executes it.

Documentation/deterministic-mode.rst says why every argument is what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastlab.base.model import Machine
from fastlab.plan import presets

# The kernel's part of being deterministic and of starting CPUs late without waiting for real
# hardware.
COMMAND_LINE = (
    "console=ttyS0 panic=-1 nokaslr maxcpus=1 noreplace-smp tsc=reliable lpj=1000000 "
    "cpu_init_udelay=0"
)


@dataclass(frozen=True)
class Accelerator:
    """How QEMU executes the guest."""

    cpu: str
    arguments: Sequence[str]
    command_line: str
    # The guest counts with the host's hardware counters, if the host has them.
    lends_pmu: bool = False
    # After the guest's CPUs comes one that Linux does not know (userspace/guest/burner.h).
    burner: bool = False


def _frequencies(khz: int) -> str:
    """Of the TSC and the APIC's timer, which are then not calibrated."""
    return f"tsc_early_khz={khz} lapic_timer_khz={khz}"


_EMULATION = (
    *("-accel", "tcg,thread=single"),
    *("-icount", "shift=0,sleep=off"),
    *("-rtc", "clock=vm,base=2020-01-01"),
    *("-seed", "7"),
)

# QEMU's newest CPU, but for what it has learned since 10.0: to the guest it is the same CPU in all
# versions that we run with, or Linux would take other paths (Documentation/deterministic-mode.rst,
# "Versions of QEMU").
_SAME_CPU = "max,no-nested-data-bp=off,null-sel-clr-base=off"

# No clock but QEMU's, in which an instruction takes a nanosecond and an idle machine no time: for
# trying out what needs no measuring.
EMULATED = Accelerator("max", _EMULATION, f"{COMMAND_LINE} {_frequencies(1_000_000)}")


def deterministic(machine: Machine) -> Accelerator:
    """The mode of Documentation/deterministic-mode.rst.

    QEMU's TSC and timer count its own nanoseconds, of which `rate` are a modelled cycle
    (userspace/cachesim/clock.h): so all of the guest's clocks tell modelled time.
    """
    preset = presets.load(machine.preset)
    rate = -(-100 * (machine.cpus + 1) // preset.cpi)

    def waits(cycles: int) -> int:
        # The clock charges the CPU for all cycles, but the CPU has a turn in each quantum, so the
        # guest waits them out itself. It learns of the wait in the quantum after the charge, and
        # must return in the quantum in which the wait ends: at most three quanta less.
        return max(0, cycles - 3 * machine.quantum)

    words = (
        COMMAND_LINE,
        # A CPU that is halted would let QEMU skip time.
        "idle=poll",
        f"nr_cpus={machine.cpus}",
        _frequencies(rate * preset.mhz * 1000),
        f"idle_exit_tsc={rate * waits(preset.wakeup)}",
        f"ipi_tsc={rate * waits(preset.interrupt)}",
    )
    return Accelerator(_SAME_CPU, _EMULATION, " ".join(words), burner=True)


def arguments(
    machine: Machine, accelerator: Accelerator | None = None, cmdline: str = ""
) -> list[str]:
    """The part of the arguments that is the same whatever kernel and image it boots. `cmdline` is
    added to the kernel's command line."""
    accelerator = accelerator or deterministic(machine)
    return [
        *("-machine", "microvm,acpi=off,pit=on,pic=on,rtc=on,isa-serial=on"),
        *("-bios", "qboot.rom"),
        *("-cpu", accelerator.cpu),
        *("-m", str(machine.memory_mb)),
        *("-smp", _topology(machine, accelerator.burner)),
        *accelerator.arguments,
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none"),
        *("-serial", "file:serial.log"),
        *("-chardev", "file,id=host,path=host"),
        *("-device", "isa-debugcon,iobase=0xe9,chardev=host"),
        *("-device", "isa-debug-exit,iobase=0xf4,iosize=1"),
        # The guest stops itself here, between two instructions.
        *("-device", "pvpanic,ioport=0x505"),
        *("-action", "panic=pause"),
        *("-append", f"{accelerator.command_line} {cmdline}".rstrip()),
    ]


def _topology(machine: Machine, burner: bool) -> str:
    """The guest's scheduler must believe in the caches of the model: a socket shares one.

    The burner is alone in a socket of its own.
    """
    sockets = presets.load(machine.preset).l3s(machine.cpus)
    cores = machine.cpus // sockets
    if not burner:
        return f"{machine.cpus},sockets={sockets}"
    whole = (sockets + 1) * cores
    return f"{machine.cpus + 1},sockets={sockets + 1},cores={cores},threads=1,maxcpus={whole}"
