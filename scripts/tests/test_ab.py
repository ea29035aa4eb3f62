# SPDX-License-Identifier: GPL-2.0
"""The statistics of A/B experiments: on simulated experiments whose effect and noise are known."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import paired
import pytest
from scipy import stats

from fastlab.base.model import Workload
from fastlab.plan.blocks import Dataset, Plan, Slot
from fastlab.statistics.calibration import calibrate, planned_blocks
from fastlab.statistics.findings import Finding, Findings
from fastlab.statistics.paired import analyse
from fastlab.statistics.significance import (
    ALPHA,
    MIN_BLOCKS,
    POWER,
    both_tests,
    detectable_in_sigmas,
    false_positive_rate,
    holm,
    measure_noise,
    paired_test,
)

EXPERIMENTS = 1000
CLAIMS = ("better", "worse")
MANY = tuple(Workload("single_ctr", threads) for threads in range(1, 11))


def primary(findings: Findings) -> Finding:
    (found,) = findings.of_metric(findings.primary)
    return found


def simulate(plan: Plan, seed: int = 1, **how: float) -> Dataset:
    return paired.experiment(plan, paired.simulator(np.random.default_rng(seed), **how))


def edited(dataset: Dataset, where: dict[str, Any], changes: dict[str, Any]) -> Dataset:
    """The dataset with `changes` in the rows that have all of `where`."""
    rows = [
        {**row, **changes} if where.items() <= row.items() else row  # type: ignore[typeddict-item]
        for row in dataset.rows
    ]
    return replace(dataset, rows=tuple(rows))  # type: ignore[arg-type]


def rates(seed: int, **how: float) -> tuple[Counter[str], list[Finding]]:
    """The verdicts of 1,000 experiments, each calibrated and planned by itself."""
    rng = np.random.default_rng(seed)
    findings = [
        primary(analyse(paired.experiment(paired.PLAN, paired.simulator(rng, **how))))
        for _ in range(EXPERIMENTS)
    ]
    return Counter(one.verdict for one in findings), findings


def coverage(findings: list[Finding], improvement: float) -> float:
    """How many of the 95 % intervals that there are have the true improvement."""
    ends = [(one.low, one.high) for one in findings if one.low is not None and one.high is not None]
    return float(np.mean([low <= improvement <= high for low, high in ends]))


def test_false_positives_of_a_thousand_a_a_experiments(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts, findings = rates(1, noise=0.02)
    claimed = sum(verdicts[verdict] for verdict in CLAIMS) / EXPERIMENTS
    t_alone = float(np.mean([one.p <= ALPHA for one in findings if one.p is not None]))
    with capsys.disabled():
        print(
            f"\nA/A, 2 % noise: {claimed:.1%} of {EXPERIMENTS} experiments claim a change; t alone "
            f"finds one in {t_alone:.1%} of those it is asked about; {coverage(findings, 0):.1%} "
            f"of the 95 % intervals have 0; {dict(verdicts)}"
        )
    assert claimed <= 0.05
    # A rule that never claims anything would pass, too.
    assert claimed > 0
    assert 0.03 < t_alone < 0.07


def test_an_effect_of_5_percent_is_found_in_2_percent_noise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verdicts, findings = rates(2, noise=0.02, effect=0.05)
    found = verdicts["better"] / EXPERIMENTS
    blocks = [one.baseline.runs // 2 for one in findings if one.baseline.runs]
    covered = coverage(findings, 5)
    with capsys.disabled():
        print(
            f"\n5 % effect, 2 % noise: {found:.1%} of {EXPERIMENTS} experiments find it, with "
            f"{min(blocks)} to {max(blocks)} blocks ({np.mean(blocks):.1f} on average); "
            f"{covered:.1%} of the 95 % intervals have it; {dict(verdicts)}"
        )
    assert found >= 0.95
    assert 0.93 <= covered <= 0.97


def test_false_claims_of_a_table_of_ten(capsys: pytest.CaptureFixture[str]) -> None:
    """Holm's correction keeps them rare in the whole table, not only in each of its lines."""
    plan = replace(paired.PLAN, workloads=MANY)
    experiments = 100
    wrong = 0
    for seed in range(experiments):
        found = analyse(simulate(plan, seed, noise=0.02)).of_metric("elapsed_ns")
        wrong += any(one.verdict in CLAIMS for one in found)
    with capsys.disabled():
        print(f"\nA/A, 10 workloads: {wrong} of {experiments} tables have a false claim")
    assert wrong / experiments <= 0.05


