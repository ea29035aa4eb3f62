# SPDX-License-Identifier: GPL-2.0
"""Measurements by hardware counters of another machine, from a TOML file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import manifest, toml_table
from fastlab.base.toml_table import TomlTable
from fastlab.trust.agreement import Arms, Figures, Point, SideFigures

# The metrics of a row, and the number of iterations in the file's unit.
PER = {"cycles": 1, "l2_misses": 1, "context_switches": 10_000}

_TEXT = re.compile(r".+")
_EXPERIMENT = "the path of the experiment's file that predicts it, from this file's directory"
_MOST_THREADS = 1024


@dataclass(frozen=True)
class Record:
    """The measurements, their machine, and the experiment that predicts them."""

    machine: str
    experiment: Path
    side: SideFigures


def load(path: Path) -> Record:
    """Read the file. Raises FastError with the place of an error."""
    top = TomlTable(
        path, "", toml_table.read(path, "a file such as experiments/measured/zen3.toml")
    )
    top.only("machine", "experiment", "resolution", "row")
    resolution = _resolution(top.table("resolution"))
    return Record(
        machine=top.text("machine", _TEXT, "a text that names it"),
        experiment=path.parent / top.text("experiment", _TEXT, _EXPERIMENT),
        side=dict(_row(row, resolution) for row in top.tables("row")),
    )


def _row(row: TomlTable, resolution: Mapping[str, float]) -> tuple[Point, Figures]:
    row.only("benchmark", "threads", *PER)
    point = Point(manifest.benchmark(row, "benchmark"), row.integer("threads", 1, _MOST_THREADS))
    return point, {
        metric: Arms([_pair(row, metric)], resolution.get(metric, 0.0)) for metric in PER
    }


def _pair(row: TomlTable, metric: str) -> tuple[float, float]:
    pair = row.data.get(metric)
    if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_positive, pair)):
        row.fail(metric, pair, "[free, confined], two numbers of more than 0")
    free, confined = pair
    return free / PER[metric], confined / PER[metric]


def _resolution(table: TomlTable) -> dict[str, float]:
    table.only(*PER)
    for metric, value in table.data.items():
        if not _is_positive(value):
            table.fail(metric, value, "more than 0")
    return {metric: value / PER[metric] for metric, value in table.data.items()}  # type: ignore[operator]


def _is_positive(value: object) -> bool:
    return type(value) in (int, float) and 0 < value < 1e12  # type: ignore[operator]
