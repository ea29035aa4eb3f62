# SPDX-License-Identifier: GPL-2.0
"""The report's tables, independent of what shows them: terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fastlab import paper
from fastlab.model import LATENCIES, METRICS, Place
from fastlab.regret import WORSE_PCT, Regret
from fastlab.stats import Comparison, Summary

Tone = Literal["", "gain", "loss", "aside"]

HEADLINES = ("elapsed_ns", "cycles", "bus_requests", "throughput")
NOT_AVAILABLE = "n/a"
LATENCY_COLUMNS = {"mean": "mean", "p50": "median", "p99": "99 %", "max": "most"}
SIGN = (
    "Improvement = (baseline - variant) * 100 / baseline in percent; for throughput and fairness "
    "the sign is turned, so that positive is better everywhere. "
    "± is the sample standard deviation over the seeds, in percentage points. "
    f"{NOT_AVAILABLE}: not available. †: fewer seeds than planned, see the runs left out."
)

_ORACLE = (
    "The oracle is the best of the arms that the experiment names for it, in each row anew; regret "
    "is an arm's elapsed time over the oracle's, means over the seeds that both have: 1.00 is as "
    "good as the best choice."
)


@dataclass(frozen=True)
class Cell:
    """`strong` marks a best case, `tone` a gain, a loss, or what is not measured here."""

    text: str
    strong: bool = False
    tone: Tone = ""


@dataclass(frozen=True)
class Table:
    """Columns are left-aligned up to `labels`, right-aligned after it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    labels: int = 1


def miss_ratios(summary: Summary, variant_name: str) -> Table:
    """The shape of the paper's Table 3 or 4: miss-ratio improvements, best cases strong."""
    return _beside_paper(
        summary,
        variant_name,
        (("l2_miss_ratio", "L2"), ("l3_miss_ratio", "L3")),
        f"Improvement of the L2 and L3 miss ratios, % ({variant_name})",
        "A ratio can rise while misses fall, because the references fall too: "
        "see l2_misses beside it. ",
        paper.evaluation(summary.benchmarks).ratios,
    )


def headline(summary: Summary, variant_name: str, metric: str) -> Table:
    """One metric: a row per benchmark, a column per thread count, the paper's words below each."""
    figure = paper.evaluation(summary.benchmarks).figures.get(metric, "")
    return _beside_paper(
        summary,
        variant_name,
        ((metric, "here"),),
        f"Improvement of {metric}, % ({variant_name})",
        "",
        figure,
    )


def _beside_paper(
    summary: Summary,
    variant_name: str,
    metrics: Sequence[tuple[str, str]],
    title: str,
    note: str,
    source: str,
) -> Table:
    rows = []
    for benchmark in summary.benchmarks:
        for number, (metric, label) in enumerate(metrics):
            found = summary.find(variant_name, metric)
            cells = [found[benchmark, threads] for threads in summary.threads]
            best = max(
                (one.improvement_pct for one in cells if one.improvement_pct is not None),
                default=None,
            )
            rows.append(
                [Cell(benchmark if number == 0 else ""), Cell(label)]
                + [improvement_cell(one, one.improvement_pct == best) for one in cells]
            )
            printed = [paper.printed(metric, benchmark, threads) for threads in summary.threads]
            if any(printed):
                rows.append(
                    [
                        Cell(""),
                        Cell("paper" if len(metrics) == 1 else f"{label}, paper", tone="aside"),
                    ]
                    + [Cell(text or "-", tone="aside") for text in printed]
                )
    if source:
        note += (
            f"paper: its {source}, 4-way Itanium 2, Linux 2.6.9; "
            '"none": no improvement; "-": the text prints no number. '
        )
    return Table(
        title,
        ["benchmark", "", *map(str, summary.threads)],
        rows,
        f"Bold: best case. {note}{SIGN}",
        2,
    )


def everything(summary: Summary, variant_name: str) -> Table:
    """Every comparison of one variant with its values."""
    rows = [_value_cells(one) for one in summary.comparisons if one.variant_name == variant_name]
    columns = ["benchmark", "metric", "threads", *summary.axes]
    columns += ["baseline", variant_name, "improvement %"]
    return Table(
        f"All metrics ({variant_name})",
        columns,
        rows,
        f"Values are means over the seeds. {SIGN}",
        2,
    )


