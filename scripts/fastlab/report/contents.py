# SPDX-License-Identifier: GPL-2.0
"""The report: what stands in it, in which order, and every file that it becomes.

Terminal, Markdown and page have the same sections. Needs no VM and no kernel.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2

from fastlab.base.files import write_files
from fastlab.base.metrics import CHARTED, HEADLINES
from fastlab.plan.invocation import workload_argv
from fastlab.report import charts, drawing, forms, heatmaps, lock_tables, paper, sections, tables
from fastlab.report.attribution_tables import attribution_tables
from fastlab.report.document import csv_text, json_text, regret_csv_text
from fastlab.report.markup import markdown_table
from fastlab.report.tables import Table
from fastlab.statistics.findings import Findings


@dataclass(frozen=True)
class Section:
    """`name` is that of the page's anchor. What is `folded` the page shows when it is asked for,
    and a terminal not at all."""

    name: str
    title: str
    text: str
    tables: Sequence[Table]
    folded: bool = False


def contents(findings: Findings) -> Iterator[Section]:
    """The sections of a comparison, in reading order; none is empty, nor is a column."""
    for section in _sections(findings):
        yield replace(section, tables=[tables.without_empty(table) for table in section.tables])


def _sections(findings: Findings) -> Iterator[Section]:
    if findings.regrets:
        standing = [sections.standings(findings), sections.regrets(findings)]
        if findings.oracle_arms:
            standing.append(sections.beside(findings))
        yield Section("regret", "Who is best where", "", standing)
    yield Section("tables", "Tables", "", list(_results(findings)))
    if findings.synchronization:
        text = (
            "FAST acts where a thread wakes one that waits for it. Where threads seldom wait, it "
            "has nothing to act on."
        )
        table = sections.synchronization(findings)
        yield Section("synchronization", "Synchronization", text, [table])
    if findings.simulation:
        text = (
            "How long a lock takes from one thread to the next that waits for it, and a woken "
            "thread to its CPU."
        )
        yield Section("latencies", "Latencies", text, [sections.latencies(findings)])
    if findings.locks:
        text = "Whose hand-offs these are, where the locks were taken, and how long they were held."
        yield Section(
            "locks", "Locks", text, lock_tables.locks(findings), folded=bool(findings.axes)
        )
    yield Section("losses", "Losses", "", [tables.losses(findings)])
    yield Section("gains", "Gains", "", [tables.gains(findings)])
    if findings.mechanism:
        text = (
            "A gain or a loss counts as FAST's only if FAST acted. These are the kernel's own "
            "counts of what it did."
        )
        yield Section("mechanism", "Mechanism", text, [sections.mechanism(findings)])
    if findings.attributed:
        text = "Which functions the CPUs wait in for their memory, and what they share in vain."
        attributed = attribution_tables(findings.attributed)
        yield Section("attribution", "Functions and lines", text, attributed)
    everything = [
        tables.results(
            findings,
            f"All metrics ({name})",
            [finding for finding in findings.findings if finding.variant_name == name],
        )
        for name in findings.variants
    ]
    yield Section("all", "All numbers", "", [*everything, tables.units(findings)], folded=True)


def _results(findings: Findings) -> Iterator[Table]:
    """The primary metric first."""
    if not findings.simulation:
        yield from tables.by_metric(findings)
        return
    names = tuple(dict.fromkeys((findings.primary, *HEADLINES)))
    if len(findings.variants) > 1:
        yield from (sections.study(findings, metric) for metric in names)
    for variant in findings.beside_paper:
        yield sections.miss_ratios(findings, variant)
        yield from (sections.headline(findings, variant, metric) for metric in names)


def shown(findings: Findings) -> list[Table]:
    """The tables for a terminal."""
    first = [tables.left_out(findings)] if findings.left_out else []
    rest = [
        shown_table
        for section in contents(findings)
        if not section.folded
        for shown_table in section.tables
    ]
    return [*first, *(table for table in rest if table.rows)]


def markdown(findings: Findings) -> str:
    """A Markdown document, fit for a changelog."""
    lines = [f"# {findings.title}", "", *tables.answers(findings), ""]
    lines += [f"- {name}: {text}" for name, text in findings.setting.items()]
    everything = [shown_table for section in contents(findings) for shown_table in section.tables]
    lines += ["", *(markdown_table(table) for table in everything)]
    lines += [f"- {line}" for line in tables.notes(findings)]
    return "\n".join(lines).rstrip() + "\n"


def timelines(directory: Path) -> list[drawing.Chart]:
    """Those that `fast trace` has left in a results directory."""
    paths = sorted(directory.glob("trace/*/timeline.svg"))
    return [
        drawing.embedded(f"timeline-{path.parent.name}", path.parent.name, path.read_text(), {})
        for path in paths
    ]


_TIMELINES = Section(
    "timelines",
    "Timelines",
    "Which thread runs where, and who hands over to whom, of one recorded run from the begin of "
    "its region of interest on. A colour is a thread; an arrow is a hand-off, from the release to "
    "the end of the wait.",
    [],
)


def html_text(findings: Findings, recorded: Sequence[drawing.Chart] = ()) -> str:
    """The whole report as one HTML page that loads nothing."""
    experiment = findings.simulation.experiment if findings.simulation else None
    first = (experiment.workloads[0], experiment.seeds[0]) if experiment else None
    # The metric that decides, and what a gain is often paid with.
    in_tiles = dict.fromkeys((findings.primary, *tables.PAID_WITH))
    text = "What every number comes from. Names of workloads lead here from the other tables."
    runs = Section("runs", "Runs", text, [tables.raw(findings)], folded=True)
    return _page(
        findings=findings,
        experiment=experiment,
        answers=tables.answers(findings),
        evaluation=paper.evaluation(findings.benchmarks),
        guest_command=" ".join(workload_argv(*first)) if first else "",
        tallies=[
            [tables.tally(findings, name, metric) for metric in in_tiles]
            for name in findings.variants
        ],
        left_out=tables.left_out(findings),
        missing=tables.missing(findings),
        no_claims=tables.no_claims(findings),
        sections=[*([_TIMELINES] if recorded else []), *contents(findings), runs],
        charts={
            _TIMELINES.name: recorded,
            "regret": _regret_charts(findings),
            "tables": _charts(findings),
        },
        light=_colours(findings, dark=False),
        dark=_colours(findings, dark=True),
    )


def _page(**values: Any) -> str:
    """Equal values give equal bytes, and a value that is missing is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fastlab.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    # Its digest is in the page's policy: no other script runs there, whatever results may hold.
    script = environment.get_template("report.js").render()
    digest = b64encode(sha256(script.encode()).digest()).decode()
    page = environment.get_template("report.html")
    return page.render(script=script, script_digest=digest, **values)


