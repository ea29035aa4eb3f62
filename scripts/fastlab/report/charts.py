# SPDX-License-Identifier: GPL-2.0
"""Charts like the paper's Figures 2 to 5, and of improvement against queue depth.

A bar is the mean over the seeds, a dot is one seed; whiskers are the 95 % interval that decides. A
chart is a pure function of its findings: equal findings give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fastlab.base.metrics import NAMED
from fastlab.report.drawing import GRID, GROUND, INK, Chart, Form, inline, mark, ramp, render
from fastlab.report.forms import describe
from fastlab.report.tables import NOT_AVAILABLE, signed
from fastlab.statistics.findings import NO_ANSWER, Finding, Findings

DEPTH = "depth"

NOTE = (
    "Positive is better. A bar is the mean, a dot is one seed, whiskers are the 95 % interval of "
    "the mean. Point at a bar for its numbers."
)


def bars(findings: Findings, variant_name: str, metric: str) -> Chart:
    """Percent improvement by benchmark, a bar per thread count."""
    several = len(findings.variants) > 1
    simulated = findings.simulation is not None
    title = f"Improvement in {NAMED[metric].chart if simulated else metric}"
    return inline(
        f"{variant_name}-{metric}",
        f"{title}: {variant_name}" if several else title,
        (10, 3.6),
        lambda figure: _bars(figure.subplots(), findings, variant_name, metric),
        NOTE if simulated else NOTE.replace("one seed", "one block"),
    )


def beside(findings: Findings) -> Chart:
    """The arms that the oracle chooses from, side by side: improvement of time and of cycles."""
    arms = findings.oracle_arms

    def draw(figure: Figure) -> None:
        metrics = ("elapsed_ns", "cycles")
        panels = figure.subplots(len(metrics), 1, sharex=True, squeeze=False)
        for axes, metric in zip(panels.flat, metrics, strict=True):
            _arms(axes, findings, arms, metric)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", frameon=False, ncols=len(arms))

    return inline(
        "beside",
        f"{' beside '.join(arms)}: locality and serialisation",
        (10, 6.2),
        draw,
        NOTE,
    )


def depth_lines(findings: Findings, metric: str) -> Chart:
    """Percent improvement against the queue-depth gate, a line per thread count, a panel per
    benchmark."""
    name = f"depth-{metric}"
    columns = 4
    rows = len(findings.benchmarks) // columns + 1  # one panel at least stays free for the legend

    def draw(figure: Figure) -> None:
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True)
        flat = list(panels.flat)
        for axes, benchmark in zip(flat, findings.benchmarks, strict=False):
            _lines(axes, findings, benchmark, metric)
        for axes in flat[len(findings.benchmarks) :]:
            axes.set_axis_off()
        handles, labels = flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, title="threads", loc="lower right", frameon=False, ncols=2)

    return inline(
        name,
        f"Improvement in {NAMED[metric].chart}",
        (10, 2.5 * rows + 0.4),
        draw,
        NOTE.replace("A bar", "A line").replace("Point at a bar", "Point at a depth"),
    )


def main_chart(findings: Findings, variant_name: str, form: Form) -> bytes:
    """Time, cycles and bus requests as one picture file with a white ground, for documents."""
    metrics = ("elapsed_ns", "cycles", "bus_requests")

    def draw(figure: Figure) -> None:
        for axes, metric in zip(figure.subplots(len(metrics), 1), metrics, strict=True):
            _bars(axes, findings, variant_name, metric)
            axes.set_title(f"Improvement in {NAMED[metric].chart}", loc="left", fontsize=10)

    return render("main", (10, 10.2), draw, form)


def has_depths(findings: Findings) -> bool:
    """Is this a study of the queue-depth gate: several variants that differ only in their depth? A
    line connects them."""
    arms = findings.simulation.experiment.variants if findings.simulation else ()
    others = [
        replace(arm, name="", knobs={**arm.knobs, DEPTH: 0})
        for arm in arms
        if arm.name in findings.variants
    ]
    depths = {depth for _, depth in _depths(findings)}
    return 1 < len(depths) == len(others) and all(arm == others[0] for arm in others)


def _depths(findings: Findings) -> list[tuple[str, int]]:
    arms = findings.simulation.experiment.variants if findings.simulation else ()
    return sorted(
        (
            (variant.name, variant.knobs[DEPTH])
            for variant in arms
            if variant.name in findings.variants and DEPTH in variant.knobs
        ),
        key=lambda arm: arm[1],
    )


def _bars(axes: Axes, findings: Findings, variant_name: str, metric: str) -> None:
    by_case = findings.find(variant_name, metric)
    groups = {
        str(threads): [by_case[benchmark, threads] for benchmark in findings.benchmarks]
        for threads in findings.threads
    }
    _groups(axes, findings.benchmarks, groups)
    axes.legend(
        title="threads",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
    )
    _ground(axes)


def _arms(axes: Axes, findings: Findings, arms: Sequence[str], metric: str) -> None:
    """A bar per arm for each workload."""
    rows = [(name, threads) for name in findings.benchmarks for threads in findings.threads]
    by_arm = {arm: findings.find(arm, metric) for arm in arms}
    groups = {arm: [by_place[row] for row in rows] for arm, by_place in by_arm.items()}
    labels = [f"{name} {threads}" for name, threads in rows]
    _groups(axes, labels, groups, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_title(metric, loc="left", fontsize=10)
    _ground(axes)


def _groups(
    axes: Axes, names: Sequence[str], groups: Mapping[str, Sequence[Finding]], **ticks: Any
) -> None:
    """At each name a bar of each group, side by side."""
    width = 0.84 / len(groups)
    colours = ramp(len(groups))
    for i, ((label, cells), colour) in enumerate(zip(groups.items(), colours, strict=True)):
        offset = (i - (len(groups) - 1) / 2) * width
        places = [x + offset for x in range(len(names))]
        axes.bar(places, _heights(cells), width * 0.92, color=colour, label=label)
        _noise(axes, places, cells, width * 0.7)
        _unanswered(axes, places, cells)
        for place, cell in zip(places, cells, strict=True):
            mark(_column(axes, place, width), _told(cell))
    axes.set_xticks(range(len(names)), names, **ticks)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("improvement, %")


def _noise(axes: Axes, places: Sequence[float], cells: Sequence[Finding], room: float) -> None:
    """Whiskers, and the dots of the seeds spread over the available width."""
    heights = np.array(_heights(cells))
    ends = [[np.nan if end is None else end for end in (cell.low, cell.high)] for cell in cells]
    low, high = np.array(ends, dtype=float).T
    for colour, more in ((GROUND, 1.6), (INK, 0.0)):
        axes.errorbar(
            places,
            heights,
            (heights - low, high - heights),
            fmt="none",
            color=colour,
            elinewidth=1 + more,
            capsize=2.5 + more / 2,
            capthick=1 + more,
        )
    dots = [
        (place + room * ((i + 0.5) / len(cell.singles) - 0.5), pct)
        for place, cell in zip(places, cells, strict=True)
        for i, (_, pct) in enumerate(cell.singles)
    ]
    if dots:
        xs, ys = zip(*dots, strict=True)
        axes.plot(
            xs, ys, "o", markersize=2.6, color=GROUND, markeredgecolor=INK, markeredgewidth=0.6
        )


def _unanswered(axes: Axes, places: Sequence[float], cells: Sequence[Finding]) -> None:
    """Write the reason above a comparison without an answer, which has no bar."""
    for place, cell in zip(places, cells, strict=True):
        if cell.verdict in NO_ANSWER:
            axes.annotate(
                NOT_AVAILABLE if cell.improvement_pct is None else cell.verdict,
                (place, max(0.0, cell.improvement_pct or 0.0, cell.high or 0.0)),
                (0, 3),
                textcoords="offset points",
                rotation=90,
                ha="center",
                va="bottom",
                fontsize=7,
            )


def _column(axes: Axes, place: float, width: float) -> Artist:
    """The area to point at for a bar, which may have the height 0."""
    return axes.axvspan(
        place - width / 2, place + width / 2, facecolor="none", edgecolor="none", zorder=9
    )


def _told(finding: Finding) -> str:
    """The numbers of a bar."""
    seeds = [f"{name}: {signed(pct)} %" for name, pct in finding.singles]
    return "\n".join([f"{finding.workload}, {finding.variant_name}", describe(finding), *seeds])


def _lines(axes: Axes, findings: Findings, benchmark: str, metric: str) -> None:
    depths = _depths(findings)
    by_depth = [findings.find(name, metric) for name, _ in depths]
    colours = ramp(len(findings.threads))
    for threads, colour in zip(findings.threads, colours, strict=True):
        cells = [by_case[benchmark, threads] for by_case in by_depth]
        axes.plot(
            range(len(depths)),
            _heights(cells),
            "o-",
            color=colour,
            label=str(threads),
            markersize=3,
            lw=1.4,
        )
        _noise(axes, range(len(depths)), cells, 0.1)
        _unanswered(axes, range(len(depths)), cells)
    for place, by_case in enumerate(by_depth):
        told = [_told(by_case[benchmark, threads]) for threads in findings.threads]
        mark(_column(axes, place, 1), "\n".join(told))
    axes.set_xticks(range(len(depths)), [str(depth) for _, depth in depths])
    axes.tick_params(labelbottom=True)
    axes.set_title(benchmark, fontsize=9, loc="left")
    _ground(axes)


def _heights(cells: Sequence[Finding]) -> list[float]:
    """NaN draws nothing."""
    return [np.nan if cell.improvement_pct is None else cell.improvement_pct for cell in cells]


def _ground(axes: Axes) -> None:
    axes.axhline(0, color=INK, linewidth=1)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
