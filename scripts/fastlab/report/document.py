# SPDX-License-Identifier: GPL-2.0
"""Findings for programs: a JSON document, and its rows as CSV.

Documentation/results-format.rst says which parts are stable.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from statistics import fmean
from typing import Any

from fastlab.base.model import Place, record
from fastlab.statistics.findings import Finding, Findings
from fastlab.statistics.regret import Regret, values_by_axis

SCHEMA = 3

PLACE = tuple(field.name for field in fields(Place))
# The fields of a row besides its place, in the document and the CSV.
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


def document(findings: Findings) -> dict[str, Any]:
    """summary.json. Null says "not available"."""
    return {
        "schema": SCHEMA,
        "experiment": findings.title,
        "backend": findings.backend,
        "setting": dict(findings.setting),
        "baseline": findings.baseline,
        "variants": list(findings.variants),
        "primary": findings.primary,
        "mean": findings.mean,
        "axes": {name: list(values) for name, values in findings.axes.items()},
        "metrics": {
            metric.name: {"unit": metric.unit, "better": metric.better}
            for metric in findings.metrics
        },
        "rows": [_row(finding) for finding in findings.findings],
        "calibration": list(findings.calibration),
        "doubts": list(findings.doubts),
        "left_out": [_flat(run) for run in findings.left_out],
        **_simulation(findings),
    }


def _simulation(findings: Findings) -> dict[str, Any]:
    """The fields that only the simulation has."""
    if not findings.simulation:
        return {}
    experiment = findings.simulation.experiment
    return {
        "simulation": {
            "series": experiment.series,
            "machine": dict(findings.simulation.machine),
            "seeds": list(experiment.seeds),
            "kernels": dict(sorted(findings.simulation.kernels.items())),
            "tools": findings.simulation.tools,
            "arms": [
                {**record(variant), "knobs": dict(variant.knobs)} for variant in experiment.variants
            ],
            "mechanism": [_flat(entry) for entry in findings.mechanism],
            "synchronization": [_flat(entry) for entry in findings.synchronization],
            "locks": [_flat(lock) for lock in findings.locks],
            "oracle": list(findings.oracle),
            "regrets": [_flat(regret) for regret in findings.regrets],
            "standings": [asdict(standing) for standing in findings.standings],
            "mean_regrets": [
                {"variant_name": arm, "benchmark": name, axis: value, "regret": fmean(known)}
                for arm in (findings.arms if findings.axes else ())
                for (name, axis, value), known in values_by_axis(
                    (regret, regret.whole)
                    for regret in findings.regrets
                    if regret.variant_name == arm
                ).items()
            ],
        }
    }


def _flat(entry: Any) -> dict[str, Any]:
    """All fields; the axes are fields by their names."""
    own = {name: value for name, value in vars(entry).items() if name not in PLACE}
    return {**_placed(entry), **own}


def _placed(place: Place) -> dict[str, Any]:
    return {"benchmark": place.benchmark, "threads": place.threads, **dict(place.axes)}


def _row(finding: Finding) -> dict[str, Any]:
    given = vars(finding) | {"metric": finding.metric.name, "unit": finding.metric.unit}
    for name, side in (("baseline", finding.baseline), ("variant", finding.variant)):
        given[name] = side.mean
        given[f"{name}_deviation_pct"] = side.deviation_pct
        given[f"{name}_runs"] = side.runs
    return {**_placed(finding), **{name: given[name] for name in COLUMNS}}


def json_text(findings: Findings) -> str:
    return json.dumps(document(findings), indent=1, allow_nan=False) + "\n"


def csv_text(findings: Findings) -> str:
    """The rows of summary.json; an empty field is not available. Notes on the numbers are in the
    other forms."""
    return _csv(findings, COLUMNS, map(_row, findings.findings))


def regret_csv_text(findings: Findings) -> str:
    """The oracle's rows of summary.json; an empty field is not available."""
    own = [field.name for field in fields(Regret) if field.name not in PLACE]
    return _csv(findings, own, map(_flat, findings.regrets))


def _csv(findings: Findings, own: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The row's place, then its own fields."""
    out = io.StringIO()
    columns = ["benchmark", "threads", *findings.axes, *own]
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
