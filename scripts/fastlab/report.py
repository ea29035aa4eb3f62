# SPDX-License-Identifier: GPL-2.0
"""The report: every file that an experiment's results become. Needs no VM and no kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastlab import charts, drawing, heatmaps, paper, tables
from fastlab.compare import csv_text, json_text, markdown_text, regret_csv_text, write_files
from fastlab.experiment import workload_argv
from fastlab.regret import Standing
from fastlab.stats import Summary
from fastlab.templating import render

FIGURES = ("elapsed_ns", "cycles", "bus_requests", "throughput", "l2_misses")


def write_report(summary: Summary, directory: Path, command: str) -> list[Path]:
    """Write summary.json, summary.csv, summary.md, report.html; with an oracle regret.csv and the
    heat map as regret.svg and regret.png; for a single variant the main chart as improvement.svg
    and improvement.png. A matrix has no such pictures. Returns the paths written.

    `command` is how the experiment was run, for the reader to repeat. Equal arguments give equal
    bytes. Raises FastError when a file cannot be written.
    """
    files: list[tuple[str, str | bytes]] = [
        ("summary.json", json_text(summary)),
        ("summary.csv", csv_text(summary)),
        ("summary.md", markdown_text(summary)),
        ("report.html", html_text(summary, command)),
    ]
    if summary.regrets:
        files.append(("regret.csv", regret_csv_text(summary)))
    if summary.regrets and not summary.axes:
        files.append(("regret.svg", heatmaps.regret_file(summary, "svg")))
        files.append(("regret.png", heatmaps.regret_file(summary, "png")))
    if len(summary.variant_names) == 1 and not summary.axes:
        (name,) = summary.variant_names
        files.append(("improvement.svg", charts.main_chart(summary, name, "svg")))
        files.append(("improvement.png", charts.main_chart(summary, name, "png")))
    return write_files(directory, files)


def html_text(summary: Summary, command: str) -> str:
    """The whole report as one HTML page that loads nothing."""
    experiment = summary.experiment
    return render(
        "report.html",
        summary=summary,
        experiment=experiment,
        evaluation=paper.evaluation(summary.benchmarks),
        command=command,
        guest_command=" ".join(workload_argv(experiment.workloads[0], experiment.seeds[0])),
        tallies=[_tally(summary, metric) for metric in FIGURES],
        regret=_regret(summary),
        charts=_charts(summary),
        results=_results(summary),
        losses=tables.losses(summary),
        gains=tables.gains(summary),
        excluded=tables.excluded(summary),
        mechanism=tables.mechanism(summary),
        synchronization=tables.synchronization(summary),
        latencies=tables.latencies(summary),
        details=[tables.everything(summary, name) for name in summary.variant_names],
        metrics=tables.units(),
        light=_colours(summary, dark=False),
        dark=_colours(summary, dark=True),
    )


@dataclass(frozen=True)
class Tally:
    """How the cases of one metric ended."""

    metric: str
    better: int
    worse: int
    unavailable: int
    best: float | None
    worst: float | None


def _tally(summary: Summary, metric: str) -> Tally:
    cases = [one.improvement_pct for one in summary.comparisons if one.metric.name == metric]
    known = [case for case in cases if case is not None]
    return Tally(
        metric=metric,
        better=sum(case > 0 for case in known),
        worse=sum(case < 0 for case in known),
        unavailable=len(cases) - len(known),
        best=max(known, default=None),
        worst=min(known, default=None),
    )


@dataclass(frozen=True)
class RegretPart:
    """What stands at the report's head where the experiment has an oracle."""

    standings: Sequence[Standing]
    charts: Sequence[drawing.Chart]
    tables: Sequence[tables.Table]


def _regret(summary: Summary) -> RegretPart | None:
    if not summary.regrets:
        return None
    numbers = [tables.standings(summary), tables.regrets(summary)]
    if summary.axes:
        arms = [variant.name for variant in summary.experiment.variants]
        pictures = [heatmaps.regret_by_axis(summary, name) for name in arms]
    else:
        pictures = [heatmaps.regret(summary)]
    if summary.oracle_arms:
        numbers.append(tables.beside(summary))
        if not summary.axes:
            pictures.append(charts.beside(summary))
    return RegretPart(summary.standings, pictures, numbers)


def _colours(summary: Summary, dark: bool) -> str:
    """The CSS variables of all charts."""
    counts = {charts.SERIES: len(summary.threads), charts.ARM: len(summary.oracle_arms)}
    ramps = [drawing.ramp_variables(name, count, dark) for name, count in counts.items()]
    return " ".join([*ramps, heatmaps.variables(dark)])


def _charts(summary: Summary) -> list[drawing.Chart]:
    if summary.axes:
        return [heatmaps.improvement_by_axis(summary, name) for name in summary.variant_names]
    if charts.has_depths(summary):
        return [charts.depth_lines(summary, metric) for metric in FIGURES]
    return [
        charts.bars(summary, name, metric) for name in summary.variant_names for metric in FIGURES
    ]


def _results(summary: Summary) -> list[tables.Table]:
    found = []
    if len(summary.variant_names) > 1:
        found += [tables.study(summary, metric) for metric in FIGURES]
    for name in summary.beside_paper:
        found.append(tables.miss_ratios(summary, name))
        found += [tables.headline(summary, name, metric) for metric in FIGURES]
    return found
