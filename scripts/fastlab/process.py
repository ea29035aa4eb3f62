# SPDX-License-Identifier: GPL-2.0
"""Running a program on this machine so that nothing of it is left when it is over."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path


def run_group(
    command: Sequence[str | Path],
    seconds: float,
    *,
    cwd: Path,
    stdout: object,
    stderr: object = subprocess.STDOUT,
    env: dict[str, str] | None = None,
    stdin: object = subprocess.DEVNULL,
) -> int:
    """Run a program and whatever it starts; its status. All of them end with this call.

    Raises subprocess.TimeoutExpired.
    """
    process = subprocess.Popen(  # type: ignore[call-overload]
        command,
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    try:
        return int(process.wait(seconds))
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
