# SPDX-License-Identifier: GPL-2.0
"""Every way in which a machine can end, with a program that acts as QEMU (fake_qemu.py)."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from waiting import eventually

from fastlab.base.model import FastError, Kernel, Machine, Variant, Watchdogs
from fastlab.guest import hardware, vm
from fastlab.guest.alarms import EXCERPT_LINES, Console
from fastlab.guest.running_vm import CancelledError, GuestError, WatchdogError

FAKE = Path(__file__).with_name("fake_qemu.py")
MAP = "ffffffff81000000 T __cpuidle_text_start\nffffffff81000200 T __cpuidle_text_end\n"
JOB = vm.Job({"policy": "strict"}, ["/bin/single_ctr", "--threads", "4"])


class Lab:
    """Boots and runs the fake in a mode."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (path / "System.map").write_text(MAP)
        kernel = Kernel("6.12", "fast", "id", "vmlinux", str(path / "System.map"))
        self.simulation = vm.Simulation(FAKE, kernel, Path("image"), Machine())
        self.directory = path / "vm"
        self.cancelled = threading.Event()
        self.watchdogs = Watchdogs(boot=1.0, run=1.0)
        self._monkeypatch = monkeypatch

    def mode(self, name: str) -> None:
        self._monkeypatch.setenv("FAKE_QEMU", name)

    def boot(self) -> None:
        vm.save_machine(self.simulation, self.directory, self.watchdogs, self.cancelled)

    def boot_job(self) -> vm.Outcome:
        return vm.boot_job(self.simulation, JOB, self.directory, self.watchdogs, self.cancelled)

    def run(self, attribute: bool = False, **asked: Any) -> vm.Outcome:
        plugin, snapshot = Path("libcachesim-4.so"), Path("snapshot")
        return vm.run_job(
            self.simulation,
            snapshot,
            plugin,
            JOB,
            self.directory,
            self.watchdogs,
            self.cancelled,
            attribute=attribute,
            **asked,
        )


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


def test_a_machine_whose_clock_qemu_moved_is_saved_like_one_whose_clock_it_did_not(
    lab: Lab,
) -> None:
    lab.boot()
    stood = (lab.directory / "snapshot").read_bytes()
    lab.mode("clock-moved")
    lab.boot()
    assert (lab.directory / "snapshot").read_bytes() == stood
    assert struct.pack(">qq", 500, 1000) in stood


def test_a_run_goes_on_with_the_memory_beside_the_snapshot(lab: Lab, tmp_path: Path) -> None:
    lab.boot()
    memory = (lab.directory / vm.MEMORY).rename(tmp_path / vm.MEMORY)
    assert memory.stat().st_mode & 0o777 == 0o644
    lab.mode("memory")
    arguments = (Path("plugin.so"), JOB, lab.directory, lab.watchdogs, lab.cancelled)
    outcome = vm.run_job(lab.simulation, tmp_path / vm.SNAPSHOT, *arguments)
    # A run writes to pages of its own.
    assert outcome.errors == (f"{memory} {lab.simulation.machine.memory_mb}M off on",)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("no-timer", "snapshot: no timer interrupt is to come"),
        ("other-qemu", "snapshot: no 'timer/icount' in it as QEMU 9.2 to 11.1 saves it"),
    ],
)
def test_a_machine_saved_in_another_way_is_refused(lab: Lab, mode: str, words: str) -> None:
    lab.mode(mode)
    with pytest.raises(FastError, match=words):
        lab.boot()


@pytest.mark.parametrize(
    ("preset", "topology"),
    [
        ("rx4640", "9,sockets=9,cores=1,threads=1,maxcpus=9"),
        ("rx4640-quarter", "9,sockets=9,cores=1,threads=1,maxcpus=9"),
        ("xeon-2s", "9,sockets=3,cores=4,threads=1,maxcpus=12"),
        ("nehalem-2s-64th", "9,sockets=3,cores=4,threads=1,maxcpus=12"),
        ("epyc-milan", "9,sockets=2,cores=8,threads=1,maxcpus=16"),
    ],
)
def test_the_guest_believes_in_the_caches_of_the_model(preset: str, topology: str) -> None:
    arguments = hardware.arguments(Machine(cpus=8, preset=preset))
    assert arguments[arguments.index("-smp") + 1] == topology


def test_without_the_clock_there_is_no_burner() -> None:
    arguments = hardware.arguments(Machine(cpus=8, preset="xeon-2s"), hardware.EMULATED)
    assert arguments[arguments.index("-smp") + 1] == "8,sockets=2"


