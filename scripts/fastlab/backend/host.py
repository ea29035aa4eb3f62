# SPDX-License-Identifier: GPL-2.0
"""The running kernel: its identity, its FAST, and the lock for measuring.

Everything is below a root directory with the /proc of this machine or of a test.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

from fastlab.base.fast_command import fast_command
from fastlab.base.model import FastError, Kernel
from fastlab.base.process import ENDING

# The kernel's hardware PMU.
PMU = "sys/bus/event_source/devices/cpu"
# The PMU of one of two kinds of cores, which fast-stat does not combine.
HYBRID_PMU = f"{PMU}_core"
# Above 0 only root may count whole CPUs.
PARANOID = "proc/sys/kernel/perf_event_paranoid"
_BOOT_ID = "proc/sys/kernel/random/boot_id"
# A kernel with FAST has this field, which every user can read.
_TASK, _FIELD = "proc/self/sched", "fast.cpu_lock"
_DEBUGFS = "sys/kernel/debug"
_FAST = f"{_DEBUGFS}/sched/fast"
_STAT, _POLICY = "stat", "policy"
# The file begins with the kernel's clocks.
_CLOCKS, _CLOCK = f"{_DEBUGFS}/sched/debug", "sched_clk"
_HEAD = 512
# A tick may fall between two reads, but not between each pair of these.
_CLOCK_READS = 3

# A remark for the user of the policy adaptive.
COARSE_CLOCK = (
    "the kernel's scheduler clock counts ticks, as it does without a TSC whose frequency is known: "
    "the policy adaptive cannot measure with it and places no thread; strict and soft need no clock"
)


@dataclass(frozen=True)
class Running:
    """The running kernel, as an experiment's rows identify it. `boot` changes with each boot."""

    release: str
    version: str
    boot: str
    fast: bool

    @property
    def variant(self) -> str:
        return "fast" if self.fast else "baseline"

    @property
    def kernel(self) -> Kernel:
        series = ".".join(self.release.split(".")[:2])
        return Kernel(series, self.variant, f"{self.release} {self.version}", "", "")


def what_runs(root: Path) -> Running:
    """The running kernel. Raises FastError without /proc."""
    release = _text(root / "proc/sys/kernel/osrelease")
    version = f"{_text(root / 'proc/sys/kernel/version')}{_build_id(root)}"
    return Running(release, version, _text(root / _BOOT_ID), _has_fast(root))


def _has_fast(root: Path) -> bool:
    try:
        return _FIELD in (root / _TASK).read_text()
    except FileNotFoundError:
        return False


def _build_id(root: Path) -> str:
    """A digest that distinguishes builds with equal names; "" if unavailable."""
    try:
        notes = (root / "sys/kernel/notes").read_bytes()
    except OSError:
        return ""
    return f" {hashlib.sha256(notes).hexdigest()[:12]}"


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError as error:
        raise FastError(f"{path}: {error.strerror}; is /proc mounted?") from error


def _files(root: Path) -> set[str]:
    """The names of the files of sched/fast, of a kernel with FAST."""
    try:
        return {path.name for path in (root / _FAST).iterdir()}
    except PermissionError as error:
        raise FastError(
            f"{root / _FAST} cannot be read: {error.strerror}; debugfs, where FAST's policies are "
            "switched, is for root: run the same command with sudo"
        ) from error
    except FileNotFoundError as error:
        raise FastError(
            f"the running kernel has FAST, but there is no {root / _FAST}; as root, mount debugfs: "
            f"`mount -t debugfs debugfs {root / _DEBUGFS}`"
        ) from error


def _setting(path: Path) -> str:
    """The value as it would be written: the choice in brackets, or the number of a switch."""
    text = _text(path)
    chosen = text.partition("[")[2].partition("]")[0] or text
    return {"N": "0", "Y": "1"}.get(chosen, chosen)


