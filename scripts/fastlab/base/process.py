# SPDX-License-Identifier: GPL-2.0
"""Running programs on this machine. No process is left when a call returns."""

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

# Signals that ask a program to end: Ctrl-C, kill, a closed terminal.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Characters of a program's last line in a message.
LAST_CHARACTERS = 200

_P = TypeVar("_P")


def end_as_interrupted() -> None:
    """Handle each signal of ENDING like Ctrl-C. An ignored signal stays ignored: nohup asks for
    that."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


class _Held:
    """Delays the signals of ENDING until release(). Handlers run in the main thread: a program
    started by another thread needs no delay."""

    def __init__(self) -> None:
        self._holds = False
        self._noted: list[int] = []
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        for number in ENDING:
            # An ignored signal stays ignored, in started programs too.
            if callable(handler := signal.getsignal(number)):
                self._handlers[number] = handler
                signal.signal(number, self._take)
        # Only after all handlers are set: an earlier interrupt leaves nothing to release.
        self._holds = True

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self._holds:
            self._noted.append(number)
        else:
            self._handlers[number](number, frame)

    def release(self) -> None:
        """Restore the handlers, and raise the signals that arrived meanwhile."""
        self._holds = False
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        for number in self._noted:
            signal.raise_signal(number)


def start(popen: Callable[[], _P]) -> tuple[_P, Callable[[], None]]:
    """Start a program by subprocess.Popen. Returns it, and a function to call first where the
    program would be ended on an interrupt. Until that call no signal interrupts: an exception
    inside Popen would leave the program running unnoticed."""
    held = _Held()
    try:
        return popen(), held.release
    except BaseException:
        held.release()
        raise


def run_along(command: Sequence[str]) -> int:
    """Run a program with the streams of this one, and return its status. An interrupt asks it to
    end, and waits for that."""
    # The program inherits what run_group()'s does.
    process, heed = start(lambda: subprocess.Popen(command, close_fds=False))
    try:
        heed()
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
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
    """Run a program and its children, and return its status. All of them end with this call.

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
            # The program inherits the descriptors that were made inheritable: the locks of
            # host.only_user() and cache.locked().
            close_fds=False,
            start_new_session=True,
        )
    )
    try:
        heed()
        in_time = _is_over_within(process.pid, seconds)
    finally:
        # Children may outlive the program. Until wait() the number of the group is not used again.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if not in_time:
        raise subprocess.TimeoutExpired(command, seconds)
    return int(process.returncode)


def _is_over_within(pid: int, seconds: float) -> bool:
    """Wait for the end of a child without collecting its status."""
    ended = os.pidfd_open(pid)
    try:
        return bool(select.select([ended], [], [], seconds)[0])
    finally:
        os.close(ended)


def ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Does the process end within this number of seconds?"""
    if process.poll() is None:
        # Popen.wait() would look again and again.
        handle = os.pidfd_open(process.pid)
        try:
            end = select.poll()
            end.register(handle, select.POLLIN)
            end.poll(seconds * 1000)
        finally:
            os.close(handle)
    return process.poll() is not None


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
    """Run one program and return its output. A FastError says that it did not start, or did not end
    in time. Its children end with it."""
    # Files, not pipes: a child would keep a pipe open.
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
    """A message for a program that should not have ended this way, with its last line."""
    words = last_words(output)
    end = f"killed by {signal_name(-status)}" if status < 0 else f"ended with status {status}"
    return f"{end}: {words}" if words else end


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        # Only the first and the last real-time signal have names.
        return f"signal {number}"


def last_words(output: str) -> str:
    """The last line, or ""."""
    lines = output.strip().splitlines()
    return lines[-1].strip()[:LAST_CHARACTERS] if lines else ""
