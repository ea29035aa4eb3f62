# SPDX-License-Identifier: GPL-2.0
"""The nine SPLASH-2 programs in the simulated machine, on both kernels: right, and measured."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from lab import PROJECT, kernel

from fastlab import programs, run
from fastlab.experiment import further_programs, load_experiment
from fastlab.model import SPLASH_PROGRAMS
from fastlab.progress import PlainReporter
from fastlab.stats import summarise

FILE = PROJECT / "experiments/splash2-short.toml"


@pytest.mark.full
def test_the_short_experiment(tmp_path: Path) -> None:
    experiment = load_experiment(FILE)
    reporter = PlainReporter(io.StringIO())
    build = programs.build_programs(PROJECT, reporter)
    toolbox = run.find_toolbox(build, further_programs(experiment))
    built = {name: kernel(name) for name in ("baseline", "fast")}
    rows = run.run_experiment(experiment, FILE, built, toolbox, tmp_path / "results", reporter)

    # A program that hands nothing over is INVALID with FAST; nothing else may go wrong.
    reasons = [row["reason"] for row in rows if row["status"] != "ok"]
    assert [reason for reason in reasons if not reason.startswith("FAST never fired")] == []
    assert {row["benchmark"] for row in rows if row["variant"] == "baseline"} == {*SPLASH_PROGRAMS}
    assert any(row["status"] == "ok" for row in rows if row["variant"] == "fast")
    for row in rows:
        assert row["check"] == "ok"
        assert row["profile"]["barriers"] > 0
        assert row["counters"]["l2_references"]["user"] > 0

    waits = summarise(experiment, rows).synchronization
    assert len(waits) >= 2 * len(SPLASH_PROGRAMS)
    assert all(0 <= one.barrier_share <= 1 for one in waits)