def losses(summary: Summary) -> Table:
    """Every case in which a variant is worse than the baseline, the worst first."""
    found = [one for one in summary.comparisons if (one.improvement_pct or 0) < 0]
    return _list(summary, "Losses", found)


def gains(summary: Summary) -> Table:
    """Every case in which a variant is better than the baseline, the best first."""
    found = [one for one in summary.comparisons if (one.improvement_pct or 0) > 0]
    return _list(summary, "Gains", found)


def _list(summary: Summary, title: str, found: Sequence[Comparison]) -> Table:
    """The largest changes first; equal ones, but for the last bits of a float, as they stand."""
    ordered = sorted(found, key=lambda one: -round(abs(one.improvement_pct or 0), 6))
    rows = [[Cell(one.variant_name), *_value_cells(one)] for one in ordered]
    columns = ["variant", "benchmark", "metric", "threads", *summary.axes]
    columns += ["baseline", "value", "improvement %"]
    return Table(f"{title}: {len(found)}", columns, rows, SIGN, 3)


def _value_cells(one: Comparison) -> list[Cell]:
    return [
        Cell(one.benchmark),
        Cell(one.metric.name),
        *_numbers(one),
        Cell(value(one.baseline)),
        Cell(value(one.variant)),
        improvement_cell(one),
    ]


def _numbers(one: Place) -> list[Cell]:
    """The threads, and where the row stands on the axes of a matrix."""
    return [Cell(str(one.threads)), *(Cell(str(number)) for _, number in one.axes)]


def mechanism(summary: Summary) -> Table:
    """What FAST did: the kernel's counters of every workload."""
    names = list(dict.fromkeys(name for one in summary.mechanism for name in one.counters))
    rows = [
        [Cell(one.variant_name), Cell(one.benchmark), *_numbers(one)]
        + [
            Cell(f"{one.counters[name]:,}" if name in one.counters else NOT_AVAILABLE)
            for name in names
        ]
        for one in summary.mechanism
    ]
    note = (
        "Counters of /proc/fast_stat, summed over the compared seeds. hint_set: hand-offs that "
        "left a hint; used: wake-ups sent to the lock-hot CPU; same_cpu: the task was there "
        "already; rejected_*, expired: hints not followed, by reason."
    )
    return Table(
        "Mechanism", ["variant", "benchmark", "threads", *summary.axes, *names], rows, note, 2
    )


def synchronization(summary: Summary) -> Table:
    """What explains a result: how often the threads meet, and how long they wait for each other."""
    rows = [
        [
            Cell(one.benchmark),
            Cell(one.variant_name),
            *_numbers(one),
            *(
                Cell(value(number), tone="" if number is not None else "aside")
                for number in (
                    one.locks,
                    one.barriers,
                    one.flags,
                    one.handoffs,
                    one.context_switches,
                )
            ),
            *(
                Cell(f"{100 * share:.1f}")
                for share in (one.contended, one.lock_share, one.barrier_share, one.flag_share)
            ),
        ]
        for one in summary.synchronization
    ]
    columns = ["benchmark", "variant", "threads", *summary.axes]
    columns += ["locks/s", "barriers/s", "flags/s"]
    columns += ["hand-offs/s", "switches/s", "contended %", "at locks %", "at barriers %"]
    note = (
        "Operations of all threads together; seconds are modelled time. hand-offs: wake-ups that "
        "left a hint, of the whole run, which only a kernel with FAST counts. contended: of the "
        "locks, those that were not free. At locks, barriers, flags: the share of the threads' "
        "time that they waited there, which includes waiting for a CPU."
    )
    return Table("Synchronization", [*columns, "at flags %"], rows, note, 2)


