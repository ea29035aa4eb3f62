# SPDX-License-Identifier: GPL-2.0
"""EventCounts by line of source in the format of callgrind, for KCachegrind and callgrind_annotate.

https://valgrind.org/docs/manual/cl-format.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from fastlab.attribution.names import CodePlace
from fastlab.backend.costs import EventCounts
from fastlab.base.metrics import EVENTS


def callgrind_text(title: str, command: str, costs: Mapping[CodePlace, EventCounts]) -> str:
    """The whole file. A function is listed under the file where it costs most; code inlined from
    other files, such as headers, under those files."""
    lines = [
        "# callgrind format",
        "version: 1",
        "creator: fast",
        f"cmd: {command}",
        f"desc: {title}",
        "positions: line",
        *(f"event: {name} : {words}" for name, words in EVENTS.items()),
        f"events: {' '.join(EVENTS)}",
        f"summary: {_numbers(sum_costs(costs.values()))}",
        "",
    ]
    ordered = sorted(costs)
    for (binary, function), places in groupby(ordered, key=lambda place: place[:2]):
        own = list(places)
        lines += [f"ob={binary}", *_function(function, own, costs), ""]
    return "\n".join(lines)


def _function(
    function: str, places: list[CodePlace], costs: Mapping[CodePlace, EventCounts]
) -> Iterable[str]:
    """The lines of one function, whose places are sorted by file."""
    by_file = {file: list(own) for file, own in groupby(places, key=lambda place: place.file)}
    main = max(by_file, key=lambda file: sum(costs[place][0] for place in by_file[file]))
    yield f"fl={main}"
    yield f"fn={function}"
    for file in sorted(by_file, key=lambda file: file != main):
        if file != main:
            yield f"fi={file}"
        yield from (f"{place.line} {_numbers(costs[place])}" for place in by_file[file])


def sum_costs(costs: Iterable[EventCounts]) -> EventCounts:
    total = [0] * len(EVENTS)
    for cost in costs:
        total = [known + more for known, more in zip(total, cost, strict=True)]
    return tuple(total)


def _numbers(costs: EventCounts) -> str:
    return " ".join(map(str, costs))
