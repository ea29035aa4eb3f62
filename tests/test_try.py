# SPDX-License-Identifier: GPL-2.0
"""`fast try` in real guests: what it says of programs whose hand-offs are known, and of xz."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from lab import PROJECT

from fastlab import trial, verdict
from fastlab.model import FastError, Machine
from fastlab.progress import PlainReporter
from fastlab.trial import ARMS, QUANTA, Trial

SOURCE = PROJECT / "tests/two_locks.c"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where two_locks is."""
    path = tmp_path_factory.mktemp("try")
    subprocess.run(["gcc", "-O2", "-o", path / "two_locks", SOURCE, "-pthread"], check=True)
    return path


def run(directory: Path, *argv: str, seconds: float = 600.0) -> Trial:
    request = trial.Request(argv, (), Machine(), seconds, directory)
    return trial.run(request, PlainReporter(io.StringIO()))


def handoffs(found: Trial) -> list[dict[str, int]]:
    """Of each run, by the names of the locks that had any."""
    return [
        {lock.name: lock.handoffs for lock in shot.locks if lock.handoffs} for shot in found.shots
    ]


def test_known_hand_offs_of_named_locks(directory: Path) -> None:
    found = run(directory, "./two_locks")
    assert handoffs(found) == [{"often": 30, "seldom": 10}] * (len(ARMS) * len(QUANTA))
    for shot in found.shots:
        assert shot.mechanism["hint_set"] == (40 if shot.arm == "strict" else 0)
        assert None not in shot.values.values()
    # There the main thread looks for its waiter until its slice is over.
    assert verdict.changes(found, trial.ONE_CPU)[verdict.TIME].side == "worse"
    assert found.uncontrolled == ""
    (one,) = verdict.judge(found)
    # Each waiter did nothing but wait on another CPU; FAST lets it go on beside its lock.
    assert one.kind == "helps"
    assert run(directory, "./two_locks").shots == found.shots


def test_locks_with_priority_inheritance_are_left_alone(directory: Path) -> None:
    found = run(directory, "./two_locks", "inherit")
    for shot in found.shots:
        unlocks = {lock.name: lock.pi_unlocks for lock in shot.locks if lock.pi_unlocks}
        # Five waiters, each of which cannot know that nobody waits for it.
        assert unlocks == {"inheriting": 10}
    (one,) = verdict.judge(found)
    assert one.kind == "nothing to act on"
    assert "priority inheritance alone, which the kernel unlocked 10 times a run" in one.sentence


def test_a_program_without_locks_gives_nothing_to_act_on(directory: Path) -> None:
    found = run(directory, "./two_locks", "alone")
    assert handoffs(found) == [{}] * (len(ARMS) * len(QUANTA))
    (one,) = verdict.judge(found)
    assert one.kind == "nothing to act on"


def test_a_program_that_fails_is_an_error_with_its_words(directory: Path) -> None:
    with pytest.raises(FastError) as caught:
        run(directory, "./two_locks", "fail")
    said = str(caught.value)
    assert f"{directory}/two_locks ended with status 3 with policy" in said
    assert "this is why" in said


def test_a_program_that_hangs_is_ended(directory: Path) -> None:
    with pytest.raises(FastError, match=r"took longer than 3 s with policy .* \(--timeout\)"):
        run(directory, "./two_locks", "hang", seconds=3.0)


@pytest.mark.full
def test_a_program_with_markers_is_measured_by_them(tmp_path: Path) -> None:
    source = tmp_path / "marked.c"
    source.write_text(
        SOURCE.read_text()
        .replace("#include <pthread.h>", '#include <pthread.h>\n#include "roi.h"', 1)
        .replace(
            "\tfor (int i = 0; i < 40", "\troi_warmup();\n\troi_begin();\n\tfor (int i = 0; i < 8"
        )
        .replace("\treturn 0;\n}\n", "\troi_end();\n\treturn 0;\n}\n")
    )
    command = ["gcc", "-O2", f"-I{PROJECT}/userspace/roi", "-o", "marked", source, "-pthread"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = run(tmp_path, "./marked")
    assert found.marked
    assert handoffs(found) == [{"often": 6, "seldom": 2}] * (len(ARMS) * len(QUANTA))
    with pytest.raises(FastError, match="but did not pass them"):
        run(tmp_path, "./marked", "alone")


@pytest.mark.full
def test_xz_with_threads(tmp_path: Path) -> None:
    """A program of a third party: a verdict, and hand-offs that have a place."""
    xz = shutil.which("xz")
    if not xz:
        pytest.skip("xz is not installed (Debian package xz-utils)")
    text = random.Random(1).choices(b"abcdefgh     ", k=1 << 18)
    (tmp_path / "text").write_bytes(bytes(text))
    found = run(tmp_path, "xz", "-1", "-T4", "--block-size=32768", "-k", "-c", "text")
    (one,) = verdict.judge(found)
    assert one.sentence.startswith("FAST ")
    for shot in found.shots:
        assert shot.values["instructions"] > 10_000_000
        assert any(lock.handoffs and lock.name.startswith("heap") for lock in shot.locks)
        assert all(lock.program for lock in shot.locks)
