# SPDX-License-Identifier: GPL-2.0
"""Tables that are wider than the screen: their columns continue below. Figures are never cut, long
names are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable

from fastlab.report.markup import rich_table
from fastlab.report.tables import Table

# Characters around a column and around the table, in the box of report.markup.
PADDING = 3
FRAME = 1
# Cells with more characters are sentences.
PROSE = 32
# Wider than any table.
ENDLESS = 10_000


def drawn(table: Table, console: Console) -> Iterator[RichTable]:
    """The parts of a table, to print one below the other. Long names are cut."""
    rows = [[replace(cell, text=cell.short or cell.text) for cell in row] for row in table.rows]
    table = replace(table, rows=rows)
    for part in parts(table, console.width):
        shown = rich_table(part)
        endless = console.options.update(max_width=ENDLESS)
        if console.measure(shown, options=endless).maximum > console.width:
            for i, width in enumerate(needed(part)):
                # Headings wrap, and sentences take the remaining width.
                if all(len(row[i].text) <= PROSE for row in part.rows):
                    shown.columns[i].width = width
        yield shown


def needed(table: Table) -> list[int]:
    """The width of each column: that of its widest figure or word."""
    return [
        max(map(cell_len, (*heading.split(), *(_whole(row[i].text) for row in table.rows), "")))
        for i, heading in enumerate(table.columns)
    ]


def _whole(text: str) -> str:
    """The part of a cell that must not be broken."""
    return text if len(text) <= PROSE else max(text.split(), key=cell_len)


def parts(table: Table, width: int) -> Iterator[Table]:
    """The table, or tables of some columns each, all with the labels. The first has the title, the
    last the note. A label that leaves no room for a figure stays as wide."""
    widths = [width_needed + PADDING for width_needed in needed(table)]
    labels = range(table.labels)
    room = width - FRAME - sum(widths[: table.labels])
    groups: list[list[int]] = [[]]
    for i in range(table.labels, len(widths)):
        if groups[-1] and sum(widths[j] for j in groups[-1]) + widths[i] > room:
            groups.append([])
        groups[-1].append(i)
    for number, group in enumerate(groups):
        columns = [*labels, *group]
        yield replace(
            table,
            title=table.title if number == 0 else "",
            columns=[table.columns[i] for i in columns],
            rows=[[row[i] for i in columns] for row in table.rows],
            note=table.note if number == len(groups) - 1 else "",
        )
