# SPDX-License-Identifier: GPL-2.0
"""The kinds of measured tables in the runtime's pages."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from fastlab.report.measured_pages import FAILED, NOTHING, Lines, Results, Unfinished

Row = Mapping[str, Any]
Run = Mapping[str, int]

WIDTH = 100
# The unit in which a benchmark's value is stored, the unit shown, and the factor between them.
UNITS = {
    "ns_per_task": ("ns", 1.0),
    "seconds": ("ms", 1e3),
    "ns": ("µs", 1e-3),
    "cpu_share": ("% CPU", 100.0),
}


def runtimes(results: Results, *only: str) -> Lines:
    """Of `fast bench runtime`: medians, with a column for each runtime, or for those in `only`."""
    names = only or tuple(dict.fromkeys(row["runtime"] for row in results.rows))
    rows = {(row["benchmark"], row["workers"], row["runtime"]): row for row in results.rows}
    lines: Lines = [["benchmark", "workers", *names, "± %"]]
    for benchmark, workers in dict.fromkeys(point[:2] for point in rows):
        row = rows[benchmark, workers, "intervals"]
        unit = next(unit for unit in UNITS if unit in row)
        values = (_value(rows.get((benchmark, workers, name), {}), unit) for name in names)
        half = NOTHING if row["spread"] is None else f"{50 * row['spread']:.1f}"
        lines.append([f"{benchmark}, {UNITS[unit][0]}", str(workers), *values, half])
    return lines


def _value(row: Row, unit: str) -> str:
    """Empty where there is no such row: serial has one worker only."""
    if not row:
        return ""
    value = row.get(unit)
    if value is None:
        return FAILED if row["status"] == FAILED else NOTHING
    shown = value * UNITS[unit][1]
    return f"{shown:.3g}" if abs(shown) < 1000 else f"{shown:,.0f}"


def openmp(results: Results) -> Lines:
    """Of `fast bench openmp`: medians and spreads by library, and the last one's over libgomp's.

    A benchmark for which the last library has no value is left out.
    """
    names = tuple(dict.fromkeys(row["library"] for row in results.rows))
    rows = {(row["benchmark"], row["threads"], row["library"]): row for row in results.rows}
    ours = {
        name
        for (name, _, library), row in rows.items()
        if library == names[-1] and (row["value"] is not None or row["status"] == FAILED)
    }
    lines: Lines = [["benchmark", "threads", "unit", *names, "/ libgomp"]]
    for benchmark, threads in dict.fromkeys(point[:2] for point in rows):
        if benchmark not in ours:
            continue
        of_line = [rows[benchmark, threads, name] for name in names]
        unit, factor = UNITS[next(row["unit"] for row in of_line if row["unit"])]
        cells = [_openmp_value(row, factor) for row in of_line]
        ratio = of_line[-1]["ratio"]
        last = NOTHING if ratio is None else f"{ratio:.2f}"
        lines.append([f"``{benchmark}``", str(threads), unit, *cells, last])
    return lines


def _openmp_value(row: Row, factor: float) -> str:
    if row["value"] is None:
        return FAILED if row["status"] == FAILED else NOTHING
    spread = "" if row["spread"] is None else f" ± {100 * row['spread']:.0f} %"
    return f"{row['value'] * factor:.3g}{spread}"


def spin(results: Results) -> Lines:
    """Of `fast bench spin`: time of a region / CPU time, a column for each time of searching."""
    rows = {(row["machine"], row["gap_us"], row["search_us"]): row for row in results.rows}
    searches = list(dict.fromkeys(row["search_us"] for row in results.rows))
    lines: Lines = [["machine", "gap, µs", *(f"{search} µs" for search in searches)]]
    for machine, gap in dict.fromkeys(point[:2] for point in rows):
        cells = (rows[machine, gap, search] for search in searches)
        lines.append(
            [machine, str(gap)]
            + [f"{row['region_ns'] / 1e3:.0f} / {row['cpu_ns'] / 1e3:.0f}" for row in cells]
        )
    return lines


def steal_misses(results: Results, *victims: str) -> Lines:
    """Of `fast bench stealing`: attempts to steal and the failed ones, means over the seeds."""
    heads = [f"{choice}: attempts" for choice in victims]
    rest = ["got nothing", "ratio"]
    lines: Lines = [["kernel", "workers", *(cell for head in heads for cell in (head, *rest))]]
    for head, by_victims in _points(results):
        cells = []
        for runs in (by_victims[choice] for choice in victims):
            tried, failed = _mean(runs, _tried), _mean(runs, _failed)
            cells += [f"{tried:.1f}", f"{failed:.1f}", f"{failed / tried:.3f}"]
        lines.append([*head, *cells])
    return lines


def steal_nodes(results: Results, *victims: str) -> Lines:
    """The same: steals from the other node and from the own one, and failed remote attempts."""
    lines: Lines = [
        ["kernel", "workers", "victims", "remote steals", "local steals", "remote misses", "ratio"]
    ]
    for head, by_victims in _points(results):
        for choice in victims:
            runs = by_victims[choice]
            remote = _mean(runs, lambda run: run["steals_remote"] - run["steal_failures_remote"])
            local = _mean(runs, lambda run: _tried(run) - _failed(run)) - remote
            failed = _mean(runs, lambda run: run["steal_failures_remote"])
            counts = (f"{count:.1f}" for count in (remote, local + 0.0, failed))
            lines.append([*head, choice, *counts, f"{failed / (remote + failed):.3f}"])
    return lines


def _points(results: Results) -> list[tuple[list[str], dict[str, list[Run]]]]:
    """Each kernel and number of workers, with the runs of each choice of victims."""
    points: dict[tuple[str, str], dict[str, list[Run]]] = {}
    for row in results.rows:
        if not row["runs"]:
            where = f"{row['benchmark']}, {row['workers']} workers, victims {row['victims']}"
            raise Unfinished(f"{where}: no run")
        point = points.setdefault((row["benchmark"], str(row["workers"])), {})
        point[row["victims"]] = row["runs"]
    return [(list(point), by_victims) for point, by_victims in points.items()]


def _tried(run: Run) -> int:
    return run["steals"]


def _failed(run: Run) -> int:
    return run["steal_failures"]


def _mean(runs: Sequence[Run], count: Callable[[Run], int]) -> float:
    return fmean(count(run) for run in runs)


# Tables of `fast bench theses`. A cell is the median over the rounds, and ± the largest distance
# of a round from it, in percent; of shares the distance itself. Times are in microseconds. A row
# "published" has the source's figures.

SHARES = ("steal_miss_ratio", "remote_share")
TITLES = {
    "time": "time, us",
    "l3_hits": "L3 hits",
    "l3_misses": "L3 misses",
    "remote_memory": "remote lines",
}
SEVERAL_CLAIMS = re.compile(r"\d+ of \d+ hold: ")
MORE_CLAIMS = re.compile(r"and \d+ more")
# A failed run's reason may name directories of the machine that measured.
SAID_BY_MACHINE = re.compile(r"(; what| \(all that) the machine said: [^;)\s]*\)?")


def contenders(results: Results, metric: str) -> Lines:
    """One metric: a row for each program and number of workers, a column for each contender."""
    names = _names(results)
    lines: Lines = [["program", "size", "workers", *names]]
    for program, workers, rows in _lines(results):
        size = str(results.document["sizes"][program])
        cells = [_cell(rows[name], metric) for name in names]
        lines.append([program, size, str(workers), *cells])
        for source in _sources(results, program, metric, workers):
            values = source["values"]
            cells = [_number(values[name]) if name in values else "" for name in names]
            unit = f", {source['unit']}" if source["unit"] else ""
            lines.append([f"published{unit}", "", str(workers), *cells])
    return lines


def transposed(results: Results, metric: str) -> Lines:
    """One metric without what is published: a row for each contender, a column for each program.

    The last column is the largest ± of the row.
    """
    by_program = {program: rows for program, _, rows in _lines(results)}
    lines: Lines = [["contender", *by_program, "± %, at most"]]
    for name in _names(results):
        rows = [rows[name] for rows in by_program.values()]
        far = [_middle_and_far(row, metric)[1] for row in rows if _values(row, metric)]
        cells = [_cell(row, metric, spread=False) for row in rows]
        lines.append([name, *cells, f"{max(far):.1f}" if far else NOTHING])
    return lines


def metrics(results: Results, *metrics: str) -> Lines:
    """A row for each program, contender and number of workers; a column for each metric."""
    return _by_metric(results, metrics, only_published=False)


def published(results: Results, *metrics: str) -> Lines:
    """The same, only of programs and contenders with one of these metrics in the source."""
    return _by_metric(results, metrics, only_published=True)


def _by_metric(results: Results, metrics: Sequence[str], only_published: bool) -> Lines:
    heads = [TITLES.get(metric, metric.replace("_", " ")) for metric in metrics]
    lines: Lines = [["program", *heads]]
    of_program = Counter(program for program, *_ in _lines(results))
    for program, workers, rows in _lines(results):
        sources = [_sources(results, program, metric, workers) for metric in metrics]
        machines = dict.fromkeys(one["where"] for of_metric in sources for one in of_metric)
        for name, row in rows.items():
            of_machines = [
                [_of_machine(of_metric, where, name) for of_metric in sources] for where in machines
            ]
            if only_published and not any(any(cells) for cells in of_machines):
                continue
            counts = [str(workers)] if of_program[program] > 1 else []
            label = ", ".join([program, *([name] if len(rows) > 1 else []), *counts])
            lines.append([label, *(_cell(row, metric) for metric in metrics)])
            for where, cells in zip(machines, of_machines, strict=True):
                # A machine is named by its words before the first comma.
                told = f"published, {where.partition(',')[0]}" if len(machines) > 1 else "published"
                lines += [[told, *cells]] if any(cells) else []
    return lines


def _of_machine(sources: Sequence[Row], where: str, name: str) -> str:
    for one in sources:
        if one["where"] == where and name in one["values"]:
            return f"{_number(one['values'][name])} {one['unit']}".rstrip()
    return ""


def verdicts(results: Results) -> str:
    """A list: each conclusion in the source's words, and whether it is upheld here.

    Of the measurements that decide about several claims the first is told.
    """
    _lines(results)  # nothing is concluded from a part of the rows
    items = []
    for one in results.document["conclusions"]:
        words, reason = _plain(one["words"]), _plain(_first_claim(one["reason"]))
        items += textwrap.wrap(
            f'"{words}" ({one["source"]}): *{one["outcome"]}*. {reason}',
            WIDTH,
            initial_indent="* ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(items)


def _names(results: Results) -> list[str]:
    return [one["name"] for one in results.document["contenders"]]


def _lines(results: Results) -> list[tuple[str, int, dict[str, Row]]]:
    """Each program and number of workers, with the row of each contender; serial's has one."""
    for row in results.rows:
        if row["status"] == "ok" and not row["rounds"]:
            raise Unfinished(f"{row['program']}, {row['contender']}: no round")
    serial = {one["name"] for one in results.document["contenders"] if one["runtime"] == "serial"}
    rows = {(row["program"], row["workers"], row["contender"]): row for row in results.rows}
    found = []
    for program in dict.fromkeys(row["program"] for row in results.rows):
        counts = {count for name, count, who in rows if name == program and who not in serial}
        for workers in sorted(counts):
            of_line = {
                name: rows[program, 1 if name in serial else workers, name]
                for name in _names(results)
                if (program, 1 if name in serial else workers, name) in rows
            }
            found.append((program, workers, of_line))
    return found


