# SPDX-License-Identifier: GPL-2.0
"""Of a program that was run nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from waiting import child_ends

from fastlab.base.model import FastError
from fastlab.base.process import Answer, ask, end_as_interrupted, ending, run_group

# It leaves behind a child that holds its output open.
LEAVING = "sleep 60 & echo $! >child.new; mv child.new child; exit 3"
STAYING = "sleep 60 & echo $! >child.new; mv child.new child; wait"


def run(script: str, seconds: float, directory: Path) -> int:
    return run_group(["sh", "-c", script], seconds, cwd=directory, stdout=subprocess.DEVNULL)


def test_the_status_is_the_programs_and_its_children_end_with_it(tmp_path: Path) -> None:
    assert run(LEAVING, 60, tmp_path) == 3
    assert child_ends(tmp_path)


def test_a_program_that_takes_too_long_ends_with_its_children(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(STAYING, 0.5, tmp_path)
    assert child_ends(tmp_path)


def test_what_was_asked_leaves_nothing(tmp_path: Path) -> None:
    """And does not keep us waiting for it."""
    begun = time.monotonic()
    answer = ask(["sh", "-c", f"cd {tmp_path}; echo a; echo b >&2; {LEAVING}"], 60)
    assert answer == Answer(3, "a\n", "b\n")
    assert time.monotonic() - begun < 50
    assert child_ends(tmp_path)


def test_what_does_not_answer_in_time_ends_with_its_children(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"did not end within 0\.5 s"):
        ask(["sh", "-c", f"cd {tmp_path}; {STAYING}"], 0.5)
    assert child_ends(tmp_path)


def test_an_interrupt_ends_what_was_asked(tmp_path: Path) -> None:
    """The terminal's Ctrl-C reaches us alone, for the program has a session of its own."""
    script = f"cd {tmp_path}; sleep 60 & echo $! >child; kill -INT {os.getpid()}; wait"
    with pytest.raises(KeyboardInterrupt):
        ask(["sh", "-c", script], 60)
    assert child_ends(tmp_path)


@pytest.fixture
def asked_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """We are asked to end when a program runs, and subprocess has not returned it yet."""
    popen = subprocess.Popen

    def start(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = popen(*words, **options)
        while not (tmp_path / "child").is_file():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGTERM)
        return process

    monkeypatch.setattr(subprocess, "Popen", start)
    end_as_interrupted()


def test_an_interrupt_amid_the_start_ends_what_was_started(
    asked_at_the_start: None, tmp_path: Path
) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        run(STAYING, 60, tmp_path)
    assert child_ends(tmp_path)
    assert signal.getsignal(signal.SIGTERM) is handler


def test_what_does_not_end_us_does_not_end_what_is_started(
    asked_at_the_start: None, tmp_path: Path
) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert run(LEAVING, 60, tmp_path) == 3
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    assert run(LEAVING, 60, tmp_path) == 3
    assert heard == [signal.SIGTERM]


def test_programs_are_started_by_other_threads(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(run, "exit 3", 60, tmp_path).result() == 3


def test_what_cannot_be_run(tmp_path: Path) -> None:
    with pytest.raises(FastError, match="cannot be run: No such file or directory"):
        ask([str(tmp_path / "nothing")], 60)
    assert ask(["printenv"], 60, {"A": "b"}).output == "A=b\n"


@pytest.mark.parametrize(
    ("status", "said"),
    [(-11, "killed by SIGSEGV"), (-40, "killed by signal 40"), (3, "ended with status 3")],
)
def test_how_a_program_ended(status: int, said: str) -> None:
    assert ending(status, "") == said
    assert ending(status, "first\nlast\n") == f"{said}: last"


def test_a_signal_is_a_negative_status(tmp_path: Path) -> None:
    assert run("kill -TERM $$", 60, tmp_path) == -15
