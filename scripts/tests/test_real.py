# SPDX-License-Identifier: GPL-2.0
"""The run stage on a real machine, on a fake one: rows, settings, the plan."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import defaultdict
from dataclasses import replace

import pytest
from fake_machine import FakeMachine
from real_runs import CALIBRATION_RUNS, OFF, POLICIES, STRICT, execute, rows_of

from fastlab.backend.counting import Call, count_run, my_cpus
from fastlab.backend.host import SchedFast, only_user
from fastlab.base import cache
from fastlab.base.model import FastError, Variant, Workload
from fastlab.plan.circumstances import from_record
from fastlab.plan.paired_plan import Dataset
from fastlab.statistics.calibration import calibrate
from fastlab.statistics.paired import analyse

pytestmark = pytest.mark.usefixtures("few_blocks")

# A run of the comparison.
MIDDLE = CALIBRATION_RUNS + 12
DEEP = Variant("deep", "fast", "strict", {"depth": 2})


def orders(dataset: Dataset) -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], str] = defaultdict(str)
    for row in dataset.rows:
        if row["events"] == dataset.plan.groups[0]:
            found[row["pair"], row["block"]] += row["side"]
    return found


def test_one_kernel_is_one_boot(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    outcome = execute(machine)
    assert outcome.next_boot == ""
    dataset = outcome.dataset
    blocks = calibrate(dataset).blocks
    assert blocks
    # First the calibration, then as many blocks as it asks for.
    pairs = ["off"] * CALIBRATION_RUNS + ["strict"] * 4 * blocks
    assert [row["pair"] for row in dataset.rows] == pairs
    assert set(orders(dataset).values()) == {"ABBA", "BAAB"}
    for row, (_, policy, depth, *uncounted) in zip(dataset.rows, machine.runs(), strict=True):
        on = row["pair"] == "strict" and row["side"] == "B"
        assert row["variant"] == ("strict" if on else "off")
        assert (policy, depth) == ("strict" if on else "off", "64")
        assert uncounted == (["uncounted"] if row["events"] == "none" else [])
    (finding,) = analyse(dataset).of_metric("elapsed_ns")
    assert finding.verdict == "better"
    assert finding.improvement_pct == pytest.approx(19.9, abs=0.3)


def test_what_a_row_says(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    row = next(row for row in execute(machine).dataset.rows if row["variant"] == "strict")
    assert row["backend"] == "soft"
    assert row["status"] == "ok"
    assert row["kernel"] == {"series": "6.12", "variant": "fast", "id": "6.12.30-fast #1 SMP"}
    assert row["boot"] == "boot-1"
    assert row["policy"] == "strict"
    assert row["knobs"] == {"depth": 64, "opt_in": 0}
    assert row["argv"][0] == "/bin/single_ctr"
    assert row["seed"] == 7
    # Of this run, not since boot.
    assert row["mechanism"] == {"hint_set": 7, "used": 7, "same_cpu": 7}
    # The kernel's own counts.
    assert row["context_switches"] in (40, 41, 42)
    assert row["migrations"] in (4, 5)
    assert row["counters"]["task_clock"]["total"] == 2 * (row["elapsed_ns"] or 0)
    assert row["throughput"] == pytest.approx(2e12 / (row["elapsed_ns"] or 0))
    machine_of_row = {"cpu": "Some CPU", "cpus": 4, "cpu_list": my_cpus()}
    assert row["machine"] == {**machine_of_row, "virtual": False, "vendor": None}
    assert from_record(row["circumstances"]).environment.kernel == "6.12.30-fast"


def test_without_hardware_counters_the_caches_are_not_available(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    missing = {metric.name for metric in analyse(execute(machine).dataset).not_available}
    assert {"cycles", "l2_misses", "l3_miss_ratio", "bus_requests", "handoff_p99"} <= missing
    assert not missing & {"elapsed_ns", "task_clock", "migrations", "throughput", "fairness"}


def test_hardware_counters(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("pmu")
    dataset = execute(machine, replace(POLICIES, primary="cycles"), "perf").dataset
    groups = ("cycles,l2_misses", "l3_references,l3_misses", "software")
    assert dataset.plan.groups == groups
    plan = json.loads((machine.root.parent / "results/plan.json").read_text())
    assert plan["groups"] == list(groups)
    assert [row["events"] for row in dataset.rows[:5]] == [*groups, "none", groups[0]]
    counters = [set(row["counters"]) for row in dataset.rows[:4]]
    kernel = {"task_clock", "context_switches", "migrations"}
    assert counters == [{"cycles", "l2_misses"}, {"l3_references"}, kernel, set()]
    assert dataset.rows[0]["others"] == "no cgroup"
    found = analyse(dataset)
    assert found.of_metric("cycles")[0].verdict == "better"
    assert found.of_metric("l3_references")[0].verdict == "better"
    assert found.of_metric("context_switches")[0].baseline.mean
    assert any("may have run on the measured CPUs: no cgroup" in line for line in found.doubts)
    assert sum("counting" in line for line in found.calibration) == 3
    # No value is not 0.
    assert "l3_misses" in {metric.name for metric in found.not_available}


def test_other_groups_in_the_middle_of_an_experiment_are_refused(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("pmu")
    execute(machine, backend="perf")
    script = machine.toolbox.fast_stat
    script.write_text(script.read_text().replace("l3_references,l3_misses", "l3_misses"))
    with pytest.raises(FastError, match=r"had another plan:\n +groups: no more .*; new "):
        execute(machine, backend="perf")


def test_the_program_is_kept_to_the_cpus_of_fast(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.boot(1, fast=True)
    script = machine.toolbox.fast_stat
    script.write_text(f'#!/bin/sh\necho "$@" >> {machine.root}/words\nexit 1\n')
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {5, 2, 3})
    call = Call(["true"], 9.0, True, my_cpus(), machine.root, machine.root)
    count_run(call, script, "none", machine.root)
    words = (machine.root / "words").read_text()
    assert words.startswith("--events none --cpus 2-3,5 --json ")


def test_a_backend_that_may_not_count_is_an_error(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("denied")
    for backend in ("perf", "soft"):
        with pytest.raises(FastError, match=f"backend {backend} is not available here: fast-stat"):
            execute(machine, backend=backend)
    assert machine.runs() == []


def test_no_hardware_counters_are_said_before_the_first_run(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    with pytest.raises(FastError, match="backend perf is not available here: fast-stat: no PMU"):
        execute(machine, backend="perf")
    assert machine.runs() == []
    assert not (machine.root.parent / "results").exists()


def test_what_was_set_before_is_put_back(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.set("policy", "off strict [soft] adaptive")
    machine.set("depth", "5")
    machine.set("opt_in", "Y")
    outcome = execute(machine, replace(POLICIES, variants=(OFF, STRICT, DEEP)))
    depths = {row["variant"]: row["knobs"]["depth"] for row in outcome.dataset.rows}
    # A variant has what it names; the rest is as it was found.
    assert depths == {"off": 5, "strict": 5, "deep": 2}
    assert {(policy, depth) for _, policy, depth, *_ in machine.runs()} == {
        ("off", "5"),
        ("strict", "5"),
        ("strict", "2"),
    }
    found = [machine.setting(name) for name in ("policy", "depth", "opt_in")]
    assert found == ["soft", "5", "1"]


def test_what_another_experiment_had_set_is_not_put_back(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.set("policy", "off soft [strict]")  # by the other one, which is under way
    sched_fast = SchedFast(machine.root)
    machine.set("policy", "[off] soft strict")  # as it was put back by that
    with only_user(machine.root), sched_fast:
        sched_fast.set({"policy": "soft"})
    assert machine.setting("policy") == "off"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_interruption_leaves_no_policy(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """As in `fast` itself there is another thread, which blocks nothing."""
    machine.boot(1, fast=True)
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    write = SchedFast._write

    def again(sched_fast: SchedFast, name: str, value: str) -> None:
        os.kill(os.getpid(), number)
        time.sleep(0.05)
        write(sched_fast, name, value)

    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), SchedFast(machine.root) as sched_fast:
            sched_fast.set({"depth": "2", "policy": "strict"})
            monkeypatch.setattr(SchedFast, "_write", again)
            raise KeyboardInterrupt
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
        over.set()
        other.join()
    assert (machine.setting("policy"), machine.setting("depth")) == ("off", "64")


def test_a_knob_that_cannot_be_put_back_keeps_no_other_from_it(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.boot(1, fast=True)
    machine.refuse(monkeypatch, "depth", "64")
    with (
        pytest.raises(FastError, match="depth cannot be set to 64: Invalid argument; it is 2"),
        SchedFast(machine.root) as sched_fast,
    ):
        sched_fast.set({"depth": "2", "opt_in": "1", "policy": "strict"})
    assert (machine.setting("policy"), machine.setting("opt_in")) == ("off", "0")


def test_what_no_variant_names_stays_as_it_was_at_first(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 5 interrupt")
    with pytest.raises(KeyboardInterrupt):
        execute(machine)
    machine.mode("")
    machine.set("depth", "5")
    execute(machine)
    assert {depth for _, _, depth, *_ in machine.runs()} == {"64"}
    assert machine.setting("depth") == "5"


def test_an_interruption_restores_the_policy_and_the_next_call_goes_on(
    machine: FakeMachine,
) -> None:
    machine.boot(1, fast=True)
    machine.mode(f"at {MIDDLE} interrupt")
    with pytest.raises(KeyboardInterrupt):
        execute(machine)
    assert machine.setting("policy") == "off"
    kept = rows_of(machine)
    assert len(kept) == MIDDLE - 1
    machine.mode("")
    outcome = execute(machine)
    assert list(outcome.dataset.rows[: MIDDLE - 1]) == kept
    assert len(machine.runs()) == len(outcome.dataset.rows) + 1


def test_an_error_restores_the_policy(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.boot(1, fast=True)
    machine.mode(f"at {MIDDLE} fails")
    monkeypatch.setattr(cache, "FULL", 1 << 62)
    with pytest.raises(FastError, match=r"the disk is full under .*; the rows written are safe"):
        execute(machine)
    assert len(rows_of(machine)) == MIDDLE - 1
    assert machine.setting("policy") == "off"


def test_a_plan_that_changed_after_the_first_run(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 2 interrupt")
    with pytest.raises(KeyboardInterrupt):
        execute(machine)
    changed = replace(
        POLICIES, primary="task_clock", workloads=(*POLICIES.workloads, Workload("affinity", 4))
    )
    with pytest.raises(FastError, match="the first runs had another plan") as error:
        execute(machine, changed)
    text = str(error.value)
    assert 'primary: "elapsed_ns" then, "task_clock" now' in text
    assert 'workloads: no more nothing; new {"benchmark": "affinity"' in text
    assert "--output" in text
    assert "effect_pct" not in text
    machine.toolbox = replace(machine.toolbox, id="newer")
    with pytest.raises(FastError, match='tools: "tools" then, "newer" now'):
        execute(machine)
    assert len(machine.runs()) == 2


def test_other_cpus_in_the_middle_of_an_experiment_are_refused(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 2 interrupt")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {5, 2, 3})
    with pytest.raises(KeyboardInterrupt):
        execute(machine)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {2, 3})
    with pytest.raises(FastError, match=r'had another plan:\n +cpu_list: "2-3,5" then, "2-3" now'):
        execute(machine)
    assert len(machine.runs()) == 2


def test_the_cpus_of_a_run_are_told(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.boot(1, fast=True)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {5, 2, 3})
    dataset = execute(machine).dataset
    assert {row["machine"]["cpu_list"] for row in dataset.rows} == {"2-3,5"}
    environment = from_record(dataset.rows[0]["circumstances"]).environment
    assert (environment.cpu_list, environment.own_cpus, environment.cpus) == ("2-3,5", 3, 4)
    setting = analyse(dataset).setting
    assert (setting["cpus"], setting["cpu_list"]) == ("3", "2-3,5")


def test_before_the_first_run_the_plan_may_change(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 1 interrupt")
    with pytest.raises(KeyboardInterrupt):
        execute(machine)
    machine.mode("")
    execute(machine, replace(POLICIES, primary="task_clock"))
    plan = json.loads((machine.root.parent / "results/plan.json").read_text())
    assert plan["primary"] == "task_clock"
    assert plan["kernels"] == {"off": "fast", "strict": "fast"}


def test_rows_without_their_plan(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    execute(machine)
    (machine.root.parent / "results/plan.json").write_text("{")
    with pytest.raises(FastError, match=r"plan\.json: cannot be read, but runs were made"):
        execute(machine)
