# SPDX-License-Identifier: GPL-2.0
"""Two kernels on a real machine: a boot is a part of a block."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
import samples
from fake_machine import FakeMachine
from real_runs import CALIBRATION_RUNS, FEW_BLOCKS, KERNELS, execute

from fastlab.base.model import Experiment, FastError
from fastlab.plan.paired_plan import Dataset
from fastlab.statistics.calibration import calibrate
from fastlab.statistics.paired import analyse
from fastlab.statistics.significance import MIN_BLOCKS

pytestmark = pytest.mark.usefixtures("few_blocks")


def boots(machine: FakeMachine, experiment: Experiment = KERNELS, limit: int = 200) -> int:
    """Do as one is told until nothing is left to boot; how many boots that took."""
    fast = False
    for number in range(1, limit):
        machine.boot(number, fast)
        outcome = execute(machine, experiment)
        if not outcome.next_boot:
            return number
        names = "a kernel with FAST", "6.12.30-fast #1 SMP, as before"
        if "the running kernel again" not in outcome.next_boot:
            fast = any(f"boot {name}" in outcome.next_boot for name in names)
    pytest.fail("it never ends")


def test_of_two_kernels_a_boot_is_part_of_a_block(machine: FakeMachine) -> None:
    both = samples.experiment(("single_ctr", "affinity"))
    taken = boots(machine, replace(both, primary="elapsed_ns"))
    outcome = execute(machine, replace(both, primary="elapsed_ns"))
    dataset = outcome.dataset
    assert calibrate(dataset).blocks == MIN_BLOCKS
    assert len(dataset.rows) == 2 * (CALIBRATION_RUNS + 4 * MIN_BLOCKS)
    sides = defaultdict(set)
    for row in dataset.rows:
        where = row["benchmark"], row["pair"], row["boot"]
        sides[where].add((row["block"], row["side"]))
        assert row["kernel"]["variant"] == ("fast" if row["variant"] == "fast" else "baseline")
    # Never two sides or two blocks of one comparison in one boot.
    assert all(len(found) == 1 for found in sides.values())
    assert set(orders_in_time(dataset).values()) == {"AABB", "BBAA"}
    # The calibration's boots of the baseline have the comparisons' A sides, too.
    assert taken == 2 * FEW_BLOCKS + MIN_BLOCKS
    assert analyse(dataset).setting["boots"] == str(taken)


def orders_in_time(dataset: Dataset) -> dict[tuple[str, str, int], str]:
    found: dict[tuple[str, str, int], str] = defaultdict(str)
    for row in dataset.rows:
        if row["events"] != "none":
            found[row["benchmark"], row["pair"], row["block"]] += row["side"]
    return found


def test_the_calibration_alone_on_an_ordinary_kernel(machine: FakeMachine) -> None:
    outcome = execute(machine, KERNELS)
    assert {(row["variant"], row["pair"], row["block"]) for row in outcome.dataset.rows} <= {
        ("baseline", "baseline", 0),
        ("baseline", "fast", 0),
    }
    assert "Now boot " in outcome.next_boot
    assert f"At least {2 * FEW_BLOCKS + MIN_BLOCKS - 1} more boots" in outcome.next_boot
    # The same boot has nothing more to give.
    before = len(machine.runs())
    assert execute(machine, KERNELS).next_boot == outcome.next_boot
    assert len(machine.runs()) == before
    found = analyse(outcome.dataset)
    assert {metric.name for metric in found.not_available} >= {"cycles", "l3_misses"}
    assert not {metric.name for metric in found.not_available} & {"elapsed_ns", "throughput"}


def test_a_failed_run_does_not_need_another_boot(machine: FakeMachine) -> None:
    machine.mode("at 1 fails")
    assert execute(machine, KERNELS).next_boot == ""
    machine.mode("")
    outcome = execute(machine, KERNELS)
    assert outcome.next_boot
    assert {row["status"] for row in outcome.dataset.rows} == {"ok"}


def test_a_side_keeps_its_kernel(machine: FakeMachine) -> None:
    execute(machine, KERNELS)
    machine.boot(2, release="6.12.31")
    with pytest.raises(
        FastError, match=r"made by 6\.12\.30 #1 SMP, and 6\.12\.31 #1 SMP is running"
    ):
        execute(machine, KERNELS)
    machine.boot(2, fast=True, release="6.18.1")
    with pytest.raises(FastError, match=r"6\.12\.30 .* and 6\.18\.1-fast .* of different series"):
        execute(machine, KERNELS)


def test_another_build_is_another_kernel(machine: FakeMachine) -> None:
    notes = machine.root / "sys/kernel/notes"
    notes.parent.mkdir()
    notes.write_bytes(b"GNU one")
    execute(machine, KERNELS)
    notes.write_bytes(b"GNU other")
    with pytest.raises(FastError, match=r"made by 6\.12\.30 #1 SMP \w{12}, and 6\.12\.30 #1 SMP"):
        execute(machine, KERNELS)