@contextmanager
def only_user(root: Path) -> Iterator[None]:
    """Hold the lock for measuring on this machine: two processes would change each other's policy.
    Programs started meanwhile (process.run_group()) hold it too, and may outlive a killed
    parent."""
    with (root / _BOOT_ID).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FastError(
                f"another `{fast_command('run')}` or `{fast_command('try')}` is measuring on this "
                "machine, or a program that it started is still running; wait for it or stop it"
            ) from error
        os.set_inheritable(file.fileno(), True)
        try:
            yield
        finally:
            # A process that inherited the descriptor does not measure any more.
            fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def without_fast(root: Path) -> Iterator[None]:
    """Hold the lock for measuring, with FAST's policy off. The policy is restored."""
    with only_user(root), SchedFast(root) as sched_fast:
        if sched_fast.initial:
            sched_fast.set({_POLICY: "off"})
        yield


def mechanism(root: Path) -> dict[str, int] | None:
    """FAST's counters since boot; None without FAST."""
    if not _has_fast(root):
        return None
    lines = _text(root / _FAST / _STAT).splitlines()
    return {name: int(count) for name, count in (line.split() for line in lines)}


def difference(
    before: Mapping[str, int] | None, after: Mapping[str, int] | None
) -> dict[str, int] | None:
    """The counts between the two."""
    if before is None or after is None:
        return None
    return {name: count - before.get(name, 0) for name, count in after.items()}


def counts_ticks(root: Path) -> bool:
    """Does the scheduler's clock stand still between ticks? False if it cannot be read."""
    reads = [_scheduler_clock(root) for _ in range(_CLOCK_READS)]
    return any(first and first == other for first, other in pairwise(reads))


def _scheduler_clock(root: Path) -> str:
    """The clock's time, as the kernel writes it; "" where it cannot be read."""
    try:
        with (root / _CLOCKS).open("rb", buffering=0) as file:
            head = file.read(_HEAD).decode(errors="replace")
    except OSError:
        return ""
    lines = (line.partition(":") for line in head.splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == _CLOCK), "")


class SchedFast:
    """The files of sched/fast in debugfs: policy and knobs. `initial` has their values when the
    context manager was entered; it restores them when it is left in any way. The caller holds the
    lock for measuring. A kernel without FAST has no files. Raises FastError with advice if they
    cannot be read."""

    def __init__(self, root: Path) -> None:
        self._directory = root / _FAST
        self._names: list[str] = []
        if _has_fast(root):
            # Restore the policy first: off is off whatever the knobs are.
            self._names = [_POLICY, *sorted(_files(root) - {_STAT, _POLICY})]
        self.initial: dict[str, str] = {}

    @property
    def knobs(self) -> dict[str, int]:
        """The initial values of the knobs."""
        return {name: int(value) for name, value in self.initial.items() if name != _POLICY}

    def set(self, values: Mapping[str, str]) -> None:
        """Raises FastError that names the file and what to do."""
        for name, value in values.items():
            self._write(name, value)

    def _write(self, name: str, value: str) -> None:
        if name not in self.initial:
            raise FastError(
                f"the running kernel has no {name} in sched/fast; it has "
                + ", ".join(sorted(self.initial))
            )
        path = self._directory / name
        try:
            path.write_text(f"{value}\n")
        except OSError as error:
            raise FastError(
                f"{path} cannot be set to {value}: {error.strerror}; it is {_text(path)}"
            ) from error

    def __enter__(self) -> Self:
        # Not earlier: another user may have changed the values until now.
        self.initial = {name: _setting(self._directory / name) for name in self._names}
        return self

    def __exit__(self, *_: object) -> None:
        # Ignore a second Ctrl-C. Blocking it would not do: another thread could take the signal,
        # and its handler would run in this one.
        handlers = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
        try:
            self._put_back()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _put_back(self) -> None:
        """Restore all files, also if one fails."""
        refused = []
        for name, value in self.initial.items():
            try:
                self._write(name, value)
            except FastError as error:
                refused.append(str(error))
        if refused:
            raise FastError("\n".join(refused))
