# SPDX-License-Identifier: GPL-2.0
"""Heat maps: which arm is good where.

Blue is as good as the oracle, orange is worse, the darker the more: the two are told apart without
seeing red or green, and every cell has its number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fastlab.drawing import GRID, INK, Chart, Form, inline, named, render
from fastlab.regret import Regret
from fastlab.stats import Summary

# The CSS variables of a cell's ground and of the number on it.
GROUND, NUMBER = "heat", "heat-ink"
# The last regret of each colour but the last.
STEPS = (1.02, 1.1, 1.25, 1.5, 2.0)
LIGHT = ("#2a6db1", "#9cc3e6", "#f1ede2", "#fbd08a", "#ee963c", "#a84c08")
DARK = ("#63aef0", "#2b5f8e", "#33373d", "#6b4d1e", "#a5671c", "#f2a650")
# No two are equal, nor equal to another colour: each becomes a variable of its own.
LIGHT_NUMBERS = ("#fffffe", "#1f2329", "#1f232a", "#1f232b", "#1f232c", "#fffffd")
DARK_NUMBERS = ("#10141a", "#e4e7eb", "#e4e7eb", "#f3e3c8", "#fff4e2", "#1c1206")
TITLE = "Regret: elapsed time over the oracle's"


@dataclass(frozen=True)
class Grid:
    """A heat map's numbers, row by row; None is not available. `marks` are the columns to make
    bold in each row, `notes` stand at its end."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    marks: Sequence[Sequence[int]]
    notes: Sequence[str]


def variables(dark: bool) -> str:
    """The CSS variables of all heat maps, on a light or a dark page."""
    grounds, numbers = (DARK, DARK_NUMBERS) if dark else (LIGHT, LIGHT_NUMBERS)
    return " ".join(
        f"--{name}-{i}: {colour};"
        for name, colours in ((GROUND, grounds), (NUMBER, numbers))
        for i, colour in enumerate(colours)
    )


def regret(summary: Summary) -> Chart:
    """Regret by workload and arm, the best of a row bold and named at its end."""
    grid = _grid(summary)
    return inline(
        "regret",
        TITLE,
        _size(grid),
        named(GROUND, LIGHT) | named(NUMBER, LIGHT_NUMBERS),
        lambda figure: _draw(figure.subplots(), grid),
    )


def regret_file(summary: Summary, form: Form) -> bytes:
    """The same as a picture file, for documents."""
    grid = _grid(summary)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _draw(axes, grid)
        axes.set_title(f"{TITLE} (1.00: as good as the best choice)", fontsize=10, pad=12)

    width, height = _size(grid)
    return render("regret", (width, height + 0.4), draw, form)


def _grid(summary: Summary) -> Grid:
    names = [variant.name for variant in summary.experiment.variants]
    rows: dict[str, list[Regret]] = {}
    for one in summary.regrets:
        rows.setdefault(f"{one.benchmark} {one.threads}", []).append(one)
    values = [[one.regret for one in row] for row in rows.values()]
    marks = [_least(row) for row in values]
    notes = [", ".join(names[i] for i in row) for row in marks]
    return Grid(list(rows), names, values, marks, notes)


def _least(values: Sequence[float | None]) -> list[int]:
    known = [value for value in values if value is not None]
    return [i for i, value in enumerate(values) if known and value == min(known)]


def _size(grid: Grid) -> tuple[float, float]:
    return 10, 0.27 * len(grid.rows) + 0.7


def _draw(axes: Axes, grid: Grid) -> None:
    for y, (row, marks) in enumerate(zip(grid.values, grid.marks, strict=True)):
        for x, value in enumerate(row):
            _cell(axes, x, y, value, x in marks)
    for y, note in enumerate(grid.notes):
        axes.text(len(grid.columns) - 0.35, y, note, va="center", color=INK, fontsize=8)
    axes.text(len(grid.columns) - 0.35, -0.64, "best", va="bottom", color=INK)
    axes.set_xlim(-0.5, len(grid.columns) + 0.5)
    axes.set_ylim(len(grid.rows) - 0.5, -0.5)
    axes.set_xticks(range(len(grid.columns)), grid.columns)
    axes.set_yticks(range(len(grid.rows)), grid.rows)
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    axes.spines["left"].set_visible(False)


def _cell(axes: Axes, x: int, y: int, value: float | None, strong: bool) -> None:
    if value is None:
        axes.text(x, y, "n/a", ha="center", va="center", color=INK, fontsize=8)
        return
    # As it is shown: a cell that says 1.10 has the colour of 1.10.
    heat = bisect_left(STEPS, round(value, 2))
    axes.add_patch(
        Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=LIGHT[heat], edgecolor=GRID, linewidth=0.6)
    )
    axes.text(
        x,
        y,
        f"{value:.2f}",
        ha="center",
        va="center",
        color=LIGHT_NUMBERS[heat],
        weight="bold" if strong else "normal",
    )
