# SPDX-License-Identifier: GPL-2.0
"""An experiment and results, for tests of the command line."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import samples

from fastlab.backend import contract, sim
from fastlab.base import tools
from fastlab.base.model import Kernel
from fastlab.base.process import ENDING
from fastlab.guest import meson
from fastlab.kernel import kernels, needs
from fastlab.kernel.kernels import BuildRequest
from fastlab.plan.experiment import load_experiment, plan
from fastlab.plan.run_log import RunLog, read_rows

EXPERIMENT = f"""
name = "small"
series = "6.12"
baseline = "baseline"
threads = [4]
seeds = [1, 2]
{samples.VARIANTS}
[[variant]]
name = "fast-deep"
kernel = "fast"
policy = "strict"
knobs = {{ depth = 32 }}

[[benchmark]]
name = "single_ctr"
iterations = 2000
"""
IDLE_FAST = {**samples.MECHANISM, "used": 0, "same_cpu": 0}


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """main() handles SIGTERM and SIGHUP; the tests give them back."""
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def write_results(file: Path, directory: Path, broken: str = "") -> None:
    """Rows of the whole experiment; FAST never fires in the variant `broken`."""
    experiment = load_experiment(file)
    directory.mkdir(parents=True)
    shutil.copy(file, directory / "experiment.toml")
    with RunLog(directory / "runs.jsonl") as log:
        for run in plan(experiment):
            given = {"mechanism": IDLE_FAST} if run.variant.name == broken else {}
            cycles = 1000 if run.variant.name == "baseline" else 400
            effect = {"cycles": cycles, "elapsed_cycles": cycles}
            log.append(samples.row(experiment, run, effect, **given))


class Stages:
    """Stand-ins for the stages before the results; remembers what they were asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, broken: str = "") -> None:
        self.asked: list[Any] = []
        self.broken = broken
        monkeypatch.setattr(tools, "require_qemu", lambda: tools.Qemu(Path("qemu"), 4))
        monkeypatch.setattr(meson, "build_programs", lambda project, reporter: Path("built"))
        monkeypatch.setattr(sim, "find_sim_toolbox", self.find_toolbox)
        monkeypatch.setattr(kernels, "build", self.build)
        monkeypatch.setattr(needs, "check", lambda arms, built: None)
        monkeypatch.setattr(sim, "Simulator", self.simulator)
        monkeypatch.setattr(contract, "run_experiment", self.run)

    @staticmethod
    def find_toolbox(
        qemu: tools.Qemu, build: str, further: tuple[str, ...], more: dict[str, Path]
    ) -> str:
        return " and ".join([f"toolbox of {build}", *more])

    def build(self, request: BuildRequest, reporter: object) -> tuple[Kernel, ...]:
        self.asked.append((request.series, request.variants))
        return tuple(Kernel("6.12", name, f"6.12-{name}", "", "") for name in request.variants)

    def simulator(self, *arguments: Any) -> Any:
        _, kernels, toolbox, directory, _, jobs = arguments
        ids = {name: kernel.id for name, kernel in kernels.items()}
        self.asked.append((ids, toolbox, directory, jobs))
        return SimpleNamespace(current=list)

    def run(self, machines: object, of: object, file: Path, directory: Path, *_: object) -> Any:
        write_results(file, directory, self.broken)
        return read_rows(directory / "runs.jsonl")[0]
