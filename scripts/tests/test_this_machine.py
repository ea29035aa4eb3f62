# SPDX-License-Identifier: GPL-2.0
"""The run stage on the machine that the tests run on."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from real_runs import KERNELS, complete

from fastlab.backend.block_rows import find_real_toolbox
from fastlab.base.model import FastError, Workload
from fastlab.plan.paired_plan import NOTHING


def built() -> Path:
    """Where `make` has built the programs."""
    directory = Path(__file__).parents[2] / "build/user"
    if not (directory / "userspace/counters/fast-stat").exists():
        pytest.skip(f"{directory} has no fast-stat: `make` builds it")
    return directory


def test_this_machine(tmp_path: Path) -> None:
    """End to end on the running kernel, whichever it is: the first boot of two kernels."""
    # Threads that share a busy CPU hand a lock over only when one is preempted while it holds it.
    sizes = ("--iterations=100000", "--warmup=200", "--cs-lines=1024", "--think=0")
    load = Workload("single_ctr", 4, sizes)
    experiment = replace(KERNELS, workloads=(load,), latencies=True)
    source = tmp_path / "source.toml"
    source.write_text("# the experiment\n")
    toolbox = find_real_toolbox(built(), experiment)
    outcome = complete(experiment, "soft", source, toolbox, tmp_path / "results")
    assert outcome.next_boot
    rows = outcome.dataset.rows
    assert {row["status"] for row in rows} == {"ok"}
    for row in rows:
        assert row["elapsed_ns"]
        if row["events"] == NOTHING:
            # It is there to say what counting costs.
            assert "task_clock" not in row["counters"]
            continue
        assert row["counters"]["task_clock"]["total"] > 0
        assert row["context_switches"] is not None
        assert "cycles" not in row["counters"]
        # Any machine can measure hand-offs, and these threads have some.
        histogram = row["latency"]["handoff"]
        assert sum(count for _, count in histogram) > 0
        assert all(0 < end < 1e9 for end, _ in histogram)
        assert ("wakeup" in row["latency"]) != bool(row["latency_missing"])
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert {row["boot"] for row in rows} == {boot}
    release = os.uname().release
    assert all(row["kernel"]["id"].startswith(release) for row in rows)


def test_perf_where_there_is_no_pmu(tmp_path: Path) -> None:
    listing = subprocess.run(
        [built() / "userspace/counters/fast-stat", "--list"], capture_output=True, text=True
    )
    if "no PMU" not in listing.stdout + listing.stderr:
        pytest.skip("this machine has hardware counters")
    experiment = replace(KERNELS, primary="cycles")
    toolbox = find_real_toolbox(built(), experiment)
    with pytest.raises(FastError, match="backend perf is not available here: fast-stat: no PMU"):
        complete(experiment, "perf", tmp_path, toolbox, tmp_path / "results")
    assert not (tmp_path / "results").exists()
