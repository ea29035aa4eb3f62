# SPDX-License-Identifier: GPL-2.0
"""What A/B experiments claim and what they do not: counting, groups, missing runs, doubts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import paired
import pytest

from fastlab.plan.paired_plan import Dataset, Slot
from fastlab.statistics.calibration import calibrate, whole_blocks
from fastlab.statistics.paired import analyse
from fastlab.statistics.significance import ALPHA, MIN_BLOCKS, paired_test


def edited(dataset: Dataset, where: dict[str, Any], changes: dict[str, Any]) -> Dataset:
    """The dataset with `changes` in the rows that have all of `where`."""
    rows = [
        {**row, **changes} if where.items() <= row.items() else row  # type: ignore[typeddict-item]
        for row in dataset.rows
    ]
    return replace(dataset, rows=tuple(rows))  # type: ignore[arg-type]


def test_a_small_effect_is_refused() -> None:
    """The calibration was noisy, the experiment by chance is not: its claim is below the floor."""
    dataset = paired.simulate(paired.PLAN, noise=0.02)
    quiet = paired.simulator(np.random.default_rng(4), noise=0.001, effect=0.005)
    blocks = calibrate(dataset).blocks
    assert blocks
    calibration = tuple(row for row in dataset.rows if row["pair"] == "off")
    runs = paired.measure(paired.PLAN, ["strict"], blocks, quiet)
    found = paired.primary(analyse(Dataset(paired.PLAN, calibration + tuple(runs))))
    assert found.verdict == "refused"
    assert found.p is not None and found.p <= ALPHA
    assert "below the noise floor" in found.reason
    assert found.gain == 0


def perturbed(pct: float, **changes: object) -> Dataset:
    """A real effect, and a perturbation by counting: uncounted runs take this many percent less."""
    dataset = paired.simulate(paired.PLAN, noise=0.002, effect=0.2)
    uncounted = {"pair": "off", "events": "none"}
    for row in [row for row in dataset.rows if row["events"] == "none"]:
        elapsed = 1e6 / (1 + pct / 100)
        where = {**uncounted, "block": row["block"], "position": row["position"]}
        dataset = edited(dataset, where, {"elapsed_ns": elapsed, **changes})
    return dataset


def test_what_counting_does_is_said() -> None:
    (line,) = (line for line in analyse(perturbed(2)).calibration if "counting" in line)
    found = re.fullmatch(
        r"single_ctr-4: counting software changes elapsed_ns by (.*) % "
        r"\(95 % interval (.*) to (.*) %\)\.",
        line,
    )
    assert found
    mean, low, high = map(float, found.groups())
    assert low <= mean <= high
    assert mean == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize(("pct", "verdict"), [(4, "better"), (8, "refused"), (-8, "refused")])
def test_no_change_is_claimed_where_counting_changes_the_time(pct: float, verdict: str) -> None:
    findings = analyse(perturbed(pct))
    found = paired.primary(findings)
    assert found.verdict == verdict
    assert found.improvement_pct == pytest.approx(20, abs=1)
    if verdict == "refused":
        assert found.reason.startswith("not claimed: counting changes the elapsed time by ")
        assert abs(float(found.reason.split()[-2]) - pct) < 0.5
        assert found.gain == 0
        assert any("nothing is claimed from these runs" in line for line in findings.calibration)


def test_what_does_not_differ_is_not_refused() -> None:
    dataset = perturbed(8)
    rows = tuple(row for row in dataset.rows if row["pair"] == "off")
    runs = paired.measure(
        paired.PLAN, ["strict"], 6, paired.simulator(np.random.default_rng(5), noise=0.002)
    )
    assert paired.primary(analyse(Dataset(dataset.plan, rows + tuple(runs)))).verdict == "~"


def test_latencies_are_claimed_whatever_counting_does() -> None:
    dataset = perturbed(8)
    for row in dataset.rows:
        gathered = row["pair"] == "strict" and row["side"] == "B"
        row["latency"] = {"wakeup": [[1000 if gathered else 2000, 10]]}
    found = {one.metric.name: one for one in analyse(dataset).findings}
    assert found["elapsed_ns"].verdict == "refused"
    assert found["wakeup_p50"].verdict == "better"
    assert found["wakeup_p50"].improvement_pct == pytest.approx(50)


def test_a_perturbation_that_is_not_known() -> None:
    findings = analyse(perturbed(0, status="failed", reason="the benchmark hung"))
    assert paired.primary(findings).verdict == "refused"
    assert paired.primary(findings).reason == (
        "not claimed: the effect of counting on the elapsed time is unknown"
    )
    assert any("elapsed_ns is unknown" in line for line in findings.calibration)


GROUPS = ("cycles,instructions", "l2_references,l2_misses", "software")


def counted(metrics: Mapping[str, float], of: Sequence[str] = GROUPS) -> Dataset:
    """An experiment of several groups, in which B's runs have these percentages less of the named
    counters. The times come from paired.simulate()."""
    plan = replace(paired.PLAN, groups=tuple(of))
    dataset = paired.simulate(plan, noise=0.002)
    for name, pct in metrics.items():
        events = next(group for group in of if name in group)
        for row in dataset.rows:
            if row["events"] == events:
                gain = pct / 100 * (row["side"] == "B" and row["pair"] == "strict")
                # As much noise as is needed for blocks to differ.
                noise = 0.01 * (
                    ((row["block"] * 7919 + row["position"] * 104729 + len(name)) % 100) / 100 - 0.5
                )
                total = round(1e6 * (1 + noise) * (1 - gain))
                row["counters"] = {**row["counters"], name: {"unit": "", "total": total}}
    return dataset


def test_each_metric_is_of_the_runs_that_count_it() -> None:
    findings = analyse(counted({"cycles": 10, "l2_misses": 40, "l2_references": 20}))
    found = {one.metric.name: one for one in findings.findings}
    blocks = calibrate(counted({})).blocks
    assert blocks
    for name, pct in (("cycles", 10), ("l2_misses", 40), ("l2_references", 20)):
        assert found[name].verdict == "better"
        assert found[name].improvement_pct == pytest.approx(pct, abs=1)
        assert found[name].baseline.runs == 2 * blocks
    # Of two events that were counted together.
    assert found["l2_miss_ratio"].improvement_pct == pytest.approx(25, abs=2)
    assert found["elapsed_ns"].baseline.runs == 2 * blocks
    assert found["l3_misses"].verdict == "n/a"
    assert not findings.left_out


def test_each_group_has_its_own_perturbation() -> None:
    dataset = counted({"cycles": 10, "l2_misses": 40})
    for row in dataset.rows:
        if row["pair"] == "off" and row["events"] == GROUPS[1]:
            row["elapsed_ns"] = (row["elapsed_ns"] or 0) * 1.5
    findings = analyse(dataset)
    found = {one.metric.name: one for one in findings.findings}
    assert found["cycles"].verdict == "better"
    assert found["l2_misses"].verdict == "refused"
    assert "by 50 %" in found["l2_misses"].reason
    assert sum("counting" in line for line in findings.calibration) == len(GROUPS)


def test_missing_runs_of_groups_are_counted() -> None:
    dataset = counted({})
    (one,) = analyse(replace(dataset, rows=dataset.rows[:-3])).left_out
    blocks = calibrate(dataset).blocks or 0
    assert one.sentence == (
        f"strict: single_ctr, 4 threads: missing: 3 of {12 * blocks} runs are not made yet"
    )
    (one,) = analyse(replace(dataset, rows=dataset.rows[:-1])).left_out
    assert one.sentence.endswith(f"missing: 1 of {12 * blocks} runs are not made yet")
    first, *_ = analyse(replace(dataset, rows=dataset.rows[:1])).left_out
    assert first.sentence == (
        f"off: single_ctr, 4 threads: missing: {12 * 14 - 1} of {12 * 14} runs are not made yet"
    )


def test_who_else_may_have_run_there_is_said() -> None:
    dataset = counted({"cycles": 10})
    assert not analyse(dataset).doubts
    for row in dataset.rows:
        row["others"] = "no cgroup"
    assert analyse(dataset).doubts == (
        "Hardware events are counted by CPU, and other programs may have run on the measured CPUs: "
        "no cgroup.",
    )


def test_company_in_some_runs_only_is_said() -> None:
    dataset = counted({})
    assert not analyse(dataset).doubts
    alone, together = {"others": None}, {"others": "no cgroup"}
    assert not analyse(edited(dataset, {}, together)).doubts
    mixed = edited(edited(dataset, {}, alone), {"block": 3}, together)
    count = sum(row["block"] == 3 for row in mixed.rows)
    assert analyse(mixed).doubts == (
        f"In {count} of {len(mixed.rows)} runs other programs may have run on the measured "
        "CPUs, which changes times, too: no cgroup.",
    )
    # Of a run that failed it is not known, and it is in no comparison.
    failed = {"status": "failed", "reason": "watchdog", "others": None}
    assert not analyse(edited(edited(dataset, {}, together), {"block": 3}, failed)).doubts


def test_the_rank_test_must_agree() -> None:
    # Ranks: two of six are on the other side, so that the least p is far away; t is convinced.
    ratios = [0.2, 0.21, 0.22, 0.23, 0.24, -0.01]
    test = paired_test(ratios)
    assert test.p <= ALPHA < test.p_rank

    plan = replace(paired.PLAN, max_blocks=MIN_BLOCKS)

    def one(slot: Slot, number: int) -> float:
        ratio = ratios[slot.block] if slot.pair == "strict" else 0.002 * (-1) ** slot.block
        return math.exp(ratio if slot.side == "B" else 0)

    found = paired.primary(analyse(paired.experiment(plan, one)))
    assert found.verdict == "~"
    assert "rank test does not agree" in found.reason


def test_fast_never_fired_is_invalid() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02, effect=0.5)
    fired = {"hint_set": 3, "used": 3, "same_cpu": 0}
    silent = {"mechanism": fired | {"used": 0}}
    strict = {"pair": "strict", "side": "B"}
    dataset = edited(dataset, strict, {"policy": "strict", "mechanism": fired})
    # In some runs there may be nothing to act on.
    assert (
        paired.primary(analyse(edited(dataset, {**strict, "block": 3}, silent))).verdict == "better"
    )
    findings = analyse(edited(dataset, strict, silent))
    found = paired.primary(findings)
    assert found.verdict == "INVALID"
    assert "FAST never fired" in found.reason
    assert found.improvement_pct is found.gain is found.baseline.mean is None
    assert [one for one in findings.left_out if "block 3" in one.which and "fired" in one.reason]


def test_nothing_is_claimed_before_all_planned_blocks_are_there() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02, effect=0.5)
    found = paired.primary(analyse(replace(dataset, rows=dataset.rows[:-1])))
    assert found.verdict == "incomplete"
    assert found.improvement_pct is None
    assert "blocks are whole" in found.reason


def test_a_failed_run_is_named_and_its_block_missed() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02)
    failed = {"status": "failed", "reason": "the benchmark hung"}
    where = {"pair": "strict", "block": 2, "position": 1}
    findings = analyse(edited(dataset, where, failed))
    assert paired.primary(findings).verdict == "incomplete"
    (one,) = findings.left_out
    assert one.sentence.startswith("strict: single_ctr, 4 threads, block 2, run 2 (")
    assert one.sentence.endswith("failed: the benchmark hung")


def test_more_blocks_than_planned_are_peeking() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02)
    planned = calibrate(dataset).blocks
    assert planned
    calibration = tuple(row for row in dataset.rows if row["pair"] == "off")
    simulator = paired.simulator(np.random.default_rng(1), noise=0.02)
    for blocks in (planned + 1, 40):
        more = paired.measure(paired.PLAN, ["strict"], blocks, simulator)
        found = paired.primary(analyse(replace(dataset, rows=calibration + tuple(more))))
        assert found.verdict == "INVALID"
        assert f"beyond the {planned} planned" in found.reason


def test_no_claim_without_calibration() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02, effect=0.5)
    rows = tuple(row for row in dataset.rows if row["pair"] == "strict")
    findings = analyse(replace(dataset, rows=rows))
    assert paired.primary(findings).verdict == "incomplete"
    assert "calibration" in paired.primary(findings).reason
    assert findings.setting["blocks"] == "not calibrated"
    assert "is not calibrated: 0 of 12 blocks are there" in findings.calibration[0]


def test_a_baseline_that_differs_from_itself_is_an_alarm() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02, effect=0.5)
    rows = tuple(
        {**row, "elapsed_ns": row["elapsed_ns"] * 1.2}  # type: ignore[operator]
        if row["pair"] == "off" and row["side"] == "B"
        else row
        for row in dataset.rows
    )
    # As many blocks as that noise asks for, so that nothing else is wrong.
    calibration = Dataset(dataset.plan, tuple(r for r in rows if r["pair"] == "off"))  # type: ignore[misc]
    blocks = calibrate(calibration).blocks
    assert blocks
    runs = paired.measure(
        paired.PLAN,
        ["strict"],
        blocks,
        paired.simulator(np.random.default_rng(1), noise=0.02, effect=0.5),
    )
    findings = analyse(Dataset(dataset.plan, calibration.rows + tuple(runs)))
    assert paired.primary(findings).verdict == "INVALID"
    assert "A is not A" in paired.primary(findings).reason
    assert "differs from itself in elapsed_ns by 2" in findings.calibration[-1]


def test_what_was_not_measured_is_not_available() -> None:
    found = {
        one.metric.name: one for one in analyse(paired.simulate(paired.PLAN, noise=0.02)).findings
    }
    assert found["cycles"].verdict == "n/a"
    assert found["cycles"].reason == "no run has cycles"
    assert found["handoff_p99"].improvement_pct is None


def test_a_metric_that_some_runs_lack() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02)
    found = paired.primary(
        analyse(edited(dataset, {"pair": "strict", "position": 0}, {"elapsed_ns": None}))
    )
    assert found.verdict == "n/a"
    assert "runs have no elapsed_ns" in found.reason


def test_zero_has_no_ratio() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02)
    dataset = edited(dataset, {}, {"migrations": 5})
    dataset = edited(dataset, {"pair": "strict", "side": "A", "block": 1}, {"migrations": 0})
    found = {one.metric.name: one for one in analyse(dataset).findings}["migrations"]
    assert found.verdict == "n/a"
    assert "a side is 0" in found.reason


def test_means_are_geometric_over_the_blocks() -> None:
    blocks = whole_blocks(((), ()), [([1.0, 3.0], [4.0, 4.0]), ([8.0, 8.0], [1.0, 1.0])])
    assert blocks.means == pytest.approx((4, 2))
    assert blocks.ratios == pytest.approx((math.log(2), math.log(1 / 8)))


def test_more_is_better_for_throughput() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02)
    dataset = edited(dataset, {}, {"throughput": 100.0})
    dataset = edited(dataset, {"pair": "strict", "side": "B"}, {"throughput": 150.0})
    found = {one.metric.name: one for one in analyse(dataset).findings}["throughput"]
    assert found.verdict == "better"
    assert found.improvement_pct == pytest.approx(50)
    assert found.low == pytest.approx(50)
    assert found.baseline.mean == pytest.approx(100)


def test_the_primary_metric_is_corrected_by_itself() -> None:
    """Dozens of other metrics do not make its claim harder, nor it theirs."""
    one = paired.primary(analyse(paired.simulate(paired.PLAN, noise=0.02, effect=0.02)))
    test_p = paired_p(paired.simulate(paired.PLAN, noise=0.02, effect=0.02))
    assert one.p == pytest.approx(test_p)


def paired_p(dataset: Dataset) -> float:
    """The t test of the blocks' log ratios, worked out from the rows."""
    blocks: dict[int, dict[str, list[float]]] = {}
    for row in dataset.rows:
        if row["pair"] == "strict":
            halves = blocks.setdefault(row["block"], {"A": [], "B": []})
            halves[row["side"]].append(float(row["elapsed_ns"] or 0))
    return paired_test(
        [math.log(sum(halves["B"]) / sum(halves["A"])) for halves in blocks.values()]
    ).p


def test_the_environment_is_doubted_beside_the_numbers() -> None:
    dataset = paired.simulate(paired.PLAN, noise=0.02)
    assert analyse(dataset).doubts == ()
    virtual = {**paired.CIRCUMSTANCES["environment"], "virtual": True}
    findings = analyse(
        edited(dataset, {}, {"circumstances": {**paired.CIRCUMSTANCES, "environment": virtual}})
    )
    assert findings.doubts[0].startswith("The machine is virtual")
