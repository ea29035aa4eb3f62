# SPDX-License-Identifier: GPL-2.0
"""What is predicted beside what is measured: judged by bounds, and shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import samples
from fake_programs import BENCHMARKS

from fastlab.base.model import FastError, Variant
from fastlab.plan.experiment import load_experiment
from fastlab.plan.rows import Row
from fastlab.statistics.estimates import Estimate
from fastlab.trust import agreement, measured_file, summary
from fastlab.trust.agreement import Agreement, Arms, Bound, Check, Point, SideFigures

PROJECT = Path(__file__).resolve().parents[2]
POINT = Point("single_ctr", 4)
RATIO = Bound("time, free / confined", "elapsed_ns", "ratio", 0.15)
MISSES = Bound("L2 misses, free", "l2_misses", "free", 0.25)
SWITCHES = Bound("switches", "context_switches", "free", 3, is_factor=True, noise=1)
ONE_CPU = Variant("onecpu", "baseline", cpus=1)


def check(bound: Bound, measured: float, predicted: float | None, spread: float = 0.0) -> Check:
    return Check(bound, Estimate(measured, spread), predicted, 0.0)


@pytest.mark.parametrize(
    ("bound", "measured", "predicted", "verdict"),
    [
        (RATIO, 1.0, 1.149, "within"),
        (RATIO, 1.0, 0.851, "within"),
        (RATIO, 1.0, 1.151, "beyond"),
        (RATIO, 1.0, 0.849, "beyond"),
        (RATIO, 2.0, 2.29, "within"),
        (MISSES, 16.0, 19.9, "within"),
        (MISSES, 16.0, 20.1, "beyond"),
        (MISSES, 16.0, 11.9, "beyond"),
        (SWITCHES, 1.0, 2.9, "within"),
        (SWITCHES, 1.0, 3.1, "beyond"),
        (SWITCHES, 3.0, 1.1, "within"),
        (SWITCHES, 3.0, 0.9, "beyond"),
        (RATIO, 1.0, None, "not available"),
        (SWITCHES, 0.0, 1.0, "not available"),
    ],
)
def test_a_bound(
    bound: Bound, measured: float, predicted: float | None, verdict: Agreement
) -> None:
    assert check(bound, measured, predicted).verdict == verdict


@pytest.mark.parametrize("predicted", [1.0, 2.0])
def test_what_is_noisy_is_neither_right_nor_wrong(predicted: float) -> None:
    assert check(RATIO, 1.0, predicted, 0.21).verdict == "too noisy"
    assert check(SWITCHES, 1.0, predicted, 1.01).verdict == "too noisy"
    assert check(SWITCHES, 1.0, predicted, 0.9).verdict == "within"


def test_what_cannot_be_told_apart_is_equal() -> None:
    """Also where it varies: it is next to nothing."""
    few = Check(SWITCHES, Estimate(0.00002, 5.0), 0.0, 0.0001)
    assert (few.error, few.verdict) == (1.0, "within")
    many = Check(SWITCHES, Estimate(0.001, 0.0), 0.0, 0.0001)
    assert many.verdict == "beyond"


def test_a_workload_is_as_good_as_its_worst_check() -> None:
    right, wrong = check(RATIO, 1.0, 1.0), check(RATIO, 1.0, 2.0)
    noisy, nothing = check(RATIO, 1.0, 1.0, 0.5), check(RATIO, 1.0, None)
    for checks, verdict in (
        ([right, right], "within"),
        ([right, noisy], "too noisy"),
        ([noisy, nothing], "not available"),
        ([nothing, wrong, noisy], "beyond"),
    ):
        assert agreement.Compared(POINT, checks).verdict == verdict


def rows(*given: tuple[str, int, Mapping[str, Any]]) -> list[Row]:
    """A row for each: variant, seed, and what it counted in 2,000 iterations."""
    of = samples.experiment(variants=(samples.BASELINE, ONE_CPU))
    made = []
    for variant, seed, values in given:
        row = samples.row(of, samples.run_of(of, variant, seed))
        totals = {name: values.get(name, 0) for name in ("cycles", "l2_misses")}
        counters: dict[str, Any] = {
            name: {"unit": "", "total": total} for name, total in totals.items()
        }
        changes = {name: value for name, value in values.items() if name not in totals}
        made.append({**row, "counters": counters, **changes})
    return made  # type: ignore[return-value]


def values(ns: int, cycles: int, misses: int, switches: int) -> dict[str, int]:
    return {
        "elapsed_ns": ns,
        "cycles": cycles,
        "l2_misses": misses,
        "context_switches": switches,
    }


def test_a_prediction_is_of_an_iteration_and_pairs_seeds() -> None:
    side = agreement.predicted(
        rows(
            ("baseline", 1, values(2_000_000, 4_000_000, 32_000, 2)),
            ("onecpu", 2, values(8_000_000, 2_000_000, 2_000, 4)),
            ("baseline", 2, values(4_000_000, 4_000_000, 32_000, 2)),
            ("onecpu", 1, values(1_000_000, 2_000_000, 2_000, 4)),
        )
    )
    figures = side[POINT]
    assert figures["elapsed_ns"].pairs == [(1000.0, 500.0), (2000.0, 4000.0)]
    # 2 and a half: that of medians would be 1500 / 2250.
    assert figures["elapsed_ns"].ratio.median == 1.25
    assert figures["cycles"].ratio == Estimate(2.0, 0.0)
    assert figures["l2_misses"].free.median == 16.0
    assert figures["l2_misses"].confined.median == 1.0
    assert figures["context_switches"].confined.median == 0.002
    assert figures["context_switches"].resolution == 2 * POINT.threads / 2000
    assert figures["l2_misses"].resolution == 0.0


def test_half_a_pair_and_what_failed_predict_nothing() -> None:
    failed = rows(("onecpu", 1, {**values(1, 1, 1, 1), "status": "failed"}))
    whole = rows(("baseline", 1, values(1, 1, 1, 1)))
    assert agreement.predicted(whole) == {}
    assert agreement.predicted(whole + failed) == {}


def test_a_run_without_iterations_is_an_error() -> None:
    both = rows(("baseline", 1, values(1, 1, 1, 1)), ("onecpu", 1, values(1, 1, 1, 1)))
    both[0]["argv"] = ["/bin/single_ctr", "--threads", "4"]
    with pytest.raises(FastError, match="a run without --iterations predicts nothing"):
        agreement.predicted(both)


def side(point: Point = POINT, ratio: float = 1.0, switches: float = 0.001) -> SideFigures:
    """With a resolution of 50 ns and 0.0001 switches."""
    return {
        point: {
            "elapsed_ns": Arms([(ratio * 100.0, 100.0)], 50.0),
            "context_switches": Arms([(switches, switches)], 0.0001),
        }
    }


def test_bounds_take_what_they_are_for() -> None:
    (compared,) = agreement.compare(side(ratio=2.0), side(ratio=2.2), agreement.CLOCK_BOUNDS)
    assert [one.measured.median for one in compared.checks] == [2.0, 0.001, 0.001]
    assert [one.predicted for one in compared.checks] == [pytest.approx(2.2), 0.001, 0.001]
    # A ratio is no count.
    assert [one.floor for one in compared.checks] == [0.0, 0.0001, 0.0001]
    assert compared.verdict == "within"


def test_the_coarser_of_both_sides_is_what_can_be_told() -> None:
    fine: SideFigures = {POINT: {**side()[POINT], "context_switches": Arms([(0.0002, 0.0002)])}}
    coarse: SideFigures = {POINT: {**side()[POINT], "context_switches": Arms([(0.0, 0.0)], 0.0005)}}
    for measured, predicted in ((fine, coarse), (coarse, fine)):
        (compared,) = agreement.compare(measured, predicted, agreement.CLOCK_BOUNDS)
        assert compared.checks[1].error == 1.0


def many(**ratios: float) -> list[agreement.Compared]:
    """Seven benchmarks that do exactly 1, and predictions of their ratios, 1 unless they are given;
    0 is none."""
    measured: dict[Point, Any] = {}
    predicted: dict[Point, Any] = {}
    for name in BENCHMARKS:
        for threads in (2, 8):
            measured |= side(Point(name, threads))
            if ratios.get(name, 1.0):
                predicted |= side(Point(name, threads), ratios.get(name, 1.0))
    return agreement.compare(measured, predicted, agreement.CLOCK_BOUNDS)


def test_benchmarks_agree_if_all_their_workloads_do() -> None:
    compared = many(affinity=2.0, prod_cons=0.0)
    assert agreement.agreeing(compared) == [
        "single_ctr",
        "multiple_ctr",
        "doubly_list",
        "mlt_ctr_mlt_lock",
        "multiple_fifo",
    ]
    assert agreement.possible(compared) == [name for name in BENCHMARKS if name != "affinity"]
    assert agreement.sentences(compared) == [
        "5 of 7 benchmarks are within the bounds (single_ctr, multiple_ctr, doubly_list, "
        "mlt_ctr_mlt_lock, multiple_fifo); at least 5 should be",
        "no prediction: prod_cons, 2 threads; prod_cons, 8 threads",
    ]
    half = [one for one in compared if one.point != Point("single_ctr", 8)]
    wrong = agreement.compare(
        side(Point("single_ctr", 8)), side(Point("single_ctr", 8), 2.0), agreement.CLOCK_BOUNDS
    )
    assert "single_ctr" not in agreement.agreeing(half + wrong)


def test_noise_is_said() -> None:
    measured: SideFigures = {
        POINT: {**side()[POINT], "elapsed_ns": Arms([(100.0, 100.0), (200.0, 100.0)])}
    }
    said = agreement.sentences(agreement.compare(measured, side(), agreement.CLOCK_BOUNDS))
    assert said[0].startswith("0 of 1 benchmarks are within the bounds (none)")
    assert said[1] == (
        "too noisy to judge: single_ctr, 4 threads. Measure again when this machine has "
        "nothing else to do"
    )


def test_the_line_has_the_errors_that_the_table_shows() -> None:
    """0.4 % counts as 0, a measurement that is too noisy not at all."""
    noisy = Arms([(100.0, 100.0), (200.0, 100.0)])
    other = Point("affinity", 4)
    measured = {**side(), other: side()[POINT], Point("prod_cons", 4): {**side()[POINT]}}
    measured[Point("prod_cons", 4)]["elapsed_ns"] = noisy
    predicted = {**side(ratio=1.004), other: side(ratio=0.6)[POINT]}
    predicted[Point("prod_cons", 4)] = side(ratio=9.0)[POINT]
    bounds = agreement.CLOCK_BOUNDS
    made = rows(("baseline", 1, {}), ("onecpu", 1, {}))
    for row, (seconds, instructions) in zip(made, [(2.0, 30_000_000), (3.0, 1)], strict=True):
        row["duration"] = seconds
        row["counters"]["instructions"] = {"unit": "", "total": instructions}
    said = summary.line(agreement.compare(measured, predicted, bounds), bounds, made)
    assert said == (
        "mean absolute error of time, free / confined: 20 %; 1 of 3 rows are within all bounds; "
        "speed 6.0 million modelled instructions a second of the host"
    )
    nothing = summary.line(agreement.compare(measured, {}, bounds), bounds, [])
    assert "confined: n/a; 0 of 3 rows" in nothing
    made[0]["status"] = made[1]["status"] = "failed"
    assert "; speed n/a" in summary.line([], bounds, made)


def test_the_table() -> None:
    measured: SideFigures = {
        POINT: {
            "cycles": Arms([(1000.0, 500.0), (1100.0, 500.0)]),
            "l2_misses": Arms([(16.0, 0.8)], 0.8),
            "context_switches": Arms([(0.0084, 0.0723)]),
        },
        Point("affinity", 8): {
            name: Arms([(1.0, 1.0)]) for name in ("cycles", "l2_misses", "context_switches")
        },
    }
    predicted: SideFigures = {
        POINT: {
            "cycles": Arms([(1050.0, 500.0)]),
            "l2_misses": Arms([(24.0, 0.1)]),
            "context_switches": Arms([(0.0168, 0.0723)], 0.0001),
        }
    }
    compared = agreement.compare(measured, predicted, agreement.COUNTER_BOUNDS)
    table = agreement.table("title", compared, agreement.COUNTER_BOUNDS)
    first, second = ([cell.text for cell in row] for row in table.rows)
    assert first == [
        *("single_ctr", "beyond", "4"),
        "2.10 ±5 % / 2.10 (+0 %)",
        "16.0 / 24.0 (+50 %)",
        "0.80 / 0.10 (+0 %)",
        "84.0 / 168 (x 2)",
        "723 / 723 (x 1)",
    ]
    assert second[1] == "not available"
    assert all(text.endswith(" / n/a") for text in second[3:])
    assert len(table.columns) == len(first)
    tones = [cell.tone for cell in table.rows[0]][3:]
    assert tones == ["gain", "loss", "gain", "gain", "gain"]
    assert "L2 misses, free: 25 %" in table.note
    assert "context switches in 10,000, free: a factor of 3" in table.note
    assert agreement.document(compared, table)["table"][:2] == [[*table.columns], first]


def test_the_document() -> None:
    measured: SideFigures = side(ratio=2.0)
    compared = agreement.compare(measured, {}, agreement.CLOCK_BOUNDS)
    shown = agreement.table("title", compared, agreement.CLOCK_BOUNDS)
    document = agreement.document(compared, shown)
    assert json.loads(json.dumps(document)) == document
    (row,) = document["rows"]
    assert (row["benchmark"], row["threads"], row["verdict"]) == ("single_ctr", 4, "not available")
    assert row["checks"][0] == {
        "what": "time, free / confined",
        "measured": 2.0,
        "spread": 0.0,
        "predicted": None,
        "floor": 0.0,
        "limit": 0.15,
        "verdict": "not available",
    }
    assert document["agreeing"] == []


RECORD = """
machine = "some"
experiment = "../some.toml"
[resolution]
l2_misses = 0.8
context_switches = 2
[[row]]
benchmark = "single_ctr"
threads = 2
cycles = [1092, 654]
l2_misses = [16.0, 0.8]
context_switches = [5, 10]
"""


def record(directory: Path, text: str = RECORD) -> measured_file.Record:
    path = directory / "record.toml"
    path.write_text(text)
    return measured_file.load(path)


def test_a_file_of_what_was_measured(tmp_path: Path) -> None:
    found = record(tmp_path)
    assert (found.machine, found.experiment) == ("some", tmp_path / "../some.toml")
    assert found.side == {
        Point("single_ctr", 2): {
            "cycles": Arms([(1092, 654)]),
            "l2_misses": Arms([(16.0, 0.8)], 0.8),
            "context_switches": Arms([(0.0005, 0.001)], 0.0002),
        }
    }


def test_the_recorded_machine_is_predicted_by_its_experiment() -> None:
    found = measured_file.load(PROJECT / "experiments/measured/zen3.toml")
    experiment = load_experiment(found.experiment)
    points = {Point(load.benchmark, load.threads) for load in experiment.workloads}
    assert found.side.keys() <= points
    assert {point.benchmark for point in found.side} == set(BENCHMARKS)
    assert {(one.name, one.kernel, one.cpus) for one in experiment.variants} == {
        (agreement.FREE, "baseline", None),
        (agreement.CONFINED, "baseline", 1),
    }


def test_a_file_may_do_without_a_resolution(tmp_path: Path) -> None:
    text = re.sub(r"\[resolution\][^[]*", "", RECORD)
    assert record(tmp_path, text).side[Point("single_ctr", 2)]["l2_misses"].resolution == 0.0


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('machine = "some"\n', "", "machine is missing; allowed: a text that names it"),
        ('"../some.toml"', "1", "experiment = 1 is not allowed; allowed: the path of the"),
        ("machine =", "machina =", "unknown key machina (did you mean machine?); allowed: machine"),
        ("l2_misses = 0.8", "l2_misses = 0", "resolution: l2_misses = 0 is not allowed"),
        ("l2_misses = 0.8", "l3_misses = 1", "unknown key l3_misses (did you mean l2_misses?)"),
        ("[resolution]", "[[resolution]]", 'resolution = [{"l2_misses": 0.8'),
        (
            "single_ctr",
            "single",
            '[[row]] 1: benchmark = "single" is not allowed; allowed: single_ctr, ',
        ),
        ("threads = 2", "threads = true", "[[row]] 1: threads = true is not allowed"),
        (
            "threads = 2",
            "threads = 0",
            "threads = 0 is not allowed; allowed: a whole number from 1",
        ),
        (
            "[1092, 654]",
            "[1092]",
            "[[row]] 1: cycles = [1092] is not allowed; allowed: [free, confined]",
        ),
        ("[1092, 654]", '"x"', 'cycles = "x" is not allowed; allowed: [free, confined], two'),
        ("[1092, 654]", "[1092, nan]", "allowed: [free, confined], two numbers of more than 0"),
        ("[1092, 654]", "[0, 654]", "allowed: [free, confined], two numbers of more than 0"),
        (
            "cycles =",
            "cycle =",
            "[[row]] 1: unknown key cycle (did you mean cycles?); allowed: benchmark",
        ),
        ("[[row]]", "[row]", "allowed: one or more [[row]] tables"),
        ("[[row]]", "row = [1]\n[other]", "unknown key"),
        ("some", 'so"me', "not valid TOML"),
    ],
)
def test_a_wrong_file_is_an_error(tmp_path: Path, old: str, new: str, what: str) -> None:
    with pytest.raises(FastError, match=re.escape(what)) as caught:
        record(tmp_path, RECORD.replace(old, new, 1))
    assert str(caught.value).startswith(str(tmp_path / "record.toml"))


def test_rows_that_are_no_tables(tmp_path: Path) -> None:
    text = 'machine = "some"\nexperiment = "x"\nrow = [1]\n'
    with pytest.raises(FastError, match=r"row = 1 is not allowed; allowed: \[\[row\]\] tables"):
        record(tmp_path, text)
    with pytest.raises(FastError, match=r"allowed: one or more \[\[row\]\] tables"):
        record(tmp_path, text.replace("[1]", "[]"))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FastError, match="No such file or directory; name a file such as"):
        measured_file.load(tmp_path / "no.toml")
    (tmp_path / "latin.toml").write_bytes(b'machine = "\xe4"')
    with pytest.raises(FastError, match=r"latin\.toml: byte 11 is not UTF-8 text"):
        measured_file.load(tmp_path / "latin.toml")
