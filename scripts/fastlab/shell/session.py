# SPDX-License-Identifier: GPL-2.0
"""One machine of `fast shell` under way: its input and output, and how it ends.

The machine logs its kernel's messages into a file, and there it also says, in words of ours, when
a command begins and ends. Whatever happens here, no process is left when a call returns.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fastlab.backend.host import COARSE_CLOCK
from fastlab.base.model import FastError
from fastlab.base.process import ends_within, start
from fastlab.base.progress import Reporter
from fastlab.guest.alarms import ALARM, Console, Tail

INIT_STARTED = re.compile(r"\bRun \S+ as init process$")
COMMAND_STARTED = re.compile(r"\bFAST start$")
COMMAND_ENDED = re.compile(r"\bFAST exit \d+$")
PANIC = "Kernel panic"
# The kernel's warning when the policy adaptive is chosen (kernel-patches).
CLOCK_COUNTS_TICKS = "sched/fast: sched_clock() counts ticks"
# What virtme-run says of a machine that ended by itself; a command may say it, too.
UNEXPECTED = 255

# Host seconds. A boot takes a few, but without KVM, on a busy machine, many times that.
BOOT_SECONDS = 300.0
GLANCE = 0.05
LAST_WORDS = 1.0
# How long virtme-run may take to give the terminal back.
GRACE = 5.0
CHUNK = 1 << 16


class BootError(FastError):
    """A machine that did not boot, or not live on; where its log is is part of the text."""


@dataclass(frozen=True)
class Streams:
    """The file descriptors of a command's input and output."""

    stdin: int = 0
    stdout: int = 1
    stderr: int = 2


class Session:
    """The machine that a command line starts, and that logs into `directory`/serial.log."""

    def __init__(
        self, words: Sequence[str], directory: Path, streams: Streams, reporter: Reporter
    ) -> None:
        self._words = words
        self._directory = directory
        self._streams = streams
        self._reporter = reporter
        self._log = directory / "serial.log"
        self._tail = Tail(self._log)
        self._mark = COMMAND_STARTED
        self._started = False
        self._ended = False
        self._panicked = False
        self._complaint = ""
        self._coarse_clock = False
        self._unwritten: OSError | None = None

    def command(self) -> int:
        """Boot, and run a command; returns its status. An OSError names the output of ours that
        cannot be written."""
        # QEMU would truncate a file that is its output, and wants no socket; Ctrl-C is ours.
        process, heed = start(
            lambda: subprocess.Popen(
                self._words,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        )
        assert process.stdin and process.stdout and process.stderr
        # Our own input may never end.
        threading.Thread(target=self._feed, args=[process.stdin], daemon=True).start()
        outputs = (
            (process.stdout, self._streams.stdout, "standard output"),
            (process.stderr, self._streams.stderr, "standard error"),
        )
        drains = [threading.Thread(target=self._drain, args=pipe) for pipe in outputs]
        for drain in drains:
            drain.start()
        try:
            heed()
            self._reporter.start("booting", 0)
            try:
                self._wait_for(process, lambda: self._started, BOOT_SECONDS)
            finally:
                self._reporter.finish("booting")
            self._wait_for(process, lambda: self._unwritten is not None)
        finally:
            _end(process)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            for drain in drains:
                drain.join()
        if self._unwritten:
            raise self._unwritten
        if not self._started:
            raise self._failure("the machine ended before the command began")
        if process.returncode == UNEXPECTED and not self._ended:
            raise self._failure("the machine ended before the command did")
        self._remark()
        return process.returncode

    def interactive(self) -> None:
        """Boot, and hand the terminal over to a shell until that has ended."""
        errors = self._directory / "virtme.log"
        with errors.open("wb") as log:
            # In our process group: only the one in the foreground may read the terminal.
            process, heed = start(lambda: subprocess.Popen(self._words, stderr=log))
        try:
            heed()
            self._mark = INIT_STARTED
            self._wait_for(process, lambda: self._started, BOOT_SECONDS)
            self._wait_for(process, lambda: False)
        finally:
            _end(process)
        if not self._started:
            errors_printed = errors.read_text(errors="replace").strip()
            raise self._failure(f"the machine did not boot\n{errors_printed}")
        self._remark()

    def _wait_for(
        self,
        process: subprocess.Popen[bytes],
        done: Callable[[], bool],
        seconds: float = float("inf"),
    ) -> None:
        """Wait until it is done or the machine has ended. A panic and a hang are errors."""
        end = time.monotonic() + seconds
        while True:
            over = process.poll() is not None
            self._read()
            if self._panicked:
                ends_within(process, LAST_WORDS)
                raise self._failure("the kernel panicked")
            if over or done():
                return
            if time.monotonic() > end:
                raise self._failure(f"watchdog: the boot took longer than {seconds:g} s")
            ends_within(process, GLANCE)

    def _read(self) -> None:
        for line in self._tail.lines():
            self._started |= bool(self._mark.search(line))
            self._ended |= bool(COMMAND_ENDED.search(line))
            self._panicked |= PANIC in line
            self._coarse_clock |= CLOCK_COUNTS_TICKS in line
            if not self._complaint and ALARM.search(line):
                self._complaint = line

    def _remark(self) -> None:
        if self._coarse_clock:
            self._reporter.say(f"remark: in the guest, {COARSE_CLOCK}")
        if self._complaint:
            self._reporter.say(
                f"remark: the guest's kernel complained: {self._complaint} (all of it: {self._log})"
            )

    def _failure(self, what: str) -> BootError:
        last = Console(self._log).excerpt() or "(the kernel said nothing)"
        return BootError(f"{what}\n{last}\n(all that the machine said: {self._directory})")

    def _feed(self, sink: IO[bytes]) -> None:
        """Give the machine our input, to its end. The machine may end first."""
        try:
            with sink:
                while chunk := os.read(self._streams.stdin, CHUNK):
                    _write(sink.fileno(), chunk)
        except OSError:
            return

    def _drain(self, source: IO[bytes], sink: int, name: str) -> None:
        """Take all output of the machine, also when ours cannot be written any more."""
        with source:
            while chunk := source.read(CHUNK):
                try:
                    _write(sink, chunk)
                except OSError as error:
                    # For a broken pipe this is a BrokenPipeError.
                    self._unwritten = OSError(error.errno, error.strerror, name)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the machine, if it still runs. QEMU goes with virtme-run."""
    if process.poll() is None:
        process.terminate()
        ends_within(process, GRACE)
    process.kill()
    process.wait()


def _write(sink: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(sink, data) :]
        except BlockingIOError:
            # A process that shares the descriptor may have made it non-blocking.
            select.select([], [sink], [])
