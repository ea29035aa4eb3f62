# SPDX-License-Identifier: GPL-2.0
"""What `fast bench theses` measured, by contender, and what became of the sources' conclusions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from statistics import median
from typing import Any

from measured.results import FAILED, NOTHING, Lines, Results

HERE = "here"
WIDTH = 100
# Where a failed run has left more.
SAID_BY_MACHINE = re.compile(r"(; what| \(all that) the machine said: [^;)\s]*\)?")
SHARES = ("steal_miss_ratio", "remote_share")


def contenders(results: Results, metric: str) -> Lines:
    """A metric's medians over the rounds, and how far one lies from them at the most; times are in
    microseconds. Below them what the source has of as many workers, or of any."""
    document = results.document
    names = [one["name"] for one in document["contenders"]]
    serial = {one["name"] for one in document["contenders"] if one["runtime"] == "serial"}
    measured = results.rows_of_rounds()
    found = {(row["program"], row["contender"], row["workers"]): row for row in measured}
    sizes = document["sizes"]
    lines: Lines = [["program", "size here", "workers", "where", *names]]
    for program in dict.fromkeys(row["program"] for row in measured):
        counts = {count for name, other, count in found if name == program and other not in serial}
        for workers in sorted(counts):
            rows = [found[program, one, 1 if one in serial else workers] for one in names]
            cells = [_cell(row, metric) for row in rows]
            lines.append([f"``{program}``", str(sizes[program]), str(workers), HERE, *cells])
            lines += [
                [f"``{program}``", "", str(workers), _where(one), *_values(one, names)]
                for one in document["published"]
                if (one["program"], one["metric"]) == (program, metric)
                and one["workers"] in (None, workers)
            ]
    return lines


def verdicts(results: Results) -> str:
    """A definition list: each conclusion in the source's words, and whether it is upheld here."""
    # Nothing is concluded from a part of the rows.
    results.rows_of_rounds()
    lines: list[str] = []
    for one in results.document["conclusions"]:
        lines.append(f'"{_plain(one["words"])}" ({one["source"]})')
        lines += textwrap.wrap(
            f"*{one['outcome']}*: {_plain(one['reason'])}",
            WIDTH,
            initial_indent="    ",
            subsequent_indent="    ",
            break_long_words=False,
        )
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Without what is markup in these pages, and without directories of who measured."""
    text = SAID_BY_MACHINE.sub("", text)
    for sign in "\\*`|":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("_ ", "\\_ ")


def _where(published: Mapping[str, Any]) -> str:
    unit = f", {published['unit']}" if published["unit"] else ""
    return f"{published['where']}{unit}"


def _values(published: Mapping[str, Any], names: list[str]) -> list[str]:
    values = published["values"]
    return [_number(values[name]) if name in values else "" for name in names]


def _cell(row: Mapping[str, Any], metric: str) -> str:
    if row["status"] == FAILED:
        return FAILED
    values = [one[metric] for one in row["rounds"] if metric in one]
    if not values:
        return NOTHING
    middle = median(values)
    if metric in SHARES:
        return f"{middle:.3f} ± {max(abs(one - middle) for one in values):.3f}"
    if not middle:
        return "0"
    far = 100 * max(abs(one - middle) for one in values) / middle
    return f"{_number(middle * 1e6 if metric == 'time' else middle)} ± {far:.1f} %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
