# SPDX-License-Identifier: GPL-2.0
"""All evaluations that can be measured again."""

from __future__ import annotations

from fastlab.base.model import FastError
from fastlab.bench import theses_intervals, theses_localities, theses_numa, theses_slaw
from fastlab.bench.theses import ThesisEvaluation

EVALUATIONS: tuple[ThesisEvaluation, ...] = (
    *theses_intervals.EVALUATIONS,
    *theses_localities.EVALUATIONS,
    *theses_slaw.EVALUATIONS,
    *theses_numa.EVALUATIONS,
)


def find(name: str) -> ThesisEvaluation:
    """The evaluation of that name."""
    for one in EVALUATIONS:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in EVALUATIONS)
    raise FastError(f"no such evaluation: {name}; there are {known}")