def _sources(results: Results, program: str, metric: str, workers: int) -> list[Row]:
    """The source's figures of this number of workers, or of any."""
    return [
        one
        for one in results.document["published"]
        if (one["program"], one["metric"]) == (program, metric)
        and one.get("workers") in (None, workers)
    ]


def _values(row: Row, metric: str) -> list[float]:
    return [one[metric] for one in row["rounds"] if metric in one]


def _middle_and_far(row: Row, metric: str) -> tuple[float, float]:
    """The median, and the largest distance from it: in percent, or of a share as it is."""
    values = _values(row, metric)
    middle = median(values)
    far = max(abs(value - middle) for value in values)
    return middle, far if metric in SHARES or not middle else 100 * far / middle


def _cell(row: Row, metric: str, spread: bool = True) -> str:
    if row["status"] == FAILED:
        return FAILED
    if not _values(row, metric):
        return NOTHING
    middle, far = _middle_and_far(row, metric)
    if metric in SHARES:
        return f"{middle:.3f} ±{far:.3f}"
    if not middle:
        return "0"
    shown = _number(middle * 1e6 if metric == "time" else middle)
    return f"{shown} ±{far:.1f}" if spread else shown


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def _first_claim(reason: str) -> str:
    """The reason with the first of its claims, and how many follow: theses.md has them all."""
    if not SEVERAL_CLAIMS.match(reason):
        return reason
    first, *rest = SAID_BY_MACHINE.sub("", reason).split("; ")
    more = sum(int(one.split()[1]) if MORE_CLAIMS.match(one) else 1 for one in rest)
    return f"{first}; and {more} more" if more else first


def _plain(text: str) -> str:
    """Without reStructuredText's markup, and without directories of the machine that measured."""
    text = SAID_BY_MACHINE.sub("", text)
    for sign in "\\*`|":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("_ ", "\\_ ")
