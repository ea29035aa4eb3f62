# SPDX-License-Identifier: GPL-2.0
"""Waiting for what another process does, on a machine that may be busy."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 60.0


def eventually(happened: Callable[[], bool]) -> bool:
    """Whether it happens within SECONDS."""
    end = time.monotonic() + SECONDS
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def child_ends(directory: Path) -> bool:
    """Whether the process ends whose number is in `child` there; a zombie has ended."""
    stat = Path("/proc", (directory / "child").read_text().strip(), "stat")

    def ended() -> bool:
        try:
            return stat.read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True

    return eventually(ended)


def kill_when(ready: Callable[[], bool], script: str, **options: Any) -> None:
    """Run a Python program that imports fastlab, and kill it when it is ready."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen([sys.executable, "-c", script], env=environment, **options)
    try:
        assert eventually(lambda: ready() or process.poll() is not None)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
