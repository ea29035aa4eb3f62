# SPDX-License-Identifier: GPL-2.0
"""What somebody's hardware counters said of the benchmarks, from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastlab import toml_table
from fastlab.model import BENCHMARKS, FastError
from fastlab.trust import Arms, Figures, Point, Side

# The metrics of a row, and of how many iterations the file gives them.
PER = {"cycles": 1, "l2_misses": 1, "context_switches": 10_000}


@dataclass(frozen=True)
class Record:
    """What was measured where, and the file of the experiment that is to predict it."""

    machine: str
    experiment: Path
    side: Side


def load(path: Path) -> Record:
    """Read the file. Raises FastError that says where what is wrong."""
    data = toml_table.read(path, "a file such as experiments/measured/zen3.toml")
    try:
        _only(data, "machine", "experiment", "resolution", "row")
        resolution = _resolution(data.get("resolution", {}))
        rows = [_row(number, row, resolution) for number, row in enumerate(_list(data, "row"), 1)]
        return Record(
            machine=_text(data, "machine"),
            experiment=path.parent / _text(data, "experiment"),
            side=dict(rows),
        )
    except _WrongError as error:
        raise FastError(f"{path}: {error}") from error


class _WrongError(Exception):
    """What is wrong in the file."""


def _row(number: int, row: Any, resolution: Mapping[str, float]) -> tuple[Point, Figures]:
    where = f"[[row]] {number}"
    if not isinstance(row, dict):
        raise _WrongError(f"{where} is no table")
    try:
        _only(row, "benchmark", "threads", *PER)
        benchmark, threads = row.get("benchmark"), row.get("threads")
        if benchmark not in BENCHMARKS:
            raise _WrongError(f"benchmark = {benchmark}; allowed: {', '.join(BENCHMARKS)}")
        if type(threads) is not int or threads < 1:
            raise _WrongError(f"threads = {threads}; allowed: a whole number of at least 1")
        figures = {
            metric: Arms([_pair(row, metric)], resolution.get(metric, 0.0)) for metric in PER
        }
        return Point(benchmark, threads), figures
    except _WrongError as error:
        raise _WrongError(f"{where}: {error}") from error


def _pair(row: Mapping[str, Any], metric: str) -> tuple[float, float]:
    pair = row.get(metric)
    if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_positive, pair)):
        raise _WrongError(
            f"{metric} = {pair}; allowed: [free, confined], two numbers of more than 0"
        )
    free, confined = pair
    return free / PER[metric], confined / PER[metric]


def _resolution(table: Any) -> dict[str, float]:
    if not isinstance(table, dict):
        raise _WrongError("resolution is no table")
    _only(table, *PER)
    for metric, value in table.items():
        if not _is_positive(value):
            raise _WrongError(f"resolution: {metric} = {value}; allowed: more than 0")
    return {metric: value / PER[metric] for metric, value in table.items()}


def _is_positive(value: object) -> bool:
    return type(value) in (int, float) and 0 < value < 1e12  # type: ignore[operator]


def _only(table: Mapping[str, Any], *keys: str) -> None:
    for key in table:
        if key not in keys:
            raise _WrongError(f"unknown key {key}; allowed: {', '.join(keys)}")


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise _WrongError(f"{key} = {value}; allowed: a text")
    return value


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    if not isinstance(value, list) or not value:
        raise _WrongError(f"{key}: one or more [[{key}]] tables are needed")
    return value
