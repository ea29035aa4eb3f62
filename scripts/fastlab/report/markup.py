# SPDX-License-Identifier: GPL-2.0
"""Tables as Markdown, and for a terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

from fastlab.base.text import one_line
from fastlab.report.tables import Cell, Table

STYLES = {"": "", "gain": "green", "loss": "red", "aside": "dim"}


def markdown_table(table: Table) -> str:
    lines = [f"## {table.title}", ""]
    if table.rows:
        rule = ["---" if i < table.labels else "--:" for i in range(len(table.columns))]
        cells = [[_markdown_cell(cell) for cell in row] for row in table.rows]
        lines += ["| " + " | ".join(row) + " |" for row in [table.columns, rule, *cells]]
        lines.append("")
    lines += [table.note, ""]
    return "\n".join(lines)


def _markdown_cell(cell: Cell) -> str:
    text = one_line(cell.text).replace("|", "\\|")
    return f"**{text}**" if cell.strong else text


def rich_table(table: Table) -> RichTable:
    """A table for a terminal."""
    shown = RichTable(
        title=table.title,
        caption=table.note,
        title_justify="left",
        caption_justify="left",
        # No lines between columns: they would take a third of a narrow terminal.
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for i, column in enumerate(table.columns):
        # Wrap a name instead of cutting it.
        shown.add_column(
            Text(column), justify="left" if i < table.labels else "right", overflow="fold"
        )
    for row in table.rows:
        shown.add_row(
            *(
                Text(
                    one_line(cell.text),
                    style=f"{'bold ' if cell.strong else ''}{STYLES[cell.tone]}".strip(),
                )
                for cell in row
            )
        )
    return shown
