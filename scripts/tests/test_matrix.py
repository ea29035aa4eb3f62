# SPDX-License-Identifier: GPL-2.0
"""A matrix of cases: what is taken of it, what is refused, and what a report makes of it."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
import samples
from experiment_files import write
from samples import summarise
from test_report import Page

from fastlab.base.model import Experiment, FastError, Machine, Workload
from fastlab.plan.experiment import load_experiment, plan
from fastlab.plan.matrix import fraction, never_meet
from fastlab.plan.paired_plan import make_plan
from fastlab.report import heatmaps
from fastlab.report.contents import html_text, markdown, write_report
from fastlab.report.document import csv_text, document, regret_csv_text
from fastlab.report.drawing import Chart
from fastlab.report.forms import NAMES
from fastlab.statistics.findings import Findings

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

GOOD = f"""
name = "tiny"
series = "6.12"
baseline = "baseline"
oracle = ["baseline", "fast"]
threads = [2, 4]
seeds = [1]
[matrix]
cpus = [4, 2]
think = [100, 400]
{samples.VARIANTS}
[defaults]
iterations = 2000
[[benchmark]]
name = "single_ctr"
[[benchmark]]
name = "prod_cons"
"""


def test_a_fraction_is_a_latin_square() -> None:
    axes = {"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [7, 8, 9]}
    assert len(fraction(axes, 1)) == 27
    chosen = fraction(axes, 3)
    assert chosen[:3] == [
        {"a": 1, "b": "x", "c": 7},
        {"a": 1, "b": "y", "c": 9},
        {"a": 1, "b": "z", "c": 8},
    ]
    # Each value meets each other, once.
    assert len(chosen) == 9
    assert never_meet(axes, chosen) is None
    assert never_meet(axes, chosen[1:]) == (("a", 1), ("b", "x"))


def test_the_cases_of_a_matrix(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    assert len(experiment.cases) == 2 * 2 * 2 * 2
    first, second = experiment.cases[:2]
    assert first.machine == Machine(cpus=4)
    assert first.workload == Workload("single_ctr", 2, ("--iterations=2000", "--think=100"))
    assert first.axes == (("cpus", 4), ("think", 100))
    assert second.axes == (("cpus", 4), ("think", 400))
    assert experiment.machines == (Machine(cpus=4), Machine(cpus=2))
    # Every variant runs every case.
    runs = plan(experiment)
    assert len(runs) == 2 * 16
    assert [run.variant.name for run in runs[:2]] == ["baseline", "fast"]
    assert {run.case for run in runs} == {*experiment.cases}


def test_half_of_the_cases(tmp_path: Path) -> None:
    text = GOOD.replace("[matrix]", "[matrix]\nfraction = 2")
    experiment = load_experiment(write(tmp_path, text))
    assert len(experiment.cases) == 8
    assert {case.axes for case in experiment.cases if case.workload.threads == 2} == {
        *((("cpus", cpus), ("think", think)) for cpus in (2, 4) for think in (100, 400))
    }


@pytest.mark.parametrize(
    ("name", "preset", "cases", "seeds"),
    [("map", "rx4640", 140, 5), ("map-milan", "epyc-milan", 93, 5)],
)
def test_the_maps(name: str, preset: str, cases: int, seeds: int) -> None:
    experiment = load_experiment(EXPERIMENTS / f"{name}.toml")
    assert len(experiment.cases) == cases
    assert len(plan(experiment)) == 5 * cases * seeds
    assert {machine.preset for machine in experiment.machines} == {preset}
    assert {machine.cpus for machine in experiment.machines} == {2, 4, 8, 16}


def test_the_length_of_turns_is_an_axis() -> None:
    experiment = load_experiment(EXPERIMENTS / "quantum.toml")
    assert {machine.quantum for machine in experiment.machines} == {500, 2000, 8000}
    assert len(plan(experiment)) == 7 * 2 * 3 * 2 * 3


def test_only_machines_that_are_used_need_a_quantum_that_they_can_have(tmp_path: Path) -> None:
    presets = '[machine]\nquantum = 100\n[matrix]\npreset = ["epyc-milan", "epyc-milan-vm"]'
    experiment = load_experiment(write(tmp_path, GOOD.replace("[matrix]", presets)))
    assert {machine.quantum for machine in experiment.machines} == {100}


# What is changed in GOOD, and what the error must say.
BAD = {
    "no axis": ("cpus = [4, 2]\nthink = [100, 400]", "", ["matrix", "no axis", "cpus, preset"]),
    "unknown axis": ("think = [", "thnik = [", ["matrix", "did you mean think?"]),
    "empty axis": ("cpus = [4, 2]", "cpus = []", ["matrix", "cpus", "at least one"]),
    "no preset": ("cpus = [4, 2]", "preset = []", ["matrix", "preset", "at least one"]),
    "twice": ("cpus = [4, 2]", "cpus = [4, 4]", ["matrix", "cpus", "once"]),
    "preset": ("cpus = [4, 2]", 'preset = ["rx4641"]', ["matrix", "rx4641"]),
    "preset for cpus": ("cpus = [4, 2]", 'cpus = [4, 9]\npreset = ["epyc-milan"]', ["cpus = 9"]),
    "quantum": ("cpus = [4, 2]", "quantum = [99]", ["matrix", "quantum", "100 to 100000"]),
    "range": ("think = [100, 400]", "think = [-1]", ["matrix", "think", "0 to 1000000"]),
    "line": ("think = [100, 400]", "line = [64, 96]", ["matrix", "line = 96", "power of two"]),
    "fraction": ("[matrix]", "[matrix]\nfraction = 0", ["matrix", "fraction", "1 to 1000"]),
    "too small a fraction": (
        "[matrix]",
        "[matrix]\nfraction = 5",
        ["fraction = 5", "a smaller one", "no run would have"],
    ),
    "the machine's, too": (
        "[matrix]",
        "[machine]\ncpus = 4\n[matrix]",
        ["machine", "cpus = 4", "an axis of [matrix]"],
    ),
    "a default, too": (
        "iterations = 2000",
        "iterations = 2000\noptions = { think = 5 }",
        ["defaults options", "think = 5", "an axis of [matrix]"],
    ),
    "a benchmark's, too": (
        'name = "prod_cons"',
        'name = "prod_cons"\noptions = { think = 5 }',
        ["[[benchmark]] 2 options", "think = 5", "an axis of [matrix]"],
    ),
    "another's option": ('name = "prod_cons"', 'name = "fft"', ["fft", "think", "[matrix]"]),
    "more CPUs than the smallest machine": (
        'policy = "strict"',
        'policy = "strict"\ncpus = 3',
        ["cpus = 3", "1 to 2"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_matrix_is_refused_by_name(tmp_path: Path, case: str) -> None:
    old, new, words = BAD[case]
    assert old in GOOD
    with pytest.raises(FastError) as caught:
        load_experiment(write(tmp_path, GOOD.replace(old, new)))
    for word in ["tiny.toml", *words]:
        assert word in str(caught.value)


def test_a_matrix_is_the_simulations(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"a \[matrix\] is for the simulation"):
        make_plan(load_experiment(write(tmp_path, GOOD)), "soft")


def of_axes(tmp_path: Path) -> Experiment:
    return load_experiment(write(tmp_path, GOOD))


def sample(tmp_path: Path, without: int | None = None) -> Findings:
    """FAST takes half of the time where threads think for 100, and twice of it elsewhere; of the
    case with the number `without` it has no run."""
    of = of_axes(tmp_path)
    rows = []
    for run in plan(of):
        fast = run.variant.name == "fast"
        if fast and without is not None and run.case == of.cases[without]:
            continue
        factor = (1 if dict(run.case.axes)["think"] == 100 else 4) if fast else 2
        document = samples.document(elapsed_cycles=1000 * factor * run.machine.cpus)
        rows.append(samples.row(of, run, document=document | {"cpus": run.machine.cpus}))
    return summarise(of, rows)


def test_rows_compare_within_their_case(tmp_path: Path) -> None:
    summary = sample(tmp_path)
    assert summary.left_out == ()
    assert summary.axes == {"cpus": (2, 4), "think": (100, 400)}
    found = summary.find("fast", "elapsed_ns")
    assert len(found) == 16
    for (_, _, cpus, think), one in found.items():
        assert isinstance(cpus, int)
        assert one.baseline.mean == 2000 * cpus
        assert one.improvement_pct == (50 if think == 100 else -100)
    by_arm = {one.variant_name: one for one in summary.standings}
    assert (by_arm["fast"].mean, by_arm["fast"].best_of, by_arm["fast"].worse) == (1.5, 8, 8)
    # Only the machine tells these from other rows.
    assert [run.key for run in sample(tmp_path, without=5).left_out] == [("single_ctr", 4, 4, 400)]


def test_files_of_a_matrix(tmp_path: Path) -> None:
    summary = sample(tmp_path)
    made = document(summary)
    assert made["axes"] == {"cpus": [2, 4], "think": [100, 400]}
    assert list(made["rows"][0])[:4] == ["benchmark", "threads", "cpus", "think"]
    for text in (csv_text(summary), regret_csv_text(summary)):
        lines = list(csv.DictReader(io.StringIO(text)))
        assert {(line["cpus"], line["think"]) for line in lines} == {
            (cpus, think) for cpus in "24" for think in ("100", "400")
        }
    assert "| single_ctr | 2 | 4 | 100 | **1.00** | 2.00 | fast | 4,000 |" in markdown(summary)
    assert summary.findings[0].workload == "single_ctr,cpus=4,think=100-2"


def test_the_report_of_a_matrix(tmp_path: Path) -> None:
    summary = sample(tmp_path, without=0)
    names = [path.name for path in write_report(summary, tmp_path)]
    assert names == [*NAMES.values(), "regret.csv"]
    text = html_text(summary)
    Page(text)
    for words in (
        "Runs that are in no comparison: 1",
        "Improvement in elapsed time (modelled), %: fast",
    ):
        assert words in text


def test_a_case_that_lacks_a_run_is_in_no_mean_and_marked(tmp_path: Path) -> None:
    whole, partial = sample(tmp_path), sample(tmp_path, without=0)

    def told(chart: Chart) -> int:
        return sum(map(int, re.findall(r"mean of (\d+) cases", chart.svg)))

    # A case is in three columns, of its threads, CPUs and think, and there in two rows.
    for arm in ("baseline", "fast"):
        before, after = (heatmaps.regret_by_axis(one, arm) for one in (whole, partial))
        assert told(before) - told(after) == 6
    first, *others = whole.findings
    assert first.metric.name == "elapsed_ns"
    lacking = replace(whole, findings=(replace(first, complete=False), *others))
    before, after = (heatmaps.improvement_by_axis(one, "fast") for one in (whole, lacking))
    assert told(before) - told(after) == 6
    means = document(partial)["simulation"]["mean_regrets"]
    # Alone, the baseline would be its own oracle.
    assert {one["regret"] for one in means if one.get("think") == 100} == {1.0, 2.0}
    words = re.findall(r"<text[^>]*>([^<]*)</text>", heatmaps.best_by_case(partial).svg)
    assert [words.count(one) for one in ("baseline †", "baseline", "fast")] == [1, 8, 7]


def test_heat_maps_over_the_axes_are_means(tmp_path: Path) -> None:
    summary = sample(tmp_path)
    svg = heatmaps.regret_by_axis(summary, "fast").svg
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"single_ctr", "prod_cons", "all", "threads", "cpus", "think", "400"} <= set(words)
    # 1 and 2 by what they think; whatever else is set apart has both.
    assert [words.count(number) for number in ("1.00", "1.50", "2.00")] == [3, 12, 3]
    svg = heatmaps.improvement_by_axis(summary, "fast").svg
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert [words.count(number) for number in ("+50", "-25", "-100")] == [3, 12, 3]
    nothing = summarise(of_axes(tmp_path), [])
    words = re.findall(r"<text[^>]*>([^<]*)</text>", heatmaps.regret_by_axis(nothing, "fast").svg)
    assert words.count("n/a") == 18