def latencies(summary: Summary) -> Table:
    """How long hand-offs and wake-ups take, the baseline's included."""
    metrics = [f"{latency}_{shown}" for latency in LATENCIES for shown in LATENCY_COLUMNS]
    found = {
        name: [summary.find(name, metric) for metric in metrics] for name in summary.variant_names
    }
    rows = []
    for case in summary.experiment.cases:
        one = Place(*case.place)
        labels = [Cell(one.benchmark), *_numbers(one)]
        times = {
            name: [by_place[one.key] for by_place in by_metric] for name, by_metric in found.items()
        }
        # Over the seeds that the first variant has, too.
        before = [compared.baseline for compared in next(iter(times.values()), ())]
        sides = {name: [compared.variant for compared in side] for name, side in times.items()}
        rows += [
            [labels[0], Cell(name), *labels[1:], *map(_microseconds, side)]
            for name, side in {summary.experiment.baseline: before, **sides}.items()
        ]
    columns = [f"{latency} {shown}" for latency in LATENCIES for shown in LATENCY_COLUMNS.values()]
    note = (
        "In us of modelled time, means over the compared seeds. Percentiles are of the hand-offs "
        "and wake-ups that there were, and a variant changes which there are: read them beside the "
        f"throughput. {NOT_AVAILABLE}: in some of the runs compared there was none."
    )
    columns = ["benchmark", "variant", "threads", *summary.axes, *columns]
    return Table("Latencies", columns, rows, note, 2)


def _microseconds(nanoseconds: float | None) -> Cell:
    if nanoseconds is None:
        return Cell(NOT_AVAILABLE, tone="aside")
    return Cell(value(nanoseconds / 1000))


def excluded(summary: Summary) -> Table:
    """The runs that are in no comparison, and why."""
    rows = [
        [
            Cell(one.status.upper(), tone="aside" if one.status == "missing" else "loss"),
            Cell(one.variant_name),
            Cell(one.benchmark),
            Cell(one.reason),
            *_numbers(one),
            Cell(str(one.seed)),
        ]
        for one in summary.excluded
    ]
    columns = ["status", "variant", "benchmark", "reason", "threads", *summary.axes, "seed"]
    return Table(f"Left out: {len(rows)} runs", columns, rows, "In none of the tables.", 4)


def study(summary: Summary, metric: str) -> Table:
    """Several variants side by side: a row per workload, a column per variant, the best strong."""
    found = {name: summary.find(name, metric) for name in summary.variant_names}
    rows = []
    for cells in zip(*(one.values() for one in found.values()), strict=True):
        known = [one.improvement_pct for one in cells if one.improvement_pct is not None]
        best = max(known, default=None)
        rows.append(
            [Cell(cells[0].benchmark), *_numbers(cells[0])]
            + [improvement_cell(one, one.improvement_pct == best) for one in cells]
        )
    columns = ["benchmark", "threads", *summary.axes, *summary.variant_names]
    note = f"Bold: best of its row. {SIGN}"
    return Table(f"Improvement of {metric} by variant, %", columns, rows, note)


def standings(summary: Summary) -> Table:
    """Each arm over all rows: what is left to gain by choosing better."""
    rows = [
        [
            Cell(one.variant_name),
            Cell(_times(one.mean), tone="" if one.rows else "aside"),
            Cell(_times(one.worst), tone="" if one.rows else "aside"),
            Cell(str(one.best_of)),
            Cell(str(one.worse), tone="loss" if one.worse else ""),
            Cell(str(one.rows)),
        ]
        for one in summary.standings
    ]
    columns = ["arm", "mean regret", "worst regret", "best in", "worse than the baseline in", "of"]
    note = (
        f"Rows are workloads. {_ORACLE} Mean regret: the arithmetic mean over the rows. best in: "
        "no arm takes less time there. worse than the baseline: by more than "
        f"{WORSE_PCT:g} % of its time."
    )
    return Table("Regret by arm", columns, rows, note)


