# SPDX-License-Identifier: GPL-2.0
"""The report's files: one page that loads nothing, the same bytes each time."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import samples
from tracing import recorded

from fastlab.base.model import Variant
from fastlab.plan.experiment import plan
from fastlab.report import charts, heatmaps
from fastlab.report.contents import html_text, write_report
from fastlab.report.forms import NAMES
from fastlab.statistics.findings import Findings
from fastlab.statistics.simulated import summarise
from fastlab.trace.timeline import timeline

VOID = {"meta"}


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


def arms() -> Findings:
    times = {"baseline": {4: 2000, 16: 1000}, "onecpu": {4: 1000, 16: 3000}, "fast": {4: 1200}}
    return summarise(*samples.arms(times, (4, 16)))


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
        if tag not in VOID:
            self.open.append(tag)
        self._attributes(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._attributes(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def _attributes(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe", "object"):
            self.loads.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href", "src"):
                self.links.append(value or "")


@pytest.mark.parametrize("summary", [single(), depths(), arms()], ids=["single", "depths", "arms"])
def test_page_is_whole_and_loads_nothing(summary: Findings) -> None:
    text = html_text(summary)
    page = Page(text)
    assert page.loads == []
    assert [link for link in page.links if not link.startswith("#")] == []
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)#]*)", text)) <= {""}


def test_page_says_what_was_measured_and_how() -> None:
    text = html_text(single())
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
    assert 'id="synchronization"' not in html_text(single())
    assert "Figure 2 and Figure 3" in html_text(single())


@pytest.mark.parametrize(
    ("summary", "needed"),
    [(single(), {"--series-0", "--series-1"}), (arms(), {"--heat-0", "--heat-ink-5", "--arm-1"})],
    ids=["single", "arms"],
)
def test_every_colour_of_the_charts_is_defined_light_and_dark(
    summary: Findings, needed: set[str]
) -> None:
    text = html_text(summary)
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", text))
    assert {*needed, "--ink", "--grid"} <= used
    root, dark = re.findall(r":root \{(.*?)\}", text, flags=re.DOTALL)
    for variable in used:
        assert f"{variable}:" in root
        assert f"{variable}:" in dark
    for chart in (
        charts.bars(summary, "fast", "cycles"),
        *([heatmaps.regret(summary), charts.beside(summary)] if summary.regrets else []),
    ):
        assert not re.findall(r"(?:fill|stroke): #(?!ffffff|none)[0-9a-f]{6}", chart.svg)


def test_the_heat_map_shows_who_is_best() -> None:
    svg = heatmaps.regret(arms()).svg
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"single_ctr 4", "single_ctr 16", "baseline", "onecpu", "fast", "wakecpu"} <= set(words)
    assert {"2.00", "1.20", "3.00"} <= set(words)
    # Nobody ran the control, nor FAST at 16 threads.
    assert words.count("n/a") == 3
    # Once above its column, once at the end of the row in which it is the best.
    assert (words.count("onecpu"), words.count("baseline"), words.count("fast")) == (2, 2, 1)
    assert re.findall(r"font-weight: 700[^>]*>([^<]*)<", svg) == ["1.00", "1.00"]


def test_the_report_begins_with_regret_where_there_is_an_oracle(tmp_path: Path) -> None:
    text = html_text(arms())
    assert text.index('id="regret"') < text.index('id="tables"')
    for words in ("Regret by arm", "Regret by workload and arm", "confined to 1 CPU"):
        assert words in text
    assert 'id="regret"' not in html_text(single())
    names = [path.name for path in write_report(arms(), tmp_path)]
    assert names[-3:] == ["regret.csv", "regret.svg", "regret.png"]
    assert heatmaps.regret_file(arms(), "png") == (tmp_path / "regret.png").read_bytes()


def test_an_oracle_of_the_baseline_alone_needs_no_second_chart() -> None:
    of = samples.experiment(oracle=("baseline",))
    text = html_text(summarise(of, [samples.row(of, run) for run in plan(of)]))
    Page(text)
    assert 'id="regret"' in text
    assert "locality apart" not in text


def test_timelines_that_fast_trace_has_left_are_in_the_page(tmp_path: Path) -> None:
    for run in ("single_ctr-4", "affinity-16"):
        picture = tmp_path / "trace" / run / "timeline.svg"
        picture.parent.mkdir(parents=True)
        picture.write_bytes(timeline([recorded()], "svg"))
    assert "timelines" not in html_text(single())
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
    second = write_report(single(), tmp_path / "b")
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


def test_nothing_measured_yet_is_still_a_report(tmp_path: Path) -> None:
    summary = summarise(samples.experiment(), [])
    write_report(summary, tmp_path)
    text = (tmp_path / "report.html").read_text()
    assert "0 better" in text
    assert "Runs that are in no comparison: 6" in text
