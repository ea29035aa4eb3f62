# SPDX-License-Identifier: GPL-2.0
"""A simulated machine of two NUMA nodes, one CPU each: whose memory answers."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace

import pytest
from lab import SHARED_FRAGMENTS, SHARED_VARIANT

from fastlab.base.progress import PlainReporter
from fastlab.bench.bench_machine import BenchMachine
from intervals_bench.programs import SIMULATED
from intervals_bench.theses_simulated import BOOT_SECONDS, MACHINE, NODES, read


@pytest.fixture(scope="module")
def machine() -> BenchMachine:
    reporter = PlainReporter(io.StringIO())
    programs = tuple(SIMULATED.values())
    two = replace(MACHINE, cpus=2)
    return BenchMachine(
        "test-nodes",
        two,
        reporter,
        programs,
        BOOT_SECONDS,
        NODES,
        SHARED_VARIANT,
        SHARED_FRAGMENTS,
    )


def counted(
    machine: BenchMachine, program: str, benchmark: str = "mergesort_worst"
) -> Mapping[str, int]:
    workers = "1" if program == "serial" else "2"
    words = [f"/bin/{SIMULATED[program]}", benchmark, "16384", workers]
    outcome = machine.run(words, machine.toolbox.plugin, program)
    run = read(outcome)
    assert run.status == "ok" and run.values[0] > 0
    return run.counts


def test_what_one_thread_has_touched_is_on_its_node(machine: BenchMachine) -> None:
    alone = counted(machine, "serial")
    assert alone["l3_misses"] > 1000
    assert alone["remote_memory"] < alone["l3_misses"] / 20


@pytest.mark.parametrize(
    ("program", "benchmark"), [("intervals", "mergesort_worst"), ("pthreads", "cachestress_worst")]
)
def test_who_works_at_the_other_node_fetches_from_there(
    machine: BenchMachine, program: str, benchmark: str
) -> None:
    together = counted(machine, program, benchmark)
    assert together["remote_memory"] > together["l3_misses"] / 10
