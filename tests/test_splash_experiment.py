# SPDX-License-Identifier: GPL-2.0
"""The nine SPLASH-2 programs in the simulated machine, on both kernels: right, and measured."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from lab import PROJECT, kernel

from fastlab.backend.contract import run_experiment
from fastlab.backend.sim import Simulator, find_sim_toolbox
from fastlab.base.model import Experiment
from fastlab.base.progress import PlainReporter
from fastlab.base.tools import require_qemu
from fastlab.guest import meson
from fastlab.plan.experiment import load_experiment
from fastlab.plan.plan_file import simulations
from fastlab.plan.rows import Row
from fastlab.plan.splash_sizes import OPTIONS
from fastlab.statistics.simulated import summarise

FILE = PROJECT / "experiments/splash2-short.toml"
THREADS = (1, 2, 4, 7, 16, 64)


def make_runs(experiment: Experiment, directory: Path) -> list[Row]:
    reporter = PlainReporter(io.StringIO())
    build = meson.build_programs(PROJECT, reporter)
    toolbox = find_sim_toolbox(require_qemu(), build, experiment.benchmarks)
    kernels = {variant.kernel: kernel(variant.kernel) for variant in experiment.variants}
    machines = Simulator(experiment, kernels, toolbox, directory, reporter)
    return machines.current(run_experiment(machines, experiment, FILE, directory, reporter))


@pytest.mark.full
def test_all_pass_their_checks_in_a_guest(tmp_path: Path) -> None:
    short = load_experiment(FILE)
    workloads = {replace(one, threads=count): None for one in short.workloads for count in THREADS}
    experiment = replace(short, variants=short.variants[:1], workloads=tuple(workloads), seeds=(1,))
    rows = make_runs(experiment, tmp_path / "results")
    assert len(rows) == len(OPTIONS) * len(THREADS)
    assert {(row["status"], row["check"]) for row in rows} == {("ok", "ok")}


def test_a_seed_is_another_beginning(tmp_path: Path) -> None:
    """Of a program, too, whose steps no input changes."""
    short = load_experiment(FILE)
    fft = tuple(one for one in short.workloads if one.benchmark == "fft" and one.threads == 4)
    first = replace(short, variants=short.variants[:1], workloads=fft, seeds=(1, 2))
    rows = make_runs(first, tmp_path / "results")
    assert [row["check"] for row in rows] == ["ok", "ok"]
    assert len({row["elapsed_ns"] for row in rows}) == 2


def test_adaptive_does_not_take_a_barrier_for_a_lock(tmp_path: Path) -> None:
    """Many threads on few CPUs leave a barrier and take its mutex one after the other."""
    short = load_experiment(FILE)
    lu = tuple(
        one for one in short.workloads if one.benchmark == "lu_contiguous" and one.threads == 128
    )
    adaptive = tuple(one for one in short.variants if one.policy == "adaptive")
    alone = replace(short, variants=adaptive, baseline="adaptive", workloads=lu, seeds=(1,))
    (row,) = make_runs(alone, tmp_path / "results")
    assert row["check"] == "ok"
    assert row["mechanism"]["hint_set"] == 0


@pytest.mark.full
def test_the_short_experiment(tmp_path: Path) -> None:
    experiment = replace(load_experiment(FILE), seeds=(1,))
    rows = make_runs(experiment, tmp_path / "results")

    assert [row["reason"] for row in rows if row["status"] != "ok"] == []
    assert {row["benchmark"] for row in rows if row["variant"] == "baseline"} == {*OPTIONS}
    strict = [row["mechanism"] for row in rows if row["variant"] == "strict"]
    assert any(counted and counted["used"] for counted in strict)
    for row in rows:
        assert row["check"] == "ok"
        assert row["profile"]["barriers"] > 0
        assert row["counters"]["l2_references"]["user"] > 0

    waits = summarise(simulations(experiment), rows).synchronization
    assert len(waits) >= 2 * len(OPTIONS)
    assert all(0 <= one.barrier_share <= 1 for one in waits)
