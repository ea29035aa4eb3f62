# SPDX-License-Identifier: GPL-2.0
"""The Reporters: bars on a terminal, a line now and then anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

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

from fastlab.reporter import Reporter


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

    def advance(self, task: str, done: int, note: str = "") -> None:
        """Move the bar to `done` steps."""
        self._progress.update(self._tasks[task], completed=done, note=note)

    def finish(self, task: str) -> None:
        """Take the bar away; what it leaves to say, its stage says."""
        self._progress.remove_task(self._tasks.pop(task))
        if not self._tasks:
            self._progress.stop()

    def close(self) -> None:
        """Give the terminal back, also after an error in the middle of a task."""
        self._progress.stop()


@dataclass
class _Task:
    total: int
    begun: float
    spoken: float


class PlainReporter:
    """One line per `interval` seconds and task: for logs, pipes and dumb terminals."""

    def __init__(
        self,
        stream: TextIO,
        interval: float = 15.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._interval = interval
        self._clock = clock
        self._tasks: dict[str, _Task] = {}

    def say(self, text: str) -> None:
        """Print the line at once."""
        print(text, file=self._stream, flush=True)

    def start(self, task: str, total: int) -> None:
        """Begin to measure the task, or give it another total; 0 is an unknown total."""
        if task in self._tasks:
            self._tasks[task].total = total
            return
        now = self._clock()
        self._tasks[task] = _Task(total, begun=now, spoken=now)

    def advance(self, task: str, done: int, note: str = "") -> None:
        """Print how far the task is, unless it was told less than an interval ago."""
        state, now = self._tasks[task], self._clock()
        if now - state.spoken < self._interval:
            return
        state.spoken = now
        line = f"{task}: {done}/{state.total}" if state.total else f"{task}: {done}"
        if 0 < done <= state.total:
            left = (now - state.begun) * (state.total - done) / done
            line += f", about {_duration(left)} left"
        self.say(f"{line} ({note})" if note else line)

    def finish(self, task: str) -> None:
        """Print how long the task took, if it was long enough to have been mentioned."""
        state = self._tasks.pop(task)
        took = self._clock() - state.begun
        if took >= self._interval:
            self.say(f"{task}: over after {_duration(took)}")


@contextmanager
def make_reporter(stream: TextIO) -> Iterator[Reporter]:
    """The reporter that suits the stream: bars on a terminal, plain lines elsewhere."""
    console = Console(file=stream)
    if not console.is_terminal or console.is_dumb_terminal:
        yield PlainReporter(stream)
        return
    reporter = RichReporter(console)
    try:
        yield reporter
    finally:
        reporter.close()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
