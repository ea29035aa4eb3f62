# SPDX-License-Identifier: GPL-2.0
"""Progress is told at sensible intervals, and the terminal is given back."""

from __future__ import annotations

import io
import threading
import time

import pytest
from rich.console import Console
from waiting import eventually

from fastlab.base.bars import RichReporter
from fastlab.base.progress import PlainReporter, make_reporter, steps


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def test_plain_speaks_once_per_interval(stream: io.StringIO, clock: Clock) -> None:
    reporter = PlainReporter(stream, interval=10, clock=clock)
    reporter.start("build", 100)
    for done in range(1, 31):
        clock.now += 1
        reporter.advance("build", done, f"{done}.o")
    assert stream.getvalue().splitlines() == [
        "build: 10/100, about 1 min 30 s left (10.o)",
        "build: 20/100, about 1 min 20 s left (20.o)",
        "build: 30/100, about 1 min 10 s left (30.o)",
    ]


def test_plain_with_nothing_done_promises_no_time(stream: io.StringIO, clock: Clock) -> None:
    reporter = PlainReporter(stream, interval=10, clock=clock)
    reporter.start("build", 100)
    clock.now += 10
    reporter.advance("build", 0)
    assert stream.getvalue() == "build: 0/100\n"


def test_plain_does_not_call_the_last_known_step_the_end(stream: io.StringIO, clock: Clock) -> None:
    """More may follow: runs that the first ones ask for, objects that no build has counted."""
    reporter = PlainReporter(stream, interval=10, clock=clock)
    reporter.start("runs", 1)
    clock.now += 10
    reporter.advance("runs", 1)
    reporter.start("runs", 4)
    clock.now += 10
    reporter.advance("runs", 2)
    assert stream.getvalue() == "runs: 1/1\nruns: 2/4, about 20 s left\n"


def test_plain_tells_the_duration_of_long_tasks_only(stream: io.StringIO, clock: Clock) -> None:
    reporter = PlainReporter(stream, interval=10, clock=clock)
    for task, seconds in (("short", 3), ("long", 75)):
        reporter.start(task, 1)
        clock.now += seconds
        reporter.finish(task)
    assert stream.getvalue() == "long: over after 1 min 15 s\n"


def test_a_second_start_changes_the_total_and_keeps_the_clock(
    stream: io.StringIO, clock: Clock
) -> None:
    reporter = PlainReporter(stream, interval=10, clock=clock)
    reporter.start("build", 10)
    clock.now += 10
    reporter.start("build", 20)
    reporter.advance("build", 10)
    assert stream.getvalue() == "build: 10/20, about 10 s left\n"


def test_a_pipe_gets_plain_lines(stream: io.StringIO) -> None:
    with make_reporter(stream) as reporter:
        reporter.say("[bold]x[/bold]")
    assert stream.getvalue() == "[bold]x[/bold]\n"


def terminal(stream: io.StringIO) -> RichReporter:
    return RichReporter(Console(file=stream, force_terminal=True, width=120))


def test_rich_shows_task_count_and_note(stream: io.StringIO) -> None:
    reporter = terminal(stream)
    reporter.start("build", 790)
    reporter.advance("build", 395, "kernel/fork.o")
    reporter.say("[not markup]")
    # The bars are drawn ten times a second.
    assert eventually(lambda: "395/790" in stream.getvalue())
    reporter.finish("build")
    for part in ("build", "395/790", "kernel/fork.o", "[not markup]"):
        assert part in stream.getvalue()


@pytest.mark.parametrize("before", [True, False])
def test_rich_draws_only_what_it_is_told_where_something_is_measured(
    stream: io.StringIO, before: bool
) -> None:
    reporter = terminal(stream)
    if before:
        reporter.hold_still()
    reporter.start("running ab", 500)
    if not before:
        reporter.hold_still()
    reporter.advance("running ab", 100, "strict")
    assert "100/500" in stream.getvalue()
    drawn = stream.getvalue()
    time.sleep(0.3)
    assert stream.getvalue() == drawn
    assert not [one for one in threading.enumerate() if "RefreshThread" in type(one).__name__]
    reporter.finish("running ab")


def test_rich_gives_the_cursor_back_after_an_error(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(RuntimeError), make_reporter(stream) as reporter:
        assert isinstance(reporter, RichReporter)
        reporter.start("build", 10)
        raise RuntimeError
    hide, show = "\x1b[?25l", "\x1b[?25h"
    assert stream.getvalue().count(hide) == stream.getvalue().count(show) == 1


def test_steps_that_are_broken_off_are_over(stream: io.StringIO) -> None:
    reporter = terminal(stream)
    with pytest.raises(KeyboardInterrupt):
        for _ in steps(reporter, "measuring", range(3)):
            raise KeyboardInterrupt
    # The cursor is visible again.
    assert stream.getvalue().endswith("\x1b[?25h")
    reporter.start("measuring", 5)
    reporter.finish("measuring")


def test_rich_draws_again_after_all_tasks_were_over(stream: io.StringIO) -> None:
    reporter = terminal(stream)
    for name in ("first", "second"):
        reporter.start(name, 2)
        reporter.advance(name, 1)
        reporter.say("line")
        reporter.finish(name)
    assert "second" in stream.getvalue()
