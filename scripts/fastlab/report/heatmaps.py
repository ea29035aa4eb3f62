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

from fastlab.base.model import Place
from fastlab.report.drawing import GRID, INK, Chart, Form, inline, named, render
from fastlab.statistics.findings import Findings
from fastlab.statistics.regret import ALL, Regret, means_by_axis

# The CSS variables of a cell's ground and of the number on it.
GROUND, NUMBER = "heat", "heat-ink"
LIGHT = ("#2a6db1", "#9cc3e6", "#f1ede2", "#fbd08a", "#ee963c", "#a84c08")
DARK = ("#63aef0", "#2b5f8e", "#33373d", "#6b4d1e", "#a5671c", "#f2a650")
# No two are equal, nor equal to another colour: each becomes a variable of its own.
LIGHT_NUMBERS = ("#fffffe", "#1f2329", "#1f232a", "#1f232b", "#1f232c", "#fffffd")
DARK_NUMBERS = ("#10141a", "#e4e7eb", "#e4e7eb", "#f3e3c8", "#fff4e2", "#1c1206")
TITLE = "Regret: elapsed time over the oracle's"


@dataclass(frozen=True)
class Scale:
    """What the numbers of a heat map are. `steps` are the last of each colour but the last, for
    numbers of which more is worse; where more is better, `sign` is -1."""

    form: str
    digits: int
    steps: Sequence[float]
    sign: int

    def text(self, value: float) -> str:
        return format(value, self.form)

    def heat(self, value: float) -> int:
        """The colour's number, of the value as it is shown: 1.10 is 1.10, whatever follows."""
        return bisect_left(self.steps, self.sign * round(value, self.digits))


REGRET = Scale(".2f", 2, (1.02, 1.1, 1.25, 1.5, 2.0), 1)
IMPROVEMENT = Scale("+.0f", 0, (-20, -2, 2, 20, 50), -1)


@dataclass(frozen=True)
class Grid:
    """A heat map's numbers, row by row; None is not available. `marks` are the columns to make
    bold in each row, `notes` stand at its end; a grid has both or neither."""

    scale: Scale
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    marks: Sequence[Sequence[int]] = ()
    notes: Sequence[str] = ()


def variables(dark: bool) -> str:
    """The CSS variables of all heat maps, on a light or a dark page."""
    grounds, numbers = (DARK, DARK_NUMBERS) if dark else (LIGHT, LIGHT_NUMBERS)
    return " ".join(
        f"--{name}-{i}: {colour};"
        for name, colours in ((GROUND, grounds), (NUMBER, numbers))
        for i, colour in enumerate(colours)
    )


def regret(findings: Findings) -> Chart:
    """Regret by workload and arm, the best of a row bold and named at its end."""
    grid = _grid(findings)
    return _inline("regret", TITLE, grid)


def regret_by_axis(findings: Findings, arm: str) -> Chart:
    """One arm's mean regret by benchmark and by each value of each axis, threads included."""
    found = [(one, one.regret) for one in findings.regrets if one.variant_name == arm]
    return _inline(f"regret-{arm}", f"{TITLE}: {arm}", _by_axis(findings, REGRET, found))


def improvement_by_axis(findings: Findings, arm: str) -> Chart:
    """One arm's mean improvement of elapsed time, in the same way."""
    compared = findings.find(arm, "elapsed_ns").values()
    found = [(one, one.improvement_pct) for one in compared]
    title = f"Improvement in elapsed time (modelled), %: {arm}"
    return _inline(f"improvement-{arm}", title, _by_axis(findings, IMPROVEMENT, found))


def _by_axis(findings: Findings, scale: Scale, found: Sequence[tuple[Place, float | None]]) -> Grid:
    """Arithmetic means of what is available: a row per benchmark, and one of all."""
    means = means_by_axis(found)
    columns: list[tuple[str, int | str]] = [("threads", count) for count in findings.threads]
    columns += [(name, value) for name, values in findings.axes.items() for value in values]
    rows = [*findings.benchmarks, ALL]
    return Grid(
        scale,
        rows,
        [f"{name}\n{value}" for name, value in columns],
        [[means.get((benchmark, *column)) for column in columns] for benchmark in rows],
    )


def _inline(name: str, title: str, grid: Grid) -> Chart:
    return inline(
        name,
        title,
        _size(grid),
        named(GROUND, LIGHT) | named(NUMBER, LIGHT_NUMBERS),
        lambda figure: _draw(figure.subplots(), grid),
    )


def regret_file(findings: Findings, form: Form) -> bytes:
    """The same as a picture file, for documents."""
    grid = _grid(findings)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _draw(axes, grid)
        axes.set_title(f"{TITLE} (1.00: as good as the best choice)", fontsize=10, pad=12)

    width, height = _size(grid)
    return render("regret", (width, height + 0.4), draw, form)


def _grid(findings: Findings) -> Grid:
    names = findings.arms
    rows: dict[str, list[Regret]] = {}
    for one in findings.regrets:
        rows.setdefault(f"{one.benchmark} {one.threads}", []).append(one)
    values = [[one.regret for one in row] for row in rows.values()]
    marks = [_least(row) for row in values]
    notes = [", ".join(names[i] for i in row) for row in marks]
    return Grid(REGRET, list(rows), names, values, marks, notes)


def _least(values: Sequence[float | None]) -> list[int]:
    known = [value for value in values if value is not None]
    return [i for i, value in enumerate(values) if known and value == min(known)]


def _size(grid: Grid) -> tuple[float, float]:
    return 10, 0.27 * len(grid.rows) + 0.7


def _draw(axes: Axes, grid: Grid) -> None:
    for y, row in enumerate(grid.values):
        for x, value in enumerate(row):
            _cell(axes, x, y, value, grid.scale, bool(grid.marks) and x in grid.marks[y])
    end = len(grid.columns) - 0.35
    for y, note in enumerate(grid.notes):
        axes.text(end, y, note, va="center", color=INK, fontsize=8)
    if grid.notes:
        axes.text(end, -0.64, "best", va="bottom", color=INK)
    axes.set_xlim(-0.5, len(grid.columns) + (0.5 if grid.notes else -0.5))
    axes.set_ylim(len(grid.rows) - 0.5, -0.5)
    crowded = len(grid.columns) > 8
    axes.set_xticks(range(len(grid.columns)), grid.columns, fontsize=7 if crowded else 9)
    axes.set_yticks(range(len(grid.rows)), grid.rows)
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    axes.spines["left"].set_visible(False)


def _cell(axes: Axes, x: int, y: int, value: float | None, scale: Scale, strong: bool) -> None:
    if value is None:
        axes.text(x, y, "n/a", ha="center", va="center", color=INK, fontsize=8)
        return
    heat = scale.heat(value)
    axes.add_patch(
        Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=LIGHT[heat], edgecolor=GRID, linewidth=0.6)
    )
    axes.text(
        x,
        y,
        scale.text(value),
        ha="center",
        va="center",
        color=LIGHT_NUMBERS[heat],
        weight="bold" if strong else "normal",
    )
