# SPDX-License-Identifier: GPL-2.0
"""The statistics of an A/B experiment on a real machine.

Assumption: a block's two sides differ by a factor, the variant's effect, and by noise that is
independent from block to block. A block is one number, the logarithm of its B mean divided by its A
mean. Over a comparison's blocks:

* Student's t gives the effect, its 95 % interval and a p-value. It needs the mean of the blocks to
  be about normal. A bootstrap would not, but from a dozen blocks its intervals are too narrow and
  make twice as many false claims as allowed (Documentation/statistics.rst).
* Wilcoxon's signed rank test only needs noise that is as often up as down. A few outliers do not
  change it.

A change is claimed if t, after Holm's correction over its family, and the rank test both find it,
if it is not below the noise floor of the A/A calibration, and if counting changed the elapsed time
by at most PERTURBATION_PCT. The comparisons of the primary metric are one family, all other
comparisons another. Nothing is claimed from unplanned blocks, or before all planned blocks exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fastlab.base.metrics import HARDWARE, REAL, Metric
from fastlab.base.model import Axes, Workload
from fastlab.plan.circumstances import Circumstances, from_record
from fastlab.plan.paired_plan import (
    GUESTS,
    Dataset,
    Label,
    PairedRow,
    Plan,
    events_of,
    first_reasons,
    runs_of_a_block,
    why_missing,
)
from fastlab.plan.rows import value, without_silent
from fastlab.statistics import environment
from fastlab.statistics.calibration import Blocks, Calibration, blocks_of, calibrate, nothing
from fastlab.statistics.findings import Finding, Findings, LeftOut, Raw, Verdict, no_run, side
from fastlab.statistics.significance import (
    ALPHA,
    Noise,
    Test,
    false_positive_rate,
    holm,
    paired_test,
    percent,
)

# Percent of the elapsed time: if counting changes it by more, the counted runs are not
# representative.
PERTURBATION_PCT = 5.0


def analyse(dataset: Dataset) -> Findings:
    """Judge every comparison of an A/B experiment."""
    dataset = replace(dataset, rows=tuple(without_silent(dataset.rows, _side)))
    plan = dataset.plan
    calibration = calibrate(dataset)
    findings: list[Finding] = []
    for primary in (True, False):
        family = [metric for metric in REAL if (metric.name == plan.primary) == primary]
        findings += _family(dataset, calibration, family)
    order = {metric.name: i for i, metric in enumerate(REAL)}
    findings.sort(key=lambda finding: order[finding.metric.name])
    runs = [from_record(row["circumstances"]) for row in dataset.rows]
    return Findings(
        title=plan.name,
        backend=plan.backend,
        baseline=plan.baseline,
        variants=plan.variants,
        primary=plan.primary,
        mean="Gmean",
        setting=_setting(dataset, calibration, runs),
        findings=tuple(findings),
        calibration=tuple(_calibration_lines(plan, calibration)),
        doubts=(
            *environment.doubts(runs),
            *company(dataset.rows),
        ),
        left_out=(
            *(_left_out(row) for row in dataset.rows if row["status"] != "ok"),
            *_not_made(dataset, calibration),
        ),
        raw=tuple(
            Raw(*_place(load), row["pair"], _which(row), row)
            for load in plan.workloads
            for pair in (plan.baseline, *plan.variants)
            for row in dataset.of(load, pair)
        ),
    )


def _side(row: PairedRow) -> tuple[str, Label, str, int]:
    """The side of a comparison."""
    return row["pair"], row["side"], row["benchmark"], row["threads"]


def _family(dataset: Dataset, calibration: Calibration, metrics: Sequence[Metric]) -> list[Finding]:
    """The comparisons that are corrected together."""
    plan = dataset.plan
    absent = _absent(dataset)
    tested: list[tuple[Finding, Test | None, Noise | None]] = []
    counting: list[Test | None] = []
    for workload in plan.workloads:
        for variant in plan.variants:
            rows = dataset.by_events(workload, variant)
            for metric in metrics:
                events = events_of(plan, metric.name)
                counting.append(calibration.counting.get((workload, events)) if events else None)
                if events is None or metric.name in absent:
                    blocks = nothing("n/a", no_run(metric.name, absent[metric.name]))
                elif calibration.blocks is None:
                    why = "the A/A calibration of the primary metric is not there"
                    blocks = nothing("incomplete", why)
                else:
                    blocks = blocks_of(rows[events], metric, calibration.blocks)
                tested.append(_compare(workload, variant, metric, blocks, calibration))
    # A comparison without a test stays in the family: it was planned.
    corrected = holm(test.p if test else 1.0 for _, test, _ in tested)
    judged = [
        _judge(finding, test, noise, p, calibration.blocks or 0, len(tested))
        for (finding, test, noise), p in zip(tested, corrected, strict=True)
    ]
    return [_unperturbed(finding, test) for finding, test in zip(judged, counting, strict=True)]


def _unperturbed(finding: Finding, counting: Test | None) -> Finding:
    """No change is claimed if counting changed the runs. Latency runs count nothing."""
    if finding.verdict not in ("better", "worse") or finding.metric.latency:
        return finding
    if counting is None:
        reason = "not claimed: the effect of counting on the elapsed time is unknown"
        return replace(finding, verdict="refused", reason=reason)
    pct = _size(counting.mean)
    if abs(pct) <= PERTURBATION_PCT:
        return finding
    reason = f"not claimed: counting changes the elapsed time by {pct:.2g} %"
    return replace(finding, verdict="refused", reason=reason)


def _absent(dataset: Dataset) -> dict[str, str]:
    """The metrics that the backend lacks on this machine, and why if known."""
    absent = {}
    for metric in REAL:
        events = events_of(dataset.plan, metric.name)
        good = [row for row in dataset.rows if row["status"] == "ok" and row["events"] == events]
        if events is None or (good and all(value(row, metric.name) is None for row in good)):
            absent[metric.name] = why_missing(good, metric.name)
    return absent


def _place(workload: Workload) -> tuple[str, int, Axes]:
    return workload.benchmark, workload.threads, ()


def _compare(
    workload: Workload,
    variant: str,
    metric: Metric,
    blocks: Blocks,
    calibration: Calibration,
) -> tuple[Finding, Test | None, Noise | None]:
    """A comparison without the verdict of its test."""
    key = workload, metric.name
    noise = calibration.noise.get(key)
    verdict, reason = blocks.verdict, blocks.reason
    if verdict is None and noise is None:
        verdict, reason = "n/a", f"not calibrated: {calibration.missing[key]}"
    if verdict is None and key in calibration.alarms:
        verdict, reason = "INVALID", "the A/A calibration found a difference: A is not A"
    test = paired_test(blocks.ratios) if verdict is None else None
    finding = Finding(
        *_place(workload),
        metric=metric,
        variant_name=variant,
        baseline=side(blocks.sides[0], blocks.means[0]),
        variant=side(blocks.sides[1], blocks.means[1]),
        improvement_pct=None,
        verdict=verdict or "~",
        reason=reason,
        singles=tuple(
            (f"block {i}", percent(ratio, metric))
            for i, ratio in enumerate(blocks.ratios if test else ())
        ),
    )
    return finding, test, noise


def _judge(
    finding: Finding, test: Test | None, noise: Noise | None, p: float, blocks: int, family: int
) -> Finding:
    if test is None or noise is None:
        return finding
    floor, detectable = noise.floor(blocks), noise.detectable(blocks, family)
    ends = sorted(percent(end, finding.metric) for end in (test.low, test.high))
    pct = percent(test.mean, finding.metric)
    verdict: Verdict = "better" if pct > 0 else "worse"
    reason = ""
    if p > ALPHA:
        verdict = "~"
    elif test.p_rank > ALPHA:
        verdict, reason = "~", f"the rank test does not agree (p = {test.p_rank:.2g})"
    elif abs(test.mean) < floor:
        verdict, reason = "refused", f"below the noise floor of {_size(floor):.2g} %"
    return replace(
        finding,
        improvement_pct=pct,
        verdict=verdict,
        reason=reason,
        low=ends[0],
        high=ends[1],
        p=p,
        p_rank=test.p_rank,
        floor_pct=_size(floor),
        detectable_pct=_size(detectable),
    )


def _size(log_ratio: float) -> float:
    """The change in percent."""
    return float(np.expm1(log_ratio)) * 100


def _counting_line(name: str, events: str, test: Test | None) -> str:
    what = f"{name}: counting {events.replace(',', ', ')}"
    if test is None:
        return f"{what}: its effect on elapsed_ns is unknown: uncounted runs are missing."
    mean, low, high = (_size(end) for end in (test.mean, test.low, test.high))
    line = f"{what} changes elapsed_ns by {mean:.2g} % (95 % interval {low:.2g} to {high:.2g} %)"
    if abs(mean) <= PERTURBATION_PCT:
        return f"{line}."
    return f"{line}: more than {PERTURBATION_PCT:g} %, and nothing is claimed from these runs."


def _calibration_lines(plan: Plan, calibration: Calibration) -> Iterable[str]:
    """The noise floor, the rate of false positives, the smallest detectable effect, and
    problems."""
    comparisons = len(plan.workloads) * len(plan.variants)
    primary = []
    for workload in plan.workloads:
        noise = calibration.noise.get((workload, plan.primary))
        name = f"{workload.benchmark}-{workload.threads}"
        if noise is None:
            why = calibration.missing[workload, plan.primary]
            yield f"{name}: {plan.primary} is not calibrated: {why}."
            continue
        primary.append(noise)
        if calibration.blocks:
            detectable = noise.detectable(calibration.blocks, comparisons)
            yield (
                f"{name}: noise of {plan.primary} {_size(noise.sigma):.2g} % from block to block; "
                f"noise floor {_size(noise.floor(calibration.blocks)):.2g} %; smallest effect that "
                f"{calibration.blocks} blocks can detect {_size(detectable):.2g} %."
            )
            if detectable > np.log1p(plan.effect_pct / 100):
                yield (
                    f"{name}: {calibration.blocks} blocks, the maximum, do not "
                    f"suffice to find an effect of {plan.effect_pct:g} %."
                )
        for events in plan.groups:
            yield _counting_line(name, events, calibration.counting.get((workload, events)))
    rate = false_positive_rate(primary)
    if rate is not None:
        yield (
            f"False-positive rate: {rate:.1%} of A/A comparisons of {plan.primary} with the "
            f"calibration's noise, by both tests, before correction and floor; {ALPHA:.0%} are "
            "allowed."
        )
    for workload, metric in sorted(
        calibration.alarms, key=lambda key: (key[0].benchmark, key[0].threads, key[1])
    ):
        mean = float(np.mean(calibration.noise[workload, metric].ratios))
        yield (
            f"{workload.benchmark}-{workload.threads}: the baseline differs from itself in "
            f"{metric} by {100 * np.expm1(mean):.2g} %: something is wrong with the set-up."
        )


def _setting(
    dataset: Dataset, calibration: Calibration, runs: Sequence[Circumstances]
) -> dict[str, str]:
    plan = dataset.plan
    blocks = "not calibrated" if calibration.blocks is None else str(calibration.blocks)
    setting = {"backend": plan.backend, "blocks": blocks}
    if runs:
        first = runs[0].environment
        setting |= {
            "cpu": first.cpu or "not available",
            "cpus": str(first.own_cpus),
            **({"cpu_list": first.cpu_list} if first.cpu_list else {}),
            "microcode": first.microcode or "not available",
            "governor": ", ".join(first.governors or ()) or "not available",
            "boots": str(len({row["boot"] for row in dataset.rows})),
            "kernels": ", ".join(sorted({run.environment.kernel or "?" for run in runs})),
        }
    if runs and plan.backend == GUESTS:
        # Older rows have only the host's CPUs.
        machine = dataset.rows[0]["machine"]
        asked = ("cpus", "memory_mb", "preset")
        setting |= {name: str(machine[name]) for name in asked if name in machine}
    return setting


def company(rows: Iterable[PairedRow]) -> Iterable[str]:
    """Doubts about runs that may have shared their CPUs. Hardware events are counted by CPU. Times
    are comparable if all runs shared their CPUs, or none did."""
    good = [row for row in rows if row["status"] == "ok"]
    shared = [row for row in good if row["others"]]
    reasons = [row["others"] for row in shared if not row["counters"].keys().isdisjoint(HARDWARE)]
    for why in dict.fromkeys(reasons):
        yield (
            "Hardware events are counted by CPU, and other programs may have run on the measured "
            f"CPUs: {why}."
        )
    if 0 < len(shared) < len(good):
        yield (
            f"In {len(shared)} of {len(good)} runs other programs may have run on the "
            "measured CPUs, which changes times, too: "
            f"{first_reasons(row['others'] or '' for row in shared)}."
        )


def _left_out(row: PairedRow) -> LeftOut:
    return LeftOut(
        row["benchmark"],
        row["threads"],
        (),
        row["pair"],
        _which(row),
        row["status"],
        row["reason"],
    )


def _which(row: PairedRow) -> str:
    return f"block {row['block']}, run {row['position'] + 1} ({row['side']})"


def _not_made(dataset: Dataset, calibration: Calibration) -> Iterable[LeftOut]:
    """Planned runs without a row."""
    plan = dataset.plan
    for pair in (plan.baseline, *plan.variants):
        blocks = plan.calibration_blocks if pair == plan.baseline else calibration.blocks
        for workload in plan.workloads:
            if blocks is None:
                why = "the A/A calibration comes first"
                yield LeftOut(*_place(workload), pair, "", "missing", why)
                continue
            planned = blocks * runs_of_a_block(plan, pair)
            lack = planned - len(dataset.of(workload, pair))
            if lack > 0:
                why = f"{lack} of {planned} runs are not made yet"
                yield LeftOut(*_place(workload), pair, "", "missing", why)
