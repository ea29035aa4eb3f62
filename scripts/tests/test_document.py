# SPDX-License-Identifier: GPL-2.0
"""summary.json has what Documentation/results-format.rst promises, and nothing that it hides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
import samples
from test_renderings import real, simulated

from fastlab.report.document import document

PAGE = Path(__file__).parents[2] / "Documentation/results-format.rst"


def promised() -> dict[tuple[str, ...], str]:
    """The page's list: names of fields, and what it says of them."""
    section = PAGE.read_text().partition("summary.json\n====")[2].partition("\n\nLocks\n=====")[0]
    entries = re.findall(r"^(``\w.*)\n((?:    .*\n?)+)", section, re.MULTILINE)
    return {names(head): text for head, text in entries}


def names(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"``(\w+)``", text))


def said_of(field: str) -> set[str]:
    return {*names(next(text for heads, text in promised().items() if field in heads))}


def keys(rows: Iterable[dict[str, object]]) -> set[str]:
    return {name for row in rows for name in row}


@pytest.mark.parametrize("kind", ["real", "simulated"])
def test_every_field_is_promised_and_there(kind: str) -> None:
    made = document(real() if kind == "real" else simulated())
    fields = {name for heads in promised() for name in heads} | {"schema"}
    assert made.keys() == fields - ({"simulation"} if kind == "real" else set())


def test_a_row_has_what_is_said_of_rows() -> None:
    said = said_of("rows")
    sides = {
        f"{side}{end}" for side in ("baseline", "variant") for end in ("_deviation_pct", "_runs")
    }
    assert {"_deviation_pct", "_runs"} <= said
    assert keys(document(real())["rows"]) == (said - {"_deviation_pct", "_runs"}) | sides


def test_the_simulation_has_what_is_said_of_it() -> None:
    times = {"baseline": {4: 1000}, "onecpu": {4: 600}, "fast": {4: 900}}
    made = document(samples.summarise(*samples.arms(times)))["simulation"]
    assert made.keys() == said_of("simulation")


def test_left_out_runs_say_why() -> None:
    assert said_of("left_out") <= keys(document(simulated())["left_out"])
