# SPDX-License-Identifier: GPL-2.0
"""Findings as text: tables for documents and terminals, the shapes that changelogs of kernel
patches have (mmtests, LKP), what continuous integration reads (KTAP, JUnit), and a page.

Every rendering says the same: values, verdicts, and, but for CSV, beside them what is doubtful or
left out.
"""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from rich.table import Table as RichTable
from rich.text import Text

from fastlab.compare import markdown_table, rich_table
from fastlab.findings import NO_ANSWER, NO_CHANGE, Finding, Findings, Side
from fastlab.model import SCHEMA_VERSION, FastError, Metric
from fastlab.tables import NOT_AVAILABLE, Cell, Table, Tone, value
from fastlab.templating import render

TONES: Mapping[str, Tone] = {"better": "gain", "worse": "loss", "INVALID": "loss"}
# LKP leaves out a deviation that is smaller; it would be noise in the table.
LKP_DEVIATION = 2


@dataclass(frozen=True)
class Case:
    """One comparison of the primary metric as a test. "error": there is no answer."""

    finding: Finding
    outcome: Literal["passed", "failed", "error"]
    message: str


def judge(findings: Findings, fail_below: float | None) -> list[Case]:
    """The primary metric's comparisons as tests.

    One fails if its improvement in percent is below `fail_below`; a change that may not be claimed
    counts as 0. Raises FastError where the primary metric is not one of those compared.
    """
    cases = [_case(one, fail_below) for one in findings.of_metric(findings.primary)]
    if not cases:
        names = ", ".join(metric.name for metric in findings.metrics)
        raise FastError(
            f"{findings.title}: the primary metric {findings.primary} is not measured by backend "
            f"{findings.setting['backend']}; in the experiment file, set primary to one of {names}"
        )
    return cases


def _case(one: Finding, fail_below: float | None) -> Case:
    if one.gain is None:
        return Case(one, "error", f"{one.verdict}: {one.reason}")
    if fail_below is not None and one.gain < fail_below:
        return Case(one, "failed", f"{describe(one)}; asked for was at least {fail_below:+g} %")
    return Case(one, "passed", describe(one))


def describe(one: Finding) -> str:
    """A finding in one line."""
    if one.improvement_pct is None:
        return f"{one.metric.name}: {one.verdict}: {one.reason}"
    interval = "" if one.low is None else f", 95 % interval {_interval(one)}"
    text = (
        f"{one.metric.name}: {value(one.baseline.mean)} -> {value(one.variant.mean)}, "
        f"improvement {signed(one.improvement_pct)} %{interval}"
    )
    if one.verdict in NO_CHANGE + NO_ANSWER:
        claim = "no significant change" if one.verdict == "~" else one.verdict
        text += f", {claim}{f': {one.reason}' if one.reason else ''}"
    return text


def signed(percent: float) -> str:
    """Rounded first: what is shown as 0.0 is neither better nor worse."""
    return f"{round(percent, 1) or 0.0:+.1f}"


def _interval(one: Finding) -> str:
    if one.low is None or one.high is None:
        return NOT_AVAILABLE
    return f"[{signed(one.low)}, {signed(one.high)}]"


def notes(findings: Findings) -> list[str]:
    """What belongs beside the numbers, a line each."""
    missing = _missing(findings)
    return [
        *(f"Calibration: {line}" for line in findings.calibration),
        *(f"Doubtful: {line}" for line in findings.doubts),
        *([f"Not available: {missing}."] if missing else []),
        *(f"No claim: {line}" for line in _no_claims(findings)),
        *(f"Left out: {line}" for line in findings.left_out),
    ]


def _missing(findings: Findings) -> str:
    """The metrics that no run has, those together that lack for the same reason."""
    names: dict[str, list[str]] = {}
    for metric in findings.not_available:
        names.setdefault(findings.why_not_available(metric.name), []).append(metric.name)
    return "; ".join(
        f"{', '.join(found)}{f' ({why})' if why else ''}" for why, found in names.items()
    )


