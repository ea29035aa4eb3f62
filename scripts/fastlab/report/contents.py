# SPDX-License-Identifier: GPL-2.0
"""The report: its sections in order, and every file that it becomes.

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
from fastlab.report import (
    answers,
    charts,
    drawing,
    forms,
    heatmaps,
    lock_tables,
    paper,
    sections,
    tables,
)
from fastlab.report.attribution_tables import attribution_tables
from fastlab.report.document import csv_text, json_text, regret_csv_text
from fastlab.report.markup import markdown_table
from fastlab.report.tables import Table
from fastlab.statistics.findings import Findings


@dataclass(frozen=True)
class Section:
    """`name` is the page's anchor. The page shows a `folded` section on request, and a terminal
    omits it."""

    name: str
    title: str
    text: str
    tables: Sequence[Table]
    folded: bool = False


def contents(findings: Findings) -> Iterator[Section]:
    """The sections of a comparison in reading order. No section and no column is empty."""
    for section in _sections(findings):
        yield replace(section, tables=[tables.without_empty(table) for table in section.tables])


def _sections(findings: Findings) -> Iterator[Section]:
    if findings.regrets:
        standing = [sections.standings(findings), sections.regrets(findings)]
        if findings.oracle_arms:
            standing.append(sections.beside(findings))
        yield Section("regret", "Which arm is best where", "", standing)
    yield Section("tables", "Tables", "", list(_results(findings)))
    if findings.synchronization:
        text = (
            "FAST acts when a thread wakes a waiter. If threads seldom wait, FAST has nothing to "
            "act on."
        )
        table = sections.synchronization(findings)
        yield Section("synchronization", "Synchronization", text, [table])
    if findings.simulation:
        text = (
            "The time from the release of a lock until its waiter has it, and from a wake-up until "
            "the thread runs."
        )
        yield Section("latencies", "Latencies", text, [sections.latencies(findings)])
    if findings.locks:
        text = "The locks behind the hand-offs, the functions that take them, and their hold times."
        yield Section(
            "locks", "Locks", text, lock_tables.locks(findings), folded=bool(findings.axes)
        )
    yield Section("losses", "Losses", "", [tables.losses(findings)])
    yield Section("gains", "Gains", "", [tables.gains(findings)])
    if findings.mechanism:
        text = (
            "FAST caused a gain or a loss only if it acted. These are the kernel's counts of its "
            "decisions."
        )
        yield Section("mechanism", "Mechanism", text, [sections.mechanism(findings)])
    if findings.attributed:
        text = (
            "The functions in which CPUs wait for memory, and cache lines that they falsely share."
        )
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
    lines = [f"# {findings.title}", "", *answers.answers(findings), ""]
    lines += [f"- {name}: {text}" for name, text in findings.setting.items()]
    everything = [shown_table for section in contents(findings) for shown_table in section.tables]
    lines += ["", *(markdown_table(table) for table in everything)]
    lines += [f"- {line}" for line in tables.notes(findings)]
    return "\n".join(lines).rstrip() + "\n"


def timelines(directory: Path) -> list[drawing.Chart]:
    """The timelines that `fast trace` left in a results directory."""
    paths = sorted(directory.glob("trace/*/timeline.svg"))
    return [
        drawing.embedded(f"timeline-{path.parent.name}", path.parent.name, path.read_text())
        for path in paths
    ]


_TIMELINES = Section(
    "timelines",
    "Timelines",
    "Threads, CPUs and hand-offs of one recorded run, from the beginning of its region of "
    "interest. A colour is a thread; an arrow is a hand-off, from the release to the end of the "
    "wait.",
    [],
)


def html_text(findings: Findings, recorded: Sequence[drawing.Chart] = ()) -> str:
    """The whole report as one HTML page that loads nothing."""
    experiment = findings.simulation.experiment if findings.simulation else None
    first = (experiment.workloads[0], experiment.seeds[0]) if experiment else None
    # The primary metric, and the metrics that a gain often costs.
    in_tiles = dict.fromkeys((findings.primary, *tables.PAID_WITH))
    regret_charts = _regret_charts(findings)
    overview = regret_charts.pop(0) if regret_charts else None
    text = "The single runs. Names of workloads in the other tables link here."
    runs = Section("runs", "Runs", text, [tables.raw(findings)], folded=True)
    return _page(
        findings=findings,
        experiment=experiment,
        answers=answers.answers(findings),
        evaluation=paper.evaluation(findings.benchmarks),
        guest_command=" ".join(workload_argv(*first)) if first else "",
        tallies=[
            [answers.tally(findings, name, metric) for metric in in_tiles]
            for name in findings.fast_first(findings.variants)
        ],
        left_out=tables.left_out(findings),
        missing=tables.missing(findings),
        no_claims=tables.no_claims(findings),
        sections=[*([_TIMELINES] if recorded else []), *contents(findings), runs],
        overview=overview,
        explained=sections.regret_explained(findings) if overview else "",
        charts={
            _TIMELINES.name: recorded,
            "regret": regret_charts,
            "tables": _charts(findings),
        },
    )


def _page(**values: Any) -> str:
    """Equal values give equal bytes; a missing value is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fastlab.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    # The page's policy allows only the script with this digest, whatever results contain.
    script = environment.get_template("report.js").render()
    digest = b64encode(sha256(script.encode()).digest()).decode()
    page = environment.get_template("report.html")
    return page.render(script=script, script_digest=digest, **values)


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
    "ktap": forms.ktap,
    "junit": forms.junit,
    "json": lambda findings, _: json_text(findings),
    "csv": lambda findings, _: csv_text(findings),
    "html": lambda findings, _: html_text(findings),
}


def write_report(findings: Findings, directory: Path) -> list[Path]:
    """Write every form. With an oracle: regret.csv, and the heat map as regret.svg and regret.png.
    For a single simulated variant: the main chart as improvement.svg and improvement.png. A matrix
    has no such pictures. Returns the paths.

    The page contains the recorded timelines. Equal findings give equal bytes. Raises FastError if a
    file cannot be written.
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
