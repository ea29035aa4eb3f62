# SPDX-License-Identifier: GPL-2.0
"""Running a program on this machine so that nothing of it is left when it is over."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import FrameType
from typing import IO, NoReturn, TypeVar

from fastlab.base.model import FastError

# What asks a program to end: a Ctrl-C, a kill, a terminal that is gone.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Of a program's last words.
LAST_CHARACTERS = 200

_P = TypeVar("_P")


def end_as_interrupted() -> None:
    """Take each of ENDING for a Ctrl-C. One that is ignored stays so: nohup has asked for that."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


class _Held:
    """Of ENDING only notes are taken, until release(). Handlers are the main thread's: where others
    start programs there is nothing to hold."""

    def __init__(self) -> None:
        self._holds = False
        self._noted: list[int] = []
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        for number in ENDING:
            # What is ignored stays so, also in what is started.
            if callable(handler := signal.getsignal(number)):
                self._handlers[number] = handler
                signal.signal(number, self._take)
        # Not before all are there: whoever is interrupted in the middle knows of none to release.
        self._holds = True

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self._holds:
            self._noted.append(number)
        else:
            self._handlers[number](number, frame)

    def release(self) -> None:
        """Take them as before, and what came meanwhile now."""
        self._holds = False
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        for number in self._noted:
            signal.raise_signal(number)


def start(popen: Callable[[], _P]) -> tuple[_P, Callable[[], None]]:
    """A program that is started now, by subprocess.Popen, and what is to be called first where it
    would be ended: before that nothing asks us to end. Amid Popen that would be an exception that
    leaves the program running, and nobody to know of it."""
    held = _Held()
    try:
        return popen(), held.release
    except BaseException:
        held.release()
        raise


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
    process, heed = start(
        lambda: subprocess.Popen(  # type: ignore[call-overload]
            command,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            # Of ours it gets what was made inheritable: the lock of host.only_user(), and those of
            # cache.locked().
            close_fds=False,
            start_new_session=True,
        )
    )
    try:
        heed()
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


def ask(
    command: Sequence[str],
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: Path = Path(),
) -> Answer:
    """Run one program for what it prints. FastError says that it did not start, or not end. What it
    has started ends with it."""
    # A pipe would be open as long as any of those has it.
    with TemporaryFile() as output, TemporaryFile() as errors:
        try:
            status = run_group(
                command,
                seconds,
                cwd=cwd,
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


def ending(status: int, output: str) -> str:
    """How a program ended that should not have ended so, with its last words."""
    words = last_words(output)
    end = f"killed by {signal_name(-status)}" if status < 0 else f"ended with status {status}"
    return f"{end}: {words}" if words else end


def signal_name(number: int) -> str:
    """As people know it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        # Of the real-time ones only the first and the last have names.
        return f"signal {number}"


def last_words(output: str) -> str:
    """The last line, if there is one."""
    lines = output.strip().splitlines()
    return lines[-1].strip()[:LAST_CHARACTERS] if lines else ""
