# SPDX-License-Identifier: GPL-2.0
"""Heat maps: which arm is good where.

Blue is as good as the oracle, orange is worse, darker is stronger. The two differ for readers who
cannot distinguish red and green, and every cell has its number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fastlab.base.model import Axes as Setting
from fastlab.base.model import Place
from fastlab.report.drawing import GRID, INK, Chart, Form, inline, mark, render
from fastlab.report.tables import NOT_AVAILABLE, PARTIAL
from fastlab.statistics.findings import Findings
from fastlab.statistics.regret import ALL, Regret, values_by_axis

# The colours of a cell, from good to bad, and of the number on it.
HEAT = ("#2a6db1", "#9cc3e6", "#f1ede2", "#fbd08a", "#ee963c", "#a84c08")
# Neither is a colour that the page's theme replaces (drawing.INK, white).
_DARK, _WHITE = "#1f2329", "#fffffe"
NUMBERS = (_WHITE, _DARK, _DARK, _DARK, _DARK, _WHITE)
TITLE = "Regret: elapsed time divided by that of the best choice"
POINT = "Point at a cell for its numbers."
MARKED = f"{POINT} {PARTIAL}: fewer seeds or arms than planned."
WHOLE = f"{POINT} Means are of the cases in which no run is missing."


@dataclass(frozen=True)
class Scale:
    """The scale of a heat map's numbers. `steps` are the upper bounds of all colours but the last,
    for numbers of which more is worse; where more is better, `sign` is -1."""

    form: str
    digits: int
    steps: Sequence[float]
    sign: int

    def text(self, value: float) -> str:
        shown = round(value, self.digits) or 0.0
        # A rounded 0 is neither better nor worse.
        return format(shown, self.form if shown else f".{self.digits}f")

    def heat(self, value: float) -> int:
        """The colour's number, of the value as it is shown: 1.10 is 1.10, whatever follows."""
        return bisect_left(self.steps, self.sign * round(value, self.digits))


REGRET = Scale(".2f", 2, (1.02, 1.1, 1.25, 1.5, 2.0), 1)
IMPROVEMENT = Scale("+.0f", 0, (-20, -2, 2, 20, 50), -1)


@dataclass(frozen=True)
class Tile:
    """A cell of a heat map: its text, its colour's number, and its tooltip."""

    text: str
    heat: int
    told: str
    strong: bool = False


@dataclass(frozen=True)
class Grid:
    """A heat map, row by row. A tile of None is not available, or with `sparse` not part of the
    experiment. `notes` are at the ends of the rows, if any."""

    rows: Sequence[str]
    columns: Sequence[str]
    tiles: Sequence[Sequence[Tile | None]]
    notes: Sequence[str] = ()
    sparse: bool = False


def regret(findings: Findings) -> Chart:
    """Regret by workload and arm, the best of a row bold and named at its end."""
    return _inline("regret", TITLE, _grid(findings, findings.fast_first(findings.arms)), MARKED)


def regret_by_axis(findings: Findings, arm: str) -> Chart:
    """One arm's mean regret by benchmark and by each value of each axis, threads included."""
    figures = [(own, own.whole) for own in findings.regrets if own.variant_name == arm]
    return _inline(f"regret-{arm}", f"{TITLE}: {arm}", _by_axis(findings, REGRET, figures), WHOLE)


def improvement_by_axis(findings: Findings, arm: str) -> Chart:
    """One arm's mean improvement of elapsed time, in the same way."""
    compared = findings.find(arm, "elapsed_ns").values()
    figures = [
        (finding, finding.improvement_pct if finding.complete else None) for finding in compared
    ]
    title = f"Improvement in elapsed time (modelled), %: {arm}"
    return _inline(f"improvement-{arm}", title, _by_axis(findings, IMPROVEMENT, figures), WHOLE)


def best_by_case(findings: Findings) -> Chart:
    """The map: every case with its best arm, coloured by that arm's gain."""
    cases: dict[tuple[str, Setting], list[Regret]] = {}
    for own in findings.regrets:
        cases.setdefault((f"{own.benchmark} {own.threads}", own.axes), []).append(own)
    columns = [
        tuple(zip(findings.axes, combination, strict=True))
        for combination in product(*findings.axes.values())
    ]
    columns = [axes_of for axes_of in columns if any(axes == axes_of for _, axes in cases)]
    rows = list(dict.fromkeys(row for row, _ in cases))
    return _inline(
        "best",
        f"The best arm of every case, coloured by its improvement over {findings.baseline}",
        Grid(
            rows,
            ["\n".join(f"{name} {value}" for name, value in setting) for setting in columns],
            [[_best(cases.get((row, column), [])) for column in columns] for row in rows],
            sparse=True,
        ),
        "Blue: the best arm gains much, grey: no arm helps. Empty: the experiment has no such "
        f"case. {MARKED}",
    )


def _best(arms: Sequence[Regret]) -> Tile | None:
    known = {arm: arm.regret for arm in arms if arm.regret is not None}
    if not known:
        return None
    best = min(known, key=lambda arm: known[arm])
    gain = 100 * (1 - best.over_baseline) if best.over_baseline is not None else 0.0
    told = [best.workload, *(f"{arm.variant_name}: {_told(arm)}" for arm in arms)]
    text = _marked(best.variant_name, all(arm.complete for arm in arms))
    return Tile(text, IMPROVEMENT.heat(gain), "\n".join(told))


