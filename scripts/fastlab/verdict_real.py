# SPDX-License-Identifier: GPL-2.0
"""Does FAST help this program on the running kernel? A trial's blocks judged, in words, as tables
and as a document.

A difference counts when both tests of ab say so. There is no calibration: how much the same policy
differs from itself is not known, and that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from fastlab import ab, environment
from fastlab.dataset import BLOCK, first_reasons, percentile
from fastlab.model import PERCENTILES, REAL_METRICS, SCHEMA_VERSION, Metric
from fastlab.tables import NOT_AVAILABLE, Cell, Table, value
from fastlab.trial import BASELINE, POLICIES
from fastlab.trial_real import BLOCKS, LATENCY_RUNS, Shot, Trial
from fastlab.verdict import (
    TONES,
    Kind,
    Side,
    Verdict,
    idleness,
    locks_table,
    mechanism_table,
    what_ran,
)

# The first decides.
METRICS = {
    "elapsed_ns": "wall time, ns",
    "task_clock": "time on a CPU, all threads together, ns",
    "cycles": "cycles",
    "instructions": "instructions",
    "l2_references": "L2 references",
    "l2_misses": "L2 misses",
    "l3_references": "L3 references",
    "l3_misses": "L3 misses",
    "bus_requests": "bus requests",
    "cache_to_cache": "cache to cache transfers",
    "context_switches": "context switches",
    "migrations": "migrations",
}
TIME = "elapsed_ns"
INTERVAL = "95 % interval: "
NO_FLOOR = (
    "The noise floor was not measured: how much off differs from itself here is not known. `fast "
    "run` measures that first, and claims nothing below it."
)
NO_LOCKS = (
    "Which locks the hand-offs come from is not available here; leave --backend out to see them."
)
# The percentiles that are shown, with their columns' names.
SHOWN = {"p50": "median", "p99": "99 %"}
LATENCY_NAMES = {"handoff": "hand-off of a mutex", "wakeup": "wake-up"}


@dataclass(frozen=True)
class Change:
    """A metric without and with a policy: the runs' means; the improvement in percent with the ends
    of its 95 % interval; `p` of t, after Holm's correction over all metrics but the time, which
    stands alone; `p_rank` of the rank test. None: not available, and `reason` says why."""

    off: float | None
    on: float | None
    improvement_pct: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_rank: float | None = None
    reason: str = ""

    @property
    def side(self) -> Side:
        """Where it lies, if both tests say that it differs."""
        if self.improvement_pct is None or self.p is None or self.p_rank is None:
            return ""
        if self.p > ab.ALPHA or self.p_rank > ab.ALPHA:
            return ""
        return "better" if self.improvement_pct > 0 else "worse"


def changes(trial: Trial, policy: str) -> dict[str, Change]:
    """Every metric under the policy beside the baseline."""
    metrics = {metric.name: metric for metric in REAL_METRICS if metric.name in METRICS}
    blocks = {name: _blocks(trial, policy, name) for name in METRICS}
    tests = {name: ab.paired_test(one.ratios) for name, one in blocks.items() if one.ratios}
    others = [name for name in METRICS if name != TIME]
    # What could not be tested stays in the family, as in an experiment.
    corrected = ab.holm(tests[name].p if name in tests else 1.0 for name in others)
    p_values = dict(zip(others, corrected, strict=True))
    return {
        name: _change(metrics[name], blocks[name], tests.get(name), p_values.get(name))
        for name in METRICS
    }


def _blocks(trial: Trial, policy: str, metric: str) -> ab.Blocks:
    halves: list[tuple[list[float], list[float]]] = [([], []) for _ in range(BLOCKS)]
    for shot in trial.shots:
        if shot.pair == policy:
            number = shot.value(metric)
            if number is None:
                return ab.nothing("n/a", f"some run has no {metric}")
            halves[shot.block][shot.policy != BASELINE].append(number)
    off, on = (tuple(one for half in halves for one in half[side]) for side in (0, 1))
    return ab.whole_blocks((off, on), halves)


def _change(metric: Metric, blocks: ab.Blocks, test: ab.Test | None, p: float | None) -> Change:
    off, on = (fmean(side) if side else None for side in blocks.sides)
    if test is None:
        return Change(off, on, reason=blocks.reason)
    low, high = sorted(ab.percent(end, metric) for end in (test.low, test.high))
    return Change(
        off,
        on,
        improvement_pct=ab.percent(test.mean, metric),
        low=low,
        high=high,
        p=test.p if p is None else p,
        p_rank=test.p_rank,
    )


def judge(trial: Trial) -> list[Verdict]:
    """The answer for each policy but the baseline."""
    return [_judge(trial, policy) for policy in POLICIES if policy != BASELINE]


def _judge(trial: Trial, policy: str) -> Verdict:
    idle = idleness([shot.mechanism for shot in _under(trial, policy)])
    if idle:
        sentence = f"FAST has nothing to act on in this program: {idle}."
        return Verdict(policy, "nothing to act on", _with_locks(trial, sentence))
    time = changes(trial, policy)[TIME]
    kind: Kind = "no difference"
    if time.side == "better":
        kind = "helps"
        sentence = (
            f"FAST helps this program: policy {policy} takes {_size(time, INTERVAL)} off its time"
        )
    elif time.side == "worse":
        kind = "hurts"
        sentence = (
            f"FAST hurts this program: policy {policy} adds {_size(time, INTERVAL, -1)} to its time"
        )
    else:
        sentence = (
            "FAST makes no difference to this program's time that can be told from noise: with "
            f"policy {policy} it improves by {_size(time, INTERVAL)}"
        )
    sentence = _with_locks(trial, f"{sentence}; {_evidence(time)}. {NO_FLOOR}")
    return Verdict(policy, kind, sentence)


def _with_locks(trial: Trial, sentence: str) -> str:
    """Who finds no table of locks has to know whether there was no hand-off."""
    measured = all("handoff" in one.histograms for one in trial.latencies)
    return sentence if measured else f"{sentence} {NO_LOCKS}"


def _under(trial: Trial, policy: str) -> list[Shot]:
    return [shot for shot in trial.shots if shot.policy == policy]


def _size(change: Change, label: str = "", sign: int = 1) -> str:
    """The improvement, or with -1 what is added instead, and its interval."""
    if change.improvement_pct is None or change.low is None or change.high is None:
        return NOT_AVAILABLE
    low, high = sorted((sign * change.low, sign * change.high))
    middle = sign * change.improvement_pct
    # Rounded first: what is shown as 0.0 has no sign.
    middle, low, high = (round(one, 1) or 0.0 for one in (middle, low, high))
    return f"{middle:.1f} % ({label}{low:.1f} to {high:.1f})"


def _evidence(change: Change) -> str:
    return f"{BLOCKS} blocks, p = {change.p:.2g}, by the rank test {change.p_rank:.2g}"


def tables(trial: Trial) -> list[Table]:
    """For people."""
    found = []
    for policy in POLICIES:
        if policy != BASELINE:
            mechanisms = [shot.mechanism for shot in _under(trial, policy)]
            sums = {name: sum(one[name] for one in mechanisms) for name in mechanisms[0]}
            label = f"sum of {len(mechanisms)} runs"
            found += [_metrics(trial, policy), mechanism_table(policy, label, sums)]
    off = [one for one in trial.latencies if one.policy == BASELINE]
    locks = [lock for one in off for lock in one.locks]
    return [*found, _latencies(trial), *locks_table(locks, len(off))]


def _latencies(trial: Trial) -> Table:
    """Percentiles of each run under each policy; not judged."""
    rows = []
    for latency, name in LATENCY_NAMES.items():
        cells = [
            Cell(_middle(trial, policy, latency, PERCENTILES[shown]))
            for policy in POLICIES
            for shown in SHOWN
        ]
        rows.append([Cell(name), *cells])
    columns = [f"{policy}, {shown}" for policy in POLICIES for shown in SHOWN.values()]
    return Table(
        "",
        ["latency, us", *columns],
        rows,
        f"The middle one of {LATENCY_RUNS} runs each, or of those that could be measured, and "
        "their range. These are runs of their own, and no test was made. "
        f"{NOT_AVAILABLE}: not available.{_why_no_latency(trial)}",
    )


def _middle(trial: Trial, policy: str, latency: str, thousandths: int) -> str:
    """In microseconds, over the runs in which it was measured and there was one."""
    runs = [
        one.histograms[latency]
        for one in trial.latencies
        if one.policy == policy and latency in one.histograms
    ]
    if not runs:
        return NOT_AVAILABLE
    known = [number for run in runs if (number := percentile(run, thousandths)) is not None]
    if not known:
        return "none"
    middle, low, high = (value(one / 1000) for one in (median(known), min(known), max(known)))
    return f"{middle} ({low} to {high})"


def _why_no_latency(trial: Trial) -> str:
    """Of each that some run lacks."""
    found = ""
    for latency, name in LATENCY_NAMES.items():
        lacking = [one.missing[latency] for one in trial.latencies if latency in one.missing]
        if lacking:
            runs = f"in {len(lacking)} of {len(trial.latencies)} runs"
            found += f" {name.capitalize()}, {runs}: {first_reasons(lacking)}."
    return found


def _metrics(trial: Trial, policy: str) -> Table:
    rows = [
        [
            Cell(METRICS[name]),
            Cell(value(change.off)),
            Cell(value(change.on)),
            # Of nothing there is no percentage.
            Cell(
                "-" if change.off is not None and change.p is None else _size(change),
                bool(change.side),
                TONES[change.side],
            ),
        ]
        for name, change in changes(trial, policy).items()
    ]
    return Table(
        f"{what_ran(trial.request.argv, trial.marked)}, on {trial.kernel.id}, backend "
        f"{trial.request.backend}",
        ["", BASELINE, policy, "improvement, 95 % interval"],
        rows,
        f"Means of {BLOCKS * BLOCK // 2} runs each, in {BLOCKS} blocks of ABBA or BAAB; the "
        "improvement is the mean of the blocks'. Coloured: the t test (of all but the time after "
        f"Holm's correction) and the rank test find a difference. {NOT_AVAILABLE}: not available. "
        "-: in some block it was 0.",
    )


def doubts(trial: Trial) -> list[str]:
    """What makes the numbers doubtful: a sentence each."""
    shots = trial.shots
    return [
        *environment.doubts([shot.circumstances for shot in shots]),
        *ab.company((shot.counters, shot.others) for shot in shots),
        "FAST's own counters are of the whole machine: other programs' hand-offs are in them.",
    ]


def document(trial: Trial, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """For programs: the verdicts, and every run."""
    kernel = trial.kernel
    return {
        "schema": SCHEMA_VERSION,
        "argv": list(trial.request.argv),
        "backend": trial.request.backend,
        "kernel": {"series": kernel.series, "variant": kernel.variant, "id": kernel.id},
        "marked": trial.marked,
        "baseline": BASELINE,
        "verdicts": [
            {
                **asdict(one),
                "changes": {
                    name: asdict(change) for name, change in changes(trial, one.policy).items()
                },
            }
            for one in verdicts
        ],
        "doubts": doubts(trial),
        "runs": [asdict(shot) for shot in trial.shots],
        "latencies": [asdict(one) for one in trial.latencies],
    }
