# SPDX-License-Identifier: GPL-2.0
"""Tables that only the simulation fills: beside the paper, regret, mechanism, latencies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastlab.base.metrics import FIRED, HINTS, LATENCIES, MECHANISM, SHOWN_PERCENTILES
from fastlab.base.model import Place
from fastlab.report import paper
from fastlab.report.tables import (
    NOT_AVAILABLE,
    PARTIAL,
    SIGN,
    Cell,
    Table,
    Tone,
    improvement_cell,
    links,
    numbers,
    side_by_side,
    value,
)
from fastlab.statistics.findings import Findings
from fastlab.statistics.regret import WORSE_PCT, Regret

LATENCY_COLUMNS = {"mean": "mean", **SHOWN_PERCENTILES, "max": "most"}


def regret_explained(findings: Findings) -> str:
    """What the words oracle and regret mean in this comparison."""
    return (
        f"The oracle of a row is the fastest of {', '.join(findings.oracle)}: the best choice "
        "that a user could make for that workload. Regret is an arm's elapsed time divided by the "
        "oracle's, over the seeds that both have. 1.00 is as fast as the best choice; 1.31 takes "
        "31 % longer."
    )


def miss_ratios(findings: Findings, variant_name: str) -> Table:
    """The shape of the paper's Table 3 or 4: miss-ratio improvements, best cases strong."""
    return _beside_paper(
        findings,
        variant_name,
        (("l2_miss_ratio", "L2"), ("l3_miss_ratio", "L3")),
        f"Improvement of the L2 and L3 miss ratios, % ({variant_name})",
        "A ratio can rise while misses fall, because the references fall too: "
        "see l2_misses beside it. ",
        paper.evaluation(findings.benchmarks).ratios,
    )


def headline(findings: Findings, variant_name: str, metric: str) -> Table:
    """One metric: a row per benchmark, a column per thread count, the paper's figures below
    each."""
    figure = paper.evaluation(findings.benchmarks).figures.get(metric, "")
    return _beside_paper(
        findings,
        variant_name,
        ((metric, "here"),),
        f"Improvement of {metric}, % ({variant_name})",
        "",
        figure,
    )


def _beside_paper(
    findings: Findings,
    variant_name: str,
    metrics: Sequence[tuple[str, str]],
    title: str,
    note: str,
    source: str,
) -> Table:
    rows = []
    for benchmark in findings.benchmarks:
        for number, (metric, label) in enumerate(metrics):
            by_case = findings.find(variant_name, metric)
            cells = [by_case[benchmark, threads] for threads in findings.threads]
            rows.append([Cell(benchmark if number == 0 else ""), Cell(label), *side_by_side(cells)])
            printed = [paper.printed(metric, benchmark, threads) for threads in findings.threads]
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
        ["benchmark", "", *map(str, findings.threads)],
        rows,
        f"Bold: the best significant case. {note}{SIGN}",
        2,
        [str(thread) for thread in findings.threads],
    )


def mechanism(findings: Findings) -> Table:
    """What FAST did: the kernel's counters of every workload."""
    rows = [
        [Cell(entry.variant_name), Cell(entry.benchmark), *numbers(entry)]
        + [
            Cell(f"{entry.counters[name]:,}" if name in entry.counters else NOT_AVAILABLE)
            for name in MECHANISM
        ]
        for entry in findings.mechanism
    ]
    note = (
        "Counters of sched/fast/stat, summed over the compared seeds. hint_set: woken threads that "
        "got a hint; used: wake-ups sent to the hinted CPU; same_cpu: the task was there already; "
        "preferred: soft found an idle CPU near it; moot: there was no choice; "
        "rejected_*: hints not followed, by reason."
    )
    columns = ["variant", "benchmark", "threads", *findings.axes, *MECHANISM]
    return Table("Mechanism", columns, rows, note, 2, [*FIRED, HINTS])


def synchronization(findings: Findings) -> Table:
    """What explains a result: how often the threads meet, and how long they wait."""
    rows = [
        [
            Cell(entry.benchmark),
            Cell(entry.variant_name),
            *numbers(entry),
            *(
                Cell(value(number), tone="" if number is not None else "aside")
                for number in (
                    entry.locks,
                    entry.barriers,
                    entry.flags,
                    entry.handoffs,
                    entry.context_switches,
                )
            ),
            *(
                Cell(f"{100 * share:.1f}")
                for share in (
                    entry.contended,
                    entry.lock_share,
                    entry.barrier_share,
                    entry.flag_share,
                )
            ),
        ]
        for entry in findings.synchronization
    ]
    columns = ["benchmark", "variant", "threads", *findings.axes]
    columns += ["locks/s", "barriers/s", "flags/s"]
    columns += ["hand-offs/s", "switches/s", "contended %", "at locks %", "at barriers %"]
    note = (
        "Operations of all threads together; seconds are modelled time. hand-offs: wake-ups with a "
        "hint over the whole run, which only a kernel with FAST counts. contended: the share of "
        "lock acquisitions that had to wait. at locks, barriers, flags: the share of the threads' "
        "time spent waiting there, including the wait for a CPU."
    )
    return Table("Synchronization", [*columns, "at flags %"], rows, note, 2)