@pytest.mark.parametrize(
    ("cpus", "preset", "khz"),
    [
        (4, "rx4640", 5 * 1_300_000),
        (1, "rx4640", 2 * 1_300_000),
        (64, "xeon-2s", 65 * 2_600_000),
        # Two instructions in a cycle.
        (8, "epyc-milan", 18 * 3_400_000),
    ],
)
def test_the_guests_clocks_tell_modelled_time(cpus: int, preset: str, khz: int) -> None:
    arguments = hardware.arguments(Machine(cpus=cpus, preset=preset))
    words = arguments[arguments.index("-append") + 1].split()
    assert f"tsc_early_khz={khz}" in words
    assert f"lapic_timer_khz={khz}" in words
    assert f"nr_cpus={cpus}" in words


@pytest.mark.parametrize(
    ("preset", "quantum", "idle_exit", "interrupt"),
    [
        # The clock charges what is not longer than three quanta; the guest waits for nothing.
        ("rx4640", 2000, 0, 0),
        ("xeon-2s", 2000, 3 * 1800, 0),
        ("xeon-2s", 100, 3 * 7500, 3 * 2300),
    ],
)
def test_the_guest_sits_out_what_is_longer_than_three_quanta(
    preset: str, quantum: int, idle_exit: int, interrupt: int
) -> None:
    arguments = hardware.arguments(Machine(cpus=2, preset=preset, quantum=quantum))
    words = arguments[arguments.index("-append") + 1].split()
    assert f"idle_exit_tsc={idle_exit}" in words
    assert f"ipi_tsc={interrupt}" in words


def test_a_machine_is_saved_and_a_job_hands_over_its_results(lab: Lab) -> None:
    lab.boot()
    outcome = lab.run()
    assert (lab.directory / "job").read_text() == (
        "clock\nset /sys/kernel/debug/sched/fast/policy=strict\nrun /bin/single_ctr --threads 4\n"
    )
    assert outcome.exit_status == 0
    assert outcome.document == {"schema": 1}
    assert outcome.output and outcome.output["benchmark"] == "single_ctr"
    assert outcome.mechanism == {"used": 3}


def test_a_machine_that_is_not_saved_does_its_job_after_its_boot(lab: Lab) -> None:
    outcome = lab.boot_job()
    assert (lab.directory / "job").read_text() == JOB.text()
    assert outcome.exit_status == 0
    assert outcome.mechanism == {"used": 3}
    (line,) = outcome.output_lines
    assert json.loads(line) == outcome.output


def test_a_job_of_a_control() -> None:
    arm = Variant(
        *("control", "fast", "off", {"depth": 1}, ("NEXT_BUDDY", "NO_WA_BIAS"), 2),
        sysctl={"kernel.sched_child_runs_first": "1"},
        debugfs={"sched/base_slice_ns": "3000000"},
        environment={"A": "b c"},
    )
    job = replace(vm.arm_job(arm, ["/bin/x"]), date=9)
    debugfs = "set /sys/kernel/debug/sched"
    assert job.text().splitlines() == [
        *(f"{debugfs}/fast/depth=1", f"{debugfs}/fast/policy=off"),
        *(f"{debugfs}/features=NEXT_BUDDY", f"{debugfs}/features=NO_WA_BIAS"),
        "late /proc/sys/kernel/sched_child_runs_first=1",
        "late /sys/kernel/debug/sched/base_slice_ns=3000000",
        *("env A=b c", "date 9", "cpus 2", "run /bin/x"),
    ]


def test_an_arms_scheduler_stays_or_runs_the_workload() -> None:
    stays = Variant("stays", "scx", scheduler=("/home/a/scx_simple", "-f"))
    assert vm.arm_job(stays, ["/bin/x"]).text() == "scheduler /scheduler-stays -f\nrun /bin/x\n"
    runs = Variant("runs", "scx", scheduler=("./scx_fast", "-k", "--"))
    assert vm.arm_job(runs, ["/bin/x"]).text() == "scheduled\nrun /scheduler-runs -k -- /bin/x\n"


def test_the_workloads_complaints_are_handed_over(lab: Lab) -> None:
    lab.mode("usage")
    outcome = lab.run()
    assert outcome.exit_status == 2
    assert outcome.errors == ("single_ctr: unknown option",)
    assert outcome.output is None


