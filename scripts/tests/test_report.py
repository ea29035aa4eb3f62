# SPDX-License-Identifier: GPL-2.0
"""The report's files: one page that loads nothing, the same bytes each time."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
import samples
from matplotlib.figure import Figure
from samples import summarise
from tracing import recorded

from fastlab.base.model import Variant
from fastlab.plan.experiment import plan
from fastlab.report import answers, charts, drawing, heatmaps, tables
from fastlab.report.contents import html_text, write_report
from fastlab.report.forms import NAMES
from fastlab.statistics.findings import Findings
from fastlab.trace.timeline import timeline

VOID = {"meta", "br"}
# What ends where one of these begins, or where that ends which it is in.
ENDED_BY = {"td": {"td", "tr"}, "tr": {"tr"}}
# What a page may lead to: what stands beside it in a results directory.
BESIDE = {"runs.jsonl", "experiment.toml", "summary.csv", "summary.json"}


@cache
def single() -> Findings:
    of = samples.experiment(("single_ctr", "affinity"), (4, 16), (1, 2))
    return summarise(
        of,
        [
            samples.row(of, run, {"cycles": 1000 if run.variant.name == "baseline" else 700})
            for run in plan(of)
            if run.workload.benchmark == "single_ctr"
        ],
    )


def depths(count: int = 3) -> Findings:
    variants = [Variant(f"d{n}", "fast", "strict", {"depth": n}) for n in (1, 8, 64)[:count]]
    of = samples.experiment(("single_ctr",), (4, 16), (1,), (samples.BASELINE, *variants))
    return summarise(of, [samples.row(of, run) for run in plan(of)])


@cache
def arms() -> Findings:
    times = {"baseline": {4: 2000, 16: 1000}, "onecpu": {4: 1000, 16: 3000}, "fast": {4: 1200}}
    return summarise(*samples.arms(times, (4, 16)))


@cache
def single_page() -> str:
    return html_text(single())


@cache
def arms_page() -> str:
    return html_text(arms())


class Page(HTMLParser):
    """Checks that elements nest, and collects ids, links and what would be loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self.open and tag in ENDED_BY.get(self.open[-1], ()):
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)
        self._attributes(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._attributes(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        while self.open[-1] != tag and self.open[-1] in ENDED_BY:
            self.open.pop()
        assert self.open.pop() == tag

    def _attributes(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("link", "img", "iframe", "object"):
            self.loads.append(tag)
        for name, value in attrs:
            if name == "src":
                self.loads.append(value or "")
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href", "src"):
                self.links.append(value or "")


@pytest.mark.parametrize(
    "written",
    [single_page, lambda: html_text(depths()), arms_page],
    ids=["single", "depths", "arms"],
)
def test_page_is_whole_and_loads_nothing(written: Callable[[], str]) -> None:
    text = written()
    page = Page(text)
    assert page.loads == []
    assert {link.partition("#")[0] for link in page.links} - {""} == BESIDE
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)#]*)", text)) <= {""}


def test_page_says_what_was_measured_and_how() -> None:
    text = single_page()
    for words in (
        "/bin/single_ctr --threads 4 --iterations=2000 --seed 1 --json",
        "kernel-baseline",
        "kernel-fast",
        "rx4640",
        "30.0 ±0.0",  # the known effect
        "a miss inside a critical section makes others wait",
        "Runs that are in no comparison: 8",
        "not made yet",
        "policy strict",
        "Losses: 0",
    ):
        assert words in text


def test_page_of_splash_2_stands_beside_its_part_of_the_paper() -> None:
    of = samples.experiment(("barnes", "fft"), (4, 16), (1,))
    changes = {"profile": samples.PROFILE}
    text = html_text(summarise(of, [samples.row(of, one, None, changes) for one in plan(of)]))
    Page(text)
    for words in ("Figures 4 and 5", '<h2 id="synchronization">', "Table 4"):
        assert words.replace("Figures 4 and 5", "Figure 4 and Figure 5") in text
    assert "Figure 2" not in text
    assert 'id="synchronization"' not in single_page()
    assert "Figure 2 and Figure 3" in single_page()


@pytest.mark.parametrize(
    ("findings", "written", "data"),
    [
        (single, single_page, {drawing.RAMP[0], drawing.RAMP[-1]}),
        (arms, arms_page, {heatmaps.HEAT[0], heatmaps.HEAT[-1], *heatmaps.NUMBERS}),
    ],
    ids=["single", "arms"],
)
def test_data_has_the_same_colours_in_both_themes(
    findings: Callable[[], Findings], written: Callable[[], str], data: set[str]
) -> None:
    summary, text = findings(), written()
    root, dark = re.findall(r":root \{(.*?)\}", text, flags=re.DOTALL)
    for variable in set(re.findall(r"var\((--[a-z0-9-]+)\)", text)):
        assert f"{variable}:" in root
        assert f"{variable}:" in dark
    shown = [
        charts.bars(summary, "fast", "cycles"),
        *([heatmaps.regret(summary), charts.beside(summary)] if summary.regrets else []),
    ]
    svg = "".join(chart.svg for chart in shown)
    assert set(re.findall(r"var\((--[a-z0-9-]+)\)", svg)) <= {"--ink", "--grid", "--ground"}
    assert data <= set(re.findall(r"#[0-9a-f]{6}", svg))


def test_the_heat_map_shows_who_is_best() -> None:
    svg = heatmaps.regret(arms()).svg
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"single_ctr 4", "single_ctr 16", "baseline", "onecpu", "fast", "wakecpu"} <= set(words)
    assert {"2.00", "1.20", "3.00 †"} <= set(words)
    # The control was not run, nor FAST at 16 threads.
    assert words.count("n/a") == 3
    # Once above its column, once at the end of the row in which it is the best.
    assert (words.count("onecpu"), words.count("baseline"), words.count("fast")) == (2, 2, 1)
    assert re.findall(r"font-weight: 700[^>]*>([^<]*)<", svg) == ["1.00", "1.00 †"]


def test_the_report_begins_with_regret_where_there_is_an_oracle(tmp_path: Path) -> None:
    text = arms_page()
    # The words are explained before the heat map, which is above the cards.
    order = ("1.31 takes 31 % longer", heatmaps.TITLE, 'class="tile"', 'id="regret"')
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert text.index('id="regret"') < text.index('id="tables"')
    for words in ("Regret by arm", "Regret by workload and arm", "confined to 1 CPU"):
        assert words in text
    assert 'id="regret"' not in single_page()
    names = [path.name for path in write_report(arms(), tmp_path)]
    assert names[-3:] == ["regret.csv", "regret.svg", "regret.png"]
    assert heatmaps.regret_file(arms(), "png") == (tmp_path / "regret.png").read_bytes()


def test_an_oracle_of_the_baseline_alone_needs_no_second_chart() -> None:
    of = samples.experiment(oracle=("baseline",))
    text = html_text(summarise(of, [samples.row(of, run) for run in plan(of)]))
    Page(text)
    assert 'id="regret"' in text
    assert "locality and serialisation" not in text


def test_timelines_that_fast_trace_has_left_are_in_the_page(tmp_path: Path) -> None:
    for run in ("single_ctr-4", "affinity-16"):
        picture = tmp_path / "trace" / run / "timeline.svg"
        picture.parent.mkdir(parents=True)
        picture.write_bytes(timeline([recorded()], "svg"))
    assert "timelines" not in single_page()
    write_report(single(), tmp_path)
    text = (tmp_path / "report.html").read_text()
    page = Page(text)
    assert page.loads == []
    assert "timelines" in page.ids
    assert len(page.ids) == len(set(page.ids))
    assert text.index('id="timelines"') < text.index('id="tables"')
    assert re.findall(r"<figcaption>(.*?)</figcaption>", text)[:2] == [
        "affinity-16",
        "single_ctr-4",
    ]
    assert text.count("strict: 2 hand-offs, 1 to another CPU") == 2


def test_text_is_escaped() -> None:
    text = html_text(replace(single(), doubts=("it said <b>",)))
    assert "it said &lt;b&gt;" in text and "said <b>" not in text


def test_same_results_same_bytes(tmp_path: Path) -> None:
    first = write_report(single(), tmp_path / "a")
    second = write_report(single.__wrapped__(), tmp_path / "b")
    assert [path.name for path in first] == [
        *NAMES.values(),
        "improvement.svg",
        "improvement.png",
    ]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert (tmp_path / "a" / "improvement.png").read_bytes().startswith(b"\x89PNG")


def test_other_results_other_charts() -> None:
    of = samples.experiment(("single_ctr", "affinity"), (4, 16), (1, 2))
    other = summarise(of, [samples.row(of, run) for run in plan(of)])
    for form in ("svg", "png"):
        assert charts.main_chart(single(), "fast", form) != charts.main_chart(other, "fast", form)


def test_bars_show_benchmarks_threads_and_what_is_not_available() -> None:
    svg = charts.bars(single(), "fast", "cycles").svg
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"single_ctr", "affinity", "threads", "4", "16", "improvement, %"} <= set(words)
    assert words.count("n/a") == 2  # affinity was not measured, at either thread count


