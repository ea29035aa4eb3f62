# SPDX-License-Identifier: GPL-2.0
"""What tests of several files share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import EXPERIMENT, signals
from fake_machine import FakeMachine
from kernel_lab import Lab
from real_runs import FEW_BLOCKS

from fastlab.backend import kvm_guests, running_kernel
from fastlab.base.model import Experiment
from fastlab.plan.paired_plan import Plan, make_plan
from fastlab.statistics.significance import MIN_BLOCKS

__all__ = ["signals"]


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    return FakeMachine(tmp_path)


@pytest.fixture
def few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A/B experiments on real machines have a short calibration, and comparisons of as few blocks
    as can have a verdict: less than half of the usual runs."""

    def plan(experiment: Experiment, backend: str) -> Plan:
        return replace(
            make_plan(experiment, backend),
            calibration_blocks=FEW_BLOCKS,
            max_blocks=MIN_BLOCKS,
        )

    for module in (running_kernel, kvm_guests):
        monkeypatch.setattr(module, "make_plan", plan)


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


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], None]]:
    """Makes a directory read-only, also for root, until the test is over."""
    mounted: list[Path] = []

    def mount(directory: Path) -> None:
        for words in (["--bind", directory, directory], ["-o", "remount,bind,ro", directory]):
            answer = subprocess.run(["mount", *words], capture_output=True, text=True)
            if answer.returncode:
                pytest.skip(f"nothing can be mounted: {answer.stderr.strip()}")
            if not mounted:
                mounted.append(directory)

    yield mount
    for directory in mounted:
        subprocess.run(["umount", directory], check=True)