@pytest.mark.parametrize(
    ("mode", "action", "words"),
    [
        ("boot-panic", Lab.boot, ["Kernel panic - not syncing: No working init", "CPU: 0"]),
        ("boot-hang", Lab.boot, ["watchdog: boot took longer than 1 s"]),
        ("boot-hang", Lab.boot_job, ["watchdog: boot took longer than 1 s"]),
        ("hang", Lab.boot_job, ["watchdog: run took longer than 1 s"]),
        ("no-room", Lab.boot, ["cannot be saved", "No space left on device"]),
        ("no-plugin", Lab.run, ["ended with status 1", "undefined symbol"]),
        ("panic", Lab.run, ["Oops: general protection fault", "fast_select"]),
        ("hang", Lab.run, ["watchdog: run took longer than 1 s"]),
        ("killed", Lab.run, ["killed by SIGKILL"]),
        ("killed-late", Lab.run, ["killed by SIGKILL"]),
        ("killed-unnamed", Lab.run, ["QEMU was killed by signal 40"]),
        ("reset", Lab.run, ["ended without saying how its job went"]),
        ("plugin-dies", Lab.run, ["cachesim: plugin.jsonl: No space left on device"]),
        ("refused", Lab.run, ["cannot do its job", "cannot set sched/fast/policy"]),
        ("two-rois", Lab.run, ["2 regions of interest"]),
    ],
)
def test_a_failure_names_its_cause_and_its_files(
    lab: Lab, mode: str, action: Callable[[Lab], object], words: list[str]
) -> None:
    lab.mode(mode)
    with pytest.raises(GuestError) as error:
        action(lab)
    for word in [*words, str(lab.directory)]:
        assert word in str(error.value)


def test_a_machine_whose_saving_takes_too_long_is_given_up(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vm, "TRANSFER_SECONDS", 0.1)
    lab.mode("slow-saving")
    with pytest.raises(WatchdogError, match=r"saving took longer than 0\.1 s"):
        lab.boot()


def preloaded(lab: Lab, plugin: Path | None) -> str:
    """What a run's QEMU has in LD_PRELOAD."""
    lab.mode("preloaded")
    arguments = (JOB, lab.directory, lab.watchdogs, lab.cancelled)
    outcome = vm.run_job(lab.simulation, Path("snapshot"), plugin, *arguments)
    return outcome.errors[0].removeprefix("preloaded ")


