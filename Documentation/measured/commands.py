# SPDX-License-Identifier: GPL-2.0
"""Tables of what other commands measure: `fast bench`, `fast try`, `fast trust`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from measured.results import (
    FAILED,
    METRICS,
    NOTHING,
    Lines,
    Results,
    Unfinished,
    decimal,
    millis,
)


def costs(results: Results) -> Lines:
    """Of `fast bench overhead`: instructions unpatched, and how many more with each policy."""
    rows = results.document["rows"]
    first, *policies = dict.fromkeys(row["arm"] for row in rows)
    found = {(row["operation"], row["arm"]): row["instructions"] for row in rows}
    lines: Lines = [["operation", first, *policies]]
    for operation in dict.fromkeys(row["operation"] for row in rows):
        plain = found[operation, first]
        more = (f"{found[operation, policy] - plain:+,.1f}" for policy in policies)
        lines.append([operation, f"{plain:,.1f}", *more])
    return lines


def trials(results: Results) -> Lines:
    """Of `fast try --json`: time without FAST, and what the policies improve of time and cycles."""
    trials = results.document["trials"]
    policies = [one["policy"] for one in trials[0]["verdicts"]]
    metrics = ("elapsed_ns", "cycles")
    heads = [f"{METRICS[metric]}: {one}" for metric in metrics for one in policies]
    lines: Lines = [["program", "off, ms", *heads]]
    for trial in trials:
        changes = [one["changes"] for one in trial["verdicts"]]
        found = [one[metric] for metric in metrics for one in changes]
        ranges = [f"{decimal(one['low'])} to {decimal(one['high'])}" for one in found]
        words = f"``{' '.join(trial['argv'])}``"
        lines.append([words, millis(changes[0]["elapsed_ns"]["off"]), *ranges])
    return lines


def predictions(results: Results) -> Lines:
    """`fast trust` tells its table itself."""
    return list(results.document["table"])


def localities(results: Results) -> Lines:
    """Of `fast bench theses --simulate`: medians over the rounds, and what a source published."""
    heads = {
        "time": "time, us",
        "l3_hits": "L3 hits",
        "l3_misses": "L3 misses",
        "remote_memory": "remote",
    }
    rows, published = results.rows_of_rounds(), results.document["published"]
    told = [name for name in heads if any(one["metric"] == name for one in published)]
    units = {one["metric"]: one["unit"] for one in published}
    shown = [name for name in heads if any(name in one for row in rows for one in row["rounds"])]
    there = [f"{heads[name].split(',')[0]} there, {units[name]}" for name in told]
    lines: Lines = [["program", "contender", *(heads[one] for one in shown), *there]]
    for row in rows:
        cells = [FAILED] * len(shown)
        if row["status"] != FAILED:
            of_metrics = ([one[metric] for one in row["rounds"]] for metric in shown)
            cells = [_with_range(*one) for one in zip(of_metrics, shown, strict=True)]
        values = [_published(published, row, name) for name in told]
        lines.append([f"``{row['program']}``", row["contender"], *cells, *values])
    return lines


def _with_range(values: Sequence[float], metric: str) -> str:
    """The median, and how far the rounds lie apart from it at the most."""
    if not values:
        return NOTHING
    middle = median(values)
    far = max(abs(one - middle) for one in values)
    shown = middle * 1e6 if metric == "time" else middle
    return f"{shown:,.0f} ± {100 * far / middle:.1f} %" if middle else "0"


def _published(published: Sequence[dict[str, Any]], row: dict[str, Any], metric: str) -> str:
    for one in published:
        if (one["program"], one["metric"]) == (row["program"], metric):
            value = one["values"].get(row["contender"])
            return "" if value is None else f"{value:,.4g}"
    return ""


Run = Mapping[str, int]


def steal_misses(results: Results, *victims: str) -> Lines:
    """Of `fast bench stealing`: attempts to steal and those that got nothing, means over seeds."""
    heads = [f"{one}: attempts" for one in victims]
    rest = ["got nothing", "ratio"]
    lines: Lines = [["kernel", "workers", *(cell for head in heads for cell in (head, *rest))]]
    for head, by_victims in _points(results):
        cells = []
        for runs in (by_victims[one] for one in victims):
            tried, failed = _mean(runs, _tried), _mean(runs, _failed)
            cells += [f"{tried:.1f}", f"{failed:.1f}", f"{failed / tried:.3f}"]
        lines.append([*head, *cells])
    return lines


def steal_nodes(results: Results, *victims: str) -> Lines:
    """The same: steals from the other node and from the own one, and remote attempts in vain."""
    lines: Lines = [
        ["kernel", "workers", "victims", "remote steals", "local steals", "remote misses", "ratio"]
    ]
    for head, by_victims in _points(results):
        for one in victims:
            runs = by_victims[one]
            remote = _mean(runs, lambda run: run["steals_remote"] - run["steal_failures_remote"])
            local = _mean(runs, lambda run: _tried(run) - _failed(run)) - remote
            failed = _mean(runs, lambda run: run["steal_failures_remote"])
            counts = (f"{count:.1f}" for count in (remote, local + 0.0, failed))
            lines.append([*head, one, *counts, f"{failed / (remote + failed):.3f}"])
    return lines


def _points(results: Results) -> list[tuple[list[str], dict[str, list[Run]]]]:
    """Each kernel and number of workers, with the runs of each choice of victims."""
    found: dict[tuple[str, str], dict[str, list[Run]]] = {}
    for row in results.document["rows"]:
        if not row["runs"]:
            where = f"{row['benchmark']}, {row['workers']} workers, victims {row['victims']}"
            raise Unfinished(f"{where}: no run")
        point = found.setdefault((row["benchmark"], str(row["workers"])), {})
        point[row["victims"]] = row["runs"]
    return [(list(point), by_victims) for point, by_victims in found.items()]


def _tried(run: Run) -> int:
    return run["steals"]


def _failed(run: Run) -> int:
    return run["steal_failures"]


def _mean(runs: Sequence[Run], count: Callable[[Run], int]) -> float:
    return fmean(count(run) for run in runs)


# What the values of a benchmark are in, what they are shown in, and how many of it.
UNITS = {
    "ns_per_task": ("ns", 1.0),
    "seconds": ("ms", 1e3),
    "ns": ("µs", 1e-3),
    "cpu_share": ("% CPU", 100.0),
}


def runtimes(results: Results, *only: str) -> Lines:
    """Of `fast bench runtime`: medians, a column for each runtime, or for `only` these."""
    rows = results.document["rows"]
    names = only or tuple(dict.fromkeys(row["runtime"] for row in rows))
    found = {(row["benchmark"], row["workers"], row["runtime"]): row for row in rows}
    lines: Lines = [["benchmark", "workers", "unit", *names, "± %"]]
    for benchmark, workers in dict.fromkeys(point[:2] for point in found):
        row = found[benchmark, workers, "intervals"]
        unit = next(one for one in UNITS if one in row)
        values = (_value(found.get((benchmark, workers, name), {}), unit) for name in names)
        half = NOTHING if row["spread"] is None else f"{50 * row['spread']:.1f}"
        lines.append([benchmark, str(workers), UNITS[unit][0], *values, half])
    return lines


def _value(row: Mapping[str, Any], unit: str) -> str:
    """Nothing where there is no such row: serial has one worker only."""
    if not row:
        return ""
    value = row.get(unit)
    if value is None:
        return FAILED if row["status"] == FAILED else NOTHING
    shown = value * UNITS[unit][1]
    return f"{shown:.3g}" if abs(shown) < 1000 else f"{shown:,.0f}"


def openmp(results: Results, *only: str) -> Lines:
    """Of `fast bench openmp`: medians and spreads by library, and ours over libgomp's."""
    rows = results.document["rows"]
    names = tuple(dict.fromkeys(row["library"] for row in rows))
    found = {(row["benchmark"], row["threads"], row["library"]): row for row in rows}
    lines: Lines = [["benchmark", "threads", "unit", *names, "/ libgomp"]]
    for benchmark, threads in dict.fromkeys(point[:2] for point in found):
        if only and benchmark not in only:
            continue
        of_line = [found[benchmark, threads, name] for name in names]
        unit, factor = UNITS[next(row["unit"] for row in of_line if row["unit"])]
        cells = [_openmp_value(row, factor) for row in of_line]
        ratio = of_line[-1]["ratio"]
        last = NOTHING if ratio is None else f"{ratio:.2f}"
        lines.append([f"``{benchmark}``", str(threads), unit, *cells, last])
    return lines


def _openmp_value(row: Mapping[str, Any], factor: float) -> str:
    if row["value"] is None:
        return FAILED if row["status"] == FAILED else NOTHING
    spread = "" if row["spread"] is None else f" ± {100 * row['spread']:.0f} %"
    return f"{row['value'] * factor:.3g}{spread}"