def _no_claims(findings: Findings) -> list[str]:
    """Why there is no claim, and of which metrics."""
    reasons: dict[str, list[str]] = {}
    for metric in findings.measured:
        for one in findings.of_metric(metric.name):
            if one.reason:
                text = f"{one.variant_name}: {one.workload}: {one.verdict}: {one.reason}"
                reasons.setdefault(text, []).append(metric.name)
    return [f"{text} ({_names(names, findings.measured)})" for text, names in reasons.items()]


def _names(names: Sequence[str], measured: Sequence[Metric]) -> str:
    return "all metrics" if len(names) == len(measured) else ", ".join(names)


def result_tables(findings: Findings) -> list[Table]:
    """The primary metric, and all others that were measured."""
    first = [metric for metric in findings.measured if metric.name == findings.primary]
    others = [metric for metric in findings.measured if metric.name != findings.primary]
    found = []
    if first:
        found.append(_table(findings, f"{_heading(first[0])}: the primary metric", first))
    if others:
        found.append(_table(findings, "Other metrics", others))
    return found


def _heading(metric: Metric) -> str:
    return f"{metric.name} ({metric.unit}, {metric.better} is better)"


def _table(findings: Findings, title: str, metrics: Sequence[Metric]) -> Table:
    cases = [one for metric in metrics for one in findings.of_metric(metric.name)]
    tested = any(one.low is not None for one in cases)
    columns = ["workload", "variant", "metric", findings.baseline, "variant's", "improvement %"]
    if tested:
        columns += ["95 % interval", "p (Holm)", "p (rank)"]
    rows = []
    for one in cases:
        improvement = NOT_AVAILABLE if one.improvement_pct is None else signed(one.improvement_pct)
        texts = [value(one.baseline.mean), value(one.variant.mean), improvement]
        if tested:
            texts += [_interval(one), _p(one.p), _p(one.p_rank)]
        texts.append(one.verdict)
        tone: Tone = "aside" if one.gain in (None, 0.0) else ""
        tone = TONES.get(one.verdict, tone)
        cells = [Cell(one.workload), Cell(one.variant_name), Cell(one.metric.name)]
        rows.append([*cells, *(Cell(text, tone=tone) for text in texts)])
    note = f"{findings.mean}: {'geometric' if findings.mean == 'Gmean' else 'arithmetic'} means. "
    note += "Improvement: positive is better."
    if tested:
        note += " ~: no significant change. Other metrics than the primary one are hints."
    return Table(title, [*columns, "verdict"], rows, note, 3)


def _p(p: float | None) -> str:
    if p is None:
        return NOT_AVAILABLE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def terminal_tables(findings: Findings) -> list[RichTable]:
    """What `fast compare` prints of a real machine's results with rich."""
    beside = RichTable("Beside the numbers", title=findings.title, title_justify="left")
    for line in notes(findings):
        beside.add_row(Text(line))
    return [*map(rich_table, result_tables(findings)), beside]


def markdown(findings: Findings) -> str:
    """A Markdown document, fit for a changelog."""
    lines = [f"# {findings.title}", ""]
    lines += [f"- {name}: {text}" for name, text in findings.setting.items()]
    lines += ["", *(markdown_table(table) for table in result_tables(findings))]
    lines += [f"- {line}" for line in notes(findings)]
    return "\n".join(lines).rstrip() + "\n"


def mmtests(findings: Findings) -> str:
    """The shape of mmtests' compare-kernels: positive is better, * marks a significant change."""
    lines = []
    for variant in findings.variants:
        for metric in findings.measured:
            cases = [one for one in findings.of_metric(metric.name) if one.variant_name == variant]
            width = max(len(one.workload) for one in cases) + 2
            lines += [
                _heading(metric),
                f"{'':10}{'':{width}}{findings.baseline:>26}{variant:>26}",
                *(_mmtests_line(findings, one, width) for one in cases),
                "",
            ]
    return _text([*lines, *notes(findings)])


