# SPDX-License-Identifier: GPL-2.0
"""`fast --help`, and an argument that is wrong, answer at once."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from fastlab.base.project import PROJECT
from fastlab.cli.plugins import BESIDE

# What is asked of an idle machine is 0.4 s, in which Python itself starts about thirty times.
STARTS = 30
ROUNDS = 5
TELL = "import json, sys; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
PARSER = "from fastlab.cli.main import make_parser; make_parser(); "


def run(*words: str) -> str:
    environment = {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True).stdout


def seconds(*words: str) -> float:
    """On a CPU, which other programs do not lengthen as they do the wait; the least of some."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    taken = []
    for _ in range(ROUNDS):
        before = spent()
        run(*words)
        taken.append(spent() - before)
    return min(taken)


def test_the_command_line_needs_python_alone() -> None:
    """scipy, matplotlib, rich and other packages are loaded where they are used."""
    # Some environments load modules of their own into every Python.
    loaded = {*json.loads(run("-c", TELL)), *sys.stdlib_module_names}
    ours = {"fastlab", *(path.stem for path in PROJECT.glob(BESIDE))}
    assert {*json.loads(run("-c", PARSER + TELL))} - loaded == ours


@pytest.mark.parametrize("words", [["--help"], ["--no-such-option"], ["compare"]])
def test_it_answers_at_once(words: list[str]) -> None:
    assert seconds("-m", "fastlab.cli", *words) < STARTS * seconds("-c", "pass")
