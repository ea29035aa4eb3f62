# SPDX-License-Identifier: GPL-2.0
"""Tables, independent of what shows them, and those of any comparison."""

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
from fastlab.statistics.findings import NO_ANSWER, NO_CHANGE, Finding, Findings, Verdict, no_run

Tone = Literal["", "gain", "loss", "aside"]

NOT_AVAILABLE = "n/a"
# What lacks some of the runs that were planned.
PARTIAL = "†"
# What a cell says of nothing; of a rounded number, nothing that is to be seen.
_NOTHING = re.compile(rf"|-|{NOT_AVAILABLE}|0(\.0+)?( %)?")
TONES: Mapping[Verdict, Tone] = {"better": "gain", "worse": "loss", "INVALID": "loss"}
# What the one sentence tells besides the primary metric: a gain is often paid with these.
PAID_WITH = ("fairness", "migrations")
# Of each run, besides the primary metric.
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
    """`strong` marks a best case, `tone` a gain, a loss, or what is not measured here. On a page it
    leads to `link`, and `anchor` is its name for links. A terminal shows `short`, if that is not
    empty."""

    text: str
    strong: bool = False
    tone: Tone = ""
    link: str = ""
    anchor: str = ""
    short: str = ""


@dataclass(frozen=True)
class Table:
    """Columns are left-aligned up to `labels`, right-aligned after it; `kept` are those that a
    reader looks for even where they say nothing (without_empty()). On the page every table can be
    sorted and filtered; a row whose first cell is empty stays with the one above it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    labels: int = 1
    kept: Collection[str] = ()


def without_empty(table: Table) -> Table:
    """The table without columns in which no row says anything, but for those that are `kept`."""
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


@dataclass(frozen=True)
class Tally:
    """How a variant's findings of one metric ended, with the extremes of those that count. Without
    an answer are also those `from_nothing`: costs of which the baseline has none, so no percent."""

    variant: str
    metric: str
    better: int
    worse: int
    unchanged: int
    unanswered: int
    from_nothing: int
    best: Finding | None
    worst: Finding | None


def tally(findings: Findings, variant: str, metric: str) -> Tally:
    cases = findings.find(variant, metric).values()
    verdicts = [case.verdict for case in cases]
    by_gain = sorted(cases, key=lambda case: case.gain or 0.0)
    return Tally(
        variant,
        metric,
        better=verdicts.count("better"),
        worse=verdicts.count("worse"),
        unchanged=sum(verdict in NO_CHANGE for verdict in verdicts),
        unanswered=sum(verdict in NO_ANSWER for verdict in verdicts),
        from_nothing=sum(
            case.metric.better == "lower" and case.baseline.mean == 0 and bool(case.variant.mean)
            for case in cases
        ),
        best=by_gain[-1] if "better" in verdicts else None,
        worst=by_gain[0] if "worse" in verdicts else None,
    )


def lead(findings: Findings) -> str:
    """All in one sentence: of several variants what the best one gains and what it costs."""
    return answers(findings)[0]


def nothing_compared(findings: Findings) -> list[str]:
    """Why, where there is nothing."""
    return (
        []
        if findings.variants
        else [f"Nothing is compared: {findings.baseline} is the only variant."]
    )


def answers(findings: Findings) -> list[str]:
    """The lead, then a sentence for each of the other variants."""
    if not findings.variants:
        return nothing_compared(findings)

    def rank(variant: str) -> tuple[int, float]:
        counts = tally(findings, variant, findings.primary)
        cases = findings.find(variant, findings.primary).values()
        return counts.better - counts.worse, sum(case.gain or 0 for case in cases)

    best = max(findings.variants, key=rank)
    several = len(findings.variants)
    first = f"{f'Best of {several}: ' if several > 1 else ''}{_answer(findings, best)}"
    return [
        first,
        *(_answer(findings, variant) for variant in findings.variants if variant != best),
    ]


def _answer(findings: Findings, variant: str) -> str:
    counts = tally(findings, variant, findings.primary)
    rows = counts.better + counts.worse + counts.unchanged + counts.unanswered
    text = (
        f"{variant} against {findings.baseline} in {findings.primary}: of {rows} rows "
        f"{counts.better} "
        f"better{_extreme(counts.best)}, {counts.worse} worse{_extreme(counts.worst)}, "
        f"{counts.unchanged} "
        "without a change"
    )
    if counts.unanswered:
        text += f", {counts.unanswered} without an answer"
    for metric in PAID_WITH:
        other = tally(findings, variant, metric)
        if other.better or other.worse or other.from_nothing:
            text += f"; {metric}: {other.better} better, {other.worse} worse"
        if other.from_nothing:
            text += f", {other.from_nothing} from 0"
    return f"{text}."


def _extreme(finding: Finding | None) -> str:
    if finding is None or finding.improvement_pct is None:
        return ""
    return f" (up to {signed(finding.improvement_pct)} %, {finding.workload})"


def results(findings: Findings, title: str, cases: Sequence[Finding]) -> Table:
    """A row for each of the findings, with its values."""
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
    note = (
        f"{findings.mean}: {'geometric' if findings.mean == 'Gmean' else 'arithmetic'} means. "
        f"{SIGN}"
    )
    if spread:
        note += " Other metrics than the primary one are hints."
    return Table(title, [*columns, "verdict"], rows, note, 3, ["improvement %"])


def by_metric(findings: Findings) -> Iterator[Table]:
    """The primary metric, where it was measured; then all others."""
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
    """Every case in which a variant is worse than the baseline, the worst first."""
    return _list(
        findings, "Losses", [finding for finding in findings.findings if (finding.gain or 0) < 0]
    )


def gains(findings: Findings) -> Table:
    """Every case in which a variant is better than the baseline, the best first."""
    return _list(
        findings, "Gains", [finding for finding in findings.findings if (finding.gain or 0) > 0]
    )


def _list(findings: Findings, title: str, cases: Sequence[Finding]) -> Table:
    """The largest changes first; equal ones, but for the last bits of a float, as they stand."""
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
    """The threads, and where the row stands on the axes of a matrix."""
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
    return Table(f"Left out: {len(rows)} runs", columns, rows, "In none of the tables.", 5)


def links(findings: Findings) -> dict[tuple[int | str, ...], str]:
    """By its key, where a workload's runs are in the table raw()."""
    return {
        key: f"#runs-{number}"
        for number, key in enumerate(dict.fromkeys(run.key for run in findings.raw))
    }


