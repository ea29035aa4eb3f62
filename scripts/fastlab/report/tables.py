# SPDX-License-Identifier: GPL-2.0
"""Tables, independent of their output form, and the tables of every comparison."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote

from fastlab.base.metrics import Metric
from fastlab.base.model import Place
from fastlab.base.text import one_line
from fastlab.plan import rows as runs
from fastlab.statistics.findings import Finding, Findings, Verdict, no_run

Tone = Literal["", "gain", "loss", "aside"]

NOT_AVAILABLE = "n/a"
# Marks a value that lacks some planned runs.
PARTIAL = "†"
# The text of a cell without information; also a number that rounds to 0.
_NOTHING = re.compile(rf"|-|{NOT_AVAILABLE}|0(\.0+)?( %)?")
TONES: Mapping[Verdict, Tone] = {"better": "gain", "worse": "loss", "INVALID": "loss"}
# Metrics that the result names besides the primary metric: gains often cost these.
PAID_WITH = ("fairness", "migrations")
# Metrics of each run in the table of runs, besides the primary metric.
SHOWN_OF_RUNS = (
    "elapsed_ns",
    "cycles",
    "bus_requests",
    "throughput",
    "l2_misses",
    "context_switches",
    *reversed(PAID_WITH),
)
SIGN = (
    "Improvement = (baseline - variant) * 100 / baseline in percent; for throughput and fairness "
    "the sign is turned, so that positive is better everywhere. "
    "± is the sample standard deviation over the seeds, in percentage points. "
    f"{NOT_AVAILABLE}: not available. {PARTIAL}: fewer seeds than planned, see the runs left out. "
    "~: no significant change."
)


@dataclass(frozen=True)
class Cell:
    """`strong` marks a best case; `tone` marks a gain, a loss, or an unmeasured value. On the page
    the cell leads to `link`, and `anchor` is its name for links. A terminal shows `short` unless it
    is empty."""

    text: str
    strong: bool = False
    tone: Tone = ""
    link: str = ""
    anchor: str = ""
    short: str = ""


@dataclass(frozen=True)
class Table:
    """Columns are left-aligned up to `labels`, right-aligned after it. `kept` are columns that stay
    even without information (without_empty()). On the page every table can be sorted and filtered;
    a row with an empty first cell stays with the row above it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    labels: int = 1
    kept: Collection[str] = ()


def without_empty(table: Table) -> Table:
    """The table without columns in which no row has information, except those in `kept`."""
    told = [
        i
        for i, column in enumerate(table.columns)
        if column in table.kept or not all(_NOTHING.fullmatch(row[i].text) for row in table.rows)
    ]
    if not table.rows:
        return table
    return replace(
        table,
        columns=[table.columns[i] for i in told],
        rows=[[row[i] for i in told] for row in table.rows],
        labels=sum(i < table.labels for i in told),
    )


def results(findings: Findings, title: str, cases: Sequence[Finding]) -> Table:
    """A row for each finding, with its values."""
    spread = any(case.low is not None for case in cases)
    tested = any(case.p is not None for case in cases)
    columns = ["workload", "variant", "metric", findings.baseline, "variant's", "improvement %"]
    columns += ["95 % interval"] if spread else []
    columns += ["p (Holm)", "p (rank)"] if tested else []
    rows = []
    link = links(findings)
    for case in cases:
        cells = [
            Cell(case.workload, link=link.get(case.key, "")),
            Cell(case.variant_name),
            Cell(case.metric.name),
        ]
        cells += [Cell(value(case.baseline.mean)), Cell(value(case.variant.mean))]
        cells.append(improvement_cell(case))
        texts = [interval(case)] if spread else []
        texts += [_p(case.p), _p(case.p_rank)] if tested else []
        aside: Tone = "aside" if case.gain in (None, 0.0) else ""
        tone = TONES.get(case.verdict, aside)
        rows.append([*cells, *(Cell(text, tone=tone) for text in [*texts, case.verdict])])
    kind = "geometric" if findings.mean == "Gmean" else "arithmetic"
    note = f"{findings.mean}: {kind} means. {SIGN}"
    if spread:
        note += " Metrics other than the primary metric are hints."
    return Table(title, [*columns, "verdict"], rows, note, 3, ["improvement %"])


