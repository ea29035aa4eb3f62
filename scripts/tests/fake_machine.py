# SPDX-License-Identifier: GPL-2.0
"""A machine whose /proc and /sys are files, and on it a fast-stat and a fast-latency that run
nothing."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from fastlab.backend import host
from fastlab.backend.block_rows import RealToolbox

SCRIPT = Path(__file__).parent / "fake_fast_stat.sh"
FAST = "sys/kernel/debug/sched/fast"


class FakeMachine:
    """`root` is what fastlab takes for /; `toolbox` has the fakes."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "root"
        self._write("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n")
        self._write("proc/loadavg", "0.00 0.00 0.00 1/99 1234\n")
        self._write("proc/cpuinfo", "model name\t: Some CPU\nflags\t\t: fpu\n")
        self._write("sys/devices/system/cpu/online", "0-3\n")
        self._write(host.PARANOID, "2\n")
        self.boot(0)
        measuring = (directory / "fast-stat", directory / "fast-latency")
        for program in measuring:
            shutil.copyfile(SCRIPT, program)
            program.chmod(0o755)
        programs = {name: Path("/bin", name) for name in ("single_ctr", "affinity")}
        self.toolbox = RealToolbox("tools", *measuring, directory / "libfast-handoff.so", programs)

    def _write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def boot(self, number: int, fast: bool = False, release: str = "6.12.30") -> None:
        """Another boot, of a kernel with FAST or without."""
        self._write("proc/sys/kernel/random/boot_id", f"boot-{number}\n")
        self._write("proc/sys/kernel/osrelease", f"{release}{'-fast' if fast else ''}\n")
        self._write("proc/sys/kernel/version", "#1 SMP\n")
        field = "fast.cpu_lock      :           4294967295\n" if fast else ""
        self._write("proc/self/sched", f"nr_switches     :       3\n{field}")
        shutil.rmtree(self.root / FAST, ignore_errors=True)
        if fast:
            self.set("policy", "[off] strict soft adaptive")
            self.set("depth", "64")
            self.set("opt_in", "N")
            self.set("stat", "hint_set 5\nused 3\nsame_cpu 2")

    def mode(self, mode: str) -> None:
        """How the next run ends; "at N how" only the N-th of all."""
        self._write("mode", mode)

    def runs(self) -> list[list[str]]:
        """Program, policy and depth of each run, in the order they were made; a fourth word says
        that it measured latencies, or was not counted."""
        path = self.root / "runs"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def set(self, name: str, text: str) -> None:
        """What a file of sched/fast has."""
        self._write(f"{FAST}/{name}", f"{text}\n")

    def refuse(self, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
        """Let its kernel refuse this value of that file of FAST's."""
        write = Path.write_text

        def write_text(path: Path, given: str) -> int:
            if path.name == name and given == f"{text}\n":
                raise OSError(errno.EINVAL, "Invalid argument")
            return write(path, given)

        monkeypatch.setattr(Path, "write_text", write_text)

    def setting(self, name: str) -> str:
        """What was last written to it."""
        return (self.root / FAST / name).read_text().strip()
