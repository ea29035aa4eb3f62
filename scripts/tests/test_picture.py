# SPDX-License-Identifier: GPL-2.0
"""README's picture shows the numbers of the documented table."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# The picture's arms, as the tables call them.
NAMES = {"baseline": "unpatched", "onecpu": "one CPU"}
Regrets = dict[tuple[str, str], float]


def documented() -> Regrets:
    """Of the table of regrets of the demo, by workload and arm."""
    page = (PROJECT / "Documentation/results.rst").read_text()
    block = page.split(".. measured: regrets demo", 1)[1].split(".. end of measured", 1)[0]
    rules = re.findall(r"^=+(?: +=+)+$", block, re.MULTILINE)
    starts = [match.start() for match in re.finditer("=+", rules[0])]
    ends = [*starts[1:], None]
    lines = block.split(rules[0])
    (head,) = lines[1].strip("\n").splitlines()
    names = [head[a:b].strip() for a, b in zip(starts, ends, strict=True)]
    found = {}
    for line in lines[2].strip("\n").splitlines():
        cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
        # What follows the regrets is of something else.
        for name, cell in list(zip(names, cells, strict=True))[2:]:
            if ":" in name:
                break
            found[f"{cells[0]} {cells[1]}", name] = float(cell)
    return found


def pictured(svg: str) -> Regrets:
    """Of the picture: its arms, its workloads, and a figure for each of both."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    workloads = [one for one in texts if re.fullmatch(r"\w+ \d+", one)]
    figures = [one for one in texts if re.fullmatch(r"\d+\.\d\d", one)]
    arms = texts[: texts.index(workloads[0])]
    cells = [(workload, NAMES.get(arm, arm)) for workload in workloads for arm in arms]
    assert len(cells) == len(figures)
    return dict(zip(cells, map(float, figures), strict=True))


def test_the_picture_is_of_the_table() -> None:
    shown = pictured((PROJECT / "Documentation/images/demo.svg").read_text())
    assert shown == {cell: value for cell, value in documented().items() if cell in shown}
    assert {workload for workload, _ in shown} == {workload for workload, _ in documented()}
    assert len({arm for _, arm in shown}) >= 3


def test_readme_shows_it() -> None:
    assert 'src="Documentation/images/demo.svg"' in (PROJECT / "README.md").read_text()
