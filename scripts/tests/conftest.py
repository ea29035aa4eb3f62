# SPDX-License-Identifier: GPL-2.0
"""What tests of several files share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import EXPERIMENT
from kernel_lab import Lab

from fastlab.base.process import ENDING


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """main() handles SIGTERM and SIGHUP; the tests give them back."""
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def experiment_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small experiment in the working directory, which is a fresh one."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """For builds of a fake kernel, whose ccache is its own."""
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "ccache"))
    return Lab(tmp_path)