def test_depth_study_draws_lines_against_depth(tmp_path: Path) -> None:
    summary = depths()
    assert charts.has_depths(summary)
    words = re.findall(r"<text[^>]*>([^<]*)</text>", charts.depth_lines(summary, "cycles").svg)
    assert {"1", "8", "64", "single_ctr", "threads"} <= set(words)
    names = [path.name for path in write_report(summary, tmp_path)]
    assert "improvement.svg" not in names


def test_what_is_no_depth_study() -> None:
    assert not charts.has_depths(single())
    assert not charts.has_depths(depths(1))


@pytest.mark.parametrize(
    ("policy", "knobs"),
    [("adaptive", {"depth": 8}), ("strict", {"depth": 1}), ("strict", {"depth": 8, "hold": 5})],
)
def test_a_line_goes_through_what_differs_by_depth_only(policy: str, knobs: dict[str, int]) -> None:
    others = [Variant("one", "fast", "strict", {"depth": 1}), Variant("two", "fast", policy, knobs)]
    of = samples.experiment(("single_ctr",), (4,), (1,), (samples.BASELINE, *others))
    assert not charts.has_depths(summarise(of, []))


def test_what_is_shown_as_0_has_no_sign() -> None:
    shown = [heatmaps.IMPROVEMENT.text(one) for one in (-0.4, 0.0, 0.4, -0.6, 0.6)]
    assert shown == ["0", "0", "0", "-1", "+1"]
    assert heatmaps.REGRET.text(0.004) == "0.00"


