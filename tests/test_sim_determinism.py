# SPDX-License-Identifier: GPL-2.0
"""Real machines: the same seed gives the same bytes, and trouble in the guest is found.

Needs a kernel: $FAST_TEST_KERNEL (a directory with vmlinux and System.map), or a baseline that
`fast kernel build` has put into the cache; and the built programs: $FAST_BUILD, or build/.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from fastlab import guest, vm
from fastlab.cache import cache_dir
from fastlab.kernels import built
from fastlab.model import FastError, Kernel, Machine, Watchdogs
from fastlab.tools import require_qemu

PROJECT = Path(__file__).parents[1]
ARGV = ["/bin/single_ctr", "--threads", "8", "--iterations=1000", "--warmup=200"]

# Tells the host that it begins, as init does, and then does what no init may.
STOP_AND = """
#include <sys/io.h>
#include <unistd.h>
int main(void)
{{
	iopl(3);
	outb(1, 0x505);
	{}
}}
"""


def kernel() -> Kernel:
    given = os.environ.get("FAST_TEST_KERNEL")
    if given:
        paths = [str(Path(given) / name) for name in ("vmlinux", "System.map")]
        return Kernel("6.12", "baseline", "test", *paths)
    found = [one.kernel for one in built(cache_dir()) if one.kernel.variant == "baseline"]
    if not found:
        pytest.skip("no kernel: `fast kernel build --variant baseline`, or set FAST_TEST_KERNEL")
    return found[-1]


@pytest.fixture(scope="session")
def programs() -> guest.Built:
    try:
        return guest.find_built(Path(os.environ.get("FAST_BUILD", PROJECT / "build")))
    except FastError as error:
        pytest.skip(str(error))


class Lab:
    """A saved machine and what runs in it."""

    def __init__(self, path: Path, init: Path | None, programs: guest.Built) -> None:
        self.path = path
        self.programs = programs
        path.mkdir()
        image = path / "guest.cpio"
        files = {**programs.programs, **({"/init": init} if init else {})}
        image.write_bytes(guest.build_image(files))
        self.simulation = vm.Simulation(require_qemu(), kernel(), image, Machine())
        self.save("saved")

    def save(self, name: str) -> Path:
        directory = self.path / name
        vm.save_machine(self.simulation, directory, Watchdogs(), threading.Event())
        return directory / vm.SNAPSHOT

    def run(
        self,
        name: str,
        argv: list[str],
        watchdogs: Watchdogs | None = None,
        saved: str = "saved",
    ) -> vm.Outcome:
        return vm.run_job(
            self.simulation,
            self.path / saved / vm.SNAPSHOT,
            self.programs.plugin,
            vm.Job({}, argv),
            self.path / name,
            watchdogs or Watchdogs(),
            threading.Event(),
        )

    def bytes_of(self, name: str, seed: int = 1, saved: str = "saved") -> bytes:
        """All that a run hands over."""
        outcome = self.run(name, [*ARGV, "--seed", str(seed), "--json"], saved=saved)
        assert outcome.exit_status == 0
        files = (self.path / name / file for file in ("host", "plugin.jsonl"))
        return b"".join(file.read_bytes() for file in files)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, programs: guest.Built) -> Lab:
    return Lab(tmp_path_factory.mktemp("sim") / "lab", None, programs)


@contextmanager
def busy_host() -> Iterator[None]:
    """Twice as many busy programs as the host has CPUs."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(2 * len(os.sched_getaffinity(0)))
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_the_same_seed_gives_the_same_bytes(lab: Lab) -> None:
    first = lab.bytes_of("first")
    assert {lab.bytes_of(f"again{i}") for i in range(4)} == {first}
    assert lab.bytes_of("other", seed=2) != first


def test_a_busy_host_changes_nothing(lab: Lab) -> None:
    quiet = lab.bytes_of("quiet")
    with busy_host():
        assert {lab.bytes_of(f"busy{i}") for i in range(3)} == {quiet}


def test_two_machines_at_a_time_change_nothing(lab: Lab) -> None:
    alone = lab.bytes_of("alone")
    results: list[bytes] = []
    threads = [
        threading.Thread(target=lambda name=f"pair{i}": results.append(lab.bytes_of(name)))
        for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [alone, alone]


@pytest.mark.full
def test_a_machine_saved_anew_on_a_busy_host_runs_the_same(lab: Lab) -> None:
    with busy_host():
        lab.save("saved anew")
    assert lab.bytes_of("of-anew", saved="saved anew") == lab.bytes_of("of-first")


def test_a_benchmarks_refusal_is_handed_over(lab: Lab) -> None:
    outcome = lab.run("refusal", ["/bin/single_ctr", "--no-such-option"])
    assert outcome.exit_status != 0
    assert "no-such-option" in " ".join(outcome.errors)


def test_a_program_that_is_not_there_is_named(lab: Lab) -> None:
    outcome = lab.run("missing", ["/bin/nothing"])
    assert outcome.exit_status == 127
    assert "/bin/nothing" in " ".join(outcome.errors)


def test_a_run_that_takes_too_long_is_ended(lab: Lab) -> None:
    argv = ["/bin/single_ctr", "--threads", "4", "--iterations=100000000"]
    with pytest.raises(vm.GuestError, match="watchdog: run took longer than 2 s"):
        lab.run("endless", argv, replace(Watchdogs(), run=2.0))


def test_a_machine_killed_in_its_run_is_named(lab: Lab) -> None:
    argv = ["/bin/single_ctr", "--threads", "4", "--iterations=100000000"]

    def kill() -> None:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                ours = (process / "cwd").resolve() == lab.path / "killed"
            except OSError:
                continue
            if ours:
                os.kill(int(process.name), signal.SIGKILL)

    timer = threading.Timer(2.0, kill)
    timer.start()
    with pytest.raises(vm.GuestError, match="killed by SIGKILL"):
        lab.run("killed", argv)
    timer.join()


@pytest.mark.full
def test_a_panic_is_quoted(tmp_path: Path, programs: guest.Built) -> None:
    source = tmp_path / "init.c"
    source.write_text(STOP_AND.format("return 3;"))
    subprocess.run(["gcc", "-static", "-o", tmp_path / "init", source], check=True)
    lab = Lab(tmp_path / "lab", tmp_path / "init", programs)
    with pytest.raises(vm.GuestError, match="Attempted to kill init"):
        lab.run("panic", ARGV)
