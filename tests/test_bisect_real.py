# SPDX-License-Identifier: GPL-2.0
"""experiments/bisect.sh finds a planted regression among eight patches of a kernel."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from lab import PROJECT, compile_guest, pristine

SLOW = 6
# Each wake-up of a thread that the fair class places.
PLACE = "select_task_rq_fair(struct task_struct *p, int prev_cpu, int wake_flags)\n{\n"
PLANTED = "\tfor (volatile int planted = 0; planted < 3000; planted++)\n\t\tbarrier();\n"


def git(repository: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *who, *words], cwd=repository, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.mark.full
def test_a_planted_regression_is_found(tmp_path: Path) -> None:
    repository = tmp_path / "linux"
    shutil.copytree(pristine(), repository, symlinks=True)
    fair = repository / "kernel/sched/fair.c"
    git(repository, "init", "-q")
    # Not beside the builds.
    git(repository, "config", "gc.auto", "0")
    git(repository, "add", "--all", "--force")
    git(repository, "commit", "-qm", "base")
    git(repository, "tag", "good")
    for number in range(1, 9):
        text = fair.read_text()
        if number == SLOW:
            assert text.count(PLACE) == 1
            text = text.replace(PLACE, PLACE + PLANTED)
        fair.write_text(f"{text}/* patch {number} */\n")
        git(repository, "commit", "-qam", f"patch {number}")
    program = compile_guest("waking_pairs", tmp_path)
    git(repository, "bisect", "start", "HEAD", "good")
    git(
        repository,
        "bisect",
        "run",
        str(PROJECT / "experiments/bisect.sh"),
        "good",
        "2",
        str(program),
    )
    found = git(repository, "log", "-1", "--format=%s", "refs/bisect/bad")
    assert found == f"patch {SLOW}\n"
