# SPDX-License-Identifier: GPL-2.0
"""A QEMU process while it runs: its console, its control connection, and why it ended."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastlab.base.model import FastError
from fastlab.base.process import ends_within, signal_name
from fastlab.guest.alarms import Console
from fastlab.guest.qmp import Qmp, QmpError

# Host seconds that QEMU may take to answer a command. A host that builds a kernel is slow.
ANSWER_SECONDS = 120.0
# Interval between two looks at console and clock, and the time for a kernel message to complete, in
# host seconds.
GLANCE = 0.05
LAST_WORDS = 0.5


class GuestError(FastError):
    """A machine that did not do what it was asked; the text names its files."""


class WatchdogError(GuestError):
    """The machine took longer than it was allowed to."""


class CancelledError(FastError):
    """The machine was ended because the experiment is over."""


class RunningVm:
    """One QEMU process under way in its directory."""

    def __init__(
        self,
        directory: Path,
        process: subprocess.Popen[bytes],
        control: Qmp,
        cancelled: threading.Event,
    ) -> None:
        self.directory = directory
        self.process = process
        self._control = control
        self._console = Console(directory / "serial.log")
        self._cancelled = cancelled

    def execute(self, command: str, **arguments: Any) -> Any:
        try:
            return self._control.execute(command, ANSWER_SECONDS, **arguments)
        except QmpError as error:
            self.explain_end()
            raise self.failure(str(error)) from error

    def status(self) -> str:
        return str(self.execute("query-status")["status"])

    def saved(self) -> bool:
        state = self.execute("query-migrate")
        if state["status"] == "failed":
            raise self.failure(f"the machine cannot be saved: {state.get('error-desc', 'failed')}")
        return bool(state["status"] == "completed")

    def heard(self, event: str) -> bool:
        """Has QEMU reported the event? Waits for a moment."""
        try:
            self._control.listen(GLANCE)
        except QmpError as error:
            self.explain_end()
            raise self.failure(str(error)) from error
        return event in self._control.events

    def host_lines(self) -> list[str]:
        """The complete lines that the guest has sent to the host so far."""
        text = (self.directory / "host").read_bytes().decode(errors="replace")
        return text.split("\n")[:-1]

    def wait_for(
        self, done: Callable[[], bool], stage: str, seconds: float, may_end: bool = False
    ) -> None:
        """Wait until `done`, or, with `may_end`, until QEMU ends. Anything else is an error."""
        end = time.monotonic() + seconds
        while True:
            ended = self.process.poll() is not None
            if self._console.alarmed():
                ends_within(self.process, LAST_WORDS)
                raise self.failure(f"the guest's kernel is in trouble:\n{self._console.excerpt()}")
            if ended and may_end:
                return
            if ended:
                self.explain_end()
            if done():
                return
            if self._cancelled.is_set():
                raise CancelledError("the run was ended before it was finished")
            if time.monotonic() > end:
                raise self.failure(
                    f"watchdog: {stage} took longer than {seconds:g} s; the guest hangs, or "
                    f"[watchdogs] of the experiment allow too little\n{self._console.excerpt()}",
                    WatchdogError,
                )
            ends_within(self.process, GLANCE)

    def failure(self, what: str, kind: type[GuestError] = GuestError) -> GuestError:
        return kind(f"{what.rstrip()}\n(all that the machine said: {self.directory})")

    def explain_end(self) -> None:
        """Raise the reason of QEMU's end; returns if QEMU still runs."""
        if not ends_within(self.process, LAST_WORDS):
            return
        status = self.process.returncode
        if self._console.alarmed():
            raise self.failure(f"the guest's kernel is in trouble:\n{self._console.excerpt()}")
        last_words = "\n".join(self._errors()) or self._console.excerpt()
        if status < 0:
            name = signal_name(-status)
            raise self.failure(f"QEMU was killed by {name} before the guest's end\n{last_words}")
        if status == 0:
            raise self.failure(f"the guest ended without saying how its job went\n{last_words}")
        raise self.failure(f"QEMU ended with status {status}\n{last_words}")

    def _errors(self) -> list[str]:
        """Complaints of QEMU, the plugin and the guest's init."""
        lines = (self.directory / "qemu.log").read_text(errors="replace").splitlines()
        complaints = [line for line in lines if "has no peer" not in line]
        return complaints + [line for line in self.host_lines() if line.startswith("FAST err ")]
