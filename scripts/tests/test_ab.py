# SPDX-License-Identifier: GPL-2.0
"""The statistics of A/B experiments: on simulated experiments, how often they are wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import numpy as np
import paired
import pytest
from scipy import stats

from fastlab.base.model import Workload
from fastlab.statistics import paired as statistics_paired
from fastlab.statistics.calibration import planned_blocks
from fastlab.statistics.findings import Finding
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
    rank_p,
)

# `make test-full` makes as many as a rate of 5 % needs to be told well.
HOW_MANY = pytest.mark.parametrize("experiments", [200, pytest.param(1000, marks=pytest.mark.full)])
CLAIMS = ("better", "worse")
MANY = tuple(Workload("single_ctr", threads) for threads in range(1, 11))


def rates(experiments: int, seed: int, **how: float) -> tuple[Counter[str], list[Finding]]:
    """The verdicts of these experiments, each calibrated and planned by itself."""
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        # No verdict uses it, and it takes most of the time.
        patch.setattr(statistics_paired, "false_positive_rate", lambda noises: None)
        findings = [
            paired.primary(analyse(paired.experiment(paired.PLAN, paired.simulator(rng, **how))))
            for _ in range(experiments)
        ]
    return Counter(one.verdict for one in findings), findings


def by_all_signs(ratios: tuple[int, ...]) -> float:
    """The rank test by its definition."""
    given = [one for one in ratios if one]
    ranks = stats.rankdata(np.abs(given))

    def positive(signs: Iterable[float]) -> float:
        return sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign > 0)

    sums = [positive(signs) for signs in product((-1, 1), repeat=len(given))]
    found = positive(given)
    less, more = sum(one <= found for one in sums), sum(one >= found for one in sums)
    return float(min(1.0, 2 * min(less, more) / len(sums)))


def test_the_rank_test_is_exact_where_blocks_are_equal_in_size() -> None:
    assert paired_test([-1, 1, 1, 2, 2, 3, 3]).p_rank == 0.0625
    rng = np.random.default_rng(1)
    for _ in range(50):
        ratios = tuple(int(one) for one in rng.integers(-3, 4, 8))
        if any(ratios):
            assert rank_p(np.array(ratios, float)) == pytest.approx(by_all_signs(ratios))
    assert rank_p(np.zeros(8)) == 1
    rows = np.array([[1.0, 1, 2, 3], [1, 2, 3, 4]])
    assert rank_p(rows) == pytest.approx([0.125, 0.125])


def test_the_rank_test_is_scipys_where_they_are_not() -> None:
    noise = np.random.default_rng(2).standard_normal((20, 9))
    assert (rank_p(noise) == stats.wilcoxon(noise, axis=-1, method="exact").pvalue).all()
    one = np.append(noise[0], 0)
    assert rank_p(one) == pytest.approx(rank_p(noise[0]))


def coverage(findings: list[Finding], improvement: float) -> float:
    """How many of the 95 % intervals that there are have the true improvement."""
    ends = [(one.low, one.high) for one in findings if one.low is not None and one.high is not None]
    return float(np.mean([low <= improvement <= high for low, high in ends]))


@HOW_MANY
def test_false_positives_of_a_a_experiments(
    experiments: int, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts, findings = rates(experiments, 1, noise=0.02)
    claimed = sum(verdicts[verdict] for verdict in CLAIMS) / experiments
    t_alone = float(np.mean([one.p <= ALPHA for one in findings if one.p is not None]))
    with capsys.disabled():
        print(
            f"\nA/A, 2 % noise: {claimed:.1%} of {experiments} experiments claim a change; t alone "
            f"finds one in {t_alone:.1%} of those it is asked about; {coverage(findings, 0):.1%} "
            f"of the 95 % intervals have 0; {dict(verdicts)}"
        )
    assert claimed <= 0.05
    # A rule that never claims anything would pass, too.
    assert claimed > 0
    assert 0.03 < t_alone < 0.07


@HOW_MANY
def test_an_effect_of_5_percent_is_found_in_2_percent_noise(
    experiments: int, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts, findings = rates(experiments, 2, noise=0.02, effect=0.05)
    found = verdicts["better"] / experiments
    blocks = [one.baseline.runs // 2 for one in findings if one.baseline.runs]
    covered = coverage(findings, 5)
    with capsys.disabled():
        print(
            f"\n5 % effect, 2 % noise: {found:.1%} of {experiments} experiments find it, with "
            f"{min(blocks)} to {max(blocks)} blocks ({np.mean(blocks):.1f} on average); "
            f"{covered:.1%} of the 95 % intervals have it; {dict(verdicts)}"
        )
    assert found >= 0.95
    assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize("experiments", [30, pytest.param(100, marks=pytest.mark.full)])
def test_false_claims_of_a_table_of_ten(
    experiments: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Holm's correction keeps them rare in the whole table, not only in each of its lines."""
    plan = replace(paired.PLAN, workloads=MANY)
    wrong = 0
    # As in rates().
    monkeypatch.setattr(statistics_paired, "false_positive_rate", lambda noises: None)
    for seed in range(experiments):
        found = analyse(paired.simulate(plan, seed, noise=0.02)).of_metric("elapsed_ns")
        wrong += any(one.verdict in CLAIMS for one in found)
    with capsys.disabled():
        print(f"\nA/A, 10 workloads: {wrong} of {experiments} tables have a false claim")
    assert wrong / experiments <= 0.05


