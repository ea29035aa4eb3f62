# SPDX-License-Identifier: GPL-2.0
"""The running kernel: which one it is, its FAST, and being its only user.

Everything is below a root directory, whose /proc is this machine's or a test's.
"""

from __future__ import annotations

import fcntl
import hashlib
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from fastlab.model import FastError, Kernel

SWITCH = "sched_fast"

_BOOT_ID = "proc/sys/kernel/random/boot_id"
_STAT = "proc/fast_stat"


@dataclass(frozen=True)
class Running:
    """A kernel as an experiment's rows know it. `boot` is another one after each boot."""

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


def running_kernel(root: Path) -> Running:
    """What runs now. Raises FastError where there is no /proc, or only half of FAST."""
    fast = (root / "proc/sys/kernel" / SWITCH).exists()
    release = _text(root / "proc/sys/kernel/osrelease")
    if fast and not (root / _STAT).exists():
        raise FastError(
            f"the running kernel, {release}, has kernel.{SWITCH} but no /proc/fast_stat, which "
            "says whether FAST fired; boot one that `fast kernel deb` has packed"
        )
    version = f"{_text(root / 'proc/sys/kernel/version')}{_build_id(root)}"
    return Running(release, version, _text(root / _BOOT_ID), fast)


def _build_id(root: Path) -> str:
    """What tells builds apart that were made to look alike; "" where the kernel does not say."""
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


@contextmanager
def only_user(root: Path) -> Iterator[None]:
    """Be the only one who measures on this machine: two would set each other's policy."""
    with (root / _BOOT_ID).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FastError(
                "another `fast run` or `fast try` is measuring here; wait for it or stop it first"
            ) from error
        yield


def mechanism(root: Path) -> dict[str, int] | None:
    """FAST's counters since boot; None where the kernel has no FAST."""
    try:
        lines = (root / _STAT).read_text().splitlines()
    except FileNotFoundError:
        return None
    return {name: int(count) for name, count in (line.split() for line in lines)}


def difference(
    before: Mapping[str, int] | None, after: Mapping[str, int] | None
) -> dict[str, int] | None:
    """What was counted between the two."""
    if before is None or after is None:
        return None
    return {name: count - before.get(name, 0) for name, count in after.items()}


class Sysctls:
    """FAST's sysctls of the running kernel, `found` as they were; when the context manager is left,
    in whatever way, they are so again. Without FAST there are none."""

    def __init__(self, root: Path) -> None:
        self._directory = root / "proc/sys/kernel"
        paths = sorted(self._directory.glob(f"{SWITCH}*"))
        self.found = {path.name: int(_text(path)) for path in paths}

    def set(self, values: Mapping[str, int]) -> None:
        """Raises FastError that names the sysctl and what to do."""
        for name, value in values.items():
            self._write(name, value)

    def _write(self, name: str, value: int) -> None:
        if name not in self.found:
            raise FastError(
                f"the running kernel has no sysctl kernel.{name}; it has "
                f"{', '.join(f'kernel.{one}' for one in self.found)}"
            )
        try:
            (self._directory / name).write_text(f"{value}\n")
        except PermissionError as error:
            raise FastError(
                f"kernel.{name} cannot be set: {error.strerror}; switching policies needs root: "
                "run the same command with sudo"
            ) from error
        except OSError as error:
            raise FastError(
                f"kernel.{name} cannot be set to {value}: {error.strerror}; is that a value that "
                "this kernel knows, and is /proc/sys writable?"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A second Ctrl-C waits.
        deaf = {signal.SIGINT, signal.SIGTERM}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, deaf)
        try:
            self.set(self.found)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
