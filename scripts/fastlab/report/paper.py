# SPDX-License-Identifier: GPL-2.0
"""The paper's figures, to show beside our measurements; paper.toml has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import toml_table
from fastlab.base.toml_table import TomlTable
from fastlab.plan import splash_sizes

RATIOS = ("l2_miss_ratio", "l3_miss_ratio")


@dataclass(frozen=True)
class Evaluation:
    """A part of the paper's evaluation: which table and which figures show what."""

    what: str
    ratios: str
    figures: Mapping[str, str]


MICROBENCHMARKS = Evaluation(
    "lock microbenchmark", "Table 3", {"cycles": "Figure 2", "bus_requests": "Figure 3"}
)
SPLASH_2 = Evaluation(
    "SPLASH-2 program", "Table 4", {"cycles": "Figure 5", "bus_requests": "Figure 4"}
)

# By metric, benchmark and number of threads.
Cells = dict[tuple[str, str, int], str]


def evaluation(benchmarks: Sequence[str]) -> Evaluation:
    """The part of the paper's evaluation with these benchmarks."""
    return SPLASH_2 if set(benchmarks) <= splash_sizes.OPTIONS.keys() else MICROBENCHMARKS


def printed(metric: str, benchmark: str, threads: int) -> str:
    """The paper's figure for this cell in percent: a number, a range, "none", or ""."""
    return CELLS.get((metric, benchmark, threads), "")


def _read(path: Path) -> Cells:
    file = TomlTable(path, "", toml_table.read(path, "the paper's figures"))
    file.only("threads", *RATIOS, "claim")
    threads = file.integers("threads", 1, 4096)
    cells: Cells = {}
    for metric in RATIOS:
        table = file.table(metric)
        for benchmark in table.data:
            numbers = table.numbers(benchmark, len(threads))
            for count, number in zip(threads, numbers, strict=True):
                cells[metric, benchmark, count] = f"{number:.1f}"
    # Quote the first claim that fits.
    for claim in file.tables("claim"):
        cells = {**_claimed(claim), **cells}
    return cells


def _claimed(claim: TomlTable) -> Cells:
    claim.only("figure", "metric", "benchmarks", "threads", "said")
    metric = claim.choice("metric", ("cycles", "bus_requests"))
    printed_figure = claim.text(
        "said", re.compile(r"none|-?[\d.]+( to [\d.]+)?"), "a number, a range, or none"
    )
    names = claim.texts("benchmarks", re.compile(r"\w+"), "names of benchmarks")
    counts = claim.integers("threads", 1, 4096)
    return {(metric, name, count): printed_figure for name in names for count in counts}


CELLS = _read(Path(__file__).with_suffix(".toml"))
