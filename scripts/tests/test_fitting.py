# SPDX-License-Identifier: GPL-2.0
"""Tables on a narrow screen: nothing is cut, and nothing is lost."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fastlab.cli import common, fitting
from fastlab.report.tables import Cell, Table

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
