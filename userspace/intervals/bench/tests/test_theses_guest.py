# SPDX-License-Identifier: GPL-2.0
"""Every program of the theses in a guest, by intervals: does its result come out right there?"""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from fastlab.base.model import Machine
from fastlab.base.progress import PlainReporter
from fastlab.bench.bench_machine import BenchMachine, run_each
from fastlab.guest import vm
from intervals_bench.programs import SIMULATED
from intervals_bench.theses_simulated import BOOT_SECONDS

BENCH = Path(__file__).resolve().parents[1]
PROGRAM = SIMULATED["intervals"]
CPUS = 2


def names() -> list[str]:
    """The programs of theses.h, and further kernels that the evaluations name."""
    of_theses = re.findall(r"of\((\w+), \w+\)", (BENCH / "theses/theses.h").read_text())
    return [*of_theses, "fib", "fj", "fj_rec", "sor", "sort", "matmul", "dfs"]


@pytest.fixture(scope="module")
def machine() -> BenchMachine:
    reporter = PlainReporter(io.StringIO())
    return BenchMachine("test-theses", Machine(cpus=CPUS), reporter, (PROGRAM,), BOOT_SECONDS)


def test_each_program_is_right_in_a_guest(machine: BenchMachine) -> None:
    told: dict[str, vm.Outcome] = {}

    def measure(name: str) -> vm.Outcome:
        words = [f"/bin/{PROGRAM}", name, "quick", str(CPUS)]
        return machine.run(words, name=name)

    # A wrong result is an error of run().
    reporter = PlainReporter(io.StringIO())
    run_each((machine,), reporter, "running", names(), measure, told.__setitem__)
    assert len(told) == len(set(names())) > 30
    for name, outcome in told.items():
        assert outcome.output and outcome.output["benchmark"] == name
        assert outcome.output["peak_kib"] > 0