def _mmtests_line(findings: Findings, one: Finding, width: int) -> str:
    if one.improvement_pct is None:
        change = f"({one.verdict:>9})"
    else:
        left, right = "**" if one.p is not None and one.gain else "()"
        change = f"{left}{round(one.improvement_pct, 2) or 0.0:8.2f}%{right}"
    base, other = (_decimal(one_side.mean) for one_side in (one.baseline, one.variant))
    itself = "" if one.baseline.mean is None else "(    0.00%)"
    return f"{findings.mean:10}{one.workload:{width}}{base:>14} {itself:11}{other:>14} {change}"


def _decimal(number: float | None) -> str:
    if number is None:
        return NOT_AVAILABLE
    return f"{number:.2f}" if abs(number) >= 10 else f"{number:.4f}"


def lkp(findings: Findings) -> str:
    """The shape of LKP's reports: the change itself, not whether it is better."""
    rule = "=" * 80
    names = "/".join(findings.setting)
    lines = [rule, f"{names}:", f"  {'/'.join(findings.setting.values())}", ""]
    for variant in findings.variants:
        lines += [
            "commit:",
            f"  {findings.baseline}",
            f"  {variant}",
            "",
            f"{findings.baseline[:16]:>16} {variant[:27]:>27}",
            f"{'':-<16} {'':-<27}",
            "         %stddev     %change         %stddev",
            "             \\          |                \\",
            *(
                _lkp_line(one)
                for metric in findings.measured
                for one in findings.of_metric(metric.name)
                if one.variant_name == variant
            ),
            "",
        ]
    return _text([*lines, *notes(findings)])


def _lkp_line(one: Finding) -> str:
    base, other = one.baseline.mean, one.variant.mean
    if base and other is not None and one.gain is not None:
        change = f"{round((other - base) * 100 / base, 1) or 0.0:+.1f}%" if one.gain else "~"
    else:
        change = one.verdict
    name = f"{one.benchmark}.{one.threads}.{one.metric.name}"
    return f"{_lkp_side(one.baseline)} {change:>10}  {_lkp_side(one.variant)}  {name}"


def _lkp_side(one: Side) -> str:
    number = NOT_AVAILABLE
    if one.mean is not None:
        number = f"{one.mean:.0f}" if abs(one.mean) >= 1000 else f"{one.mean:.4g}"
    small = one.deviation_pct is None or one.deviation_pct < LKP_DEVIATION
    return f"{number:>10}{'' if small else f' ± {one.deviation_pct:2.0f}%':6}"


def ktap(findings: Findings, fail_below: float | None = None) -> str:
    """KTAP 1, a subtest per variant: the cases of judge()."""
    cases = judge(findings, fail_below)
    lines = ["KTAP version 1", f"1..{len(findings.variants)}"]
    lines += [f"# {line}" for line in notes(findings)]
    for number, variant in enumerate(findings.variants, 1):
        own = [case for case in cases if case.finding.variant_name == variant]
        inner = ["KTAP version 1", f"# Subtest: {variant}", f"1..{len(own)}"]
        for i, case in enumerate(own, 1):
            inner.append(f"# {case.finding.workload}: {case.message}")
            inner.append(f"{_ok(case.outcome == 'passed')} {i} {case.finding.workload}")
        lines += [f"    {line}" for line in inner]
        lines.append(f"{_ok(all(case.outcome == 'passed' for case in own))} {number} {variant}")
    return _text(lines)


def _ok(good: bool) -> str:
    return "ok" if good else "not ok"