def _colours(findings: Findings, dark: bool) -> str:
    """The CSS variables of all charts."""
    anchors = drawing.RAMP_DARK if dark else drawing.RAMP_LIGHT
    colours = {
        charts.SERIES: drawing.ramp(len(findings.threads), anchors),
        charts.ARM: drawing.ramp(len(findings.oracle_arms), anchors),
        heatmaps.GROUND: heatmaps.DARK if dark else heatmaps.LIGHT,
        heatmaps.NUMBER: heatmaps.DARK_NUMBERS if dark else heatmaps.LIGHT_NUMBERS,
    }
    return " ".join(
        " ".join(f"--{name}-{i}: {colour};" for i, colour in enumerate(own))
        for name, own in colours.items()
    )


def _regret_charts(findings: Findings) -> list[drawing.Chart]:
    if not findings.regrets:
        return []
    if findings.axes:
        by_axis = [heatmaps.regret_by_axis(findings, name) for name in findings.arms]
        return [heatmaps.best_by_case(findings), *by_axis]
    return [heatmaps.regret(findings), *([charts.beside(findings)] if findings.oracle_arms else [])]


def _charts(findings: Findings) -> list[drawing.Chart]:
    if not findings.simulation:
        measured = findings.primary in {metric.name for metric in findings.measured}
        return [
            charts.bars(findings, name, findings.primary) for name in findings.variants if measured
        ]
    if findings.axes:
        return [heatmaps.improvement_by_axis(findings, name) for name in findings.variants]
    if charts.has_depths(findings):
        return [charts.depth_lines(findings, metric) for metric in CHARTED]
    return [charts.bars(findings, name, metric) for name in findings.variants for metric in CHARTED]


FORMATS: Mapping[str, Callable[[Findings, float | None], str]] = {
    "markdown": lambda findings, _: markdown(findings),
    "mmtests": lambda findings, _: forms.mmtests(findings),
    "lkp": lambda findings, _: forms.lkp(findings),
    "ktap": forms.ktap,
    "junit": forms.junit,
    "json": lambda findings, _: json_text(findings),
    "csv": lambda findings, _: csv_text(findings),
    "html": lambda findings, _: html_text(findings),
}


def write_report(findings: Findings, directory: Path) -> list[Path]:
    """Write every form; with an oracle regret.csv and the heat map as regret.svg and regret.png;
    for a single simulated variant the main chart as improvement.svg and improvement.png. A matrix
    has no such pictures. Returns the paths written.

    The page has the timelines that are there. Equal findings give equal bytes. Raises FastError
    when a file cannot be written.
    """
    files: list[tuple[str, str | bytes]] = [
        (name, FORMATS[form](findings, None))
        for form, name in forms.NAMES.items()
        if form != "html"
    ]
    files.append((forms.NAMES["html"], html_text(findings, timelines(directory))))
    if findings.regrets:
        files.append(("regret.csv", regret_csv_text(findings)))
    if findings.regrets and not findings.axes:
        files.append(("regret.svg", heatmaps.regret_file(findings, "svg")))
        files.append(("regret.png", heatmaps.regret_file(findings, "png")))
    if len(findings.variants) == 1 and findings.simulation and not findings.axes:
        (name,) = findings.variants
        files.append(("improvement.svg", charts.main_chart(findings, name, "svg")))
        files.append(("improvement.png", charts.main_chart(findings, name, "png")))
    return write_files(directory, files)
