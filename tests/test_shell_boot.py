# SPDX-License-Identifier: GPL-2.0
"""`fast shell` for real: the patched kernel, booted with this machine's file system.

Its kernel is another one than the experiments', and takes minutes to build.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from lab import PROJECT, kernel

from fastlab.kernel import kernels
from fastlab.kernel.catalogue import load_catalogue
from fastlab.shell.machine import fragments

SECONDS = 60.0
pytestmark = pytest.mark.full


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The kernel is built before anything is timed."""
    catalogue = load_catalogue(PROJECT)
    (fast,) = catalogue.pick_variants(catalogue.pick_series(None), ("fast",))
    kernel("fast", *fragments(fast))


def shell(*argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    words: Sequence[str | Path] = [PROJECT / "scripts/fast", "shell", "--", *argv]
    return subprocess.run(words, input=stdin, capture_output=True, timeout=600)


def test_uname_tells_the_patched_kernel_within_a_minute() -> None:
    begun = time.monotonic()
    answer = shell("uname", "-r")
    took = time.monotonic() - begun
    version = kernels.built(kernels.Places().cache)[-1].version
    assert (answer.returncode, answer.stdout.decode()) == (0, f"{version}-fast\n"), answer.stderr
    assert took < SECONDS


def test_a_command_has_its_input_its_output_and_its_status() -> None:
    data = b"a line\n" * 20000
    answer = shell("sh", "-c", "cat; echo to stderr >&2; exit 7", stdin=data)
    assert answer.returncode == 7
    assert answer.stdout == data
    assert answer.stderr.endswith(b"to stderr\n")


def test_the_policy_is_there_and_the_hosts_files_stay_as_they_are() -> None:
    mine = Path(__file__)
    before = mine.read_bytes()
    policy = "/sys/kernel/debug/sched/fast/policy"
    script = f"echo strict >{policy} && cat {policy} && echo changed >>{mine} && tail -n 1 {mine}"
    answer = shell("sh", "-c", script)
    assert answer.stdout.decode() == "off [strict] soft adaptive\nchanged\n", answer.stderr
    assert mine.read_bytes() == before


def test_a_kernel_that_panics_is_an_error_with_its_last_words() -> None:
    answer = shell("sh", "-c", "echo c >/proc/sysrq-trigger; sleep 600")
    assert answer.returncode == 1
    assert b"the kernel panicked" in answer.stderr
    assert b"sysrq triggered crash" in answer.stderr
