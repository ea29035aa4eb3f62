# SPDX-License-Identifier: GPL-2.0
"""The theses' evaluations in the simulated machine: what is run there, and what is read."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.bench.bench_machine import NoResultError
from fastlab.guest import vm
from fastlab.plan import presets
from intervals_bench import theses_catalogue, theses_simulated
from intervals_bench.programs import SIMULATED
from intervals_bench.theses import Contender, ThesisEvaluation, ThesisRequest
from intervals_bench.theses_simulated import MACHINE, SimulatedSession, read

SAMPLE = ThesisEvaluation(
    "sample",
    "S",
    "T",
    ("sort-33554432", "fib"),
    (Contender("serial", "serial"), Contender("near", environment={"A": "b", "C": "d"})),
    ("time", "l3_misses", "remote_memory"),
    simulated={"sort-33554432": 4096},
)
STEALS = {"steals": 8, "steal_failures": 2, "steals_remote": 4}
COUNTS = {"l3_references": 30, "l3_misses": 10, "remote_memory": 4, "cache_to_cache": 5}


def outcome(
    said: Mapping[str, Any] | None = None, document: Mapping[str, Any] | None = None
) -> vm.Outcome:
    return vm.Outcome(document, said, None, 0, (), 1.0)


GOOD = outcome(
    {"unit": "seconds", "value": 0.5, "check": "ok", "peak_kib": 9, "counts": STEALS},
    {"total": {"user": COUNTS, "kernel": {}, "idle": {}}},
)


class Toolbox:
    plugin = Path("plugin")


class FakeMachine:
    """Instead of a guest: what it was asked for, and an answer for each."""

    toolbox = Toolbox()

    def __init__(self, *arguments: object) -> None:
        self.asked: list[tuple[str, int, str]] = []
        self.programs = arguments[3]

    def run(self, argv: Sequence[str], plugin: Path, name: str, quantum: int) -> vm.Outcome:
        self.asked.append((" ".join(argv), quantum, name))
        if "serial" in argv[0]:
            raise FastError("no good result")
        return GOOD

    def cancel(self) -> None:
        raise AssertionError("nothing was interrupted")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> SimulatedSession:
    monkeypatch.setattr(theses_simulated, "BenchMachine", FakeMachine)
    request = ThesisRequest(SAMPLE, rounds=3, simulate=MACHINE.cpus)
    return SimulatedSession(request, PlainReporter(io.StringIO()))


def test_each_point_runs_once_a_round_with_a_quantum_of_the_rounds(
    session: SimulatedSession,
) -> None:
    session.run(PlainReporter(io.StringIO()))
    asked = session._machine.asked  # type: ignore[attr-defined]
    near = [one for one in asked if "theses_intervals" in one[0]]
    assert {one[0] for one in near} == {"/bin/theses_intervals A=b C=d sort 4096 8"}
    assert sorted(one[1] for one in near) == [1500, 1625, 1750]
    # Each has a directory of its own.
    assert len({one[2] for one in asked}) == len(asked) == 6


def test_the_guest_has_the_programs_that_it_runs(session: SimulatedSession) -> None:
    """Further programs would change what the caches see."""
    machine = session._machine
    assert machine.programs == ("theses_intervals", "theses_serial")  # type: ignore[attr-defined]


def test_runs_with_more_workers_have_directories_of_their_own(session: SimulatedSession) -> None:
    request = replace(session.request, evaluation=replace(SAMPLE, sweep=True))
    session = SimulatedSession(request, PlainReporter(io.StringIO()))
    session.run(PlainReporter(io.StringIO()))
    asked = session._machine.asked  # type: ignore[attr-defined]
    assert len({one[2] for one in asked}) == len(asked) == 3 * (1 + 4)


def test_memory_may_be_bounded(session: SimulatedSession) -> None:
    session.request = replace(session.request, evaluation=replace(SAMPLE, simulated_mib=160))
    argv = session._argv(session.request.points()[1])
    assert " ".join(argv[1:]) == "A=b C=d MEMORY_MIB=160 sort 4096 8"


def test_counts_are_the_programs_own_and_the_runtimes(session: SimulatedSession) -> None:
    session.run(PlainReporter(io.StringIO()))
    serial, near = session.rows()
    assert (serial.status, serial.reason, serial.runs) == ("failed", "no good result", 0)
    assert (near.status, near.unit, near.runs) == ("ok", "seconds", 3)
    expected = {"time": 0.5, "l3_hits": 20, "l3_misses": 10, "remote_memory": 4}
    expected |= {"remote_lines": 9, "peak_kib": 9, **STEALS, "steals_got": 6, "steals_local": 4}
    expected |= {"steal_miss_ratio": 0.25, "remote_share": 0.5}
    assert dict(near.rounds[0]) == expected


def test_what_failed_in_one_round_has_failed(
    session: SimulatedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rounds run at once, so further rounds follow it."""

    def run(machine: object, argv: object, plugin: object, name: str, quantum: int) -> vm.Outcome:
        if quantum == 1500:
            return GOOD
        raise FastError(f"with {quantum}")

    monkeypatch.setattr(FakeMachine, "run", run)
    session.run(PlainReporter(io.StringIO()))
    assert {(row.status, row.reason, row.runs) for row in session.rows()} == {
        ("failed", "with 1625", 1)
    }


@pytest.mark.parametrize(("killer", "crashed"), [(11, True), (6, True), (9, False), (0, False)])
def test_a_crash_in_the_guest_is_one(
    session: SimulatedSession, monkeypatch: pytest.MonkeyPatch, killer: int, crashed: bool
) -> None:
    def run(*_: object, **__: object) -> vm.Outcome:
        raise NoResultError("no good result", killer)

    monkeypatch.setattr(FakeMachine, "run", run)
    session.run(PlainReporter(io.StringIO()))
    assert {(row.status, row.crashed) for row in session.rows()} == {("failed", crashed)}


def test_a_machine_that_tells_nothing_has_failed() -> None:
    assert read(outcome(None, GOOD.document)).status == "failed"
    assert read(outcome(GOOD.output, None)).status == "failed"


def test_every_size_is_of_a_program_and_every_contender_has_one_in_the_guest() -> None:
    found = [one for one in theses_catalogue.EVALUATIONS if one.simulated]
    assert found
    for one in found:
        assert set(one.simulated) <= set(one.programs), one.name
        assert {contender.runtime for contender in one.contenders} <= set(SIMULATED)


def test_the_machine_has_a_cluster_for_each_node() -> None:
    assert presets.load(MACHINE.preset).path.exists()
    assert "clusters = 2\n" in presets.load(MACHINE.preset).path.read_text()
    assert theses_simulated.machine().nodes == theses_simulated.NODES == 2


def test_a_sweep_is_of_the_simulated_cpus() -> None:
    swept = ThesisRequest(replace(SAMPLE, sweep=True), simulate=8)
    near = [point.workers for point in swept.points() if point.contender == "near"]
    assert near == [1, 2, 4, 8]
