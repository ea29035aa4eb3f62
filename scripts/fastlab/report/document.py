# SPDX-License-Identifier: GPL-2.0
"""Findings for programs: one JSON document, and its rows as CSV.

Documentation/results-format.rst says what of it stays as it is.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from statistics import fmean
from typing import Any

from fastlab.base.model import Place
from fastlab.statistics.findings import Finding, Findings
from fastlab.statistics.regret import Regret, values_by_axis

SCHEMA = 3

PLACE = tuple(one.name for one in fields(Place))
# Of a row besides its place, as the document and the CSV have them.
COLUMNS = (
    "metric",
    "unit",
    "variant_name",
    "baseline",
    "variant",
    "improvement_pct",
    "spread",
    "low",
    "high",
    "p",
    "p_rank",
    "floor_pct",
    "detectable_pct",
    "verdict",
    "reason",
    "baseline_deviation_pct",
    "baseline_runs",
    "variant_deviation_pct",
    "variant_runs",
    "complete",
)


def document(found: Findings) -> dict[str, Any]:
    """summary.json. Null says "not available"."""
    return {
        "schema": SCHEMA,
        "experiment": found.title,
        "backend": found.backend,
        "setting": dict(found.setting),
        "baseline": found.baseline,
        "variants": list(found.variants),
        "primary": found.primary,
        "mean": found.mean,
        "axes": {name: list(values) for name, values in found.axes.items()},
        "metrics": {one.name: {"unit": one.unit, "better": one.better} for one in found.metrics},
        "rows": [_row(one) for one in found.findings],
        "calibration": list(found.calibration),
        "doubts": list(found.doubts),
        "left_out": [_flat(one) for one in found.left_out],
        **_simulation(found),
    }


def _simulation(found: Findings) -> dict[str, Any]:
    """What only the simulation knows."""
    if not found.simulation:
        return {}
    experiment = found.simulation.experiment
    return {
        "simulation": {
            "series": experiment.series,
            "machine": dict(found.simulation.machine),
            "seeds": list(experiment.seeds),
            "kernels": dict(sorted(found.simulation.kernels.items())),
            "tools": found.simulation.tools,
            "arms": [{**asdict(one), "knobs": dict(one.knobs)} for one in experiment.variants],
            "mechanism": [_flat(one) for one in found.mechanism],
            "synchronization": [_flat(one) for one in found.synchronization],
            "locks": [_flat(one) for one in found.locks],
            "oracle": list(found.oracle),
            "regrets": [_flat(one) for one in found.regrets],
            "standings": [asdict(one) for one in found.standings],
            "mean_regrets": [
                {"variant_name": arm, "benchmark": name, axis: value, "regret": fmean(known)}
                for arm in (found.arms if found.axes else ())
                for (name, axis, value), known in values_by_axis(
                    (one, one.whole) for one in found.regrets if one.variant_name == arm
                ).items()
            ],
        }
    }


def _flat(one: Any) -> dict[str, Any]:
    """All fields, the axes by their names."""
    own = {name: value for name, value in vars(one).items() if name not in PLACE}
    return {**_placed(one), **own}


def _placed(one: Place) -> dict[str, Any]:
    return {"benchmark": one.benchmark, "threads": one.threads, **dict(one.axes)}


def _row(one: Finding) -> dict[str, Any]:
    given = vars(one) | {"metric": one.metric.name, "unit": one.metric.unit}
    for name, side in (("baseline", one.baseline), ("variant", one.variant)):
        given[name] = side.mean
        given[f"{name}_deviation_pct"] = side.deviation_pct
        given[f"{name}_runs"] = side.runs
    return {**_placed(one), **{name: given[name] for name in COLUMNS}}


def json_text(found: Findings) -> str:
    return json.dumps(document(found), indent=1, allow_nan=False) + "\n"


def csv_text(found: Findings) -> str:
    """The rows of summary.json; an empty field says "not available". What stands beside the numbers
    is in the other forms."""
    return _csv(found, COLUMNS, map(_row, found.findings))


def regret_csv_text(found: Findings) -> str:
    """The oracle's rows of summary.json; an empty field says "not available"."""
    own = [one.name for one in fields(Regret) if one.name not in PLACE]
    return _csv(found, own, map(_flat, found.regrets))


def _csv(found: Findings, own: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Where a row stands, then what is its own."""
    out = io.StringIO()
    columns = ["benchmark", "threads", *found.axes, *own]
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
