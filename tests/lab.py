# SPDX-License-Identifier: GPL-2.0
"""What the tests with real machines share: kernels, programs, and a machine to run jobs in."""

from __future__ import annotations

import io
import re
import subprocess
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fastlab.base.cache import cache_dir
from fastlab.base.model import Kernel, Machine, Watchdogs
from fastlab.base.progress import PlainReporter
from fastlab.base.tools import require_qemu
from fastlab.guest import hardware, initramfs, meson, vm
from fastlab.kernel import kernels, sources
from fastlab.kernel.catalogue import SERIES, load_catalogue, patch_folder

PROJECT = Path(__file__).parents[1]

# One kernel for KUnit's tests and for machines of several nodes, to which BenchMachine adds `numa`:
# each of its own would be a whole build more (scripts/run-tests).
SHARED_VARIANT = "fast"
SHARED_FRAGMENTS = ("kunit",)


@cache
def kernel(variant: str, *fragments: str, series: str | None = None) -> Kernel:
    """The kernel as the tree has it now: reused, or built. Of the primary series if none is
    named."""
    request = kernels.BuildRequest(series, (variant,), fragments=fragments)
    return kernels.build(request, PlainReporter(io.StringIO()))[0]


@cache
def pristine() -> Path:
    """The unpacked source of the primary series, unpatched; only to be read."""
    primary = load_catalogue(PROJECT).pick_series(None)
    return unpacked(primary.origin, primary.name)


def unpacked(origin: sources.Origin, series: str) -> Path:
    reporter = PlainReporter(io.StringIO())
    source = sources.locate(origin, series, None, cache_dir(), reporter)
    return sources.unpack(source, series, cache_dir(), reporter)


def series_folder() -> Path:
    """Where the patches of the series are."""
    return patch_folder(PROJECT, load_catalogue(PROJECT).pick_series(None).name, SERIES)


@cache
def built() -> initramfs.Built:
    """The guest's programs and the plugin, up to date."""
    build = meson.build_programs(PROJECT, PlainReporter(io.StringIO()))
    return initramfs.find_built(build, require_qemu().plugin_api)


def compile_guest(name: str, directory: Path, *options: str) -> Path:
    """tests/NAME.c, built there to run without libraries."""
    program = directory / name
    words = ["-O2", "-static", "-Wall", "-Wextra", "-Werror", *options, "-o", program]
    subprocess.run(["gcc", *words, PROJECT / f"tests/{name}.c", "-lpthread"], check=True)
    return program


class Lab:
    """A saved machine and what runs in it. `further` are more programs of the guest.

    One that does not measure has no cache model, no clock but QEMU's, and halts when idle.
    """

    measures = True

    def __init__(
        self,
        path: Path,
        kernel: Kernel,
        further: Mapping[str, Path] | None = None,
        machine: Machine | None = None,
    ) -> None:
        self.path = path
        path.mkdir()
        image = path / "guest.cpio"
        image.write_bytes(initramfs.build_image({**built().programs, **(further or {})}))
        accelerator = None if self.measures else hardware.EMULATED
        machine = machine or Machine()
        self.simulation = vm.Simulation(
            require_qemu().path, kernel, image, machine, accelerator=accelerator
        )
        self.save("saved")

    def save(self, name: str) -> Path:
        directory = self.path / name
        vm.save_machine(self.simulation, directory, Watchdogs(boot=600), threading.Event())
        return directory / vm.SNAPSHOT

    def booted(self) -> list[str]:
        """What the kernel said while it booted."""
        return (self.path / "saved/serial.log").read_text(errors="replace").splitlines()

    def run(
        self,
        name: str,
        argv: list[str],
        watchdogs: Watchdogs | None = None,
        saved: str = "saved",
        fast: Mapping[str, str] | None = None,
        attribute: bool = False,
        plugin: Path | None = None,
        cpus: int | None = None,
    ) -> vm.Outcome:
        """The job's, with the plugin that is built or another copy of it."""
        return vm.run_job(
            self.simulation,
            self.path / saved / vm.SNAPSHOT,
            (plugin or built().plugin) if self.measures else None,
            vm.Job(fast or {}, argv, cpus=cpus),
            self.path / name,
            watchdogs or Watchdogs(),
            threading.Event(),
            attribute=attribute,
        )


# In the order in which the kernel links them, and the files of their cases.
KUNIT_SUITES = {"sched_fast_adaptive": "fast_adaptive_test.c", "sched_fast": "fast_test.c"}


def kunit_passed(lab: Lab, patched: Path) -> None:
    """Every case of the series' KUnit tests, while the machine booted."""
    results = [line for line in lab.booted() if re.match(r" *(not )?ok \d", line)]
    expected = []
    for number, (suite, source) in enumerate(KUNIT_SUITES.items(), start=1):
        text = (patched / "kernel/sched" / source).read_text()
        cases = re.findall(r"\bKUNIT_CASE\((\w+)\)", text)
        assert cases
        expected += [f"    ok {place} {name}" for place, name in enumerate(cases, start=1)]
        expected.append(f"ok {number} {suite}")
    assert results == expected


def survived(outcome: vm.Outcome) -> None:
    """Of policy_stress.c: all locks are whole, all was changed, and waiters were placed."""
    assert outcome.exit_status == 0, outcome.errors
    assert outcome.output is not None and outcome.mechanism is not None
    told = dict(outcome.output)
    assert told.pop("check") == "ok"
    assert [name for name, (made, _) in told.items() if not made] == []
    assert outcome.mechanism["used"] > 0
