# SPDX-License-Identifier: GPL-2.0
"""Running a program on this machine so that nothing of it is left when it is over."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import FrameType
from typing import IO, NoReturn

from fastlab.base.model import FastError

# What asks a program to end: a Ctrl-C, a kill, a terminal that is gone.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Of a program's last words.
LAST_CHARACTERS = 200


def end_as_interrupted() -> None:
    """Take each of ENDING for a Ctrl-C. One that is ignored stays so: nohup has asked for that."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


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
        # Of ours it gets what was made inheritable: the lock of host.only_user().
        close_fds=False,
        start_new_session=True,
    )
    try:
        in_time = _is_over_within(process.pid, seconds)
    finally:
        # What it has started may go on after it. Until it is waited for, the group's number is
        # nobody else's.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if not in_time:
        raise subprocess.TimeoutExpired(command, seconds)
    return int(process.returncode)


def _is_over_within(pid: int, seconds: float) -> bool:
    """Wait for the end of a child, but do not take its status."""
    ended = os.pidfd_open(pid)
    try:
        return bool(select.select([ended], [], [], seconds)[0])
    finally:
        os.close(ended)


def ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for its end, but no longer than so many seconds."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@dataclass(frozen=True)
class Answer:
    """What a program printed, and its status; negative: the signal that killed it."""

    status: int
    output: str
    errors: str


def ask(command: Sequence[str], seconds: float, env: Mapping[str, str] | None = None) -> Answer:
    """Run one program for what it prints. FastError says that it did not start, or not end. What it
    has started ends with it."""
    # A pipe would be open as long as any of those has it.
    with TemporaryFile() as output, TemporaryFile() as errors:
        try:
            status = run_group(
                command,
                seconds,
                cwd=Path(),
                stdout=output,
                stderr=errors,
                env=dict(env) if env is not None else None,
            )
        except subprocess.TimeoutExpired as error:
            raise FastError(f"did not end within {seconds:g} s") from error
        except OSError as error:
            raise FastError(f"cannot be run: {error.strerror}") from error
        return Answer(status, _read(output), _read(errors))


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def ending(status: int, said: str) -> str:
    """How a program ended that should not have ended so, with its last words."""
    words = last_words(said)
    end = f"killed by {_signal(-status)}" if status < 0 else f"ended with status {status}"
    return f"{end}: {words}" if words else end


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # Of the real-time ones only the first and the last have names.
        return f"signal {number}"


def last_words(said: str) -> str:
    """The last line, if there is one."""
    lines = said.strip().splitlines()
    return lines[-1].strip()[:LAST_CHARACTERS] if lines else ""
