# SPDX-License-Identifier: GPL-2.0
"""The result of a comparison in plain sentences, the most important one first."""

from __future__ import annotations

from dataclasses import dataclass

from fastlab.report.tables import PAID_WITH, signed
from fastlab.statistics.findings import NO_ANSWER, NO_CHANGE, Finding, Findings

# Verbs that need no metric beside them.
_VERBS = {"elapsed_ns": ("faster", "slower")}


@dataclass(frozen=True)
class Tally:
    """How many of a variant's findings of one metric are better, worse and so on, with the
    extremes. `from_nothing` are findings without a percentage: the variant has a cost that the
    baseline does not have."""

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
    """The result in one sentence: what the best variant gains, and what it costs."""
    return answers(findings)[0]


def nothing_compared(findings: Findings) -> list[str]:
    """Why, where there is nothing."""
    return (
        []
        if findings.variants
        else [f"Nothing is compared: {findings.baseline} is the only variant."]
    )


def answers(findings: Findings) -> list[str]:
    """A sentence for each variant, that of the best variant first."""
    if not findings.variants:
        return nothing_compared(findings)

    def rank(variant: str) -> tuple[int, float]:
        counts = tally(findings, variant, findings.primary)
        cases = findings.find(variant, findings.primary).values()
        return counts.better - counts.worse, sum(case.gain or 0 for case in cases)

    best = max(findings.variants, key=rank)
    ordered = [best, *(variant for variant in findings.variants if variant != best)]
    return [_answer(findings, variant) for variant in ordered]


def _answer(findings: Findings, variant: str) -> str:
    counts = tally(findings, variant, findings.primary)
    total = counts.better + counts.worse + counts.unchanged + counts.unanswered
    better, worse = _VERBS.get(findings.primary, ("better", "worse"))
    of_metric = "" if findings.primary in _VERBS else f" in {findings.primary}"
    text = (
        f"{variant} made {counts.better or 'none'} of {total} cases {better} than "
        f"{findings.baseline}{of_metric}{_extreme(counts.best)}, {counts.worse or 'none'} "
        f"{worse}{_extreme(counts.worst)}"
    )
    if counts.unchanged:
        text += f", {counts.unchanged} without a significant change"
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
