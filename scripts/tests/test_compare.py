# SPDX-License-Identifier: GPL-2.0
"""The comparison as files and tables, against golden output of a sample with a known effect."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import resource
from pathlib import Path
from typing import Any

import pytest
import samples
from rich.console import Console
from samples import summarise

from fastlab.attribution.callgrind import callgrind_text
from fastlab.base.files import write_files
from fastlab.base.metrics import SIMULATED
from fastlab.base.model import FastError, Place, Variant
from fastlab.plan.experiment import plan
from fastlab.report import charts
from fastlab.report.answers import answers, lead
from fastlab.report.contents import markdown, shown
from fastlab.report.document import csv_text, document, json_text
from fastlab.report.markup import rich_table
from fastlab.report.sections import (
    headline,
    latencies,
    mechanism,
    miss_ratios,
    study,
    synchronization,
)
from fastlab.report.tables import Table, gains, losses, without_empty
from fastlab.statistics.findings import Findings


def sample() -> Findings:
    """single_ctr gains 25 % of cycles at 4 threads and loses 10 % at 16; prod_cons never fires."""
    of = samples.experiment(("single_ctr", "prod_cons"), (4, 16), (1, 2))
    rows = []
    for run in plan(of):
        base = 1_000_000 * run.seed
        factor = 1.0
        arguments: dict[str, Any] = {}
        if run.variant.name == "fast":
            factor = 0.75 if run.workload.threads == 4 else 1.1
            if run.workload.benchmark == "prod_cons":
                arguments["mechanism"] = dict.fromkeys(samples.MECHANISM, 0)
        counters = {"cycles": round(base * factor), "l2_misses": round(400 * factor)}
        rows.append(samples.row(of, run, counters, **arguments))
    return summarise(of, rows)


def texts(table: Table) -> list[list[str]]:
    return [[f"*{cell.text}*" if cell.strong else cell.text for cell in row] for row in table.rows]


def test_table_3_has_its_shape() -> None:
    table = miss_ratios(sample(), "fast")
    assert list(table.columns) == ["benchmark", "", "4", "16"]
    assert texts(table) == [
        ["single_ctr", "L2", "*25.0 ±0.0*", "-10.0 ±0.0"],
        ["", "L2, paper", "34.8", "17.5"],
        ["", "L3", "0.0 ±0.0", "0.0 ±0.0"],
        ["", "L3, paper", "-0.6", "0.4"],
        ["prod_cons", "L2", "n/a", "n/a"],
        ["", "L2, paper", "40.2", "10.8"],
        ["", "L3", "n/a", "n/a"],
        ["", "L3, paper", "-0.9", "1.9"],
    ]


def splash() -> Findings:
    """Barnes gains 25 % of everything at 4 threads, and loses 10 % at 16."""
    of = samples.experiment(("barnes", "lu_contiguous"), (4, 16), (1,))
    rows = []
    for run in plan(of):
        factor = 1.0
        if run.variant.name == "fast" and run.workload.benchmark == "barnes":
            factor = 0.75 if run.workload.threads == 4 else 1.1
        counters = {name: round(1000 * factor) for name in ("cycles", "l2_misses")}
        rows.append(samples.row(of, run, counters, {"profile": samples.PROFILE}))
    return summarise(of, rows)


def test_table_4_has_its_shape() -> None:
    table = miss_ratios(splash(), "fast")
    assert texts(table) == [
        ["barnes", "L2", "*25.0*", "-10.0"],
        ["", "L2, paper", "2.1", "6.6"],
        ["", "L3", "0.0", "0.0"],
        ["lu_contiguous", "L2", "0.0", "0.0"],
        ["", "L2, paper", "-5.6", "1.3"],
        ["", "L3", "0.0", "0.0"],
    ]
    assert "its Table 4" in table.note
    cycles = headline(splash(), "fast", "cycles")
    assert texts(cycles)[1] == ["", "paper", "-39 to 10", "-39 to 10"]
    assert "its Figure 5" in cycles.note
    bus = headline(splash(), "fast", "bus_requests")
    assert len(bus.rows) == 2
    assert "its Figure 4" in bus.note


def test_synchronization_explains_a_result() -> None:
    table = without_empty(synchronization(splash()))
    assert texts(table)[0] == [
        *("barnes", "baseline", "4"),
        *("400,000", "40,000", "n/a", "50,000"),
        *("25.0", "25.0", "50.0"),
    ]
    assert not any("flags" in column for column in table.columns)
    assert texts(table)[1][5] == "100,000"
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert table.title in [one.title for one in shown(splash())]
    assert table.title not in [one.title for one in shown(sample())]
    assert document(splash())["simulation"]["synchronization"][0]["contended"] == 0.25


def test_latencies_of_every_variant() -> None:
    of = samples.experiment(seeds=(1,))
    rows = []
    for run in plan(of):
        document = samples.document()
        document["latencies"]["wakeup"] = samples.latency(1200)
        if run.variant.name == "fast":
            none = dict.fromkeys(samples.latency(0), None) | {"count": 0}
            document["latencies"] = {"handoff": none, "wakeup": samples.latency(4000)}
        rows.append(samples.row(of, run, document=document))
    table = without_empty(latencies(summarise(of, rows)))
    # There was no hand-off to compare.
    assert list(table.columns)[3:5] == ["wakeup mean", "wakeup median"]
    assert texts(table) == [
        ["single_ctr", "baseline", "4", "2.4", "1.2", "12", "12"],
        ["single_ctr", "fast", "4", "8", "4", "40", "40"],
    ]
    assert table.title in [one.title for one in shown(summarise(of, rows))]


def test_headline_stands_beside_the_paper() -> None:
    table = headline(sample(), "fast", "cycles")
    assert texts(table) == [
        ["single_ctr", "here", "*25.0 ±0.0*", "-10.0 ±0.0"],
        ["", "paper", "18 to 75", "18 to 75"],
        ["prod_cons", "here", "n/a", "n/a"],
        ["", "paper", "none", "-"],
    ]
    assert [cell.tone for cell in table.rows[0]] == ["", "", "gain", "loss"]
    assert "sign is turned" in table.note


def unsure() -> Findings:
    """At 4 threads both variants gain, only one of them surely; at 16 one is not sure to gain, and
    one surely loses. Of one at 32, a run is not what its variant says."""
    deep = Variant("deep", "fast", "strict", {"depth": 8})
    variants = (samples.BASELINE, samples.FAST, deep)
    of = samples.experiment(("single_ctr",), (4, 16, 32), (1, 2, 3), variants)
    times = {
        ("fast", 4): (600, 1000, 700),
        ("deep", 4): (900, 901, 899),
        ("fast", 16): (600, 1100, 1000),
        ("deep", 16): (1100, 1101, 1099),
        ("fast", 32): (500, 501, 499),
        ("deep", 32): (900, 901, 899),
    }
    rows = []
    for run in plan(of):
        mine = times.get((run.variant.name, run.workload.threads), (1000, 1000, 1000))
        row = samples.row(of, run, {"cycles": mine[run.seed - 1]})
        if (run.variant.name, run.workload.threads, run.seed) == ("fast", 32, 3):
            row |= {"status": "invalid", "reason": "FAST never fired"}
        rows.append(row)
    return summarise(of, rows)


def test_what_is_not_sure_is_marked_and_not_the_best() -> None:
    table = study(unsure(), "cycles")
    assert texts(table) == [
        ["single_ctr", "4", "23.3 ±20.8 ~", "*10.0 ±0.1*"],
        # What surely loses is not the best beside what may be none.
        ["single_ctr", "16", "10.0 ±26.5 ~", "-10.0 ±0.1"],
        ["single_ctr", "32", "50.0 ±0.1 †", "*10.0 ±0.1*"],
    ]
    assert [[cell.tone for cell in row[2:]] for row in table.rows] == [
        ["aside", "gain"],
        ["aside", "loss"],
        ["aside", "gain"],
    ]
    assert "~: no significant change" in table.note


def test_the_bar_of_what_is_invalid_says_so() -> None:
    svg = charts.bars(unsure(), "fast", "cycles").svg
    assert re.findall(r"<text[^>]*>(INVALID|incomplete|n/a)</text>", svg) == ["INVALID"]
    assert "INVALID" not in re.findall(
        r"<text[^>]*>([^<]*)</text>", charts.bars(unsure(), "deep", "cycles").svg
    )


def test_every_loss_and_every_gain_is_listed() -> None:
    summary = sample()
    assert texts(losses(summary)) == [
        ["fast", "single_ctr", name, "16", base, value, "-10.0 ±0.0"]
        for name, base, value in (
            ("cycles", "1,500,000", "1,650,000"),
            ("l2_misses", "400", "440"),
            ("l2_miss_ratio", "0.4", "0.44"),
        )
    ]
    assert [row[2].text for row in gains(summary).rows] == ["cycles", "l2_misses", "l2_miss_ratio"]
    assert gains(summary).title == "Gains: 3"


def test_the_worst_loss_comes_first() -> None:
    of = samples.experiment(seeds=(1,))
    worse = {"cycles": 1100, "bus_requests": 1300, "l3_misses": 1200}
    rows = [samples.row(of, run, worse if run.variant.name == "fast" else None) for run in plan(of)]
    listed = [row[-1].text for row in losses(summarise(of, rows)).rows]
    assert listed == ["-30.0", "-20.0", "-20.0", "-10.0"]  # l3_misses and their ratio


def test_mechanism_table() -> None:
    table = without_empty(mechanism(sample()))
    assert list(table.columns)[3:6] == ["hint_set", "used", "same_cpu"]
    assert texts(table)[0][:6] == ["fast", "single_ctr", "4", "200", "120", "40"]
    assert texts(table)[2][:4] == ["fast", "prod_cons", "4", "n/a"]


def test_fewer_seeds_are_marked() -> None:
    of = samples.experiment(seeds=(1, 2))
    rows = [samples.row(of, run) for run in plan(of)][:2]
    (row, *_) = headline(summarise(of, rows), "fast", "cycles").rows
    assert row[2].text == "0.0 †"


def test_summary_document() -> None:
    made = document(sample())
    row = made["rows"][1]
    assert (row["benchmark"], row["threads"], row["metric"]) == ("single_ctr", 4, "cycles")
    assert (row["baseline"], row["variant"]) == (1_500_000, 1_125_000)
    assert (row["improvement_pct"], row["spread"], row["verdict"]) == (25.0, 0.0, "better")
    assert (row["variant_name"], row["variant_runs"], row["complete"]) == ("fast", 2, True)
    assert len(made["rows"]) == 2 * 2 * len(SIMULATED)
    assert {row["metric"] for row in made["rows"]} == {metric.name for metric in SIMULATED}
    assert made["experiment"] == "sample"
    simulation = made["simulation"]
    assert [one["id"] for one in simulation["kernels"].values()] == [
        "kernel-baseline",
        "kernel-fast",
    ]
    assert simulation["machine"]["cpus"] == 4
    assert [(one["benchmark"], one["threads"], one["which"]) for one in made["left_out"]] == [
        ("prod_cons", 4, "seed 1"),
        ("prod_cons", 16, "seed 1"),
        ("prod_cons", 4, "seed 2"),
        ("prod_cons", 16, "seed 2"),
    ]
    assert {one["status"] for one in made["left_out"]} == {"invalid"}


def test_not_available_is_null_and_empty() -> None:
    summary = sample()
    (row,) = (
        row
        for row in json.loads(json_text(summary))["rows"]
        if (row["benchmark"], row["threads"], row["metric"]) == ("prod_cons", 4, "cycles")
    )
    assert row["baseline"] is row["variant"] is row["improvement_pct"] is row["spread"] is None
    (line,) = (
        line for line in csv_text(summary).splitlines() if line.startswith("prod_cons,4,cycles,")
    )
    given = dict(zip(csv_text(summary).splitlines()[0].split(","), line.split(","), strict=False))
    assert (given["baseline"], given["spread"], given["verdict"]) == ("", "", "INVALID")


def test_csv_and_json_say_the_same() -> None:
    summary = sample()
    rows = json.loads(json_text(summary))["rows"]
    read = list(csv.DictReader(io.StringIO(csv_text(summary))))
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows] == read


def test_markdown() -> None:
    text = markdown(sample())
    assert (
        "## Improvement of cycles, % (fast)\n"
        "\n"
        "| benchmark |  | 4 | 16 |\n"
        "| --- | --- | --: | --: |\n"
        "| single_ctr | here | **25.0 ±0.0** | -10.0 ±0.0 |\n"
        "|  | paper | 18 to 75 | 18 to 75 |\n"
    ) in text
    assert "- Left out: fast: prod_cons, 4 threads, seed 1: invalid: FAST never fired" in text
    assert (
        "| single_ctr-4 | fast | cycles | 1,500,000 | 1,125,000 | 25.0 ±0.0 | [+25.0, +25.0] |"
        in text
    )


def test_terminal() -> None:
    out = io.StringIO()
    Console(file=out, width=120).print(*map(rich_table, shown(sample())))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["single_ctr", "here", "25.0", "±0.0", "-10.0", "±0.0"] in lines
    assert "Losses: 3" in out.getvalue()


def test_a_cost_that_the_baseline_has_not_is_told() -> None:
    of = samples.experiment(("single_ctr",), (4, 16), (1,))
    rows = [
        samples.row(of, run, None, {"migrations": 0 if run.variant.name == "baseline" else moved})
        for run in plan(of)
        for moved in [7 if run.workload.threads == 4 else 0]
    ]
    assert lead(summarise(of, rows)).endswith("; migrations: 0 better, 0 worse, 1 from 0.")


def test_twice_the_cases_are_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix may have a thousand: how often is looked where a row stands?"""
    looked = 0
    key = Place.key.fget
    assert key

    def counted(place: Place) -> tuple[int | str, ...]:
        nonlocal looked
        looked += 1
        return key(place)

    def work(cases: int) -> int:
        nonlocal looked
        looked = 0
        of = samples.experiment(("single_ctr",), tuple(range(1, cases + 1)), (1,))
        markdown(summarise(of, []))
        return looked

    monkeypatch.setattr(Place, "key", property(counted))
    assert work(40) < 2.5 * work(20)
    found = sample()
    assert found.find("fast", "cycles") is found.find("fast", "cycles")
    assert found.of_metric("cycles") is found.of_metric("cycles")