def test_a_run_with_the_plugin_has_qemu_paced(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    plugin, pace = tmp_path / "libcachesim-4.so", tmp_path / "libpace.so"
    assert preloaded(lab, plugin) == "None"
    pace.touch()
    assert preloaded(lab, plugin) == str(pace)
    assert preloaded(lab, None) == "None"
    monkeypatch.setenv("LD_PRELOAD", "libmine.so")
    assert preloaded(lab, plugin) == f"{pace}:libmine.so"


def test_a_library_whose_path_is_two_for_the_linker_is_preloaded(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    home = tmp_path / "my build"
    home.mkdir()
    pace = home / "libpace.so"
    pace.touch()
    assert preloaded(lab, home / "libcachesim-4.so") == str(pace)
    assert not (lab.directory / pace.name).is_symlink()


def test_a_run_is_attributed_if_asked_for(lab: Lab) -> None:
    lab.run(attribute=True)
    assert (lab.directory / vm.ATTRIBUTION).is_file()
    # What an earlier run left is not taken for this one's.
    lab.run()
    assert not (lab.directory / vm.ATTRIBUTION).exists()


def test_what_an_earlier_run_counted_is_not_this_ones(lab: Lab) -> None:
    assert lab.run().document == {"schema": 1}
    lab.mode("no-roi")
    assert lab.run().document is None


def test_allocations_are_watched_only_where_runs_are_attributed(lab: Lab, tmp_path: Path) -> None:
    source = tmp_path / "malloc.c"
    code = "volatile int n;\nvoid *malloc(__SIZE_TYPE__ size) { return (void *)(n * size); }"
    source.write_text(f"{code}\nint main(void) {{ return 0; }}\n")
    program = tmp_path / "malloc"
    subprocess.run(["gcc", "-fno-builtin", "-o", program, source], check=True)
    for asked in (
        {"attribute": True},
        {"futexes": "own", "programs": [program]},
        {"attribute": True, "programs": [program]},
        {"attribute": True, "futexes": "own", "programs": [source]},
    ):
        lab.run(**asked)
        assert not (lab.directory / vm.ALLOCATORS).exists()
    lab.run(attribute=True, futexes="own", programs=[source, program])
    name, address, code = (lab.directory / vm.ALLOCATORS).read_text().split()
    assert name == "malloc"
    shown = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    assert f"{int(address, 16):016x} T malloc\n" in shown
    # What its code is copied to in memory is the same code.
    assert bytes.fromhex(code) in program.read_bytes()


def test_trouble_ends_the_run_long_before_the_watchdog(lab: Lab) -> None:
    lab.mode("panic")
    lab.watchdogs = Watchdogs(run=30.0)
    begun = time.monotonic()
    with pytest.raises(GuestError):
        lab.run()
    assert time.monotonic() - begun < 25


def test_a_cancelled_machine_ends(lab: Lab) -> None:
    lab.mode("hang")
    lab.watchdogs = Watchdogs(run=30.0)
    threading.Timer(0.3, lab.cancelled.set).start()
    with pytest.raises(CancelledError):
        lab.run()


def test_a_machine_is_cancelled_while_it_is_saved(lab: Lab) -> None:
    lab.mode("slow-saving")
    threading.Timer(0.3, lab.cancelled.set).start()
    with pytest.raises(CancelledError):
        lab.boot()


@pytest.mark.parametrize(
    "line",
    [
        "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b",
        "Oops: 0002 [#1] PREEMPT SMP",
        "BUG: unable to handle page fault for address: 0000000000000008",
        "watchdog: BUG: soft lockup - CPU#1 stuck for 22s!",
        "WARNING: possible circular locking dependency detected",
        "WARNING: possible recursive locking detected",
        "WARNING: SOFTIRQ-safe -> SOFTIRQ-unsafe lock order detected",
        "WARNING: held lock freed!",
        "[ BUG: Invalid wait context ]",
        "BUG kmalloc-64 (Not tainted): Right Redzone overwritten",
        "INFO: trying to register non-static key.",
        "INFO: lockdep is turned off.",
        "INFO: task single_ctr:71 blocked for more than 30 seconds.",
        "INFO: rcu_tasks detected stalls on tasks:",
        "rcu: INFO: rcu_sched self-detected stall on CPU",
        "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
        "general protection fault, probably for non-canonical address",
        "kernel BUG at kernel/sched/fast.c:7!",
        "Watchdog detected hard LOCKUP on cpu 3",
        "UBSAN: array-index-out-of-bounds in kernel/sched/fast.c:3:1",
        "BUG: KASAN: slab-out-of-bounds in fast_hint+0x1/0x2",
        "WARNING: CPU: 2 PID: 71 at kernel/sched/core.c:1 ttwu+0x1/0x2",
    ],
)
def test_the_kernels_words_of_trouble_are_known(tmp_path: Path, line: str) -> None:
    log = tmp_path / "serial.log"
    console = Console(log)
    assert not console.alarmed()
    log.write_text("Linux version 6.12\nFreeing unused kernel image\n")
    assert not console.alarmed()
    with log.open("a") as file:
        file.write(line[:9])
        file.flush()
        assert not console.alarmed()
        file.write(f"{line[9:]}\n")
    assert console.alarmed()
    assert console.excerpt().splitlines()[0] == line


def test_an_excerpt_is_short(tmp_path: Path) -> None:
    log = tmp_path / "serial.log"
    log.write_text("before\n" * 40 + "Kernel panic\n" + "after\n" * 40)
    console = Console(log)
    assert console.alarmed()
    assert console.excerpt() == "\n".join(["Kernel panic"] + ["after"] * (EXCERPT_LINES - 1))


KILLED_PARENT = """
import sys, threading
from pathlib import Path
from fastlab.guest import vm
from fastlab.base.model import Kernel, Machine, Watchdogs
path = Path(sys.argv[1])
kernel = Kernel("6.12", "fast", "id", "vmlinux", str(path / "System.map"))
simulation = vm.Simulation(Path(sys.argv[2]), kernel, Path("image"), Machine())
job = vm.Job({}, ["/bin/single_ctr"])
vm.run_job(simulation, path, path, job, path / "vm", Watchdogs(), threading.Event())
"""


def test_a_killed_command_leaves_no_machine_behind(lab: Lab, tmp_path: Path) -> None:
    lab.mode("hang")
    environment = {**os.environ, "PYTHONPATH": str(Path(vm.__file__).parents[2])}
    command = [sys.executable, "-c", KILLED_PARENT, tmp_path, FAKE]
    parent = subprocess.Popen(command, env=environment)
    host = tmp_path / "vm" / "host"
    assert eventually(lambda: host.is_file() and "FAST start" in host.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert eventually(lambda: not _processes_in(tmp_path / "vm"))


def _processes_in(directory: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == directory:
                found.append(process.name)
        except OSError:
            continue
    return found
