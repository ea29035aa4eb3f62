# SPDX-License-Identifier: GPL-2.0
"""The sources of a variant's counts: the costliest functions, and falsely shared cache lines
(Documentation/attribution.rst)."""

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
    """`source` is the FILE:LINE with most stall cycles, or "". `costs` are summed over all runs, by
    the plugin's names."""

    function: str
    binary: str
    source: str
    costs: Mapping[str, int]


@dataclass(frozen=True)
class FalseSharing:
    """A cache line that CPUs fetched from each other `in_vain`, of all `moves`. `touched` says
    which CPU reads or writes which bytes, `by` which functions fetch the line."""

    name: str
    moves: int
    in_vain: int
    stall_cycles: int
    touched: Sequence[str]
    by: Sequence[str]


@dataclass(frozen=True)
class Attributed:
    """The sum over a variant's `runs` of a workload, in user and kernel mode. The idle loop is not
    included, as in all counters."""

    variant_name: str
    workload: str
    runs: int
    totals: Mapping[str, int]
    functions: Sequence[FunctionCost]
    false_sharing: Sequence[FalseSharing]


def keep(directory: Path, attributed: Iterable[Attributed], builds: Builds) -> None:
    """Write the attribution below the results directory, with the builds of its runs."""
    content = {
        "schema": SCHEMA_VERSION,
        **asdict(builds),
        "attributed": [asdict(variant) for variant in attributed],
    }
    write_json(directory / DIRECTORY / _FILE, content)


def load(directory: Path, builds: Builds | None) -> tuple[Attributed, ...]:
    """The attribution that keep() wrote for these builds; empty without one."""
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
