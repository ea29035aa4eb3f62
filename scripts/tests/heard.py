# SPDX-License-Identifier: GPL-2.0
"""A Reporter for tests."""

from __future__ import annotations


class Heard:
    """A Reporter that remembers, and can raise an error when an object's turn comes."""

    def __init__(self, stop_at: str = "") -> None:
        self.said: list[str] = []
        self.objects: list[str] = []
        self.steps: list[tuple[str, int]] = []
        self.stop_at = stop_at

    def say(self, text: str) -> None:
        self.said.append(text)

    def start(self, task: str, total: int) -> None:
        self.steps.append((f"start {task}", total))

    def advance(self, task: str, done: int, note: str = "") -> None:
        self.objects.append(note)
        if self.stop_at and self.stop_at in note:
            raise KeyboardInterrupt

    def finish(self, task: str) -> None:
        self.steps.append((f"finish {task}", 0))

    def hold_still(self) -> None: ...

    @property
    def text(self) -> str:
        return "\n".join(self.said)
