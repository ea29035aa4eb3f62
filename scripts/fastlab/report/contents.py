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


def contents(found: Findings) -> Iterator[Section]:
    """The sections of a comparison, in reading order; none is empty, nor is a column."""
    for one in _sections(found):
        yield replace(one, tables=[tables.without_empty(table) for table in one.tables])


def _sections(found: Findings) -> Iterator[Section]:
    if found.regrets:
        standing = [sections.standings(found), sections.regrets(found)]
        if found.oracle_arms:
            standing.append(sections.beside(found))
        yield Section("regret", "Who is best where", "", standing)
    yield Section("tables", "Tables", "", list(_results(found)))
    if found.synchronization:
        text = (
            "FAST acts where a thread wakes one that waits for it. Where threads seldom wait, it "
            "has nothing to act on."
        )
        table = sections.synchronization(found)
        yield Section("synchronization", "Synchronization", text, [table])
    if found.simulation:
        text = (
            "How long a lock takes from one thread to the next that waits for it, and a woken "
            "thread to its CPU."
        )
        yield Section("latencies", "Latencies", text, [sections.latencies(found)])
    if found.locks:
        text = "Whose hand-offs these are, where the locks were taken, and how long they were held."
        yield Section("locks", "Locks", text, lock_tables.locks(found), folded=bool(found.axes))
    yield Section("losses", "Losses", "", [tables.losses(found)])
    yield Section("gains", "Gains", "", [tables.gains(found)])
    if found.mechanism:
        text = (
            "A gain or a loss counts as FAST's only if FAST acted. These are the kernel's own "
            "counts of what it did."
        )
        yield Section("mechanism", "Mechanism", text, [sections.mechanism(found)])
    if found.attributed:
        text = "Which functions the CPUs wait in for their memory, and what they share in vain."
        attributed = attribution_tables(found.attributed)
        yield Section("attribution", "Functions and lines", text, attributed)
    everything = [
        tables.results(
            found,
            f"All metrics ({name})",
            [one for one in found.findings if one.variant_name == name],
        )
        for name in found.variants
    ]
    yield Section("all", "All numbers", "", [*everything, tables.units(found)], folded=True)


def _results(found: Findings) -> Iterator[Table]:
    """The primary metric first."""
    if not found.simulation:
        yield from tables.by_metric(found)
        return
    names = tuple(dict.fromkeys((found.primary, *HEADLINES)))
    if len(found.variants) > 1:
        yield from (sections.study(found, metric) for metric in names)
    for variant in found.beside_paper:
        yield sections.miss_ratios(found, variant)
        yield from (sections.headline(found, variant, metric) for metric in names)


def shown(found: Findings) -> list[Table]:
    """The tables for a terminal."""
    first = [tables.left_out(found)] if found.left_out else []
    rest = [one for section in contents(found) if not section.folded for one in section.tables]
    return [*first, *(table for table in rest if table.rows)]


def markdown(found: Findings) -> str:
    """A Markdown document, fit for a changelog."""
    lines = [f"# {found.title}", "", *tables.answers(found), ""]
    lines += [f"- {name}: {text}" for name, text in found.setting.items()]
    everything = [one for section in contents(found) for one in section.tables]
    lines += ["", *(markdown_table(table) for table in everything)]
    lines += [f"- {line}" for line in tables.notes(found)]
    return "\n".join(lines).rstrip() + "\n"


def timelines(directory: Path) -> list[drawing.Chart]:
    """Those that `fast trace` has left in a results directory."""
    found = sorted(directory.glob("trace/*/timeline.svg"))
    return [
        drawing.embedded(f"timeline-{path.parent.name}", path.parent.name, path.read_text(), {})
        for path in found
    ]


_TIMELINES = Section(
    "timelines",
    "Timelines",
    "Which thread runs where, and who hands over to whom, of one recorded run from the begin of "
    "its region of interest on. A colour is a thread; an arrow is a hand-off, from the release to "
    "the end of the wait.",
    [],
)