def by_metric(findings: Findings) -> Iterator[Table]:
    """The primary metric, if it was measured; then the other metrics."""
    others: list[Finding] = []
    for metric in findings.measured:
        cases = findings.of_metric(metric.name)
        if metric.name == findings.primary:
            yield results(findings, f"{heading(metric)}: the primary metric", cases)
        else:
            others += cases
    if others:
        yield results(findings, "Other metrics", others)


def losses(findings: Findings) -> Table:
    """Every case in which a variant is worse than the baseline, the largest loss first."""
    return _list(
        findings, "Losses", [finding for finding in findings.findings if (finding.gain or 0) < 0]
    )


def gains(findings: Findings) -> Table:
    """Every case in which a variant is better than the baseline, the largest gain first."""
    return _list(
        findings, "Gains", [finding for finding in findings.findings if (finding.gain or 0) > 0]
    )


def _list(findings: Findings, title: str, cases: Sequence[Finding]) -> Table:
    """The largest changes first. Changes that are equal to six digits keep their order."""
    ordered = sorted(cases, key=lambda case: -round(abs(case.improvement_pct or 0), 6))
    link = links(findings)
    rows = [
        [
            Cell(finding.variant_name),
            Cell(finding.benchmark, link=link.get(finding.key, "")),
            Cell(finding.metric.name),
            *numbers(finding),
            Cell(value(finding.baseline.mean)),
            Cell(value(finding.variant.mean)),
            improvement_cell(finding),
        ]
        for finding in ordered
    ]
    columns = ["variant", "benchmark", "metric", "threads", *findings.axes]
    columns += ["baseline", "value", "improvement %"]
    return Table(f"{title}: {len(cases)}", columns, rows, SIGN, 3)


def numbers(place: Place) -> list[Cell]:
    """The number of threads, and the row's values on the axes of a matrix."""
    return [Cell(str(place.threads)), *(Cell(str(number)) for _, number in place.axes)]


def left_out(findings: Findings) -> Table:
    """The runs that are in no comparison, and why."""
    link = links(findings)
    rows = [
        [
            Cell(run.status.upper(), tone="aside" if run.status == "missing" else "loss"),
            Cell(run.variant_name),
            Cell(run.benchmark, link=link.get(run.key, "")),
            Cell(run.reason),
            Cell(run.which),
            *numbers(run),
        ]
        for run in findings.left_out
    ]
    columns = ["status", "variant", "benchmark", "reason", "which", "threads", *findings.axes]
    return Table(
        f"Left out: {len(rows)} runs", columns, rows, "These runs are in no other table.", 5
    )


def links(findings: Findings) -> dict[tuple[int | str, ...], str]:
    """Links to a workload's runs in the table raw(), by the workload's key."""
    return {
        key: f"#runs-{number}"
        for number, key in enumerate(dict.fromkeys(run.key for run in findings.raw))
    }


def raw(findings: Findings) -> Table:
    """Every compared run, and every run that should have been compared, with its key in
    runs.jsonl."""
    measured = {metric.name for metric in findings.measured}
    names = [name for name in dict.fromkeys((findings.primary, *SHOWN_OF_RUNS)) if name in measured]
    # Links lead to the first run of a workload.
    anchors = {key: link.removeprefix("#") for key, link in links(findings).items()}
    rows = []
    for run in findings.raw:
        status = run.row["status"]
        cells = [
            Cell(run.workload, anchor=anchors.pop(run.key, "")),
            Cell(run.variant_name),
            Cell(run.which),
            Cell(status, tone="" if status == "ok" else "loss"),
            _key(run.row["key"]),
        ]
        rows.append([*cells, *(Cell(value(runs.value(run.row, name))) for name in names)])
    columns = ["workload", "variant", "which", "status", "key", *names]
    note = "key: identifies the line of runs.jsonl, in the same directory, with all measurements."
    return Table(f"Runs: {len(rows)}", columns, rows, note, 4)