def test_nothing_measured_yet_is_still_a_report(tmp_path: Path) -> None:
    summary = summarise(samples.experiment(), [])
    write_report(summary, tmp_path)
    text = (tmp_path / "report.html").read_text()
    assert "0 better" in text
    assert "Runs that are in no comparison: 6" in text


def test_the_first_sentence_is_of_the_best_and_says_what_it_loses() -> None:
    times = {
        "baseline": {4: 1000, 16: 1000},
        "onecpu": {4: 600, 16: 3000},
        "fast": {4: 900, 16: 800},
    }
    said, *others = answers.answers(summarise(*samples.arms(times, (4, 16))))
    assert said.startswith("fast made 2 of 2 cases faster than baseline (up")
    assert [one.split(" made ")[0] for one in others] == ["onecpu", "wakecpu"]
    times["fast"] = {4: 500, 16: 1200}
    said = answers.lead(summarise(*samples.arms({**times, "onecpu": {}}, (4, 16))))
    assert said.startswith(
        "fast made 1 of 2 cases faster than baseline (up to +50.0 %, single_ctr-4)"
    )
    assert ", 1 slower (up to -20.0 %, single_ctr-16)" in said


def test_gains_stand_beside_what_they_cost() -> None:
    of = samples.experiment(("single_ctr",), (4,), (1, 2))
    rows = [
        samples.row(
            of,
            run,
            {"elapsed_cycles": 700 if run.variant.name == "fast" else 1000},
            {"migrations": 30 if run.variant.name == "fast" else 10},
        )
        for run in plan(of)
    ]
    text = html_text(summarise(of, rows))
    found = re.findall(r'<div class="tile"><h3>(.*?)</h3>(.*?)</div>', text, re.DOTALL)
    tiles = {name: re.sub("<.*?>", "", words).split() for name, words in found}
    assert list(tiles) == ["fast: elapsed_ns", "fast: fairness", "fast: migrations"]
    assert tiles["fast: elapsed_ns"][:4] == ["1", "better,", "0", "worse"]
    assert " ".join(tiles["fast: elapsed_ns"]).startswith(
        "1 better, 0 worse best: +30.0 %, single_ctr-4 worst: none"
    )
    assert " ".join(tiles["fast: migrations"]).startswith(
        "0 better, 1 worse best: none worst: -200.0 %, single_ctr-4"
    )


