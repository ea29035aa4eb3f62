# SPDX-License-Identifier: GPL-2.0
"""The state of this machine: `fast doctor`.

Needs only Python's standard library, and changes nothing.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from fastlab.backend.host import HYBRID_PMU, PARANOID, PMU, only_user, what_runs
from fastlab.base import toml_table, tools
from fastlab.base.cache import cache_dir
from fastlab.base.fast_command import fast_command
from fastlab.base.model import FastError
from fastlab.base.progress import Reporter
from fastlab.base.project import is_installed, work_dir
from fastlab.guest import initramfs, kvm
from fastlab.kernel import kernels, sched_ext

# ok: available. missing: most commands need it. note: some commands work without it.
State = Literal["ok", "missing", "note"]

GIB = 1 << 30
# GiB of the cache for an experiment with two kernels, as in README.
ROOM_GIB = 3


@dataclass(frozen=True)
class Examined:
    """A checked requirement."""

    what: str
    state: State
    text: str


def examine(project: Path, reporter: Reporter, root: Path = Path("/")) -> Iterator[Examined]:
    """Check everything, the most needed first. `root` has the machine's /proc and /sys."""
    yield _processor()
    yield _packages(project)
    yield _qemu()
    yield _python(project)
    yield _room()
    built = kernels.built(cache_dir())
    yield _programs(project)
    yield _kernels(built)
    yield _sched_ext()
    yield _scx_fast(project)
    yield _kvm(project, built, reporter, root)
    yield _pmu(root)
    yield _running(root)


def _processor() -> Examined:
    machine = platform.machine()
    if machine == "x86_64":
        return Examined("processor", "ok", f"{machine}, {len(os.sched_getaffinity(0))} CPUs")
    return Examined("processor", "missing", f"{machine}; the laboratory is for x86_64")


def _packages(project: Path) -> Examined:
    """install-deps knows the packages."""
    script = project / "scripts/install-deps"
    answer = subprocess.run([script, "--dry-run"], capture_output=True, text=True)
    messages = [line.removeprefix("install-deps: ") for line in answer.stderr.splitlines()]
    if answer.returncode == 0:
        return Examined("Debian packages", "ok", "all are installed")
    return Examined("Debian packages", "missing", f"{'; '.join(messages)} (as root: {script})")


def _qemu() -> Examined:
    try:
        qemu = tools.require_qemu()
    except FastError as error:
        return Examined("QEMU", "missing", str(error))
    return Examined("QEMU", "ok", tools.version(qemu.path).decode().splitlines()[0])


def _python(project: Path) -> Examined:
    table = toml_table.read(project / "pyproject.toml", "that of a checkout")
    wanted = table["project"]["dependencies"]
    names = [requirement.partition(">")[0] for requirement in wanted]
    missing = [name for name in names if not _is_there(name)]
    if not missing:
        return Examined("Python packages", "ok", "all are installed")
    text = f"not installed: {', '.join(missing)}"
    if is_installed(project):
        return Examined("Python packages", "note", f"{text}; they will be when one is needed")
    return Examined("Python packages", "missing", f"{text}; run `make`")


def _is_there(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _room() -> Examined:
    cache = cache_dir()
    there = next(path for path in (cache, *cache.parents) if path.is_dir())
    free = shutil.disk_usage(there).free / GIB
    if not os.access(there, os.W_OK):
        text = f"{cache} cannot be written to: what is there is used; to build more, set FAST_CACHE"
        return Examined("disk", "note", text)
    text = f"{free:.1f} GiB free for {cache}"
    if free >= ROOM_GIB:
        return Examined("disk", "ok", text)
    return Examined(
        "disk", "missing", f"{text}, and an experiment needs {ROOM_GIB}; set FAST_CACHE elsewhere"
    )


def _programs(project: Path) -> Examined:
    directory = work_dir(project) / "user"
    if (directory / "build.ninja").is_file():
        return Examined("programs", "ok", str(directory))
    return Examined("programs", "note", f"not built yet; they will be, in {directory}")


def _kernels(built: list[kernels.Build]) -> Examined:
    if built:
        return Examined("kernels", "ok", f"{len(built)} are built in {cache_dir()}")
    return Examined("kernels", "note", "none is built yet; what needs one builds it")


def _sched_ext() -> Examined:
    """What sched_ext schedulers are compiled with."""
    try:
        return Examined("sched_ext", "ok", str(sched_ext.find_clang()))
    except FastError as error:
        return Examined("sched_ext", "note", str(error))


def _scx_fast(project: Path) -> Examined:
    program = work_dir(project) / "user" / sched_ext.SCX_FAST
    if program.is_file():
        return Examined("scx_fast", "ok", str(program))
    return Examined("scx_fast", "note", sched_ext.SCX_FAST_MISSING)


def _kvm(project: Path, built: list[kernels.Build], reporter: Reporter, root: Path) -> Examined:
    """Only a guest that boots proves that KVM works. The probe takes a CPU for seconds: it must not
    run while another process measures."""
    if not kvm.DEVICE.exists():
        return Examined("KVM", "note", f"no {kvm.DEVICE}; the simulation does not need it")
    # Use what is built: a check builds nothing.
    init = work_dir(project) / "user" / initramfs.INIT
    if not built or not init.is_file():
        why = "exists, but was not tested: no kernel is built yet"
        return Examined("KVM", "note", f"{kvm.DEVICE} {why}")
    try:
        with only_user(root):
            why = kvm.probe(built[-1].kernel, init, reporter)
    except FastError as error:
        why = str(error)
    return Examined("KVM", "note", why) if why else Examined("KVM", "ok", "a guest has booted")


def _pmu(root: Path) -> Examined:
    if (root / HYBRID_PMU).exists():
        return Examined("PMU", "note", "cores of two kinds: --backend perf cannot be used")
    if not (root / PMU).exists():
        return Examined("PMU", "note", "no hardware counters: --backend perf cannot be used")
    level = int((root / PARANOID).read_text())
    if level > 0 and os.geteuid():
        why = f"only root may use them: kernel.perf_event_paranoid is {level}, and has to be 0"
        return Examined("PMU", "note", f"hardware counters are there, but {why}")
    return Examined("PMU", "ok", "hardware counters are there (fast-stat --list tells which)")


def _running(root: Path) -> Examined:
    running = what_runs(root)
    if running.fast:
        return Examined("this kernel", "ok", f"{running.release} has FAST")
    why = f"has no FAST; `{fast_command('run')}` and `{fast_command('try')}` simulate one that has"
    return Examined("this kernel", "note", f"{running.release} {why}")