def _marked(text: str, complete: bool) -> str:
    return text if complete else f"{text} {PARTIAL}"


def _told(own: Regret) -> str:
    if own.regret is None or own.elapsed_ns is None:
        return NOT_AVAILABLE
    return f"{own.elapsed_ns / 1e6:.4g} ms, regret {own.regret:.2f}"


def _by_axis(
    findings: Findings, scale: Scale, figures: Sequence[tuple[Place, float | None]]
) -> Grid:
    """Arithmetic means of the available values: a row per benchmark, and one for all benchmarks."""
    values = values_by_axis(figures)
    columns: list[tuple[str, int | str]] = [("threads", count) for count in findings.threads]
    columns += [(name, value) for name, values in findings.axes.items() for value in values]
    rows = [*findings.benchmarks, ALL]

    def tile(benchmark: str, name: str, value: int | str) -> Tile | None:
        known = values.get((benchmark, name, value))
        if not known:
            return None
        least, mean, most = (
            scale.text(number) for number in (min(known), fmean(known), max(known))
        )
        told = f"{benchmark}, {name} {value}\nmean of {len(known)} cases: {mean}; {least} to {most}"
        return Tile(mean, scale.heat(fmean(known)), told)

    return Grid(
        rows,
        [f"{name}\n{value}" for name, value in columns],
        [[tile(benchmark, *column) for column in columns] for benchmark in rows],
    )


def _inline(name: str, title: str, grid: Grid, note: str) -> Chart:
    return inline(
        name,
        title,
        _size(grid),
        lambda figure: _draw(figure.subplots(), grid),
        note,
    )


def regret_file(findings: Findings, form: Form) -> bytes:
    """The heat map as a picture file for documents."""
    grid = _grid(findings, findings.arms)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _draw(axes, grid)
        axes.set_title(f"{TITLE} (1.00: as fast as the best choice)", fontsize=10, pad=12)

    width, height = _size(grid)
    return render("regret", (width, height + 0.4), draw, form)


def _grid(findings: Findings, arms: Sequence[str]) -> Grid:
    rows, tiles, notes = [], [], []
    for case in findings.regret_rows:
        row = sorted(case, key=lambda own: arms.index(own.variant_name))
        rows.append(f"{row[0].benchmark} {row[0].threads}")
        least = min((own.regret for own in row if own.regret is not None), default=None)
        best = [own for own in row if own.regret is not None and own.regret == least]
        tiles.append([_of_arm(own, own in best) for own in row])
        notes.append(", ".join(own.variant_name for own in best))
    return Grid(rows, arms, tiles, notes)


def _of_arm(own: Regret, best: bool) -> Tile | None:
    if own.regret is None:
        return None
    told = f"{own.workload}, {own.variant_name}: {_told(own)}"
    if own.oracle_ns:
        told += f"\nthe oracle is {own.oracle}: {own.oracle_ns / 1e6:.4g} ms"
    if own.over_baseline is not None:
        told += f"\ntime over the baseline's: {own.over_baseline:.2f}"
    text = _marked(REGRET.text(own.regret), own.complete)
    return Tile(text, REGRET.heat(own.regret), told, best)


def _size(grid: Grid) -> tuple[float, float]:
    return 10, 0.27 * len(grid.rows) + 0.5 + 0.2 * _heads(grid)


def _heads(grid: Grid) -> int:
    """Lines above the columns."""
    return 1 + max((name.count("\n") for name in grid.columns), default=0)


def _draw(axes: Axes, grid: Grid) -> None:
    crowded = len(grid.columns) > 8
    for y, row in enumerate(grid.tiles):
        for x, tile in enumerate(row):
            _cell(axes, x, y, tile, grid.sparse, 7 if crowded and grid.sparse else 9)
    end = len(grid.columns) - 0.35
    for y, note in enumerate(grid.notes):
        axes.text(end, y, note, va="center", color=INK, fontsize=8)
    if grid.notes:
        axes.text(end, -0.64, "best", va="bottom", color=INK)
    axes.set_xlim(-0.5, len(grid.columns) + (0.5 if grid.notes else -0.5))
    axes.set_ylim(len(grid.rows) - 0.5, -0.5)
    axes.set_xticks(range(len(grid.columns)), grid.columns, fontsize=7 if crowded else 9)
    axes.set_yticks(range(len(grid.rows)), grid.rows)
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    axes.spines["left"].set_visible(False)


def _cell(axes: Axes, x: int, y: int, tile: Tile | None, sparse: bool, size: int) -> None:
    if tile is None:
        if not sparse:
            axes.text(x, y, NOT_AVAILABLE, ha="center", va="center", color=INK, fontsize=8)
        return
    ground = Rectangle(
        (x - 0.5, y - 0.5), 1, 1, facecolor=HEAT[tile.heat], edgecolor=GRID, linewidth=0.6
    )
    mark(ground, tile.told)
    axes.add_patch(ground)
    axes.text(
        x,
        y,
        tile.text,
        ha="center",
        va="center",
        color=NUMBERS[tile.heat],
        fontsize=size,
        weight="bold" if tile.strong else "normal",
    )
