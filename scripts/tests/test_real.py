# SPDX-License-Identifier: GPL-2.0
"""The run stage on a real machine, mostly on a fake one: blocks, policies, boots, what fails."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import samples
from fake_machine import FAST, FakeMachine
from test_run import Silent

from fastlab.backend.contract import run_experiment
from fastlab.backend.counting import Call, count_run, my_cpus
from fastlab.backend.host import only_user
from fastlab.backend.running_kernel import RunningKernel
from fastlab.backend.slot_rows import NOT_ASKED, RealToolbox, find_real_toolbox
from fastlab.base import cache
from fastlab.base.metrics import PERCENTILES
from fastlab.base.model import Experiment, FastError, Variant, Watchdogs, Workload
from fastlab.base.progress import Reporter
from fastlab.plan.blocks import NOTHING, Dataset, PairedRow, make_dataset
from fastlab.plan.run_log import read_rows
from fastlab.report.contents import markdown
from fastlab.statistics import environment
from fastlab.statistics.calibration import calibrate
from fastlab.statistics.paired import analyse
from fastlab.statistics.significance import MIN_BLOCKS

OFF = Variant("off", "fast")
STRICT = Variant("strict", "fast", "strict")
DEEP = Variant("deep", "fast", "strict", {"depth": 2})
# Both policies of one kernel, and two kernels.
POLICIES = replace(
    samples.experiment(seeds=(7,), variants=(OFF, STRICT)), baseline="off", primary="elapsed_ns"
)
KERNELS = replace(samples.experiment(), primary="elapsed_ns")
LATENCIES = replace(POLICIES, latencies=True)


@dataclass(frozen=True)
class Outcome:
    """What there is after a call, and what to boot to go on."""

    dataset: Dataset
    next_boot: str


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    return FakeMachine(tmp_path)


def execute(
    machine: FakeMachine,
    experiment: Experiment = POLICIES,
    backend: str = "soft",
    reporter: Reporter | None = None,
) -> Outcome:
    directory = machine.root.parent
    source = directory / "source.toml"
    source.write_text("# the experiment\n")
    results = directory / "results"
    return complete(experiment, backend, source, machine.toolbox, results, reporter, machine.root)


def complete(
    experiment: Experiment,
    backend: str,
    source: Path,
    toolbox: RealToolbox,
    results: Path,
    reporter: Reporter | None = None,
    root: Path = Path("/"),
) -> Outcome:
    said = reporter or Silent()
    running = RunningKernel(experiment, backend, toolbox, results, said, root)
    rows = run_experiment(running, experiment, source, results, said)
    return Outcome(make_dataset(running.plan, rows), running.next_boot(rows))


def rows_of(machine: FakeMachine) -> list[PairedRow]:
    rows, _ = read_rows(machine.root.parent / "results/runs.jsonl")
    return rows  # type: ignore[return-value]


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
    assert [row["pair"] for row in dataset.rows] == ["off"] * 12 * 6 + ["strict"] * 4 * blocks
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
    assert row["machine"] == {"cpu": "Some CPU", "cpus": 4, "virtual": False, "vendor": None}
    assert environment.from_record(row["circumstances"]).environment.kernel == "6.12.30-fast"


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
    assert any("others may have run on these: no cgroup" in line for line in found.doubts)
    assert sum("counting" in line for line in found.calibration) == 3
    # No value is not 0.
    assert "l3_misses" in {metric.name for metric in found.not_available}


def test_other_groups_in_the_middle_of_an_experiment_are_refused(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("pmu")
    execute(machine, backend="perf")
    script = machine.toolbox.fast_stat
    script.write_text(script.read_text().replace("l3_references,l3_misses", "l3_misses"))
    with pytest.raises(FastError, match=r"planned otherwise:\n +groups: no more .*; new "):
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
    assert words.startswith("--events none --cpus 2,3,5 --json ")


def test_a_backend_that_may_not_count_is_an_error(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("denied")
    for backend in ("perf", "soft"):
        with pytest.raises(FastError, match=f"backend {backend} is not available here: fast-stat"):
            execute(machine, backend=backend)
    assert machine.runs() == []


def test_a_second_run_of_each_slot_measures_latencies(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    dataset = execute(machine, LATENCIES).dataset
    runs = machine.runs()
    rows = [row for row in dataset.rows if row["events"] != "none"]
    both = [run for run in runs if run[3:] != ["uncounted"]]
    assert len(runs) - len(both) == len(dataset.rows) - len(rows) == 24
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
    reporter = Silent()
    dataset = execute(machine, LATENCIES, reporter=reporter).dataset
    denied = "tracefs cannot be used: denied"
    assert reporter.lines == [f"wakeup latency is not available: {denied}"]
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
        ("hang", "latency run: watchdog: no end after 2 s; it was killed"),
        ("ends-badly", "latency run: the benchmark ended with status 3"),
        ("no-counts", "latency run: fast-latency wrote no latencies"),
        ("two-rois", "latency run: 2 regions of interest in one run; there must be one"),
    ],
)
def test_a_latency_run_that_fails(machine: FakeMachine, mode: str, reason: str) -> None:
    machine.boot(1, fast=True)
    # The third run counts nothing, and no latency run follows it.
    machine.mode(f"at 5 {mode}")
    experiment = replace(LATENCIES, watchdogs=Watchdogs(run=2.0))
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
        f"not calibrated: 1 of 48 runs have no handoff_p50: {why}",
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
    machine.mode("at 84 interrupt")
    with pytest.raises(KeyboardInterrupt):
        execute(machine)
    assert machine.setting("policy") == "off"
    kept = rows_of(machine)
    assert len(kept) == 83
    machine.mode("")
    outcome = execute(machine)
    assert list(outcome.dataset.rows[:83]) == kept
    assert len(machine.runs()) == len(outcome.dataset.rows) + 1


def test_an_error_restores_the_policy(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 84 fails")
    monkeypatch.setattr(cache, "FULL", 1 << 62)
    with pytest.raises(FastError, match=r"the disk is full under .*; the rows written are safe"):
        execute(machine)
    assert len(rows_of(machine)) == 83
    assert machine.setting("policy") == "off"


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("fails", "it ended with status 2: single_ctr: cannot make threads"),
        ("killed", "ended with status -9"),
        ("no-counts", "fast-stat wrote no counts"),
        ("two-rois", "2 regions of interest in one run"),
        ("doubtful", "more l2_misses than l2_references"),
    ],
)
def test_a_failed_run_is_a_row_and_is_made_again(
    machine: FakeMachine, mode: str, reason: str
) -> None:
    machine.boot(1, fast=True)
    machine.mode(f"at 4 {mode}")
    outcome = execute(machine)
    assert [row["status"] for row in outcome.dataset.rows] == ["ok"] * 3 + ["failed"] + ["ok"] * 68
    assert reason in outcome.dataset.rows[3]["reason"]
    # Without the whole calibration no comparison begins, and nothing is claimed.
    assert calibrate(outcome.dataset).blocks is None
    assert any(reason in one.sentence for one in analyse(outcome.dataset).left_out)
    machine.mode("")
    again = execute(machine)
    assert {row["status"] for row in again.dataset.rows} == {"ok"}
    assert len(again.dataset.rows) == len(machine.runs()) - 1


def test_a_run_that_hangs_is_killed_with_its_children(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 3 hang")
    begun = time.monotonic()
    outcome = execute(machine, replace(POLICIES, watchdogs=Watchdogs(run=1.0)))
    assert time.monotonic() - begun < 45
    assert outcome.dataset.rows[2]["status"] == "failed"
    assert "watchdog: no end after 1 s" in outcome.dataset.rows[2]["reason"]
    child = Path("/proc", (machine.root / "child").read_text().strip(), "stat")
    for _ in range(50):
        # Gone, or a zombie that its new parent has not buried yet.
        if not child.exists() or child.read_text().split()[2] == "Z":
            break
        time.sleep(0.1)
    else:
        pytest.fail("the child still runs")


def test_the_total_watchdog(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    with pytest.raises(FastError, match=r"longer than 0\.2 s in all; the \d+ rows written"):
        execute(machine, replace(POLICIES, watchdogs=Watchdogs(total=0.2)))
    assert rows_of(machine)
    assert machine.setting("policy") == "off"


def test_fast_that_never_fires_is_invalid(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("idle")
    found = analyse(execute(machine).dataset)
    (finding,) = found.of_metric("elapsed_ns")
    assert finding.verdict == "INVALID"
    assert "FAST never fired" in finding.reason


def test_a_kernel_that_lacks_what_a_variant_needs(machine: FakeMachine) -> None:
    with pytest.raises(FastError, match=r"runs on kernel fast, and the running kernel, 6\.12\.30"):
        execute(machine)
    machine.boot(1, fast=True)
    unknown = replace(STRICT, knobs={"width": 1})
    with pytest.raises(FastError, match=r"has no width in sched/fast; it has depth, opt_in, pol"):
        execute(machine, replace(POLICIES, variants=(OFF, unknown)))
    shutil.rmtree(machine.root / FAST)
    with pytest.raises(FastError, match=r"as root, mount debugfs: `mount -t debugfs debugfs /"):
        execute(machine)
    assert machine.runs() == []


def test_a_policy_that_the_kernel_does_not_know(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.boot(1, fast=True)
    write = Path.write_text

    def refuse(path: Path, text: str) -> int:
        if text == "strict\n":
            raise OSError(22, "Invalid argument")
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(FastError, match=r"policy cannot be set to strict: Invalid argument; it is"):
        execute(machine)
    assert machine.runs() == []


def test_policies_need_root(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.boot(1, fast=True)

    def refuse(path: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied")

    # Root may look everywhere, so the kernel's answer to others is put here.
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(FastError, match=r"sched/fast cannot be read: Permission denied; .* sudo"):
        execute(machine)
    assert machine.runs() == []


def test_one_experiment_at_a_time(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    with (
        only_user(machine.root),
        pytest.raises(FastError, match="another `fast run` or `fast try` is measuring here"),
    ):
        execute(machine)
    assert machine.runs() == []


def test_a_plan_that_changed_after_the_first_run(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 2 interrupt")
    with pytest.raises(KeyboardInterrupt):
        execute(machine)
    changed = replace(
        POLICIES, primary="task_clock", workloads=(*POLICIES.workloads, Workload("affinity", 4))
    )
    with pytest.raises(FastError, match="the first runs were planned otherwise") as error:
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
    with pytest.raises(FastError, match=r"plan\.json: cannot be read, but there are runs"):
        execute(machine)


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
    assert len(dataset.rows) == 2 * (6 * 12 + 4 * MIN_BLOCKS)
    sides = defaultdict(set)
    for row in dataset.rows:
        where = row["benchmark"], row["pair"], row["boot"]
        sides[where].add((row["block"], row["side"]))
        assert row["kernel"]["variant"] == ("fast" if row["variant"] == "fast" else "baseline")
    # Never two sides or two blocks of one comparison in one boot.
    assert all(len(found) == 1 for found in sides.values())
    assert set(orders_in_time(dataset).values()) == {"AABB", "BBAA"}
    # 24 of the baseline for the calibration, which has the comparisons' A sides, too.
    assert taken == 24 + MIN_BLOCKS
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
    assert "At least 29 more boots" in outcome.next_boot
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


def built() -> Path:
    """Where `make` has built the programs."""
    directory = Path(__file__).parents[2] / "build/user"
    if not (directory / "userspace/counters/fast-stat").exists():
        pytest.skip(f"{directory} has no fast-stat: `make` builds it")
    return directory


def test_this_machine(tmp_path: Path) -> None:
    """End to end on the running kernel, whichever it is: the first boot of two kernels."""
    load = Workload("single_ctr", 4, ("--iterations=200000", "--warmup=200"))
    experiment = replace(KERNELS, workloads=(load,), latencies=True)
    source = tmp_path / "source.toml"
    source.write_text("# the experiment\n")
    toolbox = find_real_toolbox(built(), experiment)
    outcome = complete(experiment, "soft", source, toolbox, tmp_path / "results")
    assert outcome.next_boot
    rows = outcome.dataset.rows
    assert {row["status"] for row in rows} == {"ok"}
    for row in rows:
        assert row["elapsed_ns"]
        if row["events"] == NOTHING:
            # It is there to say what counting costs.
            assert "task_clock" not in row["counters"]
            continue
        assert row["counters"]["task_clock"]["total"] > 0
        assert row["context_switches"] is not None
        assert "cycles" not in row["counters"]
        # Any machine can measure hand-offs, and these threads have some.
        histogram = row["latency"]["handoff"]
        assert sum(count for _, count in histogram) > 0
        assert all(0 < end < 1e9 for end, _ in histogram)
        assert ("wakeup" in row["latency"]) != bool(row["latency_missing"])
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert {row["boot"] for row in rows} == {boot}
    release = os.uname().release
    assert all(row["kernel"]["id"].startswith(release) for row in rows)


def test_perf_where_there_is_no_pmu(tmp_path: Path) -> None:
    listing = subprocess.run(
        [built() / "userspace/counters/fast-stat", "--list"], capture_output=True, text=True
    )
    if "no PMU" not in listing.stdout + listing.stderr:
        pytest.skip("this machine has hardware counters")
    experiment = replace(KERNELS, primary="cycles")
    toolbox = find_real_toolbox(built(), experiment)
    with pytest.raises(FastError, match="backend perf is not available here: fast-stat: no PMU"):
        complete(experiment, "perf", tmp_path, toolbox, tmp_path / "results")
    assert not (tmp_path / "results").exists()