def _key(key: str) -> Cell:
    """A link to the line with a text fragment. The line's number would depend on how many runs were
    made at the same time."""
    # A simulated run's key is a digest; its first digits suffice.
    shown = key if "-" in key else key[:12]
    # "-" is syntax in a text fragment.
    text = quote(key, safe="").replace("-", "%2D")
    return Cell(shown, link=f"runs.jsonl#:~:text={text}")


def notes(findings: Findings) -> list[str]:
    """Notes on the numbers, a line each."""
    lacking = missing(findings)
    lines = [
        *(f"Calibration: {line}" for line in findings.calibration),
        *(f"Doubtful: {line}" for line in findings.doubts),
        *([f"Not available: {lacking}."] if lacking else []),
        *(f"No claim: {line}" for line in no_claims(findings)),
        *(f"Left out: {run.sentence}" for run in findings.left_out),
    ]
    return [one_line(line) for line in lines]


def missing(findings: Findings) -> str:
    """The metrics that no run has, grouped by reason."""
    names: dict[str, list[str]] = {}
    for metric in findings.not_available:
        names.setdefault(findings.why_not_available(metric.name), []).append(metric.name)
    return "; ".join(
        f"{', '.join(name)}{f' ({why})' if why else ''}" for why, name in names.items()
    )


def no_claims(findings: Findings) -> list[str]:
    """Why there is no claim, and for which metrics."""
    reasons: dict[str, list[str]] = {}
    for metric in findings.measured:
        for finding in findings.of_metric(metric.name):
            # The tables show metrics that no run has; list them here only with a further reason.
            if finding.reason and finding.reason != no_run(metric.name):
                # Group metrics with the same reason.
                reason = finding.reason.replace(no_run(metric.name), "no run has it")
                text = f"{finding.variant_name}: {finding.workload}: {finding.verdict}: {reason}"
                reasons.setdefault(text, []).append(metric.name)
    every = len(findings.measured)
    return [
        f"{text} ({'all metrics' if len(names) == every else ', '.join(names)})"
        for text, names in reasons.items()
    ]


def units(findings: Findings) -> Table:
    """The metrics and their units."""
    rows = [
        [Cell(metric.name), Cell(metric.unit), Cell(f"{metric.better} is better")]
        for metric in findings.metrics
    ]
    return Table("Metrics", ["metric", "counts", "direction"], rows, labels=3)


def heading(metric: Metric) -> str:
    return f"{metric.name} ({metric.unit}, {metric.better} is better)"


def improvement_cell(finding: Finding, best: bool = False) -> Cell:
    """An improvement and its spread, in percent."""
    if finding.improvement_pct is None:
        return Cell(NOT_AVAILABLE, tone="aside")
    # Rounded first: 0.0 has neither sign nor tone.
    shown = round(finding.improvement_pct, 1) or 0.0
    spread = "" if finding.spread is None else f" ±{finding.spread:.1f}"
    unsure = " ~" if finding.verdict == "~" else ""
    text = f"{shown:.1f}{spread}{unsure}{'' if finding.complete else f' {PARTIAL}'}"
    sign: Tone = "gain" if shown > 0 else "loss" if shown < 0 else ""
    return Cell(text, best, sign if finding.gain else "aside" if shown else "")


def side_by_side(cases: Sequence[Finding]) -> list[Cell]:
    """The improvements, the best bold if it is significant."""
    best = max((case.gain for case in cases if case.gain is not None), default=None)
    return [improvement_cell(case, bool(case.gain) and case.gain == best) for case in cases]


def value(number: float | None) -> str:
    """The value of a counter or ratio."""
    if number is None:
        return NOT_AVAILABLE
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.4g}"


def signed(percent: float) -> str:
    """Rounded first: 0.0 is neither better nor worse."""
    return f"{round(percent, 1) or 0.0:+.1f}"


def interval(finding: Finding) -> str:
    if finding.low is None or finding.high is None:
        return NOT_AVAILABLE
    return f"[{signed(finding.low)}, {signed(finding.high)}]"


def _p(p: float | None) -> str:
    if p is None:
        return NOT_AVAILABLE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