@pytest.mark.parametrize(
    "more", [pytest.param((), id="few"), pytest.param((20, 40), id="all", marks=pytest.mark.full)]
)
def test_why_no_bootstrap(more: tuple[int, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Its intervals miss 0 too often where there are as few blocks as an experiment has."""
    rng = np.random.default_rng(7)
    rates = {}
    for blocks in (6, 8, 12, *more):
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
    found = paired.primary(
        analyse(paired.simulate(paired.PLAN, noise=1e-4, effect=0.02, drift=0.01))
    )
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
    assert paired_test([0.0] * 6).p_rank == 1
    assert paired_test([0.1] * 6).p_rank == pytest.approx(2 / 64)
    # Too few for the rank test, however alike they are.
    assert paired_test([0.1] * 5).p_rank > ALPHA


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


def test_blocks_are_planned_for_the_noisiest_workload_and_for_all_comparisons() -> None:
    quiet, noisy = (measure_noise([sigma, -sigma] * 6) for sigma in (0.01, 0.03))
    alone = planned_blocks(paired.PLAN, [noisy])
    assert planned_blocks(paired.PLAN, [quiet]) < alone
    assert planned_blocks(paired.PLAN, [quiet, noisy]) == alone
    variants = tuple(f"strict-{depth}" for depth in range(10))
    assert planned_blocks(replace(paired.PLAN, variants=variants), [noisy]) > alone
    assert planned_blocks(replace(paired.PLAN, workloads=MANY), [noisy]) > alone


def test_false_positive_rate_of_a_calibration() -> None:
    rng = np.random.default_rng(3)
    rate = false_positive_rate(measure_noise([*(0.02 * rng.standard_normal(12))]) for _ in range(5))
    assert rate is not None
    assert 0.02 < rate <= ALPHA
    assert false_positive_rate([]) is None
    assert false_positive_rate([measure_noise([0.0] * 12)]) == 0


def test_calibration_is_said() -> None:
    lines = analyse(paired.simulate(paired.PLAN, noise=0.02)).calibration
    assert len(lines) == 3
    assert "single_ctr-4: noise of elapsed_ns" in lines[0]
    assert "noise floor" in lines[0]
    assert "can detect" in lines[0]
    assert "single_ctr-4: counting software changes elapsed_ns by " in lines[1]
    assert "False-positive rate: " in lines[2]
    noisy = analyse(paired.simulate(paired.PLAN, noise=0.3)).calibration
    assert "do not suffice to find an effect of 5 %" in noisy[1]
