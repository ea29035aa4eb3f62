# SPDX-License-Identifier: GPL-2.0
"""Statistics on samples whose effect is known; the expected values are worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import samples
from samples import summarise

from fastlab.base.metrics import SIMULATED, Metric, improvement
from fastlab.base.model import Experiment
from fastlab.plan.experiment import plan
from fastlab.plan.rows import Row, value
from fastlab.report.paper import CELLS, printed
from fastlab.statistics.findings import Finding, Findings


def measure(
    of: Experiment, baseline: dict[int, dict[str, Any]], fast: dict[int, dict[str, Any]]
) -> list[Row]:
    """Rows of the first workload: by seed, the counters (or `changes`) of either side."""
    rows = []
    for name, seeds in (("baseline", baseline), ("fast", fast)):
        for seed, values in seeds.items():
            given = dict(values)
            changes = given.pop("changes", {})
            rows.append(samples.row(of, samples.run_of(of, name, seed), given, changes))
    return rows


def one(summary: Findings, metric: str) -> Finding:
    return summary.find("fast", metric)["single_ctr", 4]


def test_improvement_is_the_papers_formula() -> None:
    assert improvement(200, 150, "lower") == 25.0
    assert improvement(200, 250, "lower") == -25.0
    assert improvement(200, 250, "higher") == 25.0
    assert improvement(200, 150, "higher") == -25.0
    assert improvement(0, 150, "lower") is None


def three_seeds() -> Finding:
    of = samples.experiment()
    rows = measure(
        of,
        {1: {"cycles": 1000}, 2: {"cycles": 2000}, 3: {"cycles": 3000}},
        {1: {"cycles": 500}, 2: {"cycles": 1200}, 3: {"cycles": 2100}},
    )
    return one(summarise(of, rows), "cycles")


def test_means_and_spread() -> None:
    cycles = three_seeds()
    assert cycles.baseline.mean == 2000
    assert cycles.variant.mean == pytest.approx(3800 / 3)
    # On the means: (6000 - 3800) / 6000; the mean of 50, 40 and 30 would be 40.
    assert cycles.improvement_pct == pytest.approx(2200 * 100 / 6000)
    assert cycles.spread == pytest.approx(10.0)
    assert (cycles.baseline.runs, cycles.variant.runs) == (3, 3)
    assert cycles.singles == (("seed 1", 50.0), ("seed 2", 40.0), ("seed 3", 30.0))
    assert cycles.complete


def test_seeds_that_disagree_show_no_change() -> None:
    of = samples.experiment()
    base = {seed: {"cycles": 1000} for seed in of.seeds}

    def cycles(*variant: int) -> Finding:
        fast = {seed: {"cycles": count} for seed, count in zip(of.seeds, variant, strict=True)}
        return one(summarise(of, measure(of, base, fast)), "cycles")

    mixed = cycles(900, 1080, 960)
    assert mixed.improvement_pct == pytest.approx(2)
    assert (mixed.verdict, mixed.gain) == ("~", 0.0)
    # Student's with two degrees of freedom: 4.303 standard errors of 9.165 / sqrt(3).
    assert (mixed.low, mixed.high) == (
        pytest.approx(-20.77, abs=0.01),
        pytest.approx(24.77, abs=0.01),
    )
    clear = cycles(800, 810, 790)
    assert clear.verdict == "better"
    assert clear.low is not None and 15 < clear.low < 20
    assert cycles(1000, 1000, 1000).verdict == "same"
    # Equal means of seeds that differ.
    assert cycles(900, 1000, 1100).verdict == "~"


def test_an_interval_that_holds_0_is_no_answer_where_runs_lack() -> None:
    of = samples.experiment()
    rows = measure(
        of,
        {1: {"cycles": 1000}, 2: {"cycles": 1000}, 3: {"cycles": 1000}},
        {1: {"cycles": 900}, 2: {"cycles": 1080}},
    )
    found = one(summarise(of, rows), "cycles")
    assert found.low is not None and found.low < 0
    assert (found.verdict, found.gain) == ("incomplete", None)
    rows.append(samples.row(of, samples.run_of(of, "fast", 3), mechanism=None))
    assert one(summarise(of, rows), "cycles").verdict == "INVALID"


def test_an_interval_is_that_of_the_ratio_of_the_means() -> None:
    cycles = three_seeds()
    # The ratio is 19 / 30, and leaves -400 / 3, -200 / 3 and 200, whose standard deviation is
    # 176.38: 4.303 * 176.38 / (sqrt(3) * 2000) is 21.91 %.
    assert (cycles.low, cycles.high) == (
        pytest.approx(36.67 - 21.91, abs=0.01),
        pytest.approx(36.67 + 21.91, abs=0.01),
    )


def test_a_seed_that_is_far_off_in_the_baseline_is_so_in_the_interval() -> None:
    of = samples.experiment(seeds=(1, 2, 3, 4, 5))
    often = {seed: {"changes": {"context_switches": 1000}} for seed in of.seeds}
    seldom = {seed: {"changes": {"context_switches": 20}} for seed in of.seeds}
    often[1] = {"changes": {"context_switches": 20}}
    seldom[1] = {"changes": {"context_switches": 30}}
    found = one(summarise(of, measure(of, often, seldom)), "context_switches")
    # Four seeds gain 98 %, one loses 50: the mean of the single seeds would be 68.
    assert found.improvement_pct == pytest.approx(97.26, abs=0.01)
    assert found.low is not None and found.high is not None
    assert 90 < found.low < found.improvement_pct < found.high < 100
    assert found.verdict == "better"


def test_one_seed_says_what_it_did() -> None:
    of = samples.experiment(seeds=(1,))
    found = one(summarise(of, measure(of, {1: {}}, {1: {"cycles": 900}})), "cycles")
    assert (found.verdict, found.low, found.high) == ("better", None, None)


def test_how_often_and_how_long_threads_wait() -> None:
    of = samples.experiment(("barnes",), seeds=(1, 2))
    rows = [
        samples.row(of, run, {"elapsed_cycles": 2_000_000}, {"profile": samples.PROFILE})
        for run in plan(of)
    ]
    baseline, fast = summarise(of, rows).synchronization
    assert (fast.benchmark, fast.threads, fast.variant_name) == ("barnes", 4, "fast")
    # 800 in 4 ms, of four threads
    assert fast.locks == 200_000
    assert fast.contended == 0.25
    assert fast.barriers == 20_000
    assert fast.flags == 0
    assert fast.handoffs == 50_000
    assert fast.lock_share == 0.125
    assert fast.barrier_share == 0.25
    assert baseline.variant_name == "baseline"
    assert baseline.handoffs is None
    assert summarise(of, [samples.row(of, run) for run in plan(of)]).synchronization == ()


def test_more_is_better_for_throughput_and_fairness() -> None:
    of = samples.experiment(seeds=(1,))
    rows = measure(
        of,
        {1: {"elapsed_cycles": 3_000_000, "changes": {"fairness": 0.5}}},
        {1: {"elapsed_cycles": 2_000_000, "changes": {"fairness": 0.4}}},
    )
    summary = summarise(of, rows)
    assert one(summary, "elapsed_ns").improvement_pct == pytest.approx(100 / 3)
    assert one(summary, "throughput").improvement_pct == pytest.approx(50)
    assert one(summary, "fairness").improvement_pct == pytest.approx(-20)


def test_one_seed_has_no_spread() -> None:
    of = samples.experiment(seeds=(1,))
    cycles = one(summarise(of, measure(of, {1: {}}, {1: {"cycles": 900}})), "cycles")
    assert cycles.improvement_pct == pytest.approx(10)
    assert cycles.spread is None


def test_ratio_is_misses_by_references() -> None:
    of = samples.experiment(seeds=(1,))
    rows = measure(
        of,
        {1: {"l2_misses": 400, "l2_references": 1000}},
        {1: {"l2_misses": 100, "l2_references": 200}},
    )
    summary = summarise(of, rows)
    ratio = one(summary, "l2_miss_ratio")
    # Misses fall to a quarter, and yet the ratio rises.
    assert (ratio.baseline.mean, ratio.variant.mean) == (0.4, 0.5)
    assert ratio.improvement_pct == pytest.approx(-25)
    assert one(summary, "l2_misses").improvement_pct == pytest.approx(75)


def assert_not_available(comparison: Finding) -> None:
    assert comparison.improvement_pct is None
    assert comparison.spread is None


def test_no_references_no_ratio() -> None:
    of = samples.experiment(seeds=(1,))
    rows = measure(of, {1: {}}, {1: {"l3_misses": 0, "l3_references": 0}})
    ratio = one(summarise(of, rows), "l3_miss_ratio")
    assert_not_available(ratio)
    assert ratio.variant.mean is None


def test_not_available_stays_so() -> None:
    of = samples.experiment(seeds=(1, 2))
    rows = measure(of, {1: {}, 2: {}}, {1: {"changes": {"migrations": None}}, 2: {}})
    migrations = one(summarise(of, rows), "migrations")
    assert_not_available(migrations)
    assert migrations.baseline.mean is None


def test_baseline_zero() -> None:
    of = samples.experiment(seeds=(1, 2))
    zero = {"changes": {"migrations": 0}}
    migrations = one(summarise(of, measure(of, {1: zero, 2: zero}, {1: {}, 2: {}})), "migrations")
    assert (migrations.baseline.mean, migrations.variant.mean) == (0, 10)
    assert_not_available(migrations)


def test_one_seeds_zero_takes_the_spread_only() -> None:
    of = samples.experiment(seeds=(1, 2))
    rows = measure(of, {1: {"changes": {"migrations": 0}}, 2: {}}, {1: {}, 2: {}})
    migrations = one(summarise(of, rows), "migrations")
    assert migrations.improvement_pct == pytest.approx(-100)
    assert migrations.spread is None
    assert migrations.low is not None and migrations.high is not None
    assert migrations.verdict == "~"
    of = samples.experiment()
    zero = {"changes": {"migrations": 0}}
    rows = measure(of, {1: zero, 2: {}, 3: {}}, {1: {}, 2: {}, 3: {}})
    assert one(summarise(of, rows), "migrations").spread is None


def test_bad_rows_are_left_out_by_name() -> None:
    of = samples.experiment(seeds=(1, 2, 3, 4))
    rows = measure(of, {1: {}, 2: {}, 3: {}, 4: {}}, {1: {"cycles": 500}})
    rows.append(samples.row(of, samples.run_of(of, "fast", 2), mechanism=None))
    rows.append(samples.row(of, samples.run_of(of, "fast", 3), failure="the guest hung"))
    summary = summarise(of, rows)
    cycles = one(summary, "cycles")
    assert cycles.variant.runs == 1
    assert not cycles.complete
    assert cycles.improvement_pct == pytest.approx(50)
    assert [(e.variant_name, e.which, e.status) for e in summary.left_out] == [
        ("fast", "seed 2", "invalid"),
        ("fast", "seed 3", "failed"),
        ("fast", "seed 4", "missing"),
    ]
    assert summary.left_out[1].reason == "the guest hung"


def test_a_run_with_nothing_to_act_on_counts_beside_others() -> None:
    of = samples.experiment(seeds=(1, 2))
    rows = measure(of, {1: {"cycles": 1000}, 2: {"cycles": 1000}}, {1: {"cycles": 500}})
    nothing = {**samples.MECHANISM, "hint_set": 0, "used": 0, "same_cpu": 0}
    silent = [samples.row(of, samples.run_of(of, "fast", 2), {"cycles": 1000}, mechanism=nothing)]
    summary = summarise(of, rows + silent)
    assert one(summary, "cycles").improvement_pct == pytest.approx(25)
    assert not summary.left_out
    # Alone it says nothing.
    summary = summarise(replace(of, seeds=(2,)), rows + silent)
    assert one(summary, "cycles").verdict == "INVALID"
    assert [(each.which, each.status) for each in summary.left_out] == [("seed 2", "invalid")]


def test_nothing_measured() -> None:
    of = samples.experiment()
    summary = summarise(of, [])
    assert len(summary.findings) == len(SIMULATED)
    for comparison in summary.findings:
        assert comparison.baseline.mean is None
        assert_not_available(comparison)
    assert len(summary.left_out) == 6


@pytest.mark.parametrize(
    "part", ["kernel", "tools", "argv", "machine", "policy", "knobs", "features", "cpus"]
)
def test_rows_of_another_build_or_definition_do_not_count(part: str) -> None:
    of = samples.experiment(seeds=(1,))
    old, new, base = (
        samples.row(of, samples.run_of(of, name), {"cycles": cycles})
        for name, cycles in (("fast", 100), ("fast", 900), ("baseline", 1000))
    )
    foreign: Any = {
        "kernel": {**old["kernel"], "id": "older"},
        "tools": "older",
        "argv": ["/bin/single_ctr"],
        "machine": {**old["machine"], "quantum": 99},
        "policy": "soft",
        "knobs": {"depth": 7},
        "features": ["NEXT_BUDDY"],
        "cpus": 1,
    }
    old = {**old, "key": "old", part: foreign[part]}  # type: ignore[misc]
    cycles = one(summarise(of, [old, base, new]), "cycles")
    assert cycles.improvement_pct == pytest.approx(10)
    if part != "kernel":  # of a single build the newest is that one, however old
        assert one(summarise(of, [old, base]), "cycles").variant.runs == 0


def test_a_mixture_of_builds_is_missing_not_mixed() -> None:
    of = samples.experiment(seeds=(1, 2))
    rows = measure(of, {1: {}, 2: {}}, {1: {}, 2: {}})
    rows[2] = {**rows[2], "kernel": {**rows[2]["kernel"], "id": "older"}}
    summary = summarise(of, rows)
    assert one(summary, "cycles").variant.runs == 1
    assert [e.reason for e in summary.left_out] == ["made only with an older kernel or older tools"]


def test_mechanism_is_summed_over_compared_seeds() -> None:
    of = samples.experiment(seeds=(1, 2, 3))
    rows = measure(of, {1: {}, 2: {}}, {1: {}, 2: {}, 3: {}})
    (mechanism,) = summarise(of, rows).mechanism
    assert mechanism.counters["used"] == 2 * samples.MECHANISM["used"]


def test_every_metric_has_a_value() -> None:
    of = samples.experiment(seeds=(1,))
    summary = summarise(of, measure(of, {1: {}}, {1: {}}))
    for metric in SIMULATED:
        assert isinstance(metric, Metric)
        assert one(summary, metric.name).improvement_pct == 0.0


def test_latencies_have_a_mean_and_percentiles() -> None:
    of = samples.experiment(seeds=(1,))
    row = samples.row(of, plan(of)[0])
    assert value(row, "handoff_mean") == 1800
    assert value(row, "wakeup_p99.9") == 26000
    del row["latencies"]
    assert value(row, "handoff_mean") is None


def test_what_the_paper_prints() -> None:
    assert printed("l2_miss_ratio", "single_ctr", 4) == "34.8"
    assert printed("l3_miss_ratio", "doubly_list", 16) == "7.4"
    assert printed("l2_miss_ratio", "single_ctr", 5) == ""
    assert printed("cycles", "affinity", 128) == "50.9"
    assert printed("cycles", "affinity", 64) == "18 to 75"
    assert printed("cycles", "prod_cons", 4) == "none"
    assert printed("cycles", "prod_cons", 8) == ""
    assert printed("bus_requests", "multiple_fifo", 16) == "10 to 99"
    assert printed("bus_requests", "multiple_fifo", 32) == "none"
    assert printed("throughput", "single_ctr", 4) == ""
    assert len({threads for _, _, threads in CELLS}) == 6
