# SPDX-License-Identifier: GPL-2.0
"""Real machines: the same seed gives the same bytes, and trouble in the guest is found."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from lab import Lab, built, kernel

from fastlab.base.model import Watchdogs
from fastlab.guest import vm
from fastlab.guest.running_vm import GuestError

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


class Repeated(Lab):
    """The baseline's machine, and all that one of its runs hands over."""

    def bytes_of(
        self, name: str, seed: int = 1, saved: str = "saved", plugin: Path | None = None
    ) -> bytes:
        """All that a run hands over."""
        argv = [*ARGV, "--seed", str(seed), "--json"]
        outcome = self.run(name, argv, saved=saved, plugin=plugin)
        assert outcome.exit_status == 0
        files = (self.path / name / file for file in ("host", "plugin.jsonl"))
        return b"".join(file.read_bytes() for file in files)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Repeated:
    return Repeated(tmp_path_factory.mktemp("sim") / "lab", kernel("baseline"))


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


def test_the_same_seed_gives_the_same_bytes(lab: Repeated) -> None:
    first = lab.bytes_of("first")
    assert {lab.bytes_of(f"again{i}") for i in range(4)} == {first}
    assert lab.bytes_of("other", seed=2) != first


def test_a_busy_host_changes_nothing(lab: Repeated) -> None:
    quiet = lab.bytes_of("quiet")
    with busy_host():
        assert {lab.bytes_of(f"busy{i}") for i in range(3)} == {quiet}


def test_two_machines_at_a_time_change_nothing(lab: Repeated) -> None:
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


def test_to_pace_qemu_changes_nothing(lab: Repeated, tmp_path: Path) -> None:
    """Without libpace.so beside it the plugin runs as it did before there was one."""
    assert built().plugin.with_name(vm.PACE).is_file()
    alone = Path(shutil.copy(built().plugin, tmp_path))
    assert lab.bytes_of("unpaced", plugin=alone) == lab.bytes_of("paced")


@pytest.mark.full
def test_a_machine_saved_anew_on_a_busy_host_runs_the_same(lab: Repeated) -> None:
    with busy_host():
        lab.save("saved anew")
    assert lab.bytes_of("of-anew", saved="saved anew") == lab.bytes_of("of-first")


def test_a_benchmarks_refusal_is_handed_over(lab: Repeated) -> None:
    outcome = lab.run("refusal", ["/bin/single_ctr", "--no-such-option"])
    assert outcome.exit_status != 0
    assert "no-such-option" in " ".join(outcome.errors)


def test_a_program_that_is_not_there_is_named(lab: Repeated) -> None:
    outcome = lab.run("missing", ["/bin/nothing"])
    assert outcome.exit_status == 127
    assert "/bin/nothing" in " ".join(outcome.errors)


def test_a_run_that_takes_too_long_is_ended(lab: Repeated) -> None:
    argv = ["/bin/single_ctr", "--threads", "4", "--iterations=100000000"]
    with pytest.raises(GuestError, match="watchdog: run took longer than 2 s"):
        lab.run("endless", argv, replace(Watchdogs(), run=2.0))


def test_a_machine_killed_in_its_run_is_named(lab: Repeated) -> None:
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
    with pytest.raises(GuestError, match="killed by SIGKILL"):
        lab.run("killed", argv)
    timer.join()


@pytest.mark.full
def test_a_panic_is_quoted(tmp_path: Path) -> None:
    source = tmp_path / "init.c"
    source.write_text(STOP_AND.format("return 3;"))
    subprocess.run(["gcc", "-static", "-o", tmp_path / "init", source], check=True)
    lab = Lab(tmp_path / "lab", kernel("baseline"), {"/init": tmp_path / "init"})
    with pytest.raises(GuestError, match="Attempted to kill init"):
        lab.run("panic", ARGV)
