# SPDX-License-Identifier: GPL-2.0
"""The oracle and regret, on samples whose numbers are worked out by hand."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import samples
from samples import summarise

from fastlab.report import heatmaps
from fastlab.report.contents import markdown
from fastlab.report.document import document, json_text, regret_csv_text
from fastlab.report.sections import beside, regrets, standings
from fastlab.report.tables import Table
from fastlab.statistics.findings import Findings
from fastlab.statistics.regret import Regret, Standing

# At 4 threads one CPU is best, at 16 the control, which the oracle may not choose.
TIMES = {
    "baseline": {4: 2000, 16: 1000},
    "onecpu": {4: 1000, 16: 3000},
    "fast": {4: 1200, 16: 1025},
    "wakecpu": {4: 2000, 16: 900},
}


def sample(seeds: int = 2) -> Findings:
    return summarise(*samples.arms(TIMES, (4, 16), seeds))


def of(summary: Findings, arm: str, threads: int) -> Regret:
    (found,) = (one for one in summary.regrets if (one.variant_name, one.threads) == (arm, threads))
    return found


def texts(table: Table) -> list[list[str]]:
    return [[f"*{cell.text}*" if cell.strong else cell.text for cell in row] for row in table.rows]


def test_regret_is_time_over_the_best_arms() -> None:
    summary = sample()
    assert len(summary.regrets) == 2 * 4
    for arm, threads, oracle, regret, over_baseline in (
        ("baseline", 4, "onecpu", 2, 1),
        ("onecpu", 4, "onecpu", 1, 0.5),
        ("fast", 4, "onecpu", 1.2, 0.6),
        ("wakecpu", 4, "onecpu", 2, 1),
        ("baseline", 16, "baseline", 1, 1),
        ("onecpu", 16, "baseline", 3, 3),
        ("fast", 16, "baseline", 1.025, 1.025),
        ("wakecpu", 16, "baseline", 0.9, 0.9),
    ):
        one = of(summary, arm, threads)
        assert one.oracle == oracle
        assert one.regret == pytest.approx(regret, rel=1e-3)
        assert one.over_baseline == pytest.approx(over_baseline, rel=1e-3)
        assert one.complete
    # The mean over both seeds.
    assert of(summary, "onecpu", 4).oracle_ns == 1050


def test_standings() -> None:
    arms = {one.variant_name: one for one in sample(1).standings}
    assert arms["baseline"] == Standing("baseline", 2, 1.5, 2.0, 0, 0)
    assert arms["onecpu"] == Standing("onecpu", 2, 2.0, 3.0, 1, 1)
    assert arms["fast"] == Standing("fast", 2, pytest.approx(1.1125), 1.2, 0, 1)
    assert arms["wakecpu"] == Standing("wakecpu", 2, pytest.approx(1.45), 2.0, 1, 0)


def test_two_percent_are_no_difference() -> None:
    times = {**TIMES, "fast": {4: 2040, 16: 1021}, "wakecpu": {4: 1970, 16: 900}}
    summary = summarise(*samples.arms(times, (4, 16)))
    assert not of(summary, "fast", 4).is_worse
    assert of(summary, "fast", 16).is_worse
    assert of(summary, "wakecpu", 16).is_better
    assert not of(summary, "wakecpu", 4).is_better


def test_without_an_oracle_there_is_no_regret() -> None:
    assert summarise(samples.experiment(), []).regrets == ()
    made = document(summarise(samples.experiment(), []))["simulation"]
    assert made["oracle"] == made["regrets"] == made["standings"] == []


def test_an_arm_that_was_not_run_is_not_chosen() -> None:
    summary = summarise(*samples.arms({**TIMES, "onecpu": {16: 3000}}, (4, 16)))
    missing = of(summary, "onecpu", 4)
    assert (missing.regret, missing.elapsed_ns, missing.over_baseline) == (None, None, None)
    assert of(summary, "fast", 4).oracle == "fast"
    assert not of(summary, "fast", 4).complete
    assert of(summary, "fast", 16).complete
    (arm,) = (one for one in summary.standings if one.variant_name == "onecpu")
    assert (arm.rows, arm.mean) == (1, 3.0)


def test_nothing_measured() -> None:
    summary = summarise(samples.arms({})[0], [])
    assert [one.regret for one in summary.regrets] == [None] * 4
    assert [(one.rows, one.mean, one.worst) for one in summary.standings] == [(0, None, None)] * 4
    assert texts(standings(summary))[0] == ["baseline", "n/a", "n/a", "0", "0", "0"]


def test_arms_stand_against_each_other_by_the_seeds_that_both_have() -> None:
    experiment, rows = samples.arms(TIMES, seeds=2)
    # The second seed takes more time; without it the arm would look better than it is.
    rows = [row for row in rows if (row["variant"], row["seed"]) != ("fast", 2)]
    fast = of(summarise(experiment, rows), "fast", 4)
    assert fast.regret == pytest.approx(1.2)
    assert fast.oracle_ns == 1000
    assert not fast.complete


def test_only_the_arm_that_lacks_a_seed_is_partial() -> None:
    experiment, rows = samples.arms(TIMES, (4, 16), 2)
    rows = [row for row in rows if (row["variant"], row["seed"]) != ("wakecpu", 2)]
    summary = summarise(experiment, rows)
    assert {one.variant_name for one in summary.regrets if not one.complete} == {"wakecpu"}
    arms = {one.variant_name: one for one in summary.standings}
    assert {name: one.rows for name, one in arms.items()} == {
        "baseline": 2,
        "onecpu": 2,
        "fast": 2,
        "wakecpu": 0,
    }
    # With every seed the baseline is the fastest arm.
    assert arms["baseline"].best_of == 1


def test_what_stands_beside_a_weaker_oracle_is_in_no_mean_and_marked() -> None:
    """Without one CPU at 4 threads the oracle is FAST, and the baseline's regret 1.67, not 2."""
    summary = summarise(*samples.arms({**TIMES, "onecpu": {16: 3000}}, (4, 16)))
    arms = {one.variant_name: one for one in summary.standings}
    assert arms["baseline"] == Standing("baseline", 1, 1.0, 1.0, 0, 0)
    assert arms["fast"].worst == pytest.approx(1.025)
    assert "some run is missing in 1 of 2 rows" in standings(summary).note
    words = re.findall(r"<text[^>]*>([^<]*)</text>", heatmaps.regret(summary).svg)
    assert [words.count(one) for one in ("1.67 †", "1.00 †", "1.00")] == [2, 1, 1]


