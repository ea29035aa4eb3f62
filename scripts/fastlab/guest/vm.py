# SPDX-License-Identifier: GPL-2.0
"""QEMU in deterministic mode: boot a machine once and save it, then run jobs from there.

Documentation/deterministic-mode.rst says why every argument is what it is. Functions of this
module may be called by several threads at the same time, each with its own directory.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastlab.base import tools
from fastlab.base.model import Kernel, Machine, Variant, Watchdogs
from fastlab.guest import hardware
from fastlab.guest.qmp import Qmp
from fastlab.guest.running_vm import ANSWER_SECONDS, RunningVm
from fastlab.guest.snapshot import settle_clock
from fastlab.plan import presets
from fastlab.plan.invocation import benchmark_result

# Host seconds that QEMU may take to load or write a machine.
TRANSFER_SECONDS = 120.0

SNAPSHOT = "snapshot"
# Beside it: the guest's memory, which runs share until they write to a page.
MEMORY = "memory"
# What the plugin has found out about instructions, in the machine's directory.
ATTRIBUTION = "attribution.jsonl"
# And which functions it is to take for malloc() and its like.
ALLOCATORS = "allocators"
# In the guest.
DEBUGFS = "/sys/kernel/debug"
SYSCTL = "/proc/sys"
# Beside the plugin: what keeps QEMU's other threads from the lock that the vCPUs' thread needs.
PACE = "libpace.so"


@dataclass(frozen=True)
class Simulation:
    """What all machines of an experiment that run the same kernel have in common."""

    qemu: Path
    kernel: Kernel
    image: Path
    machine: Machine
    # More than one for a kernel with Kbuild/numa.config, whose image has their table (srat.py). The
    # preset's clusters are as many.
    nodes: int = 1
    # None is the deterministic mode, whose time is modelled.
    accelerator: hardware.Accelerator | None = None
    # More of the kernel's command line.
    cmdline: str = ""


@dataclass(frozen=True)
class Job:
    """What a run asks of the guest: values of the files of sched/fast, scheduler features in their
    order, values of further `files` when all CPUs run, and the workload, confined to `cpus` CPUs
    unless None, with more `environment`. `date` is the time of day at its start in seconds since
    1970; None: the machine's. `scheduler` is the command line of a program that loads a sched_ext
    scheduler before; `scheduled`: the workload does so itself."""

    fast: Mapping[str, str]
    argv: Sequence[str]
    features: Sequence[str] = ()
    cpus: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    date: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    scheduler: Sequence[str] = ()
    scheduled: bool = False

    def text(self) -> str:
        """The job as the guest's init reads it (userspace/guest/job.h)."""
        lines = [f"set {DEBUGFS}/sched/fast/{name}={value}" for name, value in self.fast.items()]
        lines += [f"set {DEBUGFS}/sched/features={name}" for name in self.features]
        lines += [f"late {path}={value}" for path, value in self.files.items()]
        lines += [f"env {name}={value}" for name, value in self.environment.items()]
        lines += [f"date {self.date}"] if self.date else []
        lines += [f"cpus {self.cpus}"] if self.cpus else []
        lines += [f"scheduler {' '.join(self.scheduler)}"] if self.scheduler else []
        lines += ["scheduled"] if self.scheduled else []
        return "\n".join([*lines, f"run {' '.join(self.argv)}"]) + "\n"


@dataclass(frozen=True)
class Outcome:
    """What a guest handed over; None for what it did not. `workload` is the host seconds that the
    workload took, `output_lines` what it printed."""

    document: Mapping[str, Any] | None
    output: Mapping[str, Any] | None
    mechanism: Mapping[str, int] | None
    exit_status: int
    errors: tuple[str, ...]
    workload: float
    output_lines: tuple[str, ...] = ()


def arm_job(arm: Variant, argv: Sequence[str]) -> Job:
    """The job that runs this command line in an arm."""
    files = {f"{SYSCTL}/{name.replace('.', '/')}": value for name, value in arm.sysctl.items()}
    files |= {f"{DEBUGFS}/{name}": value for name, value in arm.debugfs.items()}
    scheduler = [scheduler_path(arm), *arm.scheduler[1:]] if arm.scheduler else []
    scheduled = arm.scheduler[-1:] == ("--",)
    if scheduled:
        argv, scheduler = [*scheduler, *argv], []
    return Job(
        *(arm.settings, argv, arm.features, arm.cpus, arm.environment),
        files=files,
        scheduler=scheduler,
        scheduled=scheduled,
    )


def scheduler_path(arm: Variant) -> str:
    """Where the guest has the program that loads the arm's scheduler."""
    return f"/scheduler-{arm.name}"