def raw(findings: Findings) -> Table:
    """Every run that was compared, and those that were to be, with their places in runs.jsonl."""
    measured = {metric.name for metric in findings.measured}
    names = [name for name in dict.fromkeys((findings.primary, *SHOWN_OF_RUNS)) if name in measured]
    # The first of a workload's runs is where links lead.
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
    note = "key: of a line of runs.jsonl, which is beside this page and has all that was measured."
    return Table(f"Runs: {len(rows)}", columns, rows, note, 4)


def _key(key: str) -> Cell:
    """A browser that knows text fragments goes to the line itself. Which line it is would depend on
    how many runs were made at a time, and a page must not."""
    # A simulated run's key is a digest, whose first digits will do.
    shown = key if "-" in key else key[:12]
    # To a fragment "-" is syntax.
    text = quote(key, safe="").replace("-", "%2D")
    return Cell(shown, link=f"runs.jsonl#:~:text={text}")


def notes(findings: Findings) -> list[str]:
    """What belongs beside the numbers, a line each."""
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
    """The metrics that no run has, those together that lack for the same reason."""
    names: dict[str, list[str]] = {}
    for metric in findings.not_available:
        names.setdefault(findings.why_not_available(metric.name), []).append(metric.name)
    return "; ".join(
        f"{', '.join(name)}{f' ({why})' if why else ''}" for why, name in names.items()
    )


def no_claims(findings: Findings) -> list[str]:
    """Why there is no claim, and of which metrics."""
    reasons: dict[str, list[str]] = {}
    for metric in findings.measured:
        for finding in findings.of_metric(metric.name):
            # What no run has stands in the tables as that, unless something is known of why.
            if finding.reason and finding.reason != no_run(metric.name):
                # Metrics that lack for the same reason stand together.
                reason = finding.reason.replace(no_run(metric.name), "no run has it")
                text = f"{finding.variant_name}: {finding.workload}: {finding.verdict}: {reason}"
                reasons.setdefault(text, []).append(metric.name)
    every = len(findings.measured)
    return [
        f"{text} ({'all metrics' if len(names) == every else ', '.join(names)})"
        for text, names in reasons.items()
    ]


def units(findings: Findings) -> Table:
    """What the metrics count."""
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
    # Rounded first: what is shown as 0.0 has no sign and no tone.
    shown = round(finding.improvement_pct, 1) or 0.0
    spread = "" if finding.spread is None else f" ±{finding.spread:.1f}"
    unsure = " ~" if finding.verdict == "~" else ""
    text = f"{shown:.1f}{spread}{unsure}{'' if finding.complete else f' {PARTIAL}'}"
    sign: Tone = "gain" if shown > 0 else "loss" if shown < 0 else ""
    return Cell(text, best, sign if finding.gain else "aside" if shown else "")


def side_by_side(cases: Sequence[Finding]) -> list[Cell]:
    """Their improvements, the best strong, if that is sure: what is no significant change, or no
    answer, is not the best by its number."""
    best = max((case.gain for case in cases if case.gain is not None), default=None)
    return [improvement_cell(case, bool(case.gain) and case.gain == best) for case in cases]


def value(number: float | None) -> str:
    """A counter's or a ratio's value."""
    if number is None:
        return NOT_AVAILABLE
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.4g}"


def signed(percent: float) -> str:
    """Rounded first: what is shown as 0.0 is neither better nor worse."""
    return f"{round(percent, 1) or 0.0:+.1f}"


def interval(finding: Finding) -> str:
    if finding.low is None or finding.high is None:
        return NOT_AVAILABLE
    return f"[{signed(finding.low)}, {signed(finding.high)}]"


def _p(p: float | None) -> str:
    if p is None:
        return NOT_AVAILABLE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
