# SPDX-License-Identifier: GPL-2.0
"""Findings in the shapes that changelogs of kernel patches have (mmtests, LKP), and in those that
continuous integration reads (KTAP, JUnit).

Each says the same: values, verdicts, and beside them what is doubtful or left out.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fastlab.base.model import FastError
from fastlab.base.text import one_line
from fastlab.report.tables import (
    NOT_AVAILABLE,
    heading,
    interval,
    notes,
    nothing_compared,
    signed,
    value,
)
from fastlab.statistics.findings import NO_ANSWER, NO_CHANGE, Finding, Findings, Side

# Every form, and the file of the results directory that has it.
NAMES: Mapping[str, str] = {
    "markdown": "summary.md",
    "mmtests": "summary.mmtests.txt",
    "lkp": "summary.lkp.txt",
    "ktap": "summary.ktap",
    "junit": "summary.xml",
    "json": "summary.json",
    "csv": "summary.csv",
    "html": "report.html",
}
# LKP leaves out a deviation that is smaller; it would be noise in the table.
LKP_DEVIATION = 2


@dataclass(frozen=True)
class Judged:
    """One comparison of the primary metric as a test. "error": there is no answer."""

    finding: Finding
    outcome: Literal["passed", "failed", "error"]
    message: str


def judged_cases(findings: Findings, fail_below: float | None) -> list[Judged]:
    """The primary metric's comparisons as tests.

    One fails if its improvement in percent is below `fail_below`; a change that may not be claimed
    counts as 0. Raises FastError where the primary metric is not one of those compared. An
    experiment of one variant has none.
    """
    cases = [_case(finding, fail_below) for finding in findings.of_metric(findings.primary)]
    if findings.variants and not cases:
        names = ", ".join(metric.name for metric in findings.metrics)
        raise FastError(
            f"{findings.title}: the primary metric {findings.primary} is not measured by backend "
            f"{findings.backend}; in the experiment file, set primary to one of {names}"
        )
    return cases


def _case(finding: Finding, fail_below: float | None) -> Judged:
    if finding.gain is None:
        return Judged(finding, "error", one_line(f"{finding.verdict}: {finding.reason}"))
    message = one_line(describe(finding))
    if fail_below is not None and finding.gain < fail_below:
        return Judged(finding, "failed", f"{message}; asked for was at least {fail_below:+g} %")
    return Judged(finding, "passed", message)


def describe(finding: Finding) -> str:
    """A finding in one line."""
    if finding.improvement_pct is None:
        return f"{finding.metric.name}: {finding.verdict}: {finding.reason}"
    ends = "" if finding.low is None else f", 95 % interval {interval(finding)}"
    text = (
        f"{finding.metric.name}: {value(finding.baseline.mean)} -> {value(finding.variant.mean)}, "
        f"improvement {signed(finding.improvement_pct)} %{ends}"
    )
    if finding.verdict in NO_CHANGE + NO_ANSWER:
        claim = "no significant change" if finding.verdict == "~" else finding.verdict
        text += f", {claim}{f': {finding.reason}' if finding.reason else ''}"
    return text


def mmtests(findings: Findings) -> str:
    """The shape of mmtests' compare-kernels: positive is better, * marks a significant change."""
    lines = nothing_compared(findings)
    for variant in findings.variants:
        for metric in findings.measured:
            cases = findings.find(variant, metric.name).values()
            width = max(len(case.workload) for case in cases) + 2
            lines += [
                heading(metric),
                f"{'':10}{'':{width}}{findings.baseline:>26}{variant:>26}",
                *(_mmtests_line(findings, case, width) for case in cases),
                "",
            ]
    return _text([*lines, *notes(findings)])


def _mmtests_line(findings: Findings, finding: Finding, width: int) -> str:
    if finding.improvement_pct is None:
        change = f"({finding.verdict:>9})"
    else:
        left, right = "**" if finding.low is not None and finding.gain else "()"
        change = f"{left}{round(finding.improvement_pct, 2) or 0.0:8.2f}%{right}"
    base, other = (_decimal(one_side.mean) for one_side in (finding.baseline, finding.variant))
    itself = "" if finding.baseline.mean is None else "(    0.00%)"
    return f"{findings.mean:10}{finding.workload:{width}}{base:>14} {itself:11}{other:>14} {change}"


def _decimal(number: float | None) -> str:
    if number is None:
        return NOT_AVAILABLE
    return f"{number:.2f}" if abs(number) >= 10 else f"{number:.4f}"


def lkp(findings: Findings) -> str:
    """The shape of LKP's reports: the change itself, not whether it is better."""
    rule = "=" * 80
    names = "/".join(findings.setting)
    lines = [rule, f"{names}:", f"  {'/'.join(findings.setting.values())}", ""]
    lines += nothing_compared(findings)
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
                _lkp_line(finding)
                for metric in findings.measured
                for finding in findings.find(variant, metric.name).values()
            ),
            "",
        ]
    return _text([*lines, *notes(findings)])


def _lkp_line(finding: Finding) -> str:
    base, other = finding.baseline.mean, finding.variant.mean
    if base and other is not None and finding.gain is not None:
        change = f"{round((other - base) * 100 / base, 1) or 0.0:+.1f}%" if finding.gain else "~"
    else:
        change = finding.verdict
    name = f"{finding.label}.{finding.threads}.{finding.metric.name}"
    return f"{_lkp_side(finding.baseline)} {change:>10}  {_lkp_side(finding.variant)}  {name}"


def _lkp_side(side: Side) -> str:
    number = NOT_AVAILABLE
    if side.mean is not None:
        number = f"{side.mean:.0f}" if abs(side.mean) >= 1000 else f"{side.mean:.4g}"
    small = side.deviation_pct is None or side.deviation_pct < LKP_DEVIATION
    return f"{number:>10}{'' if small else f' ± {side.deviation_pct:2.0f}%':6}"


def ktap(findings: Findings, fail_below: float | None = None) -> str:
    """KTAP 1, a subtest per variant: the cases of judged_cases()."""
    cases = judged_cases(findings, fail_below)
    lines = ["KTAP version 1", f"1..{len(findings.variants)}"]
    lines += [f"# {line}" for line in (*nothing_compared(findings), *notes(findings))]
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
    """JUnit XML, a test suite per variant: the cases of judged_cases()."""
    cases = judged_cases(findings, fail_below)
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


def _tally(cases: Sequence[Judged]) -> dict[str, str]:
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