def machine_arguments(simulation: Simulation) -> list[str]:
    """The machine itself: all that a saved machine must find again when it is loaded."""
    return [
        *hardware.arguments(simulation.machine, simulation.accelerator, simulation.cmdline),
        # Of two values QEMU takes the last.
        *(("-machine", "acpi=on") if simulation.nodes > 1 else ()),
        *("-kernel", simulation.kernel.vmlinux),
        *("-initrd", str(simulation.image)),
    ]


def boot(
    simulation: Simulation, directory: Path, watchdogs: Watchdogs, cancelled: threading.Event
) -> None:
    """Boot the machine up to the guest's stop, and end it there."""
    with _started(simulation, directory, [], cancelled) as vm:
        vm.wait_for(lambda: vm.heard("STOP"), "boot", watchdogs.boot)


def save_machine(
    simulation: Simulation, directory: Path, watchdogs: Watchdogs, cancelled: threading.Event
) -> None:
    """Boot the machine up to the guest's stop, and save it in `directory`: snapshot, memory."""
    with _started(simulation, directory, _memory(simulation, MEMORY, "share=on"), cancelled) as vm:
        vm.wait_for(lambda: vm.heard("STOP"), "boot", watchdogs.boot)
        vm.execute("migrate-set-capabilities", capabilities=_WITHOUT_MEMORY)
        vm.execute("migrate", uri=f"file:{SNAPSHOT}")
        vm.wait_for(vm.saved, "saving", TRANSFER_SECONDS)
    settle_clock(directory / SNAPSHOT)
    for name in (SNAPSHOT, MEMORY):
        (directory / name).chmod(0o644)


def run_job(
    simulation: Simulation,
    snapshot: Path,
    plugin: Path | None,
    job: Job,
    directory: Path,
    watchdogs: Watchdogs,
    cancelled: threading.Event,
    futexes: str = "",
    attribute: bool = False,
    programs: Sequence[Path] = (),
) -> Outcome:
    """Let the saved machine go on with the job, to its end.

    `directory` gets, and keeps, what machine and plugin write. Without a plugin there is no
    document. With `futexes`, which says whose are the program's (userspace/cachesim/futexes.h),
    the document has the hand-offs of each. With `attribute` the directory gets ATTRIBUTION, too
    (Documentation/attribution.rst); and with both and `programs`, files that the guest executes,
    the document tells where locks were allocated.
    """
    watched = ""
    if futexes and attribute:
        from fastlab.guest.allocators import allocators_text

        watched = allocators_text(programs)
    memory = snapshot.with_name(MEMORY)
    arguments = [
        *_hand_over(job, directory, clock=plugin is not None),
        *_memory(simulation, str(memory.absolute()), "share=off,readonly=on,rom=off"),
        *("-incoming", "defer"),
        *(_plugin_arguments(simulation, plugin, futexes, attribute, watched) if plugin else ()),
    ]
    if watched:
        (directory / ALLOCATORS).write_text(watched)
    preload = plugin.with_name(PACE) if plugin else None
    with _started(simulation, directory, arguments, cancelled, preload) as vm:
        # Else QEMU announces the machine to the network by timers of the host's clock, which
        # cut a CPU's turn short at any instruction, though there is no network.
        vm.execute("migrate-set-parameters", **{"announce-rounds": 0})
        vm.execute("migrate-set-capabilities", capabilities=_WITHOUT_MEMORY)
        vm.execute("migrate-incoming", uri=f"file:{snapshot}")
        vm.wait_for(lambda: vm.status() != "inmigrate", "restore", TRANSFER_SECONDS)
        return _go_on(vm, watchdogs)


def boot_job(
    simulation: Simulation,
    job: Job,
    directory: Path,
    watchdogs: Watchdogs,
    cancelled: threading.Event,
) -> Outcome:
    """Boot the machine and let it do the job, to its end: for those that cannot be saved."""
    arguments = _hand_over(job, directory)
    with _started(simulation, directory, arguments, cancelled) as vm:
        vm.wait_for(lambda: vm.heard("STOP"), "boot", watchdogs.boot)
        return _go_on(vm, watchdogs)


# The snapshot does not hold what is in a file that QEMU shares.
_WITHOUT_MEMORY = [{"capability": "x-ignore-shared", "state": True}]


def _memory(simulation: Simulation, path: str, how: str) -> list[str]:
    """The guest's memory is this file, mapped."""
    escaped = path.replace(",", ",,")
    size = simulation.machine.memory_mb
    return [
        *("-object", f"memory-backend-file,id=memory,size={size}M,mem-path={escaped},{how}"),
        *("-machine", "memory-backend=memory"),
    ]


def _hand_over(job: Job, directory: Path, clock: bool = False) -> tuple[str, str]:
    directory.mkdir(parents=True, exist_ok=True)
    text = ("clock\n" if clock else "") + job.text()
    (directory / "job").write_text(text, errors="surrogateescape")
    return "-fw_cfg", "name=opt/fast/job,file=job"


