# SPDX-License-Identifier: GPL-2.0
"""What an arm sets is set in the guest: sysctls, files of debugfs, the command line, the
environment. And a scheduler of the kernel's own runs a workload."""

from __future__ import annotations

import io
import threading
from dataclasses import replace

import pytest
from lab import Lab, built, compile_guest, kernel

from fastlab.base.model import Variant, Watchdogs
from fastlab.base.progress import PlainReporter
from fastlab.guest import vm
from fastlab.guest.running_vm import GuestError
from fastlab.kernel.kernels import Places
from fastlab.kernel.sched_ext import own_scheduler

SLICE = "/sys/kernel/debug/sched/base_slice_ns"
FEATURES = "/sys/kernel/debug/sched/features"
PERIOD = "/proc/sys/kernel/sched_rt_period_us"
PRINT = "/bin/arm_settings"
OF_EXT = "/proc/self/sched:ext.enabled"
BENCHMARK = ["/bin/single_ctr", "--threads=4", "--iterations=2000", "--warmup=200", "--json"]
# The kernel's own scheduler, and the same kernel without.
SIMPLE = Variant("simple", "sched_ext", scheduler=("scx_simple",))
FAIR = Variant("fair", "sched_ext")


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
    """What the files have while the program runs."""
    words = [PRINT, SLICE, PERIOD, FEATURES, "/proc/cmdline"]
    return ran(lab, arm, words, name, "settings")


def ran(lab: Lab, arm: Variant, words: list[str], name: str, saved: str = "saved") -> vm.Outcome:
    return vm.run_job(
        lab.simulation,
        lab.path / saved / vm.SNAPSHOT,
        built().plugin if lab.measures else None,
        vm.arm_job(arm, words),
        lab.path / name,
        Watchdogs(),
        threading.Event(),
    )


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


@pytest.fixture(scope="module")
def scheduled(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    path = tmp_path_factory.mktemp("scheduled")
    ext = kernel("sched_ext", series="7.3")
    loader = own_scheduler("scx_simple", ext, Places(), PlainReporter(io.StringIO()))
    programs = {PRINT: compile_guest("arm_settings", path), vm.scheduler_path(SIMPLE): loader}
    return Lab(path / "lab", ext, programs)


@pytest.mark.full
def test_a_scheduler_is_enabled_while_the_workload_runs(scheduled: Lab) -> None:
    files = ("state", "root/ops", "switch_all")
    words = [PRINT, *(f"/sys/kernel/sched_ext/{name}" for name in files), OF_EXT]
    *printed, last = ran(scheduled, SIMPLE, words, "enabled").output_lines
    assert printed[1:] == ["enabled", "simple", "1"]
    assert last.split() == ["ext.enabled", ":", "1"]
    *_, last = ran(scheduled, FAIR, [PRINT, OF_EXT], "fair").output_lines
    assert last.split() == ["ext.enabled", ":", "0"]


@pytest.mark.full
def test_a_benchmark_runs_under_a_scheduler(scheduled: Lab) -> None:
    found = {}
    for arm in (SIMPLE, FAIR):
        outcome = ran(scheduled, arm, BENCHMARK, f"benchmark-{arm.name}")
        assert outcome.exit_status == 0, outcome.errors
        assert outcome.document is not None and outcome.output is not None
        assert outcome.output["check"] == "ok"
        assert outcome.output["context_switches"] > 0
        found[arm.name] = outcome.document
    # The same kernel, benchmark and seed: another scheduler took other decisions.
    assert found["simple"]["per_cpu"] != found["fair"]["per_cpu"]


@pytest.mark.full
def test_a_scheduler_that_is_not_loaded_is_told(scheduled: Lab) -> None:
    broken = replace(SIMPLE, scheduler=("scx_simple", "-x"))
    with pytest.raises(GuestError, match="ended before its scheduler was enabled"):
        ran(scheduled, broken, [PRINT], "broken")
