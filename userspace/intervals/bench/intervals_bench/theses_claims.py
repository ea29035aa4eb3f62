# SPDX-License-Identifier: GPL-2.0
"""What a source concludes, as ratios of what is measured, and whether they come out here.

Each round gives one ratio. They are judged by the 95 % interval of their mean, Student's in
logarithms; of several ratios that one conclusion is about, each has its share of the 5 %. An
interval inside the range that a claim asks for says yes, one outside says no, and one across its
edge, or that only touches it, does not say: then the conclusion is not testable with these rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from fastlab.statistics.significance import ALPHA
from intervals_bench.one_run import PeerStatus

ThesisOutcome = Literal["upheld", "not upheld", "not testable here"]
Quantifier = Literal["all", "most", "any"]
QUANTIFIERS: tuple[Quantifier, ...] = ("all", "most", "any")

# What is added to each value before ratios are made, since counts may be 0.
SHARES = ("steal_miss_ratio", "remote_share")
OFFSETS = {"time": 0.0, "peak_kib": 0.0, **dict.fromkeys(SHARES, 0.01)}
# Why a claim is not testable that has been measured.
UNDECIDED = "the rounds do not decide"
# Of the claims that decided a conclusion, how many are told.
TOLD = 3


@dataclass(frozen=True)
class ThesisPoint:
    """One program under one contender with `workers` workers."""

    program: str
    contender: str
    workers: int

    def __str__(self) -> str:
        return f"{self.program}, {self.contender}, {self.workers} workers"


@dataclass(frozen=True)
class ThesisRow:
    """What is known of a point: of each round, in their order, the value of each metric. `crashed`
    says that a program has failed as one does that has used up its stack (one_run.CRASHES)."""

    point: ThesisPoint
    unit: str
    rounds: tuple[Mapping[str, float], ...]
    status: PeerStatus
    reason: str
    crashed: bool = False

    @property
    def runs(self) -> int:
        return len(self.rounds)

    def values(self, metric: str) -> list[float]:
        """Of the rounds that have it."""
        return [one[metric] for one in self.rounds if metric in one]


# A point's row; KeyError: it is none of the evaluation.
Find = Callable[[str, str, int | None], ThesisRow]


@dataclass(frozen=True)
class ClaimJudgement:
    """`holds` is None where the measurement does not say; `said` is why, with the numbers."""

    holds: bool | None
    said: str


@dataclass(frozen=True)
class RatioSide:
    """What stands above or below a ratio's line. Without `workers`: as many as there are CPUs."""

    program: str
    contender: str
    workers: int | None = None

    def __str__(self) -> str:
        workers = "" if self.workers is None else f" with {self.workers}"
        return f"{self.program} {self.contender}{workers}"


@dataclass(frozen=True)
class Ratio:
    """A metric of one side over that of the other is in the range. Of several sides above, or
    below, the product: so a speed-up can be over another. With none below: the metric itself."""

    metric: str
    above: tuple[RatioSide, ...]
    below: tuple[RatioSide, ...]
    low: float = 0.0
    high: float = float("inf")

    def judge(self, find: Find, comparisons: int) -> ClaimJudgement:
        over = f" / {_product(self.below)}" if self.below else ""
        name = f"{self.metric} of {_product(self.above)}{over}"
        rows = []
        for side in (*self.above, *self.below):
            row = find(side.program, side.contender, side.workers)
            if row.status != "ok":
                return ClaimJudgement(None, f"{side}: {row.status}: {row.reason}")
            if not row.values(self.metric):
                return ClaimJudgement(None, f"{self.metric} of {side} is not available")
            if min(row.values(self.metric)) + self._added <= 0:
                return ClaimJudgement(None, f"{self.metric} of {side} is 0 in a round: no ratio")
            rows.append(row)
        ratios = self._ratios(rows)
        if not len(ratios):
            return ClaimJudgement(None, f"{name} is not available in a round of all")
        added = 0.0 if self.below else self._added
        middle = float(np.exp(ratios.mean())) - added
        if len(ratios) < 2:
            return ClaimJudgement(
                None, f"{name} is {middle:.3g} in one round, which has no interval"
            )
        low, high = (one - added for one in _interval(ratios, ALPHA / comparisons))
        said = f"{name} is {middle:.3g} ({low:.3g} to {high:.3g}), asked: {self._asked()}"
        # "Slower" is at least 1, and what is as fast to the last bit is neither. 0 is no edge.
        if (not self.low or self.low < low) and high < self.high:
            return ClaimJudgement(True, said)
        if high < self.low or low > self.high:
            return ClaimJudgement(False, said)
        return ClaimJudgement(None, f"{said}: {UNDECIDED}")

    def _ratios(self, rows: Sequence[ThesisRow]) -> np.ndarray:
        """Logarithms: of each round that has the metric of all; those above come first."""
        values = [
            [one[self.metric] for one in of_round]
            for of_round in zip(*(row.rounds for row in rows), strict=False)
            if all(self.metric in one for one in of_round)
        ]
        signs = np.array([1] * len(self.above) + [-1] * len(self.below))
        logs: np.ndarray = np.log(np.asarray(values).reshape(-1, len(rows)) + self._added) @ signs
        return logs

    @property
    def _added(self) -> float:
        return OFFSETS.get(self.metric, 1.0)

    def _asked(self) -> str:
        if self.high == float("inf"):
            return f"at least {self.low:.3g}"
        return f"at most {self.high:.3g}" if not self.low else f"{self.low:.3g} to {self.high:.3g}"