def html_text(found: Findings, recorded: Sequence[drawing.Chart] = ()) -> str:
    """The whole report as one HTML page that loads nothing."""
    experiment = found.simulation.experiment if found.simulation else None
    first = (experiment.workloads[0], experiment.seeds[0]) if experiment else None
    # The metric that decides, and what a gain is often paid with.
    in_tiles = dict.fromkeys((found.primary, *tables.PAID_WITH))
    text = "What every number comes from. Names of workloads lead here from the other tables."
    runs = Section("runs", "Runs", text, [tables.raw(found)], folded=True)
    return _page(
        findings=found,
        experiment=experiment,
        answers=tables.answers(found),
        evaluation=paper.evaluation(found.benchmarks),
        guest_command=" ".join(workload_argv(*first)) if first else "",
        tallies=[
            [tables.tally(found, name, metric) for metric in in_tiles] for name in found.variants
        ],
        left_out=tables.left_out(found),
        missing=tables.missing(found),
        no_claims=tables.no_claims(found),
        sections=[*([_TIMELINES] if recorded else []), *contents(found), runs],
        charts={
            _TIMELINES.name: recorded,
            "regret": _regret_charts(found),
            "tables": _charts(found),
        },
        light=_colours(found, dark=False),
        dark=_colours(found, dark=True),
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


def _colours(found: Findings, dark: bool) -> str:
    """The CSS variables of all charts."""
    anchors = drawing.RAMP_DARK if dark else drawing.RAMP_LIGHT
    colours = {
        charts.SERIES: drawing.ramp(len(found.threads), anchors),
        charts.ARM: drawing.ramp(len(found.oracle_arms), anchors),
        heatmaps.GROUND: heatmaps.DARK if dark else heatmaps.LIGHT,
        heatmaps.NUMBER: heatmaps.DARK_NUMBERS if dark else heatmaps.LIGHT_NUMBERS,
    }
    return " ".join(
        " ".join(f"--{name}-{i}: {colour};" for i, colour in enumerate(own))
        for name, own in colours.items()
    )


def _regret_charts(found: Findings) -> list[drawing.Chart]:
    if not found.regrets:
        return []
    if found.axes:
        by_axis = [heatmaps.regret_by_axis(found, name) for name in found.arms]
        return [heatmaps.best_by_case(found), *by_axis]
    return [heatmaps.regret(found), *([charts.beside(found)] if found.oracle_arms else [])]


def _charts(found: Findings) -> list[drawing.Chart]:
    if not found.simulation:
        measured = found.primary in {one.name for one in found.measured}
        return [charts.bars(found, name, found.primary) for name in found.variants if measured]
    if found.axes:
        return [heatmaps.improvement_by_axis(found, name) for name in found.variants]
    if charts.has_depths(found):
        return [charts.depth_lines(found, metric) for metric in CHARTED]
    return [charts.bars(found, name, metric) for name in found.variants for metric in CHARTED]


FORMATS: Mapping[str, Callable[[Findings, float | None], str]] = {
    "markdown": lambda found, _: markdown(found),
    "mmtests": lambda found, _: forms.mmtests(found),
    "lkp": lambda found, _: forms.lkp(found),
    "ktap": forms.ktap,
    "junit": forms.junit,
    "json": lambda found, _: json_text(found),
    "csv": lambda found, _: csv_text(found),
    "html": lambda found, _: html_text(found),
}


def write_report(found: Findings, directory: Path) -> list[Path]:
    """Write every form; with an oracle regret.csv and the heat map as regret.svg and regret.png;
    for a single simulated variant the main chart as improvement.svg and improvement.png. A matrix
    has no such pictures. Returns the paths written.

    The page has the timelines that are there. Equal findings give equal bytes. Raises FastError
    when a file cannot be written.
    """
    files: list[tuple[str, str | bytes]] = [
        (name, FORMATS[form](found, None)) for form, name in forms.NAMES.items() if form != "html"
    ]
    files.append((forms.NAMES["html"], html_text(found, timelines(directory))))
    if found.regrets:
        files.append(("regret.csv", regret_csv_text(found)))
    if found.regrets and not found.axes:
        files.append(("regret.svg", heatmaps.regret_file(found, "svg")))
        files.append(("regret.png", heatmaps.regret_file(found, "png")))
    if len(found.variants) == 1 and found.simulation and not found.axes:
        (name,) = found.variants
        files.append(("improvement.svg", charts.main_chart(found, name, "svg")))
        files.append(("improvement.png", charts.main_chart(found, name, "png")))
    return write_files(directory, files)
