# SPDX-License-Identifier: GPL-2.0
"""The programs are built by one at a time, with programs that act as meson and ninja."""

from __future__ import annotations

import fcntl
import io
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import kill_when

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.guest import meson

FAKE = """#!/bin/sh
echo begin $(basename $0) >>{log}
sleep 0.3
echo end $(basename $0) >>{log}
{more}
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What was run, when it began and ended."""
    log, programs = tmp_path / "log", tmp_path / "bin"
    programs.mkdir()
    for name, more in (("meson", 'mkdir -p "$2"; touch "$2/build.ninja"'), ("ninja", "")):
        program = programs / name
        program.write_text(FAKE.format(log=log, more=more))
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return log


def benchmarks(project: Path, reporter: PlainReporter) -> Path:
    return meson.build_benchmarks(project, [], reporter, ["benchmarks"])


@pytest.mark.parametrize(
    ("build", "runs"),
    [
        (meson.build_programs, ["meson", "ninja", "ninja"]),
        (benchmarks, ["meson", "ninja", "meson", "ninja"]),
    ],
)
def test_two_builds_at_once_take_turns(
    build: Callable[[Path, PlainReporter], Path], runs: list[str], log: Path, tmp_path: Path
) -> None:
    heard = io.StringIO()
    builders = [
        threading.Thread(target=build, args=[tmp_path, PlainReporter(heard)]) for _ in range(2)
    ]
    for one in builders:
        one.start()
    for one in builders:
        one.join()
    lines = log.read_text().splitlines()
    assert lines == [f"{what} {name}" for name in runs for what in ("begin", "end")]
    assert "is at work; waiting" in heard.getvalue()


def test_meson_that_is_missing_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FastError, match="meson is missing: install the Debian package meson "):
        meson.build_programs(tmp_path, PlainReporter(io.StringIO()))


def test_a_ninja_that_outlives_its_killed_fast_has_the_directory(log: Path, tmp_path: Path) -> None:
    ninja = tmp_path / "bin/ninja"
    ninja.write_text("#!/bin/sh\necho $$ >ninja.new; mv ninja.new ninja; exec sleep 60\n")
    script = (
        "import sys; from pathlib import Path; from fastlab.base.progress import PlainReporter\n"
        "from fastlab.guest import meson\n"
        f"meson.build_programs(Path({str(tmp_path)!r}), PlainReporter(sys.stderr))\n"
    )
    kill_when((tmp_path / "ninja").exists, script, cwd=tmp_path)
    with (tmp_path / "build/user.lock").open() as file:
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.kill(int((tmp_path / "ninja").read_text()), signal.SIGKILL)
        fcntl.flock(file, fcntl.LOCK_EX)
