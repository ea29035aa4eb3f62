# SPDX-License-Identifier: GPL-2.0
"""Pages whose measured tables are written from results/.

A table stands in a page between two comments:

    .. measured: regrets demo
    .. end of measured

The first word names the kind of table, the second the experiment; further words are arguments of
the kind. " + " adds another table of the same experiment: its kind and its arguments. A kind is a
function from `Results` to the table's rows, or to text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastlab.base.model import FastError

NOTHING = "n/a"
# A row's status, and the cell that replaces its figures.
FAILED = "failed"

Lines = list[Sequence[str]]
Key = tuple[str, int]

METRICS = {
    "elapsed_ns": "elapsed",
    "cycles": "cycles",
    "bus_requests": "bus requests",
    "l2_misses": "L2 misses",
    "l3_misses": "L3 misses",
}

BLOCK = re.compile(
    r"^\.\. measured: (?P<words>[^\n]+)\n(?P<table>.*?)^\.\. end of measured$",
    re.MULTILINE | re.DOTALL,
)


class Unfinished(Exception):
    """A row has no measurement yet, though it has not failed."""


@dataclass(frozen=True)
class Results:
    """The JSON document of an experiment or of a command.

    The key of an experiment's row is its benchmark and its threads; an experiment with a matrix
    has several rows of a key, told apart by `where`.
    """

    document: dict[str, Any]

    @property
    def keys(self) -> list[Key]:
        return list(dict.fromkeys((row["benchmark"], row["threads"]) for row in self.rows))

    @property
    def rows(self) -> list[dict[str, Any]]:
        return list(self.document["rows"])

    @property
    def baseline(self) -> str:
        return str(self.document["baseline"])

    @property
    def others(self) -> list[str]:
        return list(self.document["variants"])

    @property
    def simulation(self) -> dict[str, Any]:
        return dict(self.document["simulation"])

    @property
    def arms(self) -> list[str]:
        return [self.baseline, *self.others]

    def row(self, arm: str, key: Key, metric: str, **where: int) -> dict[str, Any] | None:
        for row in self.rows:
            if (
                (row["variant_name"], row["metric"]) == (arm, metric)
                and (row["benchmark"], row["threads"]) == key
                and all(row[axis] == value for axis, value in where.items())
            ):
                return dict(row)
        return None

    def mean(self, arm: str, key: Key, metric: str) -> float | None:
        """An arm's own figure; the baseline's stands in every row."""
        is_baseline = arm == self.baseline
        for other in self.others if is_baseline else [arm]:
            row = self.row(other, key, metric)
            if row and row["baseline" if is_baseline else "variant"] is not None:
                return float(row["baseline" if is_baseline else "variant"])
        return None

    def improvement(self, arm: str, key: Key, metric: str) -> float | None:
        row = self.row(arm, key, metric)
        return row["improvement_pct"] if row else None

    def spread(self, arm: str, key: Key, metric: str, digits: int = 1, **where: int) -> str:
        """Improvement ± its standard deviation."""
        row = self.row(arm, key, metric, **where)
        if not row or row["improvement_pct"] is None:
            return NOTHING
        mean = decimal(row["improvement_pct"], digits)
        return mean if row["spread"] is None else f"{mean} ± {row['spread']:.{digits}f}"

    def counters(self, arm: str, key: Key) -> dict[str, int]:
        """The kernel's mechanism counters of an arm."""
        return dict(entry(self.simulation["mechanism"], arm, key)["counters"])


def entry(part: Sequence[dict[str, Any]], arm: str, key: Key) -> dict[str, Any]:
    """An arm's entry in a part of a summary; StopIteration if there is none."""
    return next(
        row
        for row in part
        if (row["variant_name"], row["benchmark"], row["threads"]) == (arm, *key)
    )


def decimal(value: float | None, digits: int = 1) -> str:
    """A number without a minus before zero."""
    if value is None:
        return NOTHING
    return f"{round(value, digits) + 0.0:.{digits}f}"


def whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def millis(ns: float | None) -> str:
    return decimal(None if ns is None else ns / 1e6)


