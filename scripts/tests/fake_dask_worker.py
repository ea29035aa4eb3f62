# SPDX-License-Identifier: GPL-2.0
"""Stands in for the machines of dask workers, which load it (`dask worker --preload`)."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fastlab.backend import dask_workers
from fastlab.base import tools
from fastlab.base.model import Watchdogs
from fastlab.guest import vm

# A file: the first run of those that see it missing makes it, and kills its worker.
KILL_ONE = "FAKE_KILL_ONE"
# What makes runs on this worker.
PROGRAM = "FAKE_PROGRAM"
# The runs with this seed fail.
FAILING = "FAKE_FAILING_SEED"


def run_job(
    simulation: vm.Simulation,
    snapshot: Path,
    plugin: Path,
    job: vm.Job,
    directory: Path,
    watchdogs: Watchdogs,
    cancelled: threading.Event,
    futexes: str,
    attribute: bool,
    programs: Sequence[Path],
) -> vm.Outcome:
    """vm.run_job(), without a machine: its result tells of every file that a run is made from."""
    if KILL_ONE in os.environ:
        with suppress(FileExistsError):
            os.close(os.open(os.environ[KILL_ONE], os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "serial.log").write_text(" ".join(job.argv))
    kernel, machine = simulation.kernel, simulation.machine
    saved = (snapshot, snapshot.with_name(vm.MEMORY))
    files = (kernel.vmlinux, kernel.system_map, simulation.image, *saved, plugin, *programs)
    content = b"\0".join(Path(path).read_bytes() for path in files)
    # Not in a scheduler, which makes no run: it takes a second.
    import samples

    variant = samples.FAST if job.fast else samples.BASELINE
    seed = int(job.argv[job.argv.index("--seed") + 1])
    if os.environ.get(FAILING) == str(seed):
        raise vm.RunningVm.failure(_Failing(directory), "the guest's kernel is in trouble")
    of = samples.run_of(samples.experiment(seeds=(seed,)), variant.name, seed)
    output = {**samples.output(of), "check_detail": hashlib.sha256(content).hexdigest()}
    document = samples.document() | {"cpus": machine.cpus, "preset": machine.preset_name}
    return vm.Outcome(document, output, samples.MECHANISM if job.fast else None, 0, (), 0.0)


class _Failing(vm.RunningVm):
    def __init__(self, directory: Path) -> None:
        self.directory = directory


def program() -> str:
    return os.environ.get(PROGRAM, "fastlab and QEMU")


def require_qemu() -> tools.Qemu:
    return tools.Qemu(Path("qemu"), 4)


def dask_setup(worker: object) -> None:
    """dask calls it in a worker that starts, and in a scheduler."""
    vm.run_job = run_job  # type: ignore[assignment]
    tools.require_qemu = require_qemu
    dask_workers.program = program  # type: ignore[assignment]