def test_several_variants() -> None:
    deep = Variant("deep", "fast", "strict", {"depth": 8})
    of = samples.experiment(seeds=(1,), variants=(samples.BASELINE, samples.FAST, deep))
    cycles = {"baseline": 1000, "fast": 1100, "deep": 600}
    summary = summarise(
        of, [samples.row(of, run, {"cycles": cycles[run.variant.name]}) for run in plan(of)]
    )
    assert texts(study(summary, "cycles")) == [["single_ctr", "4", "-10.0", "*40.0*"]]
    rows = document(summary)["rows"][:: len(SIMULATED)]
    assert [row["variant_name"] for row in rows] == ["fast", "deep"]
    assert "## Improvement of cycles by variant, %" in markdown(summary)
    # Which of the two would stand beside the paper's?
    assert "L2, paper" not in markdown(summary)


def test_the_only_policy_stands_beside_the_paper_and_beside_controls() -> None:
    variants = (samples.BASELINE, samples.ONE_CPU, samples.FAST)
    of = samples.experiment(seeds=(1,), variants=variants)
    text = markdown(summarise(of, [samples.row(of, run) for run in plan(of)]))
    assert "## Improvement of cycles by variant, %" in text
    assert "## Improvement of cycles, % (fast)" in text
    assert "## Improvement of cycles, % (onecpu)" not in text


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    directory = tmp_path / "results" / "demo"
    write_files(directory, [("a.txt", "old")])
    assert write_files(directory, [("a.txt", "new"), ("b.bin", b"\0")]) == [
        directory / "a.txt",
        directory / "b.bin",
    ]
    assert (directory / "a.txt").read_text() == "new"
    assert sorted(path.name for path in directory.iterdir()) == ["a.txt", "b.bin"]


def test_a_name_that_is_no_utf_8_is_written_as_it_is(tmp_path: Path) -> None:
    text = callgrind_text("", os.fsdecode(b"ls \xff"), {})
    (path,) = write_files(tmp_path, [("x.callgrind", text)])
    assert b"\ncmd: ls \xff\n" in path.read_bytes()


def test_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    write_files(tmp_path, [("a.txt", "old")])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(FastError, match=r"a\.txt: cannot be written: .*same command again"):
            write_files(tmp_path, [("a.txt", "x" * 1000)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_unwritable_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FastError, match=r"file/a\.txt: cannot be written"):
        write_files(tmp_path / "file", [("a.txt", "x")])


def test_the_answer_in_a_sentence() -> None:
    (said,) = answers(sample())
    assert said == (
        "fast made none of 4 cases faster than baseline, none slower, 2 without a significant "
        "change, 2 without an answer."
    )
    assert lead(sample()) == said
    (said,) = answers(splash())
    assert said.startswith("fast made none of 4 cases faster than baseline, none slower, 4 ")