def regrets(summary: Summary) -> Table:
    """A row per workload, a column per arm, the best strong."""
    names = [variant.name for variant in summary.experiment.variants]
    rows = []
    for row in _by_row(summary.regrets):
        best = min((one.regret for one in row if one.regret is not None), default=None)
        first = row[0]
        rows.append(
            [Cell(first.benchmark), *_numbers(first)]
            + [_regret_cell(one, one.regret == best) for one in row]
            + [Cell(first.oracle or NOT_AVAILABLE, tone="aside"), Cell(value(first.oracle_ns))]
        )
    columns = ["benchmark", "threads", *summary.axes, *names, "oracle", "oracle's ns"]
    note = (
        f"{_ORACLE} Bold: best of its row. Coloured: better or worse than the baseline by more "
        f"than {WORSE_PCT:g} %. †: fewer seeds or arms than planned, see the runs left out."
    )
    return Table("Regret by workload and arm", columns, rows, note)


def beside(summary: Summary) -> Table:
    """Locality apart from serialisation: time and cycles of the arms that the oracle chooses."""
    arms = summary.oracle_arms
    found = {
        (name, metric): summary.find(name, metric)
        for name in arms
        for metric in ("elapsed_ns", "cycles")
    }
    rows = [
        [Cell(cells[0].benchmark), *_numbers(cells[0])] + [improvement_cell(one) for one in cells]
        for cells in zip(*(one.values() for one in found.values()), strict=True)
    ]
    columns = ["benchmark", "threads", *summary.axes]
    columns += [f"{name}: {metric}" for name, metric in found]
    note = (
        "Cycles tell the work, time tells when it is done. An arm that gains cycles gains "
        "locality; if it loses time nevertheless, it does one after the other what could be done "
        f"side by side. {SIGN}"
    )
    return Table(f"{' beside '.join(arms)}: improvement of time and cycles, %", columns, rows, note)


def _by_row(found: Iterable[Regret]) -> list[list[Regret]]:
    """The arms of each workload."""
    rows: dict[tuple[int | str, ...], list[Regret]] = {}
    for one in found:
        rows.setdefault(one.key, []).append(one)
    return list(rows.values())


def _regret_cell(one: Regret, best: bool) -> Cell:
    if one.regret is None:
        return Cell(NOT_AVAILABLE, tone="aside")
    tone: Tone = "loss" if one.is_worse else "gain" if one.is_better else ""
    return Cell(f"{one.regret:.2f}{'' if one.complete else ' †'}", best, tone)


def _times(regret: float | None) -> str:
    return NOT_AVAILABLE if regret is None else f"{regret:.2f}"


def improvement_cell(one: Comparison, best: bool = False) -> Cell:
    """An improvement and its spread, in percent."""
    if one.improvement_pct is None:
        return Cell(NOT_AVAILABLE, tone="aside")
    # Rounded first: what is shown as 0.0 has no sign and no tone.
    shown = round(one.improvement_pct, 1) or 0.0
    spread = "" if one.spread is None else f" ±{one.spread:.1f}"
    text = f"{shown:.1f}{spread}{'' if one.complete else ' †'}"
    tone: Tone = "gain" if shown > 0 else "loss" if shown < 0 else ""
    return Cell(text, best, tone)


def value(number: float | None) -> str:
    """A counter's or a ratio's value."""
    if number is None:
        return NOT_AVAILABLE
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.4g}"


def standard(summary: Summary) -> list[Table]:
    """The tables of an experiment, in reading order."""
    tables: list[Table] = []
    if summary.excluded:
        tables.append(excluded(summary))
    if summary.regrets:
        tables += [standings(summary), regrets(summary)]
    if summary.oracle_arms:
        tables.append(beside(summary))
    if len(summary.variant_names) > 1:
        tables += [study(summary, metric) for metric in HEADLINES]
    for name in summary.beside_paper:
        tables.append(miss_ratios(summary, name))
        tables += [headline(summary, name, metric) for metric in HEADLINES]
    if summary.synchronization:
        tables.append(synchronization(summary))
    tables.append(latencies(summary))
    return [*tables, losses(summary), gains(summary), mechanism(summary)]


def units() -> Table:
    """What the metrics count."""
    rows = [
        [Cell(metric.name), Cell(metric.unit), Cell(f"{metric.better} is better")]
        for metric in METRICS
    ]
    return Table("Metrics", ["metric", "counts", "direction"], rows, labels=3)
