# SPDX-License-Identifier: GPL-2.0
"""What an arm sets is set in the guest: sysctls, files of debugfs, the command line, the
environment. And a scheduler of the kernel's own runs a workload."""

from __future__ import annotations

import io
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from lab import Lab, compile_guest, kernel

from fastlab.base.model import Variant, Watchdogs
from fastlab.base.progress import PlainReporter
from fastlab.guest import vm
from fastlab.guest.running_vm import GuestError
from fastlab.kernel.kernels import Places
from fastlab.kernel.sched_ext import scx_simple

SLICE = "/sys/kernel/debug/sched/base_slice_ns"
FEATURES = "/sys/kernel/debug/sched/features"
PERIOD = "/proc/sys/kernel/sched_rt_period_us"
PRINT = "/bin/arm_settings"


class Emulated(Lab):
    """A machine whose time is QEMU's."""

    measures = False


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Emulated:
    path = tmp_path_factory.mktemp("arms")
    program = compile_guest("arm_settings", path)
    made = Emulated(path / "lab", kernel("baseline"), {PRINT: program})
    made.simulation = replace(made.simulation, cmdline="arm.of=mine")
    made.save("settings")
    return made


def run(lab: Emulated, arm: Variant, name: str) -> vm.Outcome:
    return done(lab, arm, name, "settings", SLICE, PERIOD, FEATURES, "/proc/cmdline")


def done(lab: Emulated, arm: Variant, name: str, saved: str, *files: str) -> vm.Outcome:
    """What the files have while the program runs."""
    job, snapshot = vm.arm_job(arm, [PRINT, *files]), lab.path / saved / vm.SNAPSHOT
    directory: Path = lab.path / name
    cancelled = threading.Event()
    return vm.run_job(lab.simulation, snapshot, None, job, directory, Watchdogs(), cancelled)


def test_an_arms_settings_are_the_kernels(lab: Emulated) -> None:
    arm = Variant(
        *("mine", "baseline", "off", {}, ("NO_WA_IDLE",)),
        sysctl={"kernel.sched_rt_period_us": "1100000"},
        debugfs={"sched/base_slice_ns": "1500000"},
        environment={"ARM": "two words"},
    )
    printed = run(lab, arm, "set").output_lines
    assert printed[:3] == ("ARM=two words", "1500000", "1100000")
    assert "NO_WA_IDLE" in printed[3].split()
    assert printed[4].endswith(" arm.of=mine")
    printed = run(lab, Variant("plain", "baseline"), "plain").output_lines
    assert printed[0] == "ARM=" and "WA_IDLE" in printed[3].split()


def test_what_the_kernel_refuses_is_told(lab: Emulated) -> None:
    arm = Variant("mine", "baseline", sysctl={"kernel.sched_rt_period_us": "1"})
    with pytest.raises(GuestError, match=r"cannot set .*sched_rt_period_us to 1: Invalid argument"):
        run(lab, arm, "refused")


@pytest.mark.full
def test_a_scheduler_is_enabled_while_the_workload_runs(tmp_path: Path) -> None:
    ext = kernel("sched_ext", series="7.3")
    arm = Variant("simple", "sched_ext", scheduler=("scx_simple",))
    loader = scx_simple(ext, Places(), PlainReporter(io.StringIO()))
    programs = {PRINT: compile_guest("arm_settings", tmp_path), vm.scheduler_path(arm): loader}
    lab = Emulated(tmp_path / "lab", ext, programs)
    files = ("/sys/kernel/sched_ext/state", "/sys/kernel/sched_ext/root/ops")
    assert done(lab, arm, "enabled", "saved", *files).output_lines[1:] == ("enabled", "simple")
    # One that is thrown out, or cannot be loaded, is no scheduler.
    broken = replace(arm, scheduler=("scx_simple", "-x"))
    with pytest.raises(GuestError, match="ended before its scheduler was enabled"):
        done(lab, broken, "broken", "saved", files[0])