@dataclass(frozen=True)
class Fails:
    """The program does not come through, but crashes. What did not begin, did not end in time or
    has a wrong result does not say whether it would."""

    side: RatioSide

    def judge(self, find: Find, comparisons: int) -> ClaimJudgement:
        row = find(self.side.program, self.side.contender, self.side.workers)
        if row.status == "not available" or not (row.runs or row.reason):
            return ClaimJudgement(None, f"{self.side}: {row.reason or 'not measured'}")
        if row.status == "failed":
            return ClaimJudgement(row.crashed or None, f"{self.side}: {row.reason}")
        return ClaimJudgement(False, f"{self.side}: comes through in {row.runs} rounds")


ThesisClaim = Ratio | Fails


@dataclass(frozen=True)
class Conclusion:
    """A claim of a source, in its `words`. It needs a machine of `cpus` CPUs and `nodes` NUMA
    nodes; `cannot` is why nothing here can test it."""

    source: str
    words: str
    claims: tuple[ThesisClaim, ...] = ()
    asks: Quantifier = "all"
    cpus: int = 1
    nodes: int = 1
    cannot: str = ""


@dataclass(frozen=True)
class ThesisMachine:
    """What a conclusion may need."""

    cpus: int
    nodes: int


@dataclass(frozen=True)
class ThesisVerdict:
    """A conclusion and what became of it; all judgements, in the order of its claims."""

    conclusion: Conclusion
    outcome: ThesisOutcome
    reason: str
    judgements: tuple[ClaimJudgement, ...] = ()


def conclude(conclusion: Conclusion, find: Find, machine: ThesisMachine) -> ThesisVerdict:
    """Does it come out?"""
    missing = conclusion.cannot or _missing(conclusion, machine)
    if missing:
        return ThesisVerdict(conclusion, "not testable here", missing)
    found = tuple(claim.judge(find, len(conclusion.claims)) for claim in conclusion.claims)
    holds = _together(conclusion.asks, [one.holds for one in found])
    outcome: ThesisOutcome = (
        "not testable here" if holds is None else "upheld" if holds else "not upheld"
    )
    return ThesisVerdict(conclusion, outcome, _reason(found, holds), found)


def _product(sides: Sequence[RatioSide]) -> str:
    return " * ".join(map(str, sides))


def _interval(ratios: np.ndarray, alpha: float) -> tuple[float, float]:
    mean, error = float(ratios.mean()), float(ratios.std(ddof=1)) / float(np.sqrt(len(ratios)))
    reach = float(stats.t.ppf(1 - alpha / 2, len(ratios) - 1)) * error
    return float(np.exp(mean - reach)), float(np.exp(mean + reach))


def _missing(conclusion: Conclusion, machine: ThesisMachine) -> str:
    if machine.nodes < conclusion.nodes:
        return f"needs {conclusion.nodes} NUMA nodes, and there are {machine.nodes}"
    if machine.cpus < conclusion.cpus:
        return f"needs {conclusion.cpus} CPUs, and there are {machine.cpus}"
    return ""


def _together(asks: Quantifier, holds: Sequence[bool | None]) -> bool | None:
    """Those that do not say may be either: does the answer depend on them?"""
    yes, unsaid = holds.count(True), holds.count(None)
    needed = {"all": len(holds), "most": len(holds) // 2 + 1, "any": 1}[asks]
    if yes >= needed:
        return True
    return None if yes + unsaid >= needed else False


def _reason(found: Sequence[ClaimJudgement], holds: bool | None) -> str:
    """How many hold, and some of those that decided."""
    deciding = [one.said for one in found if one.holds == holds]
    more = f"; and {len(deciding) - TOLD} more" if len(deciding) > TOLD else ""
    yes = sum(one.holds is True for one in found)
    counted = f"{yes} of {len(found)} hold: " if len(found) > 1 else ""
    return counted + "; ".join(deciding[:TOLD]) + more
