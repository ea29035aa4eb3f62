# SPDX-License-Identifier: GPL-2.0
"""A measured evaluation as tables, JSON and CSV: each measured row above what the source has."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastlab.base.files import write_files, write_json
from fastlab.base.model import SCHEMA_VERSION, FastError
from fastlab.base.text import cut
from fastlab.report.markup import markdown_table
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table, Tone
from fastlab.statistics.environment import host
from fastlab.statistics.estimates import Estimate, estimate
from intervals_bench.peers import SERIAL, UNITS
from intervals_bench.rounds import telling_environment
from intervals_bench.theses import TITLES, Published, ThesisEvaluation, ThesisRequest
from intervals_bench.theses_claims import ThesisPoint, ThesisRow, ThesisVerdict

HERE = "here"
# The most characters of a command that a report shows.
SHOWN = 200
NOTE = (
    "Medians over the rounds; ± is half the distance of the quartiles; serial has one thread. A "
    "row of another machine is what the source has published."
)
COLUMNS = (
    *("program", "contender", "workers", "where", "metric", "unit", "median", "spread"),
    *("runs", "status", "reason"),
)
TONES: Mapping[str, Tone] = {
    "upheld": "gain",
    "not upheld": "loss",
    "not testable here": "aside",
}

Rows = Mapping[ThesisPoint, ThesisRow]


def listing(evaluations: Iterable[ThesisEvaluation]) -> Table:
    """What there is to measure."""
    return Table(
        "The theses' evaluations",
        ("name", "source", "what it measures", "--simulate"),
        [
            [*map(Cell, (one.name, one.source, one.title, "yes" if one.simulated else ""))]
            for one in evaluations
        ],
        "fast bench theses NAME measures one of them.",
        labels=4,
    )


def tables(
    request: ThesisRequest, rows: Sequence[ThesisRow], found: Sequence[ThesisVerdict]
) -> list[Table]:
    """One of each metric, then the conclusions, and what could not be measured."""
    evaluation = request.evaluation
    shown = [_of_metric(evaluation, metric, rows) for metric in request.metrics()]
    missing = [row for row in rows if not row.runs or row.status != "ok"]
    return [
        *(shown if rows else []),
        _conclusions(found),
        *([_missing(missing)] if missing else []),
    ]


def markdown(
    request: ThesisRequest, rows: Sequence[ThesisRow], found: Sequence[ThesisVerdict]
) -> str:
    """All of it, for a terminal and a file."""
    evaluation = request.evaluation
    head = f"# {evaluation.title} ({evaluation.source})\n"
    if evaluation.note:
        head += f"\n{evaluation.note}\n"
    return "\n".join([head, *map(markdown_table, tables(request, rows, found))])


def check_own(directory: Path, request: ThesisRequest) -> None:
    """Raise FastError if the directory has results that these would replace and do not measure
    again: of another evaluation or machine, or of full sizes where these are tests'."""
    path = directory / "theses.json"
    try:
        kept = json.loads(path.read_bytes())
        before = kept["evaluation"], kept["simulated"], kept["quick"]
        command = str(kept["command"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        # There are none.
        return
    now = request.evaluation.name, bool(request.simulate), request.quick
    if before != now and not kept["quick"]:
        raise FastError(
            f"{path} has what `{cut(command, SHOWN)}` measured, and it would be replaced. Nothing "
            "was changed; give --output another directory"
        )


def write(
    directory: Path,
    command: str,
    request: ThesisRequest,
    rows: Sequence[ThesisRow],
    found: Sequence[ThesisVerdict],
) -> list[Path]:
    """Into a directory: theses.json, theses.csv and theses.md."""
    write_json(directory / "theses.json", document(command, request, rows, found))
    texts = [("theses.csv", csv_text(request, rows)), ("theses.md", markdown(request, rows, found))]
    return [directory / "theses.json", *write_files(directory, texts)]


def document(
    command: str,
    request: ThesisRequest,
    rows: Sequence[ThesisRow],
    found: Sequence[ThesisVerdict],
) -> dict[str, Any]:
    """The JSON file: all rounds, and each conclusion with all that decided it."""
    evaluation = request.evaluation
    return {
        "schema": SCHEMA_VERSION,
        "command": command,
        "evaluation": evaluation.name,
        "source": evaluation.source,
        "rounds": request.rounds,
        "quick": request.quick,
        "simulated": bool(request.simulate),
        "sizes": dict(evaluation.simulated) if request.simulate else {},
        **host(),
        "environment": telling_environment(),
        "contenders": [asdict(one) for one in evaluation.contenders],
        "rows": [
            {
                **asdict(row.point),
                "unit": row.unit,
                "rounds": [dict(one) for one in row.rounds],
                "status": row.status,
                "reason": row.reason,
            }
            for row in rows
        ],
        "published": [asdict(one) for one in evaluation.published],
        "conclusions": [
            {
                "source": one.conclusion.source,
                "words": one.conclusion.words,
                "outcome": one.outcome,
                "reason": one.reason,
                "claims": [asdict(judgement) for judgement in one.judgements],
            }
            for one in found
        ],
    }


def csv_text(request: ThesisRequest, rows: Sequence[ThesisRow]) -> str:
    """A line for each value, the published ones too."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for metric in request.metrics():
        writer.writerows(_lines(request.evaluation, metric, rows))
    return out.getvalue()


def _lines(
    evaluation: ThesisEvaluation, metric: str, rows: Sequence[ThesisRow]
) -> Iterator[dict[str, Any]]:
    for row in rows:
        one = _estimate(row, metric)
        yield {
            **asdict(row.point),
            "where": HERE,
            "metric": metric,
            "unit": _unit(row, metric),
            "median": one.median if one else None,
            "spread": one.spread if one else None,
            "runs": len(row.values(metric)),
            "status": row.status,
            "reason": row.reason,
        }
    for published in _published(evaluation, metric, {row.point.program for row in rows}):
        for contender, value in published.values.items():
            yield {
                "program": published.program,
                "contender": contender,
                "workers": published.workers,
                "where": published.where,
                "metric": metric,
                "unit": published.unit,
                "median": value,
            }


def _published(
    evaluation: ThesisEvaluation, metric: str, programs: Iterable[str]
) -> list[Published]:
    shown = set(programs)
    return [one for one in evaluation.published if one.metric == metric and one.program in shown]


def _estimate(row: ThesisRow, metric: str) -> Estimate | None:
    values = row.values(metric)
    return estimate(values) if values and row.status == "ok" else None


def _unit(row: ThesisRow, metric: str) -> str:
    return UNITS.get(row.unit, row.unit) if metric == "time" else ""


def _of_metric(evaluation: ThesisEvaluation, metric: str, rows: Sequence[ThesisRow]) -> Table:
    by_point = {row.point: row for row in rows}
    lines: list[list[Cell]] = []
    for program in dict.fromkeys(row.point.program for row in rows):
        lines += _measured(evaluation, metric, program, by_point)
        for one in _published(evaluation, metric, (program,)):
            workers = "" if one.workers is None else str(one.workers)
            head = [Cell(program), Cell(workers), Cell(one.where), Cell(one.unit)]
            cells = [_value(one.values.get(other.name)) for other in evaluation.contenders]
            lines.append([*head, *cells])
    return Table(
        TITLES[metric],
        ("program", "workers", "where", "unit", *(one.name for one in evaluation.contenders)),
        lines,
        NOTE,
        labels=4,
    )


def _measured(
    evaluation: ThesisEvaluation, metric: str, program: str, rows: Rows
) -> Iterator[list[Cell]]:
    """A line for each number of workers; what has one thread is in all of them."""
    of_program = [row for point, row in rows.items() if point.program == program]
    for workers in _workers(evaluation, of_program):
        cells, units = [], []
        for one in evaluation.contenders:
            count = 1 if one.runtime == SERIAL else workers
            row = rows[ThesisPoint(program, one.name, count)]
            cells.append(_cell(row, metric))
            units.append(_unit(row, metric))
        yield [Cell(program), Cell(str(workers)), Cell(HERE), Cell(max(units)), *cells]


def _workers(evaluation: ThesisEvaluation, rows: Iterable[ThesisRow]) -> list[int]:
    found = {
        row.point.workers
        for row in rows
        if evaluation.contender(row.point.contender).runtime != SERIAL
    }
    return sorted(found)


def _cell(row: ThesisRow, metric: str) -> Cell:
    one = _estimate(row, metric)
    if one is None:
        failed = row.status == "failed"
        return Cell("failed", tone="loss") if failed else Cell(NOT_AVAILABLE, tone="aside")
    spread = f" ± {50 * one.spread:.1f} %" if row.runs > 1 else ""
    return Cell(_number(one.median) + spread)


def _value(value: float | None) -> Cell:
    return Cell("") if value is None else Cell(_number(value))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def _conclusions(found: Sequence[ThesisVerdict]) -> Table:
    lines = [
        [
            Cell(one.conclusion.source),
            Cell(f'"{one.conclusion.words}"'),
            Cell(one.outcome, tone=TONES[one.outcome]),
            Cell(one.reason),
        ]
        for one in found
    ]
    note = (
        "In parentheses: the interval of the rounds' mean ratio, 95 % for all claims of a "
        "conclusion together."
    )
    return Table("Conclusions", ("source", "its words", "here", "why"), lines, note, labels=4)


def _missing(rows: Sequence[ThesisRow]) -> Table:
    lines = [
        [
            Cell(str(row.point)),
            Cell(NOT_AVAILABLE if row.status == "ok" else row.status),
            Cell(row.reason or "not measured"),
        ]
        for row in rows
    ]
    return Table("Not measured", ("point", "status", "why"), lines, labels=3)
