# SPDX-License-Identifier: GPL-2.0
"""The one object through which a stage says how far it is."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Progress of long work. Stages never print; the command line chooses an implementation."""

    def say(self, text: str) -> None:
        """One line a person should see."""

    def start(self, task: str, total: int) -> None:
        """Begin (or begin again) the named task of `total` steps."""

    def advance(self, task: str, done: int, note: str = "") -> None:
        """`done` steps of the task are finished; `note` says what is under way."""

    def finish(self, task: str) -> None:
        """The task is over."""
