# SPDX-License-Identifier: GPL-2.0
"""The plugin's attribution of a run: the cost of each instruction, and the moved cache lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fastlab.base.metrics import EVENTS
from fastlab.base.model import FastError

# One count for each of EVENTS.
EventCounts = tuple[int, ...]


class Site(NamedTuple):
    """The address of an instruction or line, in the kernel, the program, or another program."""

    kernel: bool
    program: bool
    address: int


@dataclass(frozen=True)
class LineUser:
    """A CPU's use of a line: how often it fetched the line in vain, the last instruction that did,
    and the ranges of loaded and stored bytes (first and last)."""

    cpu: int
    in_vain: int
    instruction: int
    loads: Sequence[Sequence[int]]
    stores: Sequence[Sequence[int]]


@dataclass(frozen=True)
class MovedLine:
    site: Site
    moves: int
    in_vain: int
    stall_cycles: int
    users: Sequence[LineUser]


@dataclass(frozen=True)
class RunCosts:
    """A run's instructions without the idle loop, and the lines that CPUs fetched in vain, most
    often first. `per_cpu` has the address of each CPU's variables in the kernel."""

    instructions: Mapping[Site, EventCounts]
    lines: Sequence[MovedLine]
    per_cpu: Sequence[int]


def read_costs(path: Path) -> RunCosts:
    """The file of a run's one region of interest."""
    try:
        (line,) = path.read_text().splitlines()
        document = json.loads(line)
        costs = {
            site: cost
            for kernel in (False, True)
            for site, cost in _whole_cycles(document, list(_rows(document, kernel)))
        }
        lines = [_line(moved, document["cycle"]) for moved in document["lines"]]
        return RunCosts(costs, lines, document["per_cpu"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FastError(
            f"{path}: is not what a run with attribution leaves: {error!r}; make the run again"
        ) from error


def _rows(document: Mapping[str, Any], kernel: bool) -> Iterator[tuple[Site, list[int]]]:
    """The rows of a mode, in the order of the file."""
    order = [document["events"].index(name) for name in EVENTS]
    for code in document["code"]:
        if code["mode"] == ("kernel" if kernel else "user"):
            for address, *counts in code["instructions"]:
                site = Site(kernel, code["program"], address)
                yield site, [counts[place] for place in order]


def _whole_cycles(
    document: Mapping[str, Any], rows: Iterable[tuple[Site, list[int]]]
) -> Iterator[tuple[Site, EventCounts]]:
    """Round cycles so that their sum over a mode equals the mode's total: each value is the rounded
    sum up to it, minus the rounded sum before it. Several other programs may share an address."""
    unit = document["cycle"]
    timed = [place for place, name in enumerate(EVENTS) if name.endswith("cycles")]
    before = dict.fromkeys(timed, 0)
    sums: dict[Site, list[int]] = {}
    for site, costs in rows:
        for place in timed:
            start = before[place]
            before[place] += costs[place]
            costs[place] = before[place] // unit - start // unit
        known = sums.setdefault(site, [0] * len(costs))
        sums[site] = [count + more for count, more in zip(known, costs, strict=True)]
    return ((site, tuple(costs)) for site, costs in sums.items())


def _line(record: Mapping[str, Any], unit: int) -> MovedLine:
    users = [
        LineUser(each["cpu"], each["in_vain"], each["instruction"], each["loads"], each["stores"])
        for each in record["cpus"]
    ]
    site = Site(record["mode"] == "kernel", record["program"], record["address"])
    return MovedLine(
        site, record["moves"], record["in_vain"], record["stall_cycles"] // unit, users
    )
