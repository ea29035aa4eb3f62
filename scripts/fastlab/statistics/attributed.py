# SPDX-License-Identifier: GPL-2.0
"""What a variant's counts come from: the functions that cost most, and lines that CPUs share in
vain (Documentation/attribution.rst)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fastlab.base.files import write_json
from fastlab.base.model import SCHEMA_VERSION, FastError
from fastlab.plan.rows import Builds

# Below a results directory.
DIRECTORY = "attribution"
_FILE = "attribution.json"


@dataclass(frozen=True)
class FunctionCost:
    """`source` is where in it most stall cycles are, as FILE:LINE, or "". `costs` are of all runs
    together, by the plugin's names."""

    function: str
    binary: str
    source: str
    costs: Mapping[str, int]


@dataclass(frozen=True)
class FalseSharing:
    """A line of the caches that CPUs have fetched from each other `in_vain`, of all `moves`.
    `touched` says which CPU does what with which of its bytes, `by` which functions fetch it."""

    name: str
    moves: int
    in_vain: int
    stall_cycles: int
    touched: Sequence[str]
    by: Sequence[str]


@dataclass(frozen=True)
class Attributed:
    """The sum of a variant's `runs` of a workload, in user and kernel mode: the idle loop is not
    in it, as it is in none of a run's counters."""

    variant_name: str
    workload: str
    runs: int
    totals: Mapping[str, int]
    functions: Sequence[FunctionCost]
    false_sharing: Sequence[FalseSharing]


def keep(directory: Path, attributed: Iterable[Attributed], builds: Builds) -> None:
    """Write it below the results directory, with the builds whose runs these are."""
    content = {
        "schema": SCHEMA_VERSION,
        **asdict(builds),
        "attributed": [asdict(variant) for variant in attributed],
    }
    write_json(directory / DIRECTORY / _FILE, content)


def load(directory: Path, builds: Builds | None) -> tuple[Attributed, ...]:
    """What keep() wrote of these builds; none if it wrote nothing, or of others."""
    path = directory / DIRECTORY / _FILE
    if not path.is_file():
        return ()
    try:
        content = json.loads(path.read_text())
        attributed = tuple(_attributed(record) for record in content["attributed"])
        return attributed if Builds(content.get("kernels"), content.get("tools")) == builds else ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FastError(
            f"{path}: is not what a run with attribution writes: {error!r}; remove the file, or "
            "run the experiment again"
        ) from error


def _attributed(record: Mapping[str, Any]) -> Attributed:
    functions = tuple(FunctionCost(**each) for each in record["functions"])
    lines = tuple(FalseSharing(**each) for each in record["false_sharing"])
    return Attributed(**{**record, "functions": functions, "false_sharing": lines})
