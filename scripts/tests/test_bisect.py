# SPDX-License-Identifier: GPL-2.0
"""experiments/bisect.sh finds a planted regression, and what it cannot judge it skips."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "experiments/bisect.sh"
# Stands for the command: a kernel that says `slow` is slow, one that says `broken` does not build.
FAKE = """#!/bin/sh
echo "$@" >> ../asked
[ "$FAKE_STATUS" ] && exit "$FAKE_STATUS"
grep -q broken sched.c && exit 1
grep -q slow sched.c && exit 4
exit 0
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Eight patches above the tag `good`; the sixth is slow, the fourth does not build."""
    for name in ("fast", "program"):
        command = tmp_path / name
        command.write_text(FAKE)
        command.chmod(0o755)
    repository = tmp_path / "linux"
    repository.mkdir()
    git(repository, "init", "-q")
    texts = [f"patch {number}\n" for number in range(9)]
    texts[4] = "broken\n"
    texts[6:] = [f"{text}slow\n" for text in texts[6:]]
    for number, text in enumerate(texts):
        (repository / "sched.c").write_text(text)
        git(repository, "add", ".")
        git(repository, "commit", "-qm", f"patch {number}")
        if not number:
            git(repository, "tag", "good")
    return repository


def git(repository: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    # By the names of commits git chooses what to try after a skipped one.
    dates = {f"GIT_{whose}_DATE": "2026-01-01T00:00:00Z" for whose in ("AUTHOR", "COMMITTER")}
    done = subprocess.run(
        ["git", *who, *words],
        cwd=repository,
        env={**os.environ, **dates},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def judged(
    repository: Path, status: str = "", good: str = "good", program: str = "../program"
) -> subprocess.CompletedProcess[str]:
    variables = {"FAST": str(repository.parent / "fast"), "FAKE_STATUS": status}
    return subprocess.run(
        ["git", "bisect", "run", SCRIPT, good, "3", program, "two words"],
        cwd=repository,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )


def test_it_finds_the_patch_that_made_it_slow(repository: Path) -> None:
    git(repository, "bisect", "start", "HEAD", "good")
    done = judged(repository)
    assert done.returncode == 0, done.stderr
    assert git(repository, "log", "-1", "--format=%s", "refs/bisect/bad") == "patch 6\n"
    asked = (repository.parent / "asked").read_text().splitlines()
    assert set(asked) == {"ab --kernel .@good --kernel . --fail-below=-3 -- ../program two words"}
    # Of eight: three, and what the skipped one costs.
    assert len(asked) <= 4


def test_what_cannot_be_judged_is_skipped(repository: Path) -> None:
    git(repository, "bisect", "start", "HEAD", "good")
    done = judged(repository, "1")
    assert done.returncode != 0
    assert "skip" in git(repository, "bisect", "log")


@pytest.mark.parametrize("status", ["2", "130"])
def test_a_wrong_command_line_and_an_interrupt_stop_it(repository: Path, status: str) -> None:
    git(repository, "bisect", "start", "HEAD", "good")
    assert judged(repository, status).returncode != 0
    assert len((repository.parent / "asked").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"good": "v9.9"}, "v9.9 is no revision of "),
        ({"program": "./no-such"}, "./no-such is no program; give its whole path"),
        ({}, "holds a build of its own; run make mrproper"),
    ],
)
def test_what_is_wrong_with_every_revision_stops_it(
    repository: Path, given: dict[str, str], said: str
) -> None:
    if not given:
        (repository / ".config").touch()
    git(repository, "bisect", "start", "HEAD", "good")
    done = judged(repository, **given)
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
    assert not (repository.parent / "asked").exists()
    assert "skip" not in git(repository, "bisect", "log")


def test_it_tells_how_it_is_used() -> None:
    done = subprocess.run([SCRIPT, "good", "3"], capture_output=True, text=True)
    assert done.returncode == 255
    assert "usage: bisect.sh GOOD PERCENT PROGRAM" in done.stderr
