# SPDX-License-Identifier: GPL-2.0
"""A kernel of another series than the primary one: it boots, is measured, and has what experiments
switch (experiments/series.toml)."""

from __future__ import annotations

import threading

import pytest
from lab import PROJECT, Lab, built, kernel

from fastlab.base.model import Variant, Watchdogs
from fastlab.guest import vm
from fastlab.plan.experiment import load_experiment

EXPERIMENT = load_experiment(PROJECT / "experiments/series.toml")
ARMS = [arm for arm in EXPERIMENT.variants if arm.kernel == "7.3"]
THREADS = 4
WORDS = ["/bin/single_ctr", f"--threads={THREADS}", "--iterations=2000", "--warmup=200", "--json"]

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    (machine,) = EXPERIMENT.machines
    path = tmp_path_factory.mktemp("other-series") / "lab"
    return Lab(path, kernel("baseline", series="7.3"), machine=machine)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: str(arm.name))
def test_a_benchmark_is_measured_in_every_arm(lab: Lab, arm: Variant) -> None:
    outcome = run(lab, arm, "first")
    assert outcome.exit_status == 0, outcome.errors
    assert outcome.document is not None
    busy = [one for one in outcome.document["per_cpu"] if one["user"]["instructions"]]
    # Threads run side by side; one that the kernel moves has been on two.
    assert len(busy) > 1
    assert run(lab, arm, "again").document == outcome.document


def run(lab: Lab, arm: Variant, name: str) -> vm.Outcome:
    return vm.run_job(
        lab.simulation,
        lab.path / "saved" / vm.SNAPSHOT,
        built().plugin,
        vm.arm_job(arm, WORDS),
        lab.path / f"{arm.name}-{name}",
        Watchdogs(),
        threading.Event(),
    )
