# SPDX-License-Identifier: GPL-2.0
"""Counting steals, with a stand-in for the machine: what is asked of it, and the tables."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from test_bench import fake_machine

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.guest.vm import Job, Outcome
from intervals_bench import stealing
from intervals_bench.stealing import StealPoint, StealRequest, Steals

SMALL = StealRequest({"matmul": 64, "sort": 9000}, workers=(2, 8), seeds=2)


def counted(victims: str, seed: int) -> dict[str, int]:
    """Random victims miss in 9 of 10, threshold in 1 of 4; domains never go to the other node."""
    steals = {"random": 40, "threshold": 4, "domains": 4, "domains-threshold": 6}[victims] * seed
    failures = {"random": 36, "threshold": 1, "domains": 2, "domains-threshold": 0}[victims] * seed
    remote = {"random": 20, "threshold": 2, "domains": 0, "domains-threshold": 0}[victims] * seed
    remote_failures = {"random": 19, "threshold": 1, "domains": 0, "domains-threshold": 0}[
        victims
    ] * seed
    return {
        "seed": seed,
        "steals": steals,
        "steal_failures": failures,
        "steals_remote": remote,
        "steal_failures_remote": remote_failures,
        "puts": 100,
    }


class FakeMachine:
    """Answers every job; remembers what it was asked, and where it was to be kept."""

    def __init__(self, check: str = "ok") -> None:
        self.check = check
        self.asked: list[list[str]] = []
        self.directories: list[str] = []

    def run_job(
        self,
        simulation: Any,
        snapshot: Path,
        plugin: Path | None,
        job: Job,
        directory: Path,
        *_: Any,
        **__: Any,
    ) -> Outcome:
        # Without it, time would be QEMU's.
        assert plugin == Path("plugin.so")
        assert simulation.machine.preset == "xeon-2s"
        program, benchmark, _, victims, workers, seeds = job.argv
        assert program == "/bin/intervals_stealing"
        self.asked.append(list(job.argv[1:]))
        self.directories.append(directory.name)
        runs = [counted(victims, seed) for seed in range(1, int(seeds) + 1)]
        output = {"check": self.check, "runs": runs, "workers": int(workers)}
        return Outcome(None, {**output, "benchmark": benchmark}, None, 0, (), 1.0)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    fake = FakeMachine()
    fake_machine(monkeypatch, tmp_path, fake.run_job)
    return fake


def measure() -> stealing.Counts:
    return stealing.measure(PlainReporter(io.StringIO()), SMALL)


def test_every_point_is_run_once_in_a_directory_of_its_own(machine: FakeMachine) -> None:
    counts = measure()
    assert len(machine.asked) == len(SMALL.points()) == 16
    assert ["matmul", "64", "threshold", "8", "2"] in machine.asked
    assert len(set(machine.directories)) == 16
    assert list(counts) == SMALL.points()
    assert counts[StealPoint("sort", "random", 2)][1] == Steals(2, 80, 72, 40, 38, 100)


def test_a_wrong_result_is_no_measurement(machine: FakeMachine) -> None:
    machine.check = "failed"
    with pytest.raises(FastError, match="without a good result"):
        measure()


def texts(row: Any) -> list[str]:
    return [cell.text for cell in row]


def test_the_tables_have_the_thesis_shapes(machine: FakeMachine) -> None:
    misses, remote = stealing.tables(measure())
    assert texts(misses.rows[0]) == [
        *("matmul", "2"),
        *("60.0", "54.0", "0.900"),
        *("6.0", "1.5", "0.250"),
    ]
    assert [row[0].text + row[1].text for row in misses.rows] == [
        "matmul2",
        "matmul8",
        "sort2",
        "sort8",
    ]
    # Domains: no remote attempt, so no ratio.
    assert texts(remote.rows[0]) == [
        *("matmul", "2"),
        *("1.5", "4.5", "28.5", "0.950"),
        *("0.0", "3.0", "0.0", "n/a"),
        *("0.0", "9.0", "0.0", "n/a"),
    ]
    for table in (misses, remote):
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_command_prints_the_tables_and_keeps_the_counts(
    machine: FakeMachine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(stealing, "EVERYTHING", SMALL)
    file = tmp_path / "counts.json"
    assert main.main(["bench", "stealing", "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "Table 3.3" in out
    assert "Tables 4.2 and 4.3" in out
    document = json.loads(file.read_text())
    row = next(row for row in document["rows"] if row["victims"] == "threshold")
    assert row["benchmark"] == "matmul"
    assert row["size"] == 64
    assert row["runs"][0] == counted("threshold", 1)
    assert document["machine"]["preset"] == "xeon-2s"