def test_each_run_is_named_with_its_key() -> None:
    found = single()
    digest = "617ccf13" * 8
    raw = list(found.raw)
    raw[2] = replace(raw[2], row={**raw[2].row, "key": digest})
    keys = [one.row["key"] for one in raw]
    table = tables.raw(replace(found, raw=tuple(raw)))
    assert len(table.rows) == len(keys) == 8
    assert [cell.text for cell in table.rows[2]][:5] == [
        "single_ctr-4",
        "fast",
        "seed 1",
        "ok",
        "617ccf13617c",
    ]
    assert table.rows[2][4].link == f"runs.jsonl#:~:text={digest}"
    # A workload's name leads to the first of its runs.
    anchors = [row[0].anchor for row in table.rows]
    assert [one for one in anchors if one] == ["runs-0", "runs-1"]
    assert anchors[4] == "runs-1"
    gains = tables.gains(found)
    assert {(row[3].text, row[1].link) for row in gains.rows} == {
        ("4", "#runs-0"),
        ("16", "#runs-1"),
    }


def test_a_fragment_has_no_syntax_of_its_own() -> None:
    found = single()
    row = {**found.raw[0].row, "key": "single_ctr-4 &,1"}
    cell = tables.raw(replace(found, raw=(replace(found.raw[0], row=row),))).rows[0][4]
    assert (cell.text, cell.link) == (row["key"], "runs.jsonl#:~:text=single_ctr%2D4%20%26%2C1")


def test_a_mark_tells_what_it_was_given() -> None:
    told = 'a "quoted" & <tagged>\nsecond line'
    file = drawing.render(
        "x", (2, 2), lambda one: drawing.mark(one.subplots().axhline(0), told), "svg"
    )
    titles = [one.text for one in ElementTree.fromstring(file).findall(".//{*}title")]
    assert titles == [told]


def test_a_bar_has_a_dot_for_each_seed_and_its_interval() -> None:
    of = samples.experiment(("single_ctr",), (4,), (1, 2, 3))
    gains = {1: 100, 2: 200, 3: 300}
    rows = [
        samples.row(of, run, {"cycles": 1000 - (run.variant.name == "fast") * gains[run.seed]})
        for run in plan(of)
    ]
    figure = Figure()
    axes = figure.subplots()
    charts._bars(axes, summarise(of, rows), "fast", "cycles")
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [list(map(float, line.get_ydata())) for line in dots] == [pytest.approx([10, 20, 30])]
    # Student's: 4.303 * 10 / sqrt(3).
    ends = [sorted(path.vertices[:, 1]) for one in axes.collections for path in one.get_paths()]
    assert len(ends) == 2
    assert ends == [pytest.approx([-4.84, 44.84], abs=0.01)] * 2


def test_a_picture_has_no_more_than_is_seen() -> None:
    def draw(figure: Figure) -> None:
        drawing.mark(figure.subplots().axhline(1 / 3), "a third")

    svg = drawing.render("x", (2, 2), draw, "svg").decode()
    assert "metadata" not in svg and "<g>" not in svg and "<g id" not in svg
    assert not re.search(r"\d\.\d\d", "".join(re.findall(r' d="([^"]*)"', svg)))
    (mark,) = [line for line in svg.splitlines() if "a third" in line]
    assert mark.startswith('<g class="mark"') and mark.endswith("</g>")
    (clip,) = set(re.findall(r"url\(#(\w+)\)", svg))
    assert f'<clipPath id="{clip}">' in svg
