# SPDX-License-Identifier: GPL-2.0
"""The forms of a comparison and their files, and those that continuous integration reads: KTAP and
JUnit.

Every form has the values, the verdicts, the doubts, and the runs left out.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fastlab.base.model import FastError
from fastlab.base.text import one_line
from fastlab.report.answers import nothing_compared
from fastlab.report.tables import (
    interval,
    notes,
    signed,
    value,
)
from fastlab.statistics.findings import NO_ANSWER, NO_CHANGE, Finding, Findings

# Every form, and the file of the results directory that has it.
NAMES: Mapping[str, str] = {
    "markdown": "summary.md",
    "ktap": "summary.ktap",
    "junit": "summary.xml",
    "json": "summary.json",
    "csv": "summary.csv",
    "html": "report.html",
}


@dataclass(frozen=True)
class Judged:
    """A comparison of the primary metric as a test. "error": there is no answer."""

    finding: Finding
    outcome: Literal["passed", "failed", "error"]
    message: str


def judged_cases(findings: Findings, fail_below: float | None) -> list[Judged]:
    """The comparisons of the primary metric as tests.

    A test fails if the improvement in percent is below `fail_below`; a change that may not be
    claimed counts as 0. Raises FastError if the primary metric was not compared. An experiment with
    one variant has no tests.
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
        return Judged(finding, "failed", f"{message}; required: at least {fail_below:+g} %")
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
    """The text without control characters that XML cannot represent, which a kernel's message may
    contain."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)


def _text(lines: Sequence[str]) -> str:
    """The lines without trailing blanks."""
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"
