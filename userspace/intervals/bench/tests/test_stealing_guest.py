# SPDX-License-Identifier: GPL-2.0
"""The intervals runtime in a simulated machine of two NUMA nodes: it steals as it did before."""

from __future__ import annotations

import io

import pytest
from lab import SHARED_FRAGMENTS, SHARED_VARIANT

from fastlab.base.model import Machine
from fastlab.base.progress import PlainReporter
from fastlab.bench.bench_machine import BenchMachine
from intervals_bench import stealing
from intervals_bench.stealing import StealPoint, StealRequest

SMALL = StealRequest({"matmul": 64}, workers=(4,), seeds=2)


@pytest.fixture(scope="module")
def machine() -> BenchMachine:
    reporter = PlainReporter(io.StringIO())
    return BenchMachine(
        "test-stealing",
        Machine(cpus=4, preset="xeon-2s"),
        reporter,
        (stealing.PROGRAM,),
        stealing.BOOT_SECONDS,
        stealing.NODES,
        SHARED_VARIANT,
        SHARED_FRAGMENTS,
    )


def said(machine: BenchMachine, victims: str, name: str) -> bytes:
    """All that the guest tells the host."""
    machine.run(
        stealing.argv(StealPoint("matmul", victims, 4), SMALL), machine.toolbox.plugin, name
    )
    return (machine.directory / name / "host").read_bytes()


def test_two_runs_count_the_same_to_the_last_byte(machine: BenchMachine) -> None:
    first, second = (said(machine, "random", name) for name in ("first", "second"))
    assert first == second
    assert b'"places":2,' in first


def test_the_mask_and_the_domains_are_worth_something(machine: BenchMachine) -> None:
    def count(victims: str) -> list[stealing.Steals]:
        argv = stealing.argv(StealPoint("matmul", victims, 4), SMALL)
        outcome = machine.run(argv, machine.toolbox.plugin, victims)
        return stealing.parse(outcome.output or {})

    for random, threshold, domains, both in zip(*map(count, stealing.VICTIMS), strict=True):
        # Every seed steals, and from both nodes.
        assert random.steals > random.steal_failures > 0
        assert 0 < random.steals_remote < random.steals
        # Chapter 3: fewer attempts that get nothing; chapter 4: fewer tasks from the other node.
        assert threshold.steal_failures < random.steal_failures
        assert domains.got_remote < random.got_remote
        assert both.steal_failures_remote < domains.steal_failures_remote
