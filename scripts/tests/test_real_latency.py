# SPDX-License-Identifier: GPL-2.0
"""Latencies on a real machine: a second run of each slot that measures them."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from fake_machine import FakeMachine
from heard import Heard
from real_runs import CALIBRATION_RUNS, POLICIES, execute

from fastlab.backend.block_rows import NOT_ASKED
from fastlab.base.metrics import PERCENTILES
from fastlab.base.model import FastError, Watchdogs
from fastlab.report.contents import markdown
from fastlab.statistics.paired import analyse

pytestmark = pytest.mark.usefixtures("few_blocks")

LATENCIES = replace(POLICIES, latencies=True)


def test_a_second_run_of_each_slot_measures_latencies(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    dataset = execute(machine, LATENCIES).dataset
    runs = machine.runs()
    rows = [row for row in dataset.rows if row["events"] != "none"]
    both = [run for run in runs if run[3:] != ["uncounted"]]
    assert len(runs) - len(both) == len(dataset.rows) - len(rows) == CALIBRATION_RUNS // 3
    for row, counted, timed in zip(rows, both[::2], both[1::2], strict=True):
        # The same program under the same policy, and the row's other fields are of the first run.
        assert timed == [*counted, "latency"]
        on = row["policy"] == "strict"
        assert 4000 - 1000 * on <= row["latency"]["handoff"][0][0] < 4050 - 1000 * on
        assert row["latency"]["wakeup"] == [[3000, 900], [9000, 100]]
        assert row["latency_missing"] == {}
        assert (row["mechanism"] or {})["used"] == 7 * on
        assert row["counters"]["task_clock"]["total"] == 2 * (row["elapsed_ns"] or 0)
    found = analyse(dataset)
    (handoff,) = found.of_metric("handoff_p50")
    assert handoff.verdict == "better"
    assert handoff.improvement_pct == pytest.approx(25, abs=1)
    assert found.of_metric("handoff_max")[0].baseline.mean == pytest.approx(64000)
    assert not {"handoff_p99", "wakeup_max"} & {metric.name for metric in found.not_available}
    # As it comes back from the file, and goes on.
    assert analyse(execute(machine, LATENCIES).dataset) == found
    assert len(machine.runs()) == len(runs)
    last = machine.root.parent / "results/last-run"
    assert json.loads((last / "measured.json").read_text())["counters"]
    assert json.loads((last / "latency/measured.json").read_text())["regions"] == 1


def test_latencies_that_nobody_asked_for(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("no-latencies")
    found = analyse(execute(machine).dataset)
    (one,) = found.of_metric("wakeup_p99")
    assert one.reason == f"no run has wakeup_p99: {NOT_ASKED}"


def test_a_latency_that_is_not_available(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("no-tracefs")
    reporter = Heard()
    dataset = execute(machine, LATENCIES, reporter=reporter).dataset
    denied = "tracefs cannot be used: denied"
    assert reporter.said == [f"wakeup latency is not available: {denied}"]
    assert {
        json.dumps(row["latency_missing"]) for row in dataset.rows if row["events"] != "none"
    } == {json.dumps({"wakeup": denied})}
    found = analyse(dataset)
    assert found.of_metric("handoff_p50")[0].verdict == "better"
    assert found.why_not_available("wakeup_p50") == denied
    assert found.why_not_available("cycles") == ""
    text = markdown(found)
    names = ", ".join(f"wakeup_{name}" for name in PERCENTILES)
    assert f"; {names} ({denied})." in text
    assert text.count(denied) == 1


def test_no_event_is_no_latency(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("uncontended")
    dataset = execute(machine, LATENCIES).dataset
    assert dataset.rows[0]["latency"]["handoff"] == []
    assert analyse(dataset).why_not_available("handoff_max") == "there was no handoff"


def test_a_program_whose_locks_are_not_seen(machine: FakeMachine) -> None:
    """It is not the machine that cannot measure them."""
    machine.boot(1, fast=True)
    machine.mode("no-mutexes")
    reporter = Heard()
    dataset = execute(machine, LATENCIES, reporter=reporter).dataset
    assert reporter.said == []
    assert analyse(dataset).why_not_available("handoff_p50") == "no pthread mutex was seen"


def test_a_latency_that_only_some_runs_have(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    # Of the last run of all, which is a latency run.
    execute(machine, LATENCIES)
    last = len(machine.runs())
    (machine.root.parent / "results/runs.jsonl").unlink()
    (machine.root / "runs").unlink()
    machine.mode(f"at {last} no-tracefs")
    (one,) = analyse(execute(machine, LATENCIES).dataset).of_metric("wakeup_p50")
    assert one.verdict == "n/a"
    assert re.fullmatch(r"1 of \d+ runs have no wakeup_p50: tracefs .*: denied", one.reason)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("fails", "latency run: it ended with status 2: single_ctr: cannot make threads"),
        ("killed", "latency run: the benchmark ended with status -9"),
        ("hang", "latency run: watchdog: no end after 5 s; it was killed"),
        ("ends-badly", "latency run: the benchmark ended with status 3"),
        ("no-counts", "latency run: fast-latency wrote no latencies"),
        ("two-rois", "latency run: 2 regions of interest in one run; there must be one"),
    ],
)
def test_a_latency_run_that_fails(machine: FakeMachine, mode: str, reason: str) -> None:
    machine.boot(1, fast=True)
    # The third run counts nothing, and no latency run follows it.
    machine.mode(f"at 5 {mode}")
    experiment = replace(LATENCIES, watchdogs=Watchdogs(run=5.0))
    rows = execute(machine, experiment).dataset.rows
    assert [row["status"] for row in rows[:4]] == ["ok", "ok", "failed", "ok"]
    assert rows[2]["reason"] == reason
    assert rows[2]["latency"] == {}
    # The counted run is in the row nevertheless.
    assert rows[2]["elapsed_ns"]


def test_a_latency_run_that_is_not_what_its_variant_says(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 5 meddle")
    found = execute(machine, LATENCIES).dataset
    why = "latency run: FAST fired 14 times with policy off"
    assert found.rows[2]["latency"] == {}
    assert found.rows[2]["latency_missing"] == {"handoff": why, "wakeup": why}
    # What was counted is as good as any.
    assert {row["status"] for row in found.rows} == {"ok"}
    (handoff,) = analyse(found).of_metric("handoff_p50")
    assert (handoff.verdict, handoff.reason) == (
        "n/a",
        f"not calibrated: 1 of {CALIBRATION_RUNS * 2 // 3} runs have no handoff_p50: {why}",
    )


def test_a_bad_run_has_no_latency_run(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 4 fails")
    execute(machine, LATENCIES)
    latency = ["latency"]
    assert [run[3:] for run in machine.runs()[:6]] == [[], latency, ["uncounted"], [], [], latency]


def test_a_fast_latency_that_does_not_work(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("no-latencies")
    with pytest.raises(
        FastError, match=r"latencies cannot be measured here: fast-latency: libfast.*not found;"
    ):
        execute(machine, LATENCIES)
    assert machine.runs() == []


def test_a_latency_may_decide(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    decided = analyse(execute(machine, replace(LATENCIES, primary="handoff_p50")).dataset)
    assert decided.of_metric("handoff_p50")[0].verdict == "better"
    machine.mode("no-tracefs")
    with pytest.raises(FastError, match=r"primary = wakeup_p99 cannot be measured here: tracefs"):
        execute(machine, replace(LATENCIES, primary="wakeup_p99"))
