# SPDX-License-Identifier: GPL-2.0
"""Is KVM of any use here? Only a guest that really booted says so.

/dev/kvm can be there and run no ordinary kernel: in a virtual machine whose own hypervisor
implements a part of what QEMU asks for.
"""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

from fastlab.base import tools
from fastlab.base.model import Kernel, Machine, Watchdogs
from fastlab.base.progress import Reporter
from fastlab.guest import initramfs, vm
from fastlab.guest.hardware import Accelerator
from fastlab.guest.running_vm import GuestError, WatchdogError

DEVICE = Path("/dev/kvm")
# The processor as it is, and what it counts with, where it has that.
ACCELERATOR = Accelerator("host", ("-accel", "kvm"), "console=ttyS0 panic=-1", lends_pmu=True)

# A boot with KVM takes a second. Host seconds.
BOOT_SECONDS = 30.0


def denied() -> str:
    """Why the device cannot be opened, or ""."""
    try:
        os.close(os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return f"{DEVICE}: {error.strerror}"
    return ""


def probe(kernel: Kernel, init: Path, reporter: Reporter) -> str:
    """Boot the kernel with KVM, up to the laboratory's init; what speaks against KVM, or ""."""
    if why := denied():
        return why
    qemu = tools.require("qemu-system-x86_64")
    reporter.say("trying KVM")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        image = directory / "initramfs"
        image.write_bytes(initramfs.build_image({"/init": init}))
        simulation = vm.Simulation(qemu, kernel, image, Machine(cpus=2), accelerator=ACCELERATOR)
        try:
            vm.boot(simulation, directory, Watchdogs(boot=BOOT_SECONDS), threading.Event())
        except WatchdogError:
            # There is no experiment that could give it more.
            return _useless(f"boot took longer than {BOOT_SECONDS:g} s")
        except GuestError as error:
            # All but where the log is, which goes with the directory.
            return _useless("; ".join(line for line in str(error).splitlines() if name not in line))
    return ""


def _useless(why: str) -> str:
    return f"{DEVICE} is there, but no guest boots with it: {why}"
