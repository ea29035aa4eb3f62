# SPDX-License-Identifier: GPL-2.0
"""The sweep of the time of searching, with stand-ins for the machines and the program."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_bench import fake_machine

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.guest.vm import Job, Outcome
from intervals_bench import spin
from intervals_bench.spin import SpinRequest

SMALL = SpinRequest(cpus=(4, 8), searches=(0, 20), gaps=(2, 100), regions=3, regions_here=7)


def answer(words: list[str]) -> dict[str, Any]:
    """A region takes longer without searching, and searching takes CPU time."""
    workers, _, searches, gaps = words
    rows = [
        {
            "search_us": search,
            "gap_us": gap,
            "region_ns": 10_000 if search else 30_000,
            "cpu_ns": (gap + search) * 1000 * int(workers),
        }
        for search in map(int, searches.split(","))
        for gap in map(int, gaps.split(","))
    ]
    return {"benchmark": "search", "workers": int(workers), "rows": rows, "check": "ok"}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the simulated machines and this one were asked."""
    asked: list[list[str]] = []

    def run_job(simulation: Any, snapshot: Path, plugin: Path, job: Job, *_: Any, **__: Any) -> Any:
        # Without it, time would be QEMU's.
        assert plugin == Path("plugin.so")
        assert simulation.machine.preset == "epyc-milan"
        program, *words = job.argv
        assert program == "/bin/intervals_search"
        assert int(words[0]) == simulation.machine.cpus
        asked.append(words)
        return Outcome(None, answer(words), None, 0, (), 1.0)

    def here(command: list[str], **_: Any) -> SimpleNamespace:
        assert command[0].endswith("/guest/intervals_search")
        asked.append(command[1:])
        return SimpleNamespace(returncode=0, stdout=json.dumps(answer(command[1:])), stderr="")

    fake_machine(monkeypatch, tmp_path, run_job)
    monkeypatch.setattr(spin, "build_programs", lambda *_: tmp_path)
    monkeypatch.setattr(spin, "cpus_here", lambda: 2)
    monkeypatch.setattr(spin.subprocess, "run", here)
    return asked


def measure() -> list[spin.SpinRow]:
    return spin.measure(PlainReporter(io.StringIO()), SMALL)


def test_each_machine_is_asked_for_all_points(asked: list[list[str]]) -> None:
    rows = measure()
    assert sorted(asked[:4]) == [
        *(["4", "3", search, "2,100"] for search in ("0", "20")),
        *(["8", "3", search, "2,100"] for search in ("0", "20")),
    ]
    assert asked[4:] == [["2", "7", "0,20", "2,100"]]
    assert [row.machine for row in rows] == (
        4 * ["epyc-milan, 4 CPUs"] + 4 * ["epyc-milan, 8 CPUs"] + 4 * ["this machine"]
    )


def test_the_command_prints_the_table_and_keeps_the_rows(
    asked: list[list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(spin, "EVERYTHING", SMALL)
    file = tmp_path / "spin.json"
    assert main.main(["bench", "spin", "--json", str(file)]) == 0
    assert "30 / 8" in capsys.readouterr().out
    (table,) = spin.tables(measure())
    assert table.columns == ["machine", "gap, µs", "search 0 µs", "search 20 µs"]
    assert [cell.text for cell in table.rows[-1]] == ["this machine", "100", "30 / 200", "10 / 240"]
    document = json.loads(file.read_text())
    assert document["rows"][0] == {
        "machine": "epyc-milan, 4 CPUs",
        "workers": 4,
        "search_us": 0,
        "gap_us": 2,
        "region_ns": 30000,
        "cpu_ns": 8000,
    }


def test_a_program_that_fails_is_an_error(
    asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = SimpleNamespace(returncode=2, stdout="", stderr="no such SEARCH")
    monkeypatch.setattr(spin.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(FastError, match="intervals_search: status 2: no such SEARCH"):
        measure()
