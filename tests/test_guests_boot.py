# SPDX-License-Identifier: GPL-2.0
"""The backend kvm with real guests. KVM itself is rarely there, so QEMU executes them (TCG)."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest
from lab import PROJECT, built, kernel

from fastlab.backend import kvm_guests
from fastlab.backend.block_rows import find_real_toolbox, requests
from fastlab.base.metrics import MECHANISM
from fastlab.base.model import Experiment, Machine, Variant, Watchdogs, Workload
from fastlab.base.progress import PlainReporter
from fastlab.guest import kvm
from fastlab.plan.paired_plan import PairedRow, slots

# Long enough for the clock of a machine without KVM's, and for hand-offs.
LOAD = Workload("single_ctr", 4, ("--iterations=200000", "--think=0", "--cs-lines=64"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PairedRow]:
    """A run of each side of a block."""
    built()
    with pytest.MonkeyPatch.context() as patch:
        accelerator = replace(
            kvm.ACCELERATOR, cpu="max", arguments=("-accel", "tcg"), lends_pmu=False
        )
        patch.setattr(kvm, "ACCELERATOR", accelerator)
        experiment = Experiment(
            name="guests",
            series="6.12",
            machine=Machine(cpus=min(2, len(os.sched_getaffinity(0)))),
            variants=(
                Variant("baseline", "baseline"),
                Variant("strict", "fast", "strict"),
            ),
            baseline="baseline",
            workloads=(LOAD,),
            seeds=(1,),
            primary="elapsed_ns",
            latencies=True,
            watchdogs=Watchdogs(boot=300),
        )
        build = PROJECT / "build/user"
        machine = kvm_guests.Guests(
            experiment,
            build,
            find_real_toolbox(build, experiment),
            {name: kernel(name) for name in ("baseline", "fast")},
            tmp_path_factory.mktemp("guests"),
            lambda: "",
            PlainReporter(io.StringIO()),
        )
        with machine.opened([]):
            of_a_block = {slot.side: slot for slot in slots(machine.plan, ["strict"], 1)}
            asked = requests(experiment, machine.plan, of_a_block.values())
            made = machine.measure(asked, math.inf)
            return {row["side"]: row for row in cast(Iterator[PairedRow], made)}


def test_the_guest_runs_the_benchmark_and_counts(rows: dict[str, PairedRow]) -> None:
    for row in rows.values():
        assert (row["status"], row["reason"], row["check"]) == ("ok", "", "ok")
        assert row["elapsed_ns"] and row["context_switches"]
        assert row["counters"]["task_clock"]["total"] > 0


def test_a_second_guest_measures_the_latencies(rows: dict[str, PairedRow]) -> None:
    for row in rows.values():
        assert sum(count for _, count in row["latency"]["handoff"]) > 0
        # The clock of a machine without KVM's is too coarse for the order of the kernel's events.
        assert ("wakeup" in row["latency"]) != bool(row["latency_missing"])


def test_each_side_runs_its_kernel_under_its_policy(rows: dict[str, PairedRow]) -> None:
    assert rows["A"]["kernel"]["variant"] == "baseline"
    assert rows["A"]["mechanism"] is None
    assert rows["B"]["kernel"]["variant"] == "fast"
    counted = rows["B"]["mechanism"] or {}
    assert tuple(counted) == MECHANISM
    assert counted["used"] > 0
