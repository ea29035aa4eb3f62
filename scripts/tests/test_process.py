# SPDX-License-Identifier: GPL-2.0
"""Of a program that was run nothing is left."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from fastlab.base.process import run_group

# It leaves behind a child that holds its output open.
LEAVING = "sleep 60 & echo $! >child; exit 3"
STAYING = "sleep 60 & echo $! >child; wait"


def run(script: str, seconds: float, directory: Path) -> int:
    return run_group(["sh", "-c", script], seconds, cwd=directory, stdout=subprocess.DEVNULL)


def has_ended(directory: Path) -> bool:
    """Soon: a signal takes a moment, and so does init, which waits for it."""
    stat = Path("/proc", (directory / "child").read_text().strip(), "stat")
    for _ in range(100):
        try:
            if stat.read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_the_status_is_the_programs_and_its_children_end_with_it(tmp_path: Path) -> None:
    assert run(LEAVING, 60, tmp_path) == 3
    assert has_ended(tmp_path)


def test_a_program_that_takes_too_long_ends_with_its_children(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(STAYING, 0.5, tmp_path)
    assert has_ended(tmp_path)


def test_a_signal_is_a_negative_status(tmp_path: Path) -> None:
    assert run("kill -TERM $$", 60, tmp_path) == -15