def improvements(results: Results, arm: str, *metrics: str) -> Lines:
    """A policy's improvements, a column for each metric, and its hints."""
    lines: Lines = [["benchmark", "threads", *(METRICS[name] for name in metrics), "hints", "used"]]
    seeds = len(results.simulation["seeds"])
    for key in results.keys:
        fired = results.counters(arm, key)
        cells = [results.spread(arm, key, metric) for metric in metrics]
        hints = [fired["hint_set"], fired["used"] + fired["same_cpu"]]
        lines.append([key[0], str(key[1]), *cells, *(f"{count / seeds:.0f}" for count in hints)])
    return lines


Kinds = Mapping[str, Callable[..., Lines | str]]
Load = Callable[[str], Results | None]


def named(*kinds: Callable[..., Lines | str]) -> Kinds:
    """Kinds by the name that a page uses: steal_misses is steal-misses."""
    return {kind.__name__.replace("_", "-"): kind for kind in kinds}


def read(path: Path) -> Any:
    """A command's JSON file; FastError where it is damaged."""
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise FastError(f"{path} is not whole ({error}): is it being written?") from error


def first_of(directory: Path, names: Iterable[str]) -> Results | None:
    """The first of these files that a directory of results has."""
    for path in (directory / name for name in names):
        if path.exists():
            return Results(read(path))
    return None


def simple_table(lines: Lines) -> str:
    """A simple table of reStructuredText. The first line is its head: in a cell of two lines the
    upper one is a heading that equal neighbours share."""
    heads, *rows = lines
    upper = [head.rpartition("\n")[0] for head in heads]
    lower = [head.rpartition("\n")[2] for head in heads]
    widths = [max(map(len, column)) for column in zip(lower, *rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (lower, *rows)
    ]
    shared = _shared_headings(upper, widths) if any(upper) else []
    return "\n".join([rule, *shared, text[0], rule, *text[1:], rule])


def _shared_headings(upper: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The upper line of a head, and the line that says which columns each heading spans."""
    spans: list[tuple[str, int]] = []
    for i, (name, width) in enumerate(zip(upper, widths, strict=True)):
        if i and name and name == upper[i - 1]:
            spans[-1] = (name, spans[-1][1] + 2 + width)
        else:
            spans.append((name or "..", width))
    names = "  ".join(name.ljust(width) for name, width in spans).rstrip()
    return [names, "  ".join("-" * width for _, width in spans)]


def write(page: str, kinds: Kinds, load: Load) -> tuple[str, list[str]]:
    """The page with its tables written anew, and the reason for each table that is left."""
    left: list[str] = []

    def made(results: Results, kind: str, *arguments: str) -> str:
        if kind not in kinds:
            raise FastError(f"no kind of table is called {kind}: there are {', '.join(kinds)}")
        lines = kinds[kind](results, *arguments)
        return lines if isinstance(lines, str) else simple_table(lines)

    def tables(block: re.Match[str]) -> str:
        first, *more = block["words"].split(" + ")
        kind, experiment, *arguments = first.split()
        results = load(experiment)
        if results is None:
            left.append(f"no results of {experiment}")
            return block[0]
        try:
            texts = [made(results, kind, *arguments), *(made(results, *w.split()) for w in more)]
        except Unfinished as unfinished:
            left.append(f"{experiment} has not been measured to its end ({unfinished})")
            return block[0]
        except (KeyError, TypeError, StopIteration) as error:
            message = f"{block['words']}: its results have no such table: {error!r}"
            raise FastError(message) from error
        return "\n\n".join([f".. measured: {block['words']}", *texts, ".. end of measured"])

    return BLOCK.sub(tables, page), left


def fill(pages: Path, kinds: Kinds, load: Load) -> list[str]:
    """Write the tables of all pages of a folder; the result says in words what was done.

    FastError names the page whose table cannot be made; earlier pages are written by then.
    """
    said: list[str] = []
    left: set[str] = set()
    for path in sorted(pages.glob("*.rst")):
        page = path.read_text("utf-8")
        try:
            new, why = write(page, kinds, load)
        except FastError as error:
            raise FastError(f"{path}: {error}") from error
        left.update(why)
        if new != page:
            path.write_text(new, "utf-8")
            said.append(f"wrote {path.name}")
    return [*said, *(f"{reason}: its tables are left as they are" for reason in sorted(left))]
