# SPDX-License-Identifier: GPL-2.0
"""Tables on a narrow screen: nothing is cut, and nothing is lost."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fastlab.cli import common, fitting
from fastlab.report.tables import Cell, Table, without_empty

COLUMNS = ["benchmark", *(f"improvement of arm {i}" for i in range(8))]
ROWS = [
    [Cell("mlt_ctr_mlt_lock"), *(Cell(f"-15{i}.6 ±21.1") for i in range(8))],
    [Cell("affinity"), *(Cell(f"{i},123,456,789") for i in range(8))],
]
TABLE = Table("The title", COLUMNS, ROWS, "The note")


def test_a_wide_screen_has_one_table() -> None:
    assert list(fitting.parts(TABLE, 240)) == [TABLE]


def test_a_narrow_screen_has_every_column_once_and_the_labels_always() -> None:
    parts = list(fitting.parts(TABLE, 80))
    assert len(parts) == 3
    assert [one for part in parts for one in part.columns[1:]] == COLUMNS[1:]
    for number, row in enumerate(ROWS):
        assert [cell for part in parts for cell in part.rows[number][1:]] == row[1:]
        assert all(part.rows[number][0] == row[0] for part in parts)
    assert [part.title for part in parts] == ["The title", "", ""]
    assert [part.note for part in parts] == ["", "", "The note"]


def test_sentences_may_be_broken() -> None:
    row = [Cell("a"), Cell("a reason that is longer than a figure would ever be")]
    assert fitting.needed(Table("", ["what", "why"], [row])) == [4, 6]
    assert fitting.needed(Table("", ["what", ""], [])) == [4, 0]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_figure_is_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    console = Console(file=out, width=width)
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setattr("rich.console.Console", lambda: console)
    common.show([TABLE])
    text = out.getvalue()
    assert "…" not in text
    for row in ROWS:
        for cell in row:
            assert cell.text in text
    assert max(map(len, text.splitlines())) <= width


def test_a_column_that_says_nothing_is_left_out() -> None:
    columns = ["workload", "place", "threads", "moot", "left", "gain %", "used", "median", "note"]
    texts = [
        ["a", "n/a", "4", "0", "0.0", "0.0", "0", "n/a", ""],
        ["b", "-", "4", "0", "-", "0.0", "0", "n/a", ""],
    ]
    rows = [[Cell(text) for text in row] for row in texts]
    table = without_empty(Table("", columns, rows, labels=3, kept=["gain %", "used"]))
    assert table.columns == ["workload", "threads", "gain %", "used"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a", "4", "0.0", "0"],
        ["b", "4", "0.0", "0"],
    ]
    assert table.labels == 2
    # One row that says something keeps the column, and without rows there is nothing to tell.
    rows[1][3] = Cell("1")
    assert "moot" in without_empty(Table("", columns, rows)).columns
    assert without_empty(Table("", columns, [])).columns == columns
