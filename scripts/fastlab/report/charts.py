# SPDX-License-Identifier: GPL-2.0
"""Charts in the shape of the paper's Figures 2 to 5, and of improvement against queue depth.

Every chart is a pure function of its findings: equal ones give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fastlab.report.drawing import GRID, INK, Chart, Form, inline, named, ramp, render
from fastlab.statistics.findings import Finding, Findings

DEPTH = "depth"
# Of the CSS variables that colour thread counts, and arms.
SERIES, ARM = "series", "arm"

TITLES = {
    "elapsed_ns": "Improvement in elapsed time (modelled)",
    "cycles": "Improvement in cycles of busy CPUs (modelled)",
    "bus_requests": "Improvement in bus requests",
    "throughput": "Improvement in throughput (modelled)",
    "l2_misses": "Improvement in L2 misses",
}


def bars(findings: Findings, variant_name: str, metric: str) -> Chart:
    """Percent improvement by benchmark, a bar per thread count; whiskers are the spread."""
    several = len(findings.variants) > 1
    return inline(
        f"{variant_name}-{metric}",
        f"{TITLES[metric]}: {variant_name}" if several else TITLES[metric],
        (10, 3.6),
        named(SERIES, ramp(len(findings.threads))),
        lambda figure: _bars(figure.subplots(), findings, variant_name, metric),
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
        f"{' beside '.join(arms)}: locality apart from serialisation",
        (10, 6.2),
        named(ARM, ramp(len(arms))),
        draw,
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
        TITLES[metric],
        (10, 2.5 * rows + 0.4),
        named(SERIES, ramp(len(findings.threads))),
        draw,
    )


def main_chart(findings: Findings, variant_name: str, form: Form) -> bytes:
    """Time, cycles and bus requests as one picture file with a white ground, for documents."""
    metrics = ("elapsed_ns", "cycles", "bus_requests")

    def draw(figure: Figure) -> None:
        for axes, metric in zip(figure.subplots(len(metrics), 1), metrics, strict=True):
            _bars(axes, findings, variant_name, metric)
            axes.set_title(TITLES[metric], loc="left", fontsize=10)

    return render("main", (10, 10.2), draw, form)


def has_depths(findings: Findings) -> bool:
    """Is this a study of the queue-depth gate: several variants, each with its own depth?"""
    depths = [depth for _, depth in _depths(findings)]
    return len(depths) > 1 and len(depths) == len(findings.variants)


def _depths(findings: Findings) -> list[tuple[str, int]]:
    arms = findings.simulation.experiment.variants if findings.simulation else ()
    return sorted(
        (
            (variant.name, variant.knobs[DEPTH])
            for variant in arms
            if variant.name in findings.variants and DEPTH in variant.knobs
        ),
        key=lambda one: one[1],
    )


def _bars(axes: Axes, findings: Findings, variant_name: str, metric: str) -> None:
    found = findings.find(variant_name, metric)
    groups = {
        str(threads): [found[benchmark, threads] for benchmark in findings.benchmarks]
        for threads in findings.threads
    }
    for places, cells in _groups(axes, findings.benchmarks, groups):
        heights, spreads = _known(cells)
        axes.errorbar(places, heights, spreads, fmt="none", color=INK, elinewidth=0.8, capsize=1.5)
        for place, one in zip(places, cells, strict=True):
            if one.improvement_pct is None:
                axes.annotate(
                    "n/a",
                    (place, 0),
                    (0, 3),
                    textcoords="offset points",
                    rotation=90,
                    ha="center",
                    va="bottom",
                    fontsize=7,
                )
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
    found = {arm: findings.find(arm, metric) for arm in arms}
    groups = {arm: [by_place[row] for row in rows] for arm, by_place in found.items()}
    labels = [f"{name} {threads}" for name, threads in rows]
    _groups(axes, labels, groups, rotation=40, ha="right", rotation_mode="anchor")
    axes.set_title(metric, loc="left", fontsize=10)
    _ground(axes)


def _groups(
    axes: Axes, names: Sequence[str], groups: Mapping[str, Sequence[Finding]], **ticks: Any
) -> list[tuple[list[float], Sequence[Finding]]]:
    """At each name a bar of each group, side by side; where each group's stand."""
    width = 0.84 / len(groups)
    placed = []
    colours = ramp(len(groups))
    for i, ((label, cells), colour) in enumerate(zip(groups.items(), colours, strict=True)):
        offset = (i - (len(groups) - 1) / 2) * width
        places = [x + offset for x in range(len(names))]
        axes.bar(places, _known(cells)[0], width * 0.92, color=colour, label=label)
        placed.append((places, cells))
    axes.set_xticks(range(len(names)), names, **ticks)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("improvement, %")
    return placed


def _lines(axes: Axes, findings: Findings, benchmark: str, metric: str) -> None:
    depths = _depths(findings)
    found = [findings.find(name, metric) for name, _ in depths]
    colours = ramp(len(findings.threads))
    for threads, colour in zip(findings.threads, colours, strict=True):
        heights, _ = _known([one[benchmark, threads] for one in found])
        axes.plot(
            range(len(depths)),
            heights,
            "o-",
            color=colour,
            label=str(threads),
            markersize=3,
            lw=1.4,
        )
    axes.set_xticks(range(len(depths)), [str(depth) for _, depth in depths])
    axes.tick_params(labelbottom=True)
    axes.set_title(benchmark, fontsize=9, loc="left")
    _ground(axes)


def _known(cells: Sequence[Finding]) -> tuple[list[float], list[float]]:
    """Heights and whiskers; NaN draws nothing."""
    nan = float("nan")
    return (
        [nan if one.improvement_pct is None else one.improvement_pct for one in cells],
        [nan if one.spread is None else one.spread for one in cells],
    )


def _ground(axes: Axes) -> None:
    axes.axhline(0, color=INK, linewidth=1)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