def test_the_oracle_is_whole_beside_an_arm_that_had_nothing_to_act_on() -> None:
    experiment, rows = samples.arms(TIMES, (4, 16), 2)
    idle = {name: 0 for name in samples.MECHANISM}
    for row in rows:
        if (row["variant"], row["threads"]) == ("fast", 16):
            row["mechanism"] = idle
    summary = summarise(experiment, rows)
    assert all(one.complete for one in summary.regrets)
    assert of(summary, "fast", 16).regret is None
    assert of(summary, "wakecpu", 16).regret == pytest.approx(0.9)
    arms = {one.variant_name: one.rows for one in summary.standings}
    assert arms == {"baseline": 2, "onecpu": 2, "fast": 1, "wakecpu": 2}
    assert "some run is missing in 0 of 2 rows" in standings(summary).note
    # Whether it had, is not known of a run that is missing.
    missing = [row for row in rows if (row["variant"], row["seed"]) != ("fast", 2)]
    assert {one.threads for one in summarise(experiment, missing).regrets if not one.complete} == {
        4,
        16,
    }


def test_arms_without_a_seed_in_common_have_no_oracle() -> None:
    experiment, rows = samples.arms(TIMES, seeds=2)
    rows = [row for row in rows if (row["variant"] == "onecpu") == (row["seed"] == 1)]
    assert {one.oracle for one in summarise(experiment, rows).regrets} == {None}


def test_tables() -> None:
    summary = sample(1)
    assert texts(regrets(summary)) == [
        ["single_ctr", "4", "1.20", "2.00", "*1.00*", "2.00", "onecpu", "1,000"],
        ["single_ctr", "16", "1.02", "1.00", "3.00", "*0.90*", "baseline", "1,000"],
    ]
    assert [cell.tone for cell in regrets(summary).rows[1]][2:6] == ["loss", "", "loss", "gain"]
    assert texts(beside(summary)) == [
        ["single_ctr", "4", "50.0", "50.0", "40.0", "40.0"],
        ["single_ctr", "16", "-200.0", "-200.0", "-2.5", "-2.5"],
    ]
    assert list(beside(summary).columns)[2:4] == ["onecpu: elapsed_ns", "onecpu: cycles"]
    assert "arithmetic mean" in standings(summary).note
    incomplete = summarise(*samples.arms({**TIMES, "onecpu": {16: 3000}}, (4, 16)))
    assert texts(regrets(incomplete))[0][2:5] == ["*1.00 †*", "1.67 †", "n/a"]


def test_documents() -> None:
    summary = sample(1)
    text = markdown(summary)
    row = "| single_ctr | 4 | 1.20 | 2.00 | **1.00** |"
    for words in ("## Regret by arm", row, "onecpu beside fast"):
        assert words in text
    oracle = json.loads(json_text(summary))["simulation"]
    assert oracle["oracle"] == ["baseline", "onecpu", "fast"]
    read = list(csv.DictReader(io.StringIO(regret_csv_text(summary))))
    assert read == [{key: str(one) for key, one in row.items()} for row in oracle["regrets"]]
    assert oracle["standings"][1]["worst"] == 3.0