def test_why_no_bootstrap(capsys: pytest.CaptureFixture[str]) -> None:
    """Its intervals miss 0 too often where there are as few blocks as an experiment has."""
    rng = np.random.default_rng(7)
    rates = {}
    for blocks in (6, 8, 12, 20, 40):
        noise = rng.standard_normal((4000, blocks))
        found = [both_tests(noise)[0].confidence_interval(0.95)]
        found += [
            stats.bootstrap(
                (noise,), np.mean, axis=1, n_resamples=999, batch=100, method=method, rng=rng
            ).confidence_interval
            for method in ("percentile", "BCa")
        ]
        rates[blocks] = [float(np.mean((one.low > 0) | (one.high < 0))) for one in found]
    with capsys.disabled():
        print("\nfalse positives of t, percentile and BCa bootstrap by blocks:", rates)
    for blocks in (6, 8, 12):
        t, percentile, bca = rates[blocks]
        assert t < 0.07 < min(percentile, bca)


def test_steady_drift_cancels_in_a_block() -> None:
    """Each run 1 % slower than the last: as much as the effect over a block, and no noise."""
    found = primary(analyse(simulate(paired.PLAN, noise=1e-4, effect=0.02, drift=0.01)))
    assert found.verdict == "better"
    assert found.improvement_pct == pytest.approx(2.0, abs=0.05)


