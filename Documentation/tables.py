#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the measured tables of these pages anew: Documentation/tables.py [RESULTS]

A table stands in a page between the comments

    .. measured: regrets demo
    .. end of measured

The first word is the kind of table, a function of measured/; the second the experiment, whose
results/<experiment>/summary.json it is made of (of `fast trust`: trust.json; of `fast bench
overhead`: costs.json; of `fast bench theses`: theses.json; of `fast bench stealing`, `runtime`
and `openmp` with --json: stealing.json, runtime.json, openmp.json; of `fast try --json`: all
try-*.json of a directory); words that follow are the kind's own. A table whose experiment has no
results in RESULTS (default: results), or was interrupted before each row had some, is left as it
is, and named. What the sentences around a table say must be read again by somebody. README's
picture, images/demo.svg, is that of the experiment demo's report.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measured import commands, experiments, theses
from measured.results import Lines, Results, Unfinished

PAGES = Path(__file__).resolve().parent
BLOCK = re.compile(
    r"^\.\. measured: (?P<words>[^\n]+)\n(?P<table>.*?)^\.\. end of measured$",
    re.MULTILINE | re.DOTALL,
)
DOCUMENTS = (
    "summary.json",
    "trust.json",
    "costs.json",
    "theses.json",
    "stealing.json",
    "runtime.json",
    "openmp.json",
)
KINDS: dict[str, Callable[..., Lines | str]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        experiments.times,
        experiments.improvements,
        experiments.regrets,
        experiments.standings,
        experiments.latencies,
        experiments.depths,
        experiments.depth_losses,
        experiments.cost_of_off,
        experiments.along,
        experiments.mean_regret_by_axis,
        experiments.splash,
        commands.costs,
        commands.trials,
        commands.predictions,
        commands.localities,
        commands.steal_misses,
        commands.steal_nodes,
        commands.runtimes,
        commands.openmp,
        theses.contenders,
        theses.verdicts,
    )
}


class Wrong(Exception):
    """What is wrong with a page or with results, and where."""


def simple_table(lines: Lines) -> str:
    """A simple table of reStructuredText; the first line is its head."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([rule, text[0], rule, *text[1:], rule])


def write(page: str, load: Callable[[str], Results | None]) -> tuple[str, list[str]]:
    """The page with its tables written anew, and why some are left as they are."""
    left: list[str] = []

    def table(block: re.Match[str]) -> str:
        kind, experiment, *rest = block["words"].split()
        if kind not in KINDS:
            raise Wrong(f"no kind of table is called {kind}: there are {', '.join(KINDS)}")
        results = load(experiment)
        if results is None:
            left.append(f"no results of {experiment}")
            return block[0]
        try:
            made = KINDS[kind](results, *rest)
        except Unfinished as unfinished:
            left.append(f"{experiment} has not been measured to its end ({unfinished})")
            return block[0]
        except (KeyError, TypeError, StopIteration) as error:
            raise Wrong(f"{block['words']}: its results have no such table: {error!r}") from error
        text = made if isinstance(made, str) else simple_table(made)
        return f".. measured: {block['words']}\n\n{text}\n\n.. end of measured"

    return BLOCK.sub(table, page), left


def read(path: Path) -> Any:
    """What a command has kept there."""
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise Wrong(f"{path} is not whole ({error}): is it being written?") from error


def main() -> int:
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else "results")

    def load(experiment: str) -> Results | None:
        for name in DOCUMENTS:
            path = directory / experiment / name
            if path.exists():
                return Results(read(path))
        tried = sorted((directory / experiment).glob("try-*.json"))
        return Results({"trials": [read(one) for one in tried]}) if tried else None

    left: set[str] = set()
    for path in sorted(PAGES.glob("*.rst")):
        page = path.read_text("utf-8")
        try:
            new, why = write(page, load)
        except Wrong as wrong:
            print(f"{path}: {wrong}", file=sys.stderr)
            return 2
        left.update(why)
        if new != page:
            path.write_text(new, "utf-8")
            print(f"wrote {path.name}")
    picture = directory / "demo/regret.svg"
    if picture.exists():
        # README's: of the same results as the tables.
        shutil.copyfile(picture, PAGES / "images/demo.svg")
        print("wrote images/demo.svg")
    for reason in sorted(left):
        print(f"{reason}: its tables are left as they are")
    return 0


if __name__ == "__main__":
    sys.exit(main())
