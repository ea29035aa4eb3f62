# SPDX-License-Identifier: GPL-2.0
"""Counting what the series costs, with a stand-in for the machine."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from test_bench import fake_machine

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.bench import overhead
from fastlab.cli import main
from fastlab.guest.vm import Job, Outcome

DEARER = {"off": 0, "strict": 25, "soft": 26, "adaptive": 60}


class FakeMachine:
    """Each operation costs 1000 instructions unpatched, and more with a policy."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.document = True
        # Of each operation, and where the program was in the end.
        self.placed = 2
        self.cpu = 0

    def run_job(
        self, simulation: Any, snapshot: Path, plugin: Path | None, job: Job, *_: Any, **__: Any
    ) -> Outcome:
        assert simulation.machine.cpus == 2
        program, operation, count = job.argv
        assert program == "/bin/overhead"
        policy = job.fast.get("policy", "unpatched")
        self.asked.append((operation, policy))
        more = DEARER.get(policy, 0)
        first = {
            "cpu": 0,
            "user": {"instructions": 400 * int(count)},
            "kernel": {"instructions": (600 + more) * int(count)},
            "idle": {"instructions": 0},
        }
        busy = {"cpu": 1} | {mode: {"instructions": 9} for mode in ("user", "kernel", "idle")}
        document = {"per_cpu": [first, busy]} if self.document else None
        mechanism = {"same_cpu": self.placed * int(count)}
        output = {"check": "ok", "cpu": self.cpu}
        return Outcome(document, output, mechanism, 0, (), 1.0)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    fake = FakeMachine()
    fake_machine(monkeypatch, tmp_path, fake.run_job)
    return fake


def test_each_operation_with_each_policy(machine: FakeMachine) -> None:
    costs = overhead.measure(PlainReporter(io.StringIO()), count=7)
    arms = ("unpatched", "off", "strict", "soft", "adaptive")
    everything = {(one.name, arm) for one in overhead.OPERATIONS for arm in arms}
    assert set(machine.asked) == set(costs) == everything
    assert len(machine.asked) == len(everything)
    assert costs["wake", "unpatched"] == 1000
    assert costs["wake", "adaptive"] == 1060
    # Two hand-offs are in one of the program's.
    assert costs["handoff", "strict"] == 512.5


def test_the_command_prints_the_table_and_keeps_the_counts(
    machine: FakeMachine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "costs.json"
    assert main.main(["bench", "overhead", "--json", str(file)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [
        "futex_wake,",
        "no",
        "waiter",
        "1,000.00",
        "+0.00",
        "+25.00",
        "+26.00",
        "+60.00",
    ] in (lines)
    rows = json.loads(file.read_text())["rows"]
    assert {"operation": "switch", "arm": "off", "instructions": 500.0} in rows
    assert len(rows) == 5 * len(overhead.OPERATIONS)


def test_without_counts_there_is_no_table(machine: FakeMachine) -> None:
    machine.document = False
    with pytest.raises(FastError, match="the cache model wrote no document"):
        overhead.measure(PlainReporter(io.StringIO()))


def test_hand_offs_that_are_not_placed_are_no_measurement(machine: FakeMachine) -> None:
    machine.placed = 1
    with pytest.raises(FastError, match="of 14 hand-offs 7 were placed"):
        overhead.measure(PlainReporter(io.StringIO()), count=7)


def test_a_program_that_has_moved_is_no_measurement(machine: FakeMachine) -> None:
    machine.cpu = 1
    with pytest.raises(FastError, match="has left the CPU that is counted"):
        overhead.measure(PlainReporter(io.StringIO()), count=7)


def test_a_file_that_cannot_be_written_is_said_before_the_measurement(
    machine: FakeMachine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["bench", "overhead", "--json", str(tmp_path / "no/costs.json")]) == 1
    assert "its directory does not exist" in capsys.readouterr().err
    assert machine.asked == []
