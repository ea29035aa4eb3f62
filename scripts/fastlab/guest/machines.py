# SPDX-License-Identifier: GPL-2.0
"""Saved machines in the cache: each is booted once, however many runs go on from it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path

from fastlab.base.cache import cache_dir, full_disk, is_full, locked, making_in, publish, reusable
from fastlab.base.model import Watchdogs
from fastlab.base.progress import Reporter
from fastlab.guest import hardware, vm
from fastlab.guest.running_vm import GuestError


def machine_id(simulation: vm.Simulation, made_of: Sequence[str]) -> str:
    """The same for simulations that go on from the same machine.

    `made_of` names what it is made of besides kernel and hardware.
    """
    parts = [
        simulation.kernel.id,
        *made_of,
        *hardware.arguments(simulation.machine, cmdline=simulation.cmdline),
        vm.MEMORY,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def saved_machine(
    simulation: vm.Simulation,
    made_of: Sequence[str],
    watchdogs: Watchdogs,
    cancelled: threading.Event,
    reporter: Reporter,
    directory: str,
) -> Path:
    """The machine's snapshot, from the cache or made now. `directory` is the cache's."""
    name = machine_id(simulation, made_of)
    cache = cache_dir()
    final = cache / directory / name
    with making_in(cache), locked(cache / directory / f"{name}.lock", reporter):
        if not reusable(final, vm.SNAPSHOT, reporter):
            staging = cache / directory / f"{name}.new"
            try:
                vm.save_machine(simulation, staging, watchdogs, cancelled)
            except GuestError as error:
                if is_full(cache):
                    raise full_disk(cache) from error
                raise
            publish(staging, final)
    return final / vm.SNAPSHOT