def _go_on(vm: RunningVm, watchdogs: Watchdogs) -> Outcome:
    """From the guest's stop to its end. QEMU gets no input from outside meanwhile."""
    vm.execute("cont")
    vm.wait_for(lambda: "FAST start" in vm.host_lines(), "start", watchdogs.boot, may_end=True)
    begun = time.monotonic()
    vm.wait_for(lambda: vm.host_lines()[-1:] == ["FAST end"], "run", watchdogs.run, may_end=True)
    over = time.monotonic()
    vm.wait_for(lambda: False, "end", ANSWER_SECONDS, may_end=True)
    return _outcome(vm, over - begun)


def _plugin_arguments(
    simulation: Simulation, plugin: Path, futexes: str, attribute: bool, watched: str
) -> tuple[str, str]:
    escaped = str(plugin).replace(",", ",,")
    path = str(presets.load(simulation.machine.preset).path.absolute()).replace(",", ",,")
    system_map = simulation.kernel.system_map.replace(",", ",,")
    quantum = simulation.machine.quantum
    options = f"{escaped},machine={path},system_map={system_map},quantum={quantum},out=plugin.jsonl"
    if simulation.nodes > 1:
        options += f",node_memory={(simulation.machine.memory_mb << 20) // simulation.nodes}"
    options += f",futexes={futexes}" if futexes else ""
    options += f",attribute={ATTRIBUTION}" if attribute else ""
    return "-plugin", options + (f",allocators={ALLOCATORS}" if watched else "")


@contextmanager
def _environment(directory: Path, preload: Path | None) -> Iterator[dict[str, str]]:
    """QEMU's environment, with the library preloaded if it exists: by a link in the directory,
    since ld.so splits a path at spaces and colons."""
    variables = dict(os.environ)
    link = directory / PACE
    link.unlink(missing_ok=True)
    if preload and preload.is_file():
        link.symlink_to(preload.absolute())
        others = variables.get("LD_PRELOAD")
        variables["LD_PRELOAD"] = f"./{PACE}:{others}" if others else f"./{PACE}"
    try:
        yield variables
    finally:
        link.unlink(missing_ok=True)


@contextmanager
def _started(
    simulation: Simulation,
    directory: Path,
    further: Sequence[str],
    cancelled: threading.Event,
    preload: Path | None = None,
) -> Iterator[RunningVm]:
    """QEMU, running in the directory; it is gone when the context ends in any way.

    QEMU also ends with this thread (setpriv): a SIGKILL of this process leaves no QEMU behind.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("serial.log", "host", "plugin.jsonl", ATTRIBUTION, SNAPSHOT, MEMORY):
        (directory / name).unlink(missing_ok=True)
    # Read also where QEMU dies before it opens the file.
    (directory / "host").touch()
    ours, theirs = socket.socketpair()
    command = [
        str(tools.require("setpriv")),
        *("--pdeathsig", "KILL"),
        str(simulation.qemu),
        *machine_arguments(simulation),
        *("-chardev", f"socket,id=control,fd={theirs.fileno()}"),
        *("-mon", "chardev=control,mode=control"),
        *further,
    ]
    with (
        ours,
        theirs,
        (directory / "qemu.log").open("wb") as log,
        _environment(directory, preload) as environment,
    ):
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[theirs.fileno()],
            # The terminal's Ctrl-C is ours to handle.
            start_new_session=True,
        )
        theirs.close()
        try:
            vm = RunningVm(directory, process, Qmp(ours), cancelled)
            vm.execute("qmp_capabilities")
            yield vm
        finally:
            process.kill()
            process.wait()


def _outcome(vm: RunningVm, workload: float) -> Outcome:
    # QEMU has ended: did the guest say its last line?
    if vm.host_lines()[-1:] != ["FAST end"]:
        vm.explain_end()
    by_kind: dict[str, list[str]] = {"out": [], "err": [], "stat": [], "exit": []}
    for line in vm.host_lines():
        _, kind, *rest = line.split(" ", 2)
        if kind in by_kind:
            by_kind[kind] += rest
    if "FAST start" not in vm.host_lines():
        raise vm.failure("\n".join(["the guest cannot do its job:", *by_kind["err"]]))
    documents = vm.directory / "plugin.jsonl"
    lines = documents.read_text().splitlines() if documents.is_file() else []
    if len(lines) > 1:
        raise vm.failure(f"{len(lines)} regions of interest in one run; there must be one")
    mechanism = {name: int(value) for name, value in (line.split() for line in by_kind["stat"])}
    return Outcome(
        document=json.loads(lines[0]) if lines else None,
        output=benchmark_result(by_kind["out"]),
        mechanism=mechanism or None,
        exit_status=int(by_kind["exit"][0]),
        errors=tuple(by_kind["err"]),
        workload=workload,
        output_lines=tuple(by_kind["out"]),
    )
