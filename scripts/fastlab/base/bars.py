# SPDX-License-Identifier: GPL-2.0
"""The Reporter of a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class RichReporter:
    """Progress bars with the time left, drawn on a terminal. Used by one thread at a time."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            # The display refreshes itself, so the estimate ages between two steps.
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", style="dim"),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}

    def say(self, text: str) -> None:
        """Print the line above the bars. The text is plain: brackets are no markup."""
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def start(self, task: str, total: int) -> None:
        """Show a bar, or give a bar that is shown another total; 0 is an unknown total."""
        if task in self._tasks:
            self._progress.update(self._tasks[task], total=total)
            return
        if not self._tasks:
            self._progress.start()
        self._tasks[task] = self._progress.add_task(task, total=total or None, note="")
        self._draw()

    def advance(self, task: str, done: int, note: str = "") -> None:
        """Move the bar to `done` steps."""
        self._progress.update(self._tasks[task], completed=done, note=note)
        self._draw()

    def finish(self, task: str) -> None:
        """Remove the bar. The stage itself prints its result."""
        self._progress.remove_task(self._tasks.pop(task))
        if not self._tasks:
            self._progress.stop()

    def hold_still(self) -> None:
        """Draw only when a stage reports something: the thread that refreshes the display takes
        more than a hundredth of a CPU."""
        self._progress.stop()
        self._progress.live.auto_refresh = False
        if self._tasks:
            self._progress.start()

    def _draw(self) -> None:
        """Draw now if no thread refreshes the display."""
        if not self._progress.live.auto_refresh:
            self._progress.refresh()

    def close(self) -> None:
        """Give the terminal back, also after an error in the middle of a task."""
        self._progress.stop()