def latencies(findings: Findings) -> Table:
    """How long hand-offs and wake-ups take, the baseline's included."""
    metrics = [f"{latency}_{shown}" for latency in LATENCIES for shown in LATENCY_COLUMNS]
    by_variant = {
        name: [findings.find(name, metric) for metric in metrics] for name in findings.variants
    }
    rows = []
    for place in _places(findings):
        labels = [Cell(place.benchmark), *numbers(place)]
        times = {
            name: [by_place[place.key] for by_place in by_metric]
            for name, by_metric in by_variant.items()
        }
        # Over the seeds that the first variant has, too.
        before = [compared.baseline.mean for compared in next(iter(times.values()), ())]
        sides = {name: [compared.variant.mean for compared in side] for name, side in times.items()}
        rows += [
            [labels[0], Cell(name), *labels[1:], *map(_microseconds, side)]
            for name, side in {findings.baseline: before, **sides}.items()
        ]
    columns = [f"{latency} {shown}" for latency in LATENCIES for shown in LATENCY_COLUMNS.values()]
    note = (
        "In us of modelled time, means over the compared seeds. A variant changes which hand-offs "
        "and wake-ups occur: read the percentiles together with the throughput. "
        f"{NOT_AVAILABLE}: no such event in some compared run."
    )
    columns = ["benchmark", "variant", "threads", *findings.axes, *columns]
    return Table("Latencies", columns, rows, note, 2)


def _places(findings: Findings) -> Iterable[Place]:
    """The rows of the comparison, each once."""
    return {finding.key: finding for finding in findings.findings}.values()


def _microseconds(nanoseconds: float | None) -> Cell:
    if nanoseconds is None:
        return Cell(NOT_AVAILABLE, tone="aside")
    return Cell(value(nanoseconds / 1000))


def study(findings: Findings, metric: str) -> Table:
    """Several variants side by side: a row per workload, a column per variant, the best bold."""
    names = findings.fast_first(findings.variants)
    by_variant = {name: findings.find(name, metric) for name in names}
    link = links(findings)
    rows = []
    for cells in zip(*(by_case.values() for by_case in by_variant.values()), strict=True):
        rows.append(
            [
                Cell(cells[0].benchmark, link=link.get(cells[0].key, "")),
                *numbers(cells[0]),
                *side_by_side(cells),
            ]
        )
    columns = ["benchmark", "threads", *findings.axes, *names]
    note = f"Bold: the best significant improvement of its row. {SIGN}"
    title = f"Improvement of {metric} by variant, %"
    return Table(title, columns, rows, note, kept=names)


def standings(findings: Findings) -> Table:
    """Each arm over all rows: what a better choice would gain."""
    rows = [
        [
            Cell(standing.variant_name),
            Cell(_times(standing.mean), tone="" if standing.rows else "aside"),
            Cell(_times(standing.worst), tone="" if standing.rows else "aside"),
            Cell(str(standing.best_of)),
            Cell(str(standing.worse), tone="loss" if standing.worse else ""),
            Cell(str(standing.rows)),
        ]
        for standing in findings.standings
    ]
    columns = ["arm", "mean regret", "worst regret", "best in", "worse than the baseline in", "of"]
    partial = sum(not all(own.complete for own in row) for row in findings.regret_rows)
    note = (
        f"Rows are workloads. {regret_explained(findings)} mean regret: the arithmetic mean over "
        "the rows. best in: rows in which no arm is faster. worse than the baseline in: rows in "
        f"which the arm is more than {WORSE_PCT:g} % slower. of: rows in which no run of the arm "
        f"or of the oracle is missing; some run is missing in {partial} of "
        f"{len(findings.regret_rows)} rows."
    )
    return Table("Regret by arm", columns, rows, note, kept=columns)


def regrets(findings: Findings) -> Table:
    """A row per workload, a column per arm, the best bold."""
    names = findings.fast_first(findings.arms)
    link = links(findings)
    rows = []
    for case in findings.regret_rows:
        row = sorted(case, key=lambda own: names.index(own.variant_name))
        best = min((own.regret for own in row if own.regret is not None), default=None)
        first = row[0]
        rows.append(
            [Cell(first.benchmark, link=link.get(first.key, "")), *numbers(first)]
            + [_regret_cell(own, own.regret == best) for own in row]
            + [Cell(first.oracle or NOT_AVAILABLE, tone="aside"), Cell(value(first.oracle_ns))]
        )
    columns = ["benchmark", "threads", *findings.axes, *names, "oracle", "oracle's ns"]
    note = (
        f"{regret_explained(findings)} Bold: best of its row. Coloured: more than {WORSE_PCT:g} % "
        f"faster or slower than the baseline. {PARTIAL}: fewer seeds or arms than planned, see the "
        "runs left out."
    )
    return Table("Regret by workload and arm", columns, rows, note, kept=names)


def beside(findings: Findings) -> Table:
    """Locality and serialisation: time and cycles of the arms that the oracle chooses from."""
    arms = findings.oracle_arms
    by_column = {
        (name, metric): findings.find(name, metric)
        for name in arms
        for metric in ("elapsed_ns", "cycles")
    }
    rows = [
        [Cell(cells[0].benchmark), *numbers(cells[0])] + [improvement_cell(cell) for cell in cells]
        for cells in zip(*(by_case.values() for by_case in by_column.values()), strict=True)
    ]
    columns = ["benchmark", "threads", *findings.axes]
    compared = [f"{name}: {metric}" for name, metric in by_column]
    note = (
        "Cycles are the work, time is when it is done. An arm that saves cycles gains locality; if "
        "it nevertheless loses time, it serialises work that could run in parallel. "
        f"{SIGN}"
    )
    title = f"{' beside '.join(arms)}: improvement of time and cycles, %"
    return Table(title, [*columns, *compared], rows, note, kept=compared)


def _regret_cell(regret: Regret, best: bool) -> Cell:
    if regret.regret is None:
        return Cell(NOT_AVAILABLE, tone="aside")
    tone: Tone = "loss" if regret.is_worse else "gain" if regret.is_better else ""
    return Cell(f"{regret.regret:.2f}{'' if regret.complete else f' {PARTIAL}'}", best, tone)


def _times(regret: float | None) -> str:
    return NOT_AVAILABLE if regret is None else f"{regret:.2f}"
