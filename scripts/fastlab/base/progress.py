# SPDX-License-Identifier: GPL-2.0
"""Progress of long work: the interface that stages use, and its implementation for logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TextIO, TypeVar

_T = TypeVar("_T")


class Reporter(Protocol):
    """Progress of long work. Stages never print; the command line chooses an implementation."""

    def say(self, text: str) -> None:
        """Show one line to the user."""

    def start(self, task: str, total: int) -> None:
        """Begin (or begin again) the named task of `total` steps."""

    def advance(self, task: str, done: int, note: str = "") -> None:
        """`done` steps of the task are finished; `note` says what is under way."""

    def finish(self, task: str) -> None:
        """The task is over."""

    def hold_still(self) -> None:
        """From now on do no work between two calls: it would run on a measured CPU."""


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
        # There is no estimate after the last known step.
        if 0 < done < state.total:
            left = (now - state.begun) * (state.total - done) / done
            line += f", about {_duration(left)} left"
        self.say(f"{line} ({note})" if note else line)

    def finish(self, task: str) -> None:
        """Print how long the task took, if it was long enough to have been mentioned."""
        state = self._tasks.pop(task)
        took = self._clock() - state.begun
        if took >= self._interval:
            self.say(f"{task}: over after {_duration(took)}")

    def hold_still(self) -> None:
        """This reporter never works between calls."""


def steps(
    reporter: Reporter, task: str, every: Iterable[_T], note: Callable[[_T], str] = lambda step: ""
) -> Iterator[_T]:
    """Yield each item, as one step of a task."""
    known = list(every)
    reporter.start(task, len(known))
    try:
        for done, step in enumerate(known):
            reporter.advance(task, done, note(step))
            yield step
    finally:
        # Also if the caller is interrupted: a bar that remains would hold the terminal.
        reporter.finish(task)


@contextmanager
def make_reporter(stream: TextIO) -> Iterator[Reporter]:
    """The reporter that suits the stream: bars on a terminal, plain lines elsewhere."""
    if not stream.isatty():
        yield PlainReporter(stream)
        return
    from rich.console import Console

    from fastlab.base.bars import RichReporter

    console = Console(file=stream)
    if console.is_dumb_terminal:
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