def test_values_of_a_hand_worked_example() -> None:
    test = paired_test([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    # mean .35, standard error sqrt(.035 / 6), t(.975, 5) = 2.5706; all signs equal: 2 / 2^6
    assert test.mean == pytest.approx(0.35)
    assert test.low == pytest.approx(0.35 - 2.570582 * math.sqrt(0.035 / 6))
    assert test.high == pytest.approx(0.35 + 2.570582 * math.sqrt(0.035 / 6))
    assert test.p_rank == pytest.approx(2 / 64)


def test_no_noise_at_all() -> None:
    assert paired_test([0.0] * 6).p == 1
    assert paired_test([0.1] * 6).p == 0
    assert paired_test([0.1] * 6).low == pytest.approx(0.1)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_noise_of_a_calibration() -> None:
    noise = measure_noise([0.03, -0.03] * 6)
    assert noise.sigma == pytest.approx(0.03)
    # chi-squared(.05, 12) = 5.226, t(.975, 12) = 2.1788
    assert noise.sigma_high == pytest.approx(0.03 * math.sqrt(12 / 5.226029))
    assert noise.floor(9) == pytest.approx(2.178813 * 0.03 / 3)
    assert noise.floor(9) < noise.detectable(9, 1) < noise.detectable(9, 10)
    assert noise.detectable(20, 1) < noise.detectable(9, 1)


def test_planning_meets_its_own_promise() -> None:
    """At the detectable effect both tests find it as often as promised: by another simulation."""
    effect = detectable_in_sigmas(10, 1)
    rng = np.random.default_rng(99)
    tests = [paired_test([*(rng.standard_normal(10) + effect)]) for _ in range(1000)]
    found = np.mean([test.p <= ALPHA and test.p_rank <= ALPHA for test in tests])
    assert found == pytest.approx(POWER, abs=0.02)
    assert detectable_in_sigmas(MIN_BLOCKS - 1, 1) == math.inf


def test_noisier_needs_more_blocks_up_to_the_limit() -> None:
    def blocks(sigma: float) -> int:
        return planned_blocks(paired.PLAN, [measure_noise([sigma, -sigma] * 6)])

    assert blocks(0.001) == MIN_BLOCKS
    assert MIN_BLOCKS < blocks(0.02) < blocks(0.04) < paired.PLAN.max_blocks
    assert blocks(0.5) == paired.PLAN.max_blocks


def test_false_positive_rate_of_a_calibration() -> None:
    rng = np.random.default_rng(3)
    rate = false_positive_rate(measure_noise([*(0.02 * rng.standard_normal(12))]) for _ in range(5))
    assert rate is not None
    assert 0.02 < rate <= ALPHA
    assert false_positive_rate([]) is None
    assert false_positive_rate([measure_noise([0.0] * 12)]) == 0


def test_calibration_is_said() -> None:
    lines = analyse(simulate(paired.PLAN, noise=0.02)).calibration
    assert len(lines) == 3
    assert "single_ctr-4: noise of elapsed_ns" in lines[0]
    assert "noise floor" in lines[0]
    assert "can detect" in lines[0]
    assert "single_ctr-4: counting software changes elapsed_ns by " in lines[1]
    assert "False-positive rate: " in lines[2]
    noisy = analyse(simulate(paired.PLAN, noise=0.3)).calibration
    assert "do not suffice for the 5 %" in noisy[1]


def test_a_small_effect_is_refused() -> None:
    """The calibration was noisy, the experiment by chance is not: its claim is below the floor."""
    dataset = simulate(paired.PLAN, noise=0.02)
    quiet = paired.simulator(np.random.default_rng(4), noise=0.001, effect=0.005)
    blocks = calibrate(dataset).blocks
    assert blocks
    calibration = tuple(row for row in dataset.rows if row["pair"] == "off")
    runs = paired.measure(paired.PLAN, ["strict"], blocks, quiet)
    found = primary(analyse(Dataset(paired.PLAN, calibration + tuple(runs))))
    assert found.verdict == "refused"
    assert found.p is not None and found.p <= ALPHA
    assert "below the noise floor" in found.reason
    assert found.gain == 0


def perturbed(pct: float, **changes: object) -> Dataset:
    """An effect that counting stands beside: the uncounted runs took less by so many percent."""
    dataset = simulate(paired.PLAN, noise=0.002, effect=0.2)
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
    found = primary(findings)
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
    assert primary(analyse(Dataset(dataset.plan, rows + tuple(runs)))).verdict == "~"


def test_a_perturbation_that_is_not_known() -> None:
    findings = analyse(perturbed(0, status="failed", reason="the benchmark hung"))
    assert primary(findings).verdict == "refused"
    assert primary(findings).reason == (
        "not claimed: what counting does to the elapsed time is not known"
    )
    assert any("elapsed_ns is not known" in line for line in findings.calibration)


GROUPS = ("cycles,instructions", "l2_references,l2_misses", "software")


def counted(metrics: Mapping[str, float], of: Sequence[str] = GROUPS) -> Dataset:
    """An experiment of several groups, in whose runs of B these counters are so many percent less.
    Times are those of simulate()."""
    plan = replace(paired.PLAN, groups=tuple(of))
    dataset = simulate(plan, noise=0.002)
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
        "Hardware events are those of the measured CPUs, and others may have run on these: "
        "no cgroup.",
    )


def test_the_rank_test_must_agree() -> None:
    # Ranks: two of six are on the other side, so that the least p is far away; t is convinced.
    ratios = [0.2, 0.21, 0.22, 0.23, 0.24, -0.01]
    test = paired_test(ratios)
    assert test.p <= ALPHA < test.p_rank

    plan = replace(paired.PLAN, max_blocks=MIN_BLOCKS)

    def one(slot: Slot, number: int) -> float:
        ratio = ratios[slot.block] if slot.pair == "strict" else 0.002 * (-1) ** slot.block
        return math.exp(ratio if slot.side == "B" else 0)

    found = primary(analyse(paired.experiment(plan, one)))
    assert found.verdict == "~"
    assert "rank test does not agree" in found.reason


def test_fast_never_fired_is_invalid() -> None:
    dataset = simulate(paired.PLAN, noise=0.02, effect=0.5)
    fired = {"hint_set": 3, "used": 3, "same_cpu": 0}
    silent = {"mechanism": fired | {"used": 0}}
    strict = {"pair": "strict", "side": "B"}
    dataset = edited(dataset, strict, {"policy": "strict", "mechanism": fired})
    # In some runs there may be nothing to act on.
    assert primary(analyse(edited(dataset, {**strict, "block": 3}, silent))).verdict == "better"
    findings = analyse(edited(dataset, strict, silent))
    found = primary(findings)
    assert found.verdict == "INVALID"
    assert "FAST never fired" in found.reason
    assert found.improvement_pct is found.gain is found.baseline.mean is None
    assert [one for one in findings.left_out if "block 3" in one.which and "fired" in one.reason]


def test_nothing_is_claimed_before_all_planned_blocks_are_there() -> None:
    dataset = simulate(paired.PLAN, noise=0.02, effect=0.5)
    found = primary(analyse(replace(dataset, rows=dataset.rows[:-1])))
    assert found.verdict == "incomplete"
    assert found.improvement_pct is None
    assert "blocks are whole" in found.reason


def test_a_failed_run_is_named_and_its_block_missed() -> None:
    dataset = simulate(paired.PLAN, noise=0.02)
    failed = {"status": "failed", "reason": "the benchmark hung"}
    where = {"pair": "strict", "block": 2, "position": 1}
    findings = analyse(edited(dataset, where, failed))
    assert primary(findings).verdict == "incomplete"
    (one,) = findings.left_out
    assert one.sentence.startswith("strict: single_ctr, 4 threads, block 2, run 2 (")
    assert one.sentence.endswith("failed: the benchmark hung")


def test_more_blocks_than_planned_are_peeking() -> None:
    dataset = simulate(paired.PLAN, noise=0.02)
    more = paired.measure(
        paired.PLAN, ["strict"], 40, paired.simulator(np.random.default_rng(1), noise=0.02)
    )
    calibration = tuple(row for row in dataset.rows if row["pair"] == "off")
    found = primary(analyse(replace(dataset, rows=calibration + tuple(more))))
    assert found.verdict == "INVALID"
    assert "beyond the" in found.reason


def test_no_claim_without_calibration() -> None:
    dataset = simulate(paired.PLAN, noise=0.02, effect=0.5)
    rows = tuple(row for row in dataset.rows if row["pair"] == "strict")
    findings = analyse(replace(dataset, rows=rows))
    assert primary(findings).verdict == "incomplete"
    assert "calibration" in primary(findings).reason
    assert findings.setting["blocks"] == "not calibrated"
    assert "is not calibrated: 0 of 12 blocks are there" in findings.calibration[0]


def test_a_baseline_that_differs_from_itself_is_an_alarm() -> None:
    dataset = simulate(paired.PLAN, noise=0.02, effect=0.5)
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
    assert primary(findings).verdict == "INVALID"
    assert "A is not A" in primary(findings).reason
    assert "differs from itself in elapsed_ns by 2" in findings.calibration[-1]


def test_what_was_not_measured_is_not_available() -> None:
    found = {one.metric.name: one for one in analyse(simulate(paired.PLAN, noise=0.02)).findings}
    assert found["cycles"].verdict == "n/a"
    assert found["cycles"].reason == "no run has cycles"
    assert found["handoff_p99"].improvement_pct is None


def test_a_metric_that_some_runs_lack() -> None:
    dataset = simulate(paired.PLAN, noise=0.02)
    found = primary(
        analyse(edited(dataset, {"pair": "strict", "position": 0}, {"elapsed_ns": None}))
    )
    assert found.verdict == "n/a"
    assert "runs have no elapsed_ns" in found.reason


def test_zero_has_no_ratio() -> None:
    dataset = simulate(paired.PLAN, noise=0.02)
    dataset = edited(dataset, {}, {"migrations": 5})
    dataset = edited(dataset, {"pair": "strict", "side": "A", "block": 1}, {"migrations": 0})
    found = {one.metric.name: one for one in analyse(dataset).findings}["migrations"]
    assert found.verdict == "n/a"
    assert "a side is 0" in found.reason


def test_more_is_better_for_throughput() -> None:
    dataset = simulate(paired.PLAN, noise=0.02)
    dataset = edited(dataset, {}, {"throughput": 100.0})
    dataset = edited(dataset, {"pair": "strict", "side": "B"}, {"throughput": 150.0})
    found = {one.metric.name: one for one in analyse(dataset).findings}["throughput"]
    assert found.verdict == "better"
    assert found.improvement_pct == pytest.approx(50)
    assert found.low == pytest.approx(50)
    assert found.baseline.mean == pytest.approx(100)


def test_the_primary_metric_is_corrected_by_itself() -> None:
    """Dozens of other metrics do not make its claim harder, nor it theirs."""
    one = primary(analyse(simulate(paired.PLAN, noise=0.02, effect=0.02)))
    test_p = paired_p(simulate(paired.PLAN, noise=0.02, effect=0.02))
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
    dataset = simulate(paired.PLAN, noise=0.02)
    assert analyse(dataset).doubts == ()
    virtual = {**paired.CIRCUMSTANCES["environment"], "virtual": True}
    findings = analyse(
        edited(dataset, {}, {"circumstances": {**paired.CIRCUMSTANCES, "environment": virtual}})
    )
    assert findings.doubts[0].startswith("The machine is virtual")
