# SPDX-License-Identifier: GPL-2.0
"""A comparison for people at a terminal, for documents and for programs."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from rich.table import Table as RichTable
from rich.text import Text

from fastlab.model import METRICS, SCHEMA_VERSION, FastError, Place
from fastlab.regret import Regret
from fastlab.results import machine_record
from fastlab.stats import Comparison, Excluded, Summary, Synchronization
from fastlab.tables import Cell, Table, everything, standard

PLACE = tuple(one.name for one in fields(Place))
COLUMNS = (
    "metric",
    "baseline",
    "variant",
    "improvement_pct",
    "spread",
    "variant_name",
)
STYLES = {"": "", "gain": "green", "loss": "red", "aside": "dim"}


def summary_document(summary: Summary) -> dict[str, Any]:
    """summary.json. Null says "not available"; values are means over the seeds both sides have."""
    experiment = summary.experiment
    return {
        "schema": SCHEMA_VERSION,
        "experiment": experiment.name,
        "series": experiment.series,
        "backend": "sim",
        "baseline": experiment.baseline,
        "variants": [
            {
                "name": variant.name,
                "kernel": variant.kernel,
                "policy": variant.policy,
                "sysctls": dict(variant.sysctls),
                "features": list(variant.features),
                "cpus": variant.cpus,
            }
            for variant in experiment.variants
        ],
        "kernels": [summary.kernels[name] for name in sorted(summary.kernels)],
        "tools": summary.tools,
        "machine": machine_record(experiment.machine),
        "axes": {name: list(values) for name, values in summary.axes.items()},
        "seeds": list(experiment.seeds),
        "metrics": {one.name: {"unit": one.unit, "better": one.better} for one in METRICS},
        "rows": [_record(one) for one in summary.comparisons],
        "mechanism": [
            {
                **_placed(one),
                "variant_name": one.variant_name,
                "counters": one.counters,
            }
            for one in summary.mechanism
        ],
        "oracle": {
            "variants": list(experiment.oracle),
            "rows": [_flat(one) for one in summary.regrets],
            "standings": [asdict(one) for one in summary.standings],
        },
        "synchronization": [_flat(one) for one in summary.synchronization],
        **{
            status: [_excluded(one) for one in summary.excluded if one.status == status]
            for status in ("invalid", "failed", "missing")
        },
    }


def _placed(one: Place) -> dict[str, Any]:
    return {"benchmark": one.benchmark, "threads": one.threads, **dict(one.axes)}


def _flat(one: Synchronization | Regret) -> dict[str, Any]:
    """All fields, the axes by their names."""
    own = {name: value for name, value in asdict(one).items() if name not in PLACE}
    return {**_placed(one), **own}


def _record(one: Comparison) -> dict[str, Any]:
    return {
        **_placed(one),
        "metric": one.metric.name,
        "baseline": one.baseline,
        "variant": one.variant,
        "improvement_pct": one.improvement_pct,
        "spread": one.spread,
        "variant_name": one.variant_name,
    }


def _excluded(one: Excluded) -> dict[str, Any]:
    return {
        **_placed(one),
        "seed": one.seed,
        "variant_name": one.variant_name,
        "reason": one.reason,
    }


def json_text(summary: Summary) -> str:
    return json.dumps(summary_document(summary), indent=1, allow_nan=False) + "\n"


def csv_text(summary: Summary) -> str:
    """The rows of summary.json; an empty field says "not available"."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _columns(summary, COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_record(one) for one in summary.comparisons)
    return out.getvalue()


def regret_csv_text(summary: Summary) -> str:
    """The oracle's rows of summary.json; an empty field says "not available"."""
    out = io.StringIO()
    own = [one.name for one in fields(Regret) if one.name not in PLACE]
    writer = csv.DictWriter(out, _columns(summary, own), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_flat(one) for one in summary.regrets)
    return out.getvalue()


def _columns(summary: Summary, own: Sequence[str]) -> list[str]:
    """Where a row stands, then what is its own."""
    return ["benchmark", "threads", *summary.axes, *own]


def markdown_text(summary: Summary) -> str:
    """The whole comparison as one Markdown document."""
    tables = standard(summary) + [everything(summary, name) for name in summary.variant_names]
    parts = [f"# {summary.experiment.name}\n", *(markdown_table(table) for table in tables)]
    return "\n".join(parts)


def markdown_table(table: Table) -> str:
    lines = [f"## {table.title}", ""]
    if table.rows:
        rule = ["---" if i < table.labels else "--:" for i in range(len(table.columns))]
        cells = [[_markdown_cell(cell) for cell in row] for row in table.rows]
        lines += ["| " + " | ".join(row) + " |" for row in [table.columns, rule, *cells]]
        lines.append("")
    lines += [table.note, ""]
    return "\n".join(lines)


def _markdown_cell(cell: Cell) -> str:
    text = cell.text.replace("|", "\\|").replace("\n", " ")
    return f"**{text}**" if cell.strong else text


def rst_table(table: Table) -> str:
    """A table for Documentation, its note below it."""
    lines = [f".. list-table:: {table.title}", "   :header-rows: 1", ""]
    for row in [[Cell(column) for column in table.columns], *table.rows]:
        cells = [" ".join(cell.text.split()) for cell in row]
        lines += [
            f"   {'* -' if i == 0 else '  -'} {text}".rstrip() for i, text in enumerate(cells)
        ]
    return "\n".join([*lines, "", table.note, ""])


def terminal_tables(summary: Summary) -> list[RichTable]:
    """What `fast compare` prints with rich."""
    return [rich_table(table) for table in standard(summary) if table.rows]


def rich_table(table: Table) -> RichTable:
    """A table for a terminal."""
    shown = RichTable(
        title=table.title, caption=table.note, title_justify="left", caption_justify="left"
    )
    for i, column in enumerate(table.columns):
        shown.add_column(Text(column), justify="left" if i < table.labels else "right")
    for row in table.rows:
        shown.add_row(
            *(
                Text(
                    cell.text, style=f"{'bold ' if cell.strong else ''}{STYLES[cell.tone]}".strip()
                )
                for cell in row
            )
        )
    return shown


def write_files(directory: Path, files: Iterable[tuple[str, str | bytes]]) -> list[Path]:
    """Write each named file of the directory; a reader sees the old or the new one, never half."""
    paths = []
    for name, content in files:
        path = directory / name
        _replace(path, content.encode() if isinstance(content, str) else content)
        paths.append(path)
    return paths


def _replace(path: Path, content: bytes) -> None:
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise FastError(
            f"{path}: cannot be written: {error.strerror}; make room or choose another directory, "
            "then run the same command again (raw results are safe)"
        ) from error