def junit(findings: Findings, fail_below: float | None = None) -> str:
    """JUnit XML, a test suite per variant: the cases of judge()."""
    cases = judge(findings, fail_below)
    root = ElementTree.Element("testsuites", _tally(cases))
    for variant in findings.variants:
        own = [case for case in cases if case.finding.variant_name == variant]
        name = f"{findings.title}.{variant}"
        suite = ElementTree.SubElement(root, "testsuite", {"name": name, **_tally(own)})
        properties = ElementTree.SubElement(suite, "properties")
        asked = {} if fail_below is None else {"fail-below": f"{fail_below:g}"}
        given = {**findings.setting, "primary": findings.primary, **asked}
        for key, text in given.items():
            ElementTree.SubElement(properties, "property", name=key, value=_printable(text))
        for case in own:
            element = ElementTree.SubElement(
                suite, "testcase", classname=name, name=case.finding.workload
            )
            if case.outcome == "passed":
                ElementTree.SubElement(element, "system-out").text = _printable(case.message)
            else:
                tag = "failure" if case.outcome == "failed" else "error"
                ElementTree.SubElement(element, tag, message=_printable(case.message))
        ElementTree.SubElement(suite, "system-out").text = _printable("\n".join(notes(findings)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode", xml_declaration=True) + "\n"


def _tally(cases: Sequence[Case]) -> dict[str, str]:
    count = {
        "tests": len(cases),
        "failures": sum(case.outcome == "failed" for case in cases),
        "errors": sum(case.outcome == "error" for case in cases),
    }
    return {name: str(number) for name, number in count.items()}


def _printable(text: str) -> str:
    """XML has no way to write most control characters, and a kernel's message may have some."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)


def _text(lines: Sequence[str]) -> str:
    """Lines without blanks at their ends."""
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def json_text(findings: Findings) -> str:
    """All there is. Null says "not available"."""
    document = {"schema": SCHEMA_VERSION, **asdict(findings)}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


CSV_COLUMNS = (
    "benchmark",
    "threads",
    "metric",
    "unit",
    "variant_name",
    "baseline",
    "baseline_deviation_pct",
    "baseline_runs",
    "variant",
    "variant_deviation_pct",
    "variant_runs",
    "improvement_pct",
    "low",
    "high",
    "p",
    "p_rank",
    "floor_pct",
    "detectable_pct",
    "verdict",
    "reason",
)


def csv_text(findings: Findings) -> str:
    """A line for each finding; an empty field says "not available". What stands beside the numbers
    is in the other forms."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for one in findings.findings:
        sides = {
            f"{name}{suffix}": number
            for name, side in (("baseline", one.baseline), ("variant", one.variant))
            for suffix, number in (
                ("", side.mean),
                ("_deviation_pct", side.deviation_pct),
                ("_runs", side.runs),
            )
        }
        writer.writerow(vars(one) | sides | {"metric": one.metric.name, "unit": one.metric.unit})
    return out.getvalue()


def html(findings: Findings) -> str:
    """One page that loads nothing."""
    return render(
        "findings.html",
        findings=findings,
        tallies=[_verdicts(findings, variant) for variant in findings.variants],
        warnings=[
            ("Runs that are in no comparison", findings.left_out),
            ("What makes the numbers doubtful", findings.doubts),
            ("What is not claimed, and why", _no_claims(findings)),
        ],
        tables=result_tables(findings),
        missing=_missing(findings),
    )


@dataclass(frozen=True)
class Verdicts:
    """How a variant's comparisons of the primary metric ended."""

    variant: str
    better: int
    worse: int
    unchanged: int
    unanswered: int


def _verdicts(findings: Findings, variant: str) -> Verdicts:
    found = [
        one.verdict for one in findings.of_metric(findings.primary) if one.variant_name == variant
    ]
    return Verdicts(
        variant,
        better=found.count("better"),
        worse=found.count("worse"),
        unchanged=sum(one in NO_CHANGE for one in found),
        unanswered=sum(one in NO_ANSWER for one in found),
    )


FORMATS: Mapping[str, Callable[[Findings, float | None], str]] = {
    "markdown": lambda findings, _: markdown(findings),
    "mmtests": lambda findings, _: mmtests(findings),
    "lkp": lambda findings, _: lkp(findings),
    "ktap": ktap,
    "junit": junit,
    "json": lambda findings, _: json_text(findings),
    "csv": lambda findings, _: csv_text(findings),
    "html": lambda findings, _: html(findings),
}
ENDINGS: Mapping[str, str] = {
    "markdown": "md",
    "mmtests": "mmtests.txt",
    "lkp": "lkp.txt",
    "ktap": "ktap",
    "junit": "xml",
    "json": "json",
    "csv": "csv",
    "html": "html",
}


def files(findings: Findings) -> list[tuple[str, str]]:
    """Every rendering, as a file of the results directory."""
    return [(f"summary.{ENDINGS[form]}", FORMATS[form](findings, None)) for form in FORMATS]
