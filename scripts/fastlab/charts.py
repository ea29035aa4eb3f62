# SPDX-License-Identifier: GPL-2.0
"""Charts in the shape of the paper's Figures 2 to 5, and of improvement against queue depth.

Every chart is a pure function of its summary: equal summaries give equal bytes. An inline chart
takes its colours from the page's CSS variables, a file chart has a white ground and its own.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fastlab.stats import Comparison, Summary

DEPTH = "sched_fast_depth"

# Few threads to many, light to dark on white; a dark page turns the direction round.
RAMP_LIGHT = ("#8ccf9e", "#2f9f9f", "#2a6db0", "#33246b")
RAMP_DARK = ("#6557c9", "#3f8fd6", "#45bdb0", "#d2f2b8")
INK, GRID = "#1f2328", "#d0d4da"

TITLES = {
    "elapsed_ns": "Improvement in elapsed time (modelled)",
    "cycles": "Improvement in cycles of busy CPUs (modelled)",
    "bus_requests": "Improvement in bus requests",
    "throughput": "Improvement in throughput (modelled)",
    "l2_misses": "Improvement in L2 misses",
}

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the layout is the same everywhere
    "font.size": 9,
    "svg.fonttype": "none",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.bottom": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


@dataclass(frozen=True)
class Chart:
    """An inline SVG for a page that has the CSS variables of `ramp_variables`."""

    name: str
    title: str
    svg: str


def bars(summary: Summary, variant_name: str, metric: str) -> Chart:
    """Percent improvement by benchmark, a bar per thread count; whiskers are the spread."""
    name = f"{variant_name}-{metric}"
    return Chart(
        name,
        TITLES[metric],
        _inline(
            name,
            (10, 3.6),
            len(summary.threads),
            lambda figure: _bars(figure.subplots(), summary, variant_name, metric),
        ),
    )


def depth_lines(summary: Summary, metric: str) -> Chart:
    """Percent improvement against the queue-depth gate, a line per thread count, a panel per
    benchmark."""
    name = f"depth-{metric}"
    columns = 4
    rows = len(summary.benchmarks) // columns + 1  # one panel at least stays free for the legend

    def draw(figure: Figure) -> None:
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True)
        flat = list(panels.flat)
        for axes, benchmark in zip(flat, summary.benchmarks, strict=False):
            _lines(axes, summary, benchmark, metric)
        for axes in flat[len(summary.benchmarks) :]:
            axes.set_axis_off()
        handles, labels = flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, title="threads", loc="lower right", frameon=False, ncols=2)

    return Chart(
        name, TITLES[metric], _inline(name, (10, 2.5 * rows + 0.4), len(summary.threads), draw)
    )


def main_chart(summary: Summary, variant_name: str, form: Literal["svg", "png"]) -> bytes:
    """Time, cycles and bus requests as one picture file with a white ground, for documents."""
    metrics = ("elapsed_ns", "cycles", "bus_requests")

    def draw(figure: Figure) -> None:
        for axes, metric in zip(figure.subplots(len(metrics), 1), metrics, strict=True):
            _bars(axes, summary, variant_name, metric)
            axes.set_title(TITLES[metric], loc="left", fontsize=10)

    return _render("main", (10, 10.2), draw, form, "white")


def has_depths(summary: Summary) -> bool:
    """Is this a study of the queue-depth gate: several variants, each with its own depth?"""
    depths = [depth for _, depth in _depths(summary)]
    return len(depths) > 1 and len(depths) == len(summary.variant_names)


def ramp_variables(count: int, dark: bool) -> str:
    """The CSS variables that colour `count` thread counts on a light or a dark page."""
    return " ".join(
        f"--series-{i}: {colour};"
        for i, colour in enumerate(_ramp(count, RAMP_DARK if dark else RAMP_LIGHT))
    )


def _depths(summary: Summary) -> list[tuple[str, int]]:
    return sorted(
        (
            (variant.name, variant.sysctls[DEPTH])
            for variant in summary.experiment.variants
            if variant.name in summary.variant_names and DEPTH in variant.sysctls
        ),
        key=lambda one: one[1],
    )


def _bars(axes: Axes, summary: Summary, variant_name: str, metric: str) -> None:
    found = summary.find(variant_name, metric)
    colours = _ramp(len(summary.threads), RAMP_LIGHT)
    width = 0.84 / len(summary.threads)
    for i, (threads, colour) in enumerate(zip(summary.threads, colours, strict=True)):
        offset = (i - (len(summary.threads) - 1) / 2) * width
        cells = [found[benchmark, threads] for benchmark in summary.benchmarks]
        heights, spreads = _known(cells)
        places = [x + offset for x in range(len(cells))]
        axes.bar(places, heights, width * 0.92, color=colour, label=str(threads))
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
    axes.set_xticks(range(len(summary.benchmarks)), summary.benchmarks)
    axes.set_xlim(-0.6, len(summary.benchmarks) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("improvement, %")
    axes.legend(
        title="threads",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
    )
    _ground(axes)


def _lines(axes: Axes, summary: Summary, benchmark: str, metric: str) -> None:
    depths = _depths(summary)
    found = [summary.find(name, metric) for name, _ in depths]
    colours = _ramp(len(summary.threads), RAMP_LIGHT)
    for threads, colour in zip(summary.threads, colours, strict=True):
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


def _known(cells: Sequence[Comparison]) -> tuple[list[float], list[float]]:
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


def _ramp(count: int, anchors: Sequence[str]) -> list[str]:
    """`count` colours spread evenly over the anchors."""
    ramp = LinearSegmentedColormap.from_list("threads", list(anchors))
    return [to_hex(ramp(i / max(count - 1, 1))) for i in range(count)]


def _render(
    name: str,
    size: tuple[float, float],
    draw: Callable[[Figure], None],
    form: Literal["svg", "png"],
    ground: str,
) -> bytes:
    # The salt makes the ids of an SVG depend on nothing but the chart; no date is written.
    settings: Any = {**_STYLE, "svg.hashsalt": name}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        out = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(out, format=form, dpi=150, facecolor=ground, metadata=metadata)
    return out.getvalue()


def _inline(
    name: str, size: tuple[float, float], series: int, draw: Callable[[Figure], None]
) -> str:
    """The chart as an <svg> element: ids of its own, size and colours from the page."""
    svg = _render(name, size, draw, "svg", "none").decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Several charts share a page, and ids must not meet.
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    for i, colour in enumerate(_ramp(series, RAMP_LIGHT)):
        svg = svg.replace(colour, f"var(--series-{i})")
    return svg.replace(INK, "var(--ink)").replace(GRID, "var(--grid)")
