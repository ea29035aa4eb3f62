#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the measured tables of these pages anew: Documentation/tables.py [RESULTS]

A table stands in a page between the comments

    .. measured: regrets demo
    .. end of measured

The first word is the kind of table, a function of this file; the second the experiment, whose
results/<experiment>/summary.json it is made of (of `fast trust`: trust.json; of `fast bench
overhead`: costs.json; of `fast bench theses`: theses.json; of `fast try --json`: all try-*.json of
a directory); words that follow are the kind's own. A table whose experiment has no results in
RESULTS (default: results) is left as it is, and named. What the sentences around a table say must
be read again by somebody. README's picture, images/demo.svg, is that of the experiment demo's
report.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

PAGES = Path(__file__).resolve().parent
BLOCK = re.compile(
    r"^\.\. measured: (?P<words>[^\n]+)\n(?P<table>.*?)^\.\. end of measured$",
    re.MULTILINE | re.DOTALL,
)
NOTHING = "n/a"

Lines = list[Sequence[str]]
Key = tuple[str, int]


class Wrong(Exception):
    """What is wrong with a page or with results, and where."""


@dataclass(frozen=True)
class Results:
    """One experiment's summary.json. A row's key is its benchmark and its threads; an experiment
    with a matrix has several rows of a key, told apart by `where`."""

    document: dict[str, Any]

    @property
    def keys(self) -> list[Key]:
        found = dict.fromkeys((row["benchmark"], row["threads"]) for row in self.document["rows"])
        return list(found)

    @property
    def baseline(self) -> str:
        return str(self.document["baseline"])

    @property
    def others(self) -> list[str]:
        return list(self.document["variants"])

    @property
    def simulation(self) -> dict[str, Any]:
        return dict(self.document["simulation"])

    @property
    def arms(self) -> list[str]:
        return [self.baseline, *self.others]

    def row(self, arm: str, key: Key, metric: str, **where: int) -> dict[str, Any] | None:
        for row in self.document["rows"]:
            if (
                (row["variant_name"], row["metric"]) == (arm, metric)
                and (row["benchmark"], row["threads"]) == key
                and all(row[axis] == value for axis, value in where.items())
            ):
                return dict(row)
        return None

    def mean(self, arm: str, key: Key, metric: str) -> float | None:
        """An arm's own figure; the baseline's stands in every row."""
        is_baseline = arm == self.baseline
        for other in self.others if is_baseline else [arm]:
            row = self.row(other, key, metric)
            if row and row["baseline" if is_baseline else "variant"] is not None:
                return float(row["baseline" if is_baseline else "variant"])
        return None

    def improvement(self, arm: str, key: Key, metric: str) -> float | None:
        row = self.row(arm, key, metric)
        return row["improvement_pct"] if row else None

    def spread(self, arm: str, key: Key, metric: str, digits: int = 1, **where: int) -> str:
        """Improvement ± its standard deviation."""
        row = self.row(arm, key, metric, **where)
        if not row or row["improvement_pct"] is None:
            return NOTHING
        mean = decimal(row["improvement_pct"], digits)
        return mean if row["spread"] is None else f"{mean} ± {row['spread']:.{digits}f}"


def entry(part: Sequence[dict[str, Any]], arm: str, key: Key) -> dict[str, Any]:
    """What a part of a summary besides its rows has of an arm; StopIteration if nothing."""
    return next(
        one
        for one in part
        if (one["variant_name"], one["benchmark"], one["threads"]) == (arm, *key)
    )


def decimal(value: float | None, digits: int = 1) -> str:
    """Without a minus before nothing."""
    if value is None:
        return NOTHING
    return f"{round(value, digits) + 0.0:.{digits}f}"


def whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def _millis(ns: float | None) -> str:
    return decimal(None if ns is None else ns / 1e6)


def _micros(ns: float | None) -> str:
    return whole(None if ns is None else ns / 1e3)


def _head(key: Key) -> list[str]:
    return [key[0], str(key[1])]


WORDS = {"baseline": "unpatched", "onecpu": "one CPU"}
METRICS = {
    "elapsed_ns": "elapsed",
    "cycles": "cycles",
    "bus_requests": "bus requests",
    "l2_misses": "L2 misses",
    "l3_misses": "L3 misses",
}


def times(results: Results) -> Lines:
    """Each arm's milliseconds."""
    names = [WORDS.get(arm, arm) for arm in results.arms]
    lines: Lines = [["benchmark", "threads", *names]]
    for key in results.keys:
        spent = [_millis(results.mean(arm, key, "elapsed_ns")) for arm in results.arms]
        lines.append([*_head(key), *spent])
    return lines


def improvements(results: Results, arm: str, *metrics: str) -> Lines:
    """What a policy improves, a column for each metric, and its hints."""
    lines: Lines = [["benchmark", "threads", *(METRICS[one] for one in metrics), "hints", "used"]]
    for key in results.keys:
        fired = _counters(results, arm, key)
        seeds = len(results.simulation["seeds"])
        lines.append(
            [
                *_head(key),
                *(results.spread(arm, key, metric) for metric in metrics),
                f"{fired['hint_set'] / seeds:.0f}",
                f"{(fired['used'] + fired['same_cpu']) / seeds:.0f}",
            ]
        )
    return lines


def regrets(results: Results, beside: str = "") -> Lines:
    """Each arm's regret; with "switches", their context switches beside it."""
    arms = results.arms
    names = [WORDS.get(arm, arm) for arm in arms] if beside else arms
    lines: Lines = [["benchmark", "threads", *names]]
    if beside:
        lines = [[*lines[0], f"{beside}: {names[0]}", *names[1:]]]
    for key in results.keys:
        found = (entry(results.simulation["regrets"], arm, key) for arm in arms)
        cells = [decimal(one["regret"], 2) for one in found]
        if beside:
            cells += [whole(results.mean(arm, key, "context_switches")) for arm in arms]
        lines.append([*_head(key), *cells])
    return lines


def standings(results: Results) -> Lines:
    """The arms over all rows."""
    lines: Lines = [
        ["arm", "mean regret", "worst", "best in", "worse than unpatched by more than 2 %"]
    ]
    for one in results.simulation["standings"]:
        worse = "-" if one["variant_name"] == results.baseline else str(one["worse"])
        lines.append(
            [
                one["variant_name"],
                decimal(one["mean"], 2),
                decimal(one["worst"], 2),
                str(one["best_of"]),
                worse,
            ]
        )
    return lines


def latencies(results: Results, *arms: str) -> Lines:
    """Of the baseline and these arms, in microseconds."""
    asked = (results.baseline, *arms)
    first, *rest = (WORDS.get(arm, arm) for arm in asked)
    told = {
        "hand-off p50": "handoff_p50",
        "p99": "handoff_p99",
        "wake-up p99": "wakeup_p99",
    }
    heads = [head for words in told for head in (f"{words}: {first}", *rest)]
    lines: Lines = [["benchmark", "threads", *heads]]
    for key in results.keys:
        cells = [_micros(results.mean(arm, key, one)) for one in told.values() for arm in asked]
        lines.append([*_head(key), *cells])
    return lines


def depths(results: Results, metric: str) -> Lines:
    """Mean improvement by threads and by the depth of the queue."""
    lines: Lines = [["threads", *_depth_names(results)]]
    for threads in dict.fromkeys(threads for _, threads in results.keys):
        keys = [key for key in results.keys if key[1] == threads]
        lines.append([str(threads), *_averages(results, keys, metric)])
    lines.append(["all", *_averages(results, results.keys, metric)])
    return lines


def _depth_names(results: Results) -> list[str]:
    """fast-depth-4 is 4."""
    return [arm.rsplit("-", 1)[1] for arm in results.others]


def _averages(results: Results, keys: Sequence[Key], metric: str) -> list[str]:
    return [decimal(fmean(_gains(results, arm, keys, metric))) for arm in results.others]


def _gains(results: Results, arm: str, keys: Sequence[Key], metric: str) -> list[float]:
    found = (results.improvement(arm, key, metric) for key in keys)
    return [one for one in found if one is not None]


def depth_losses(results: Results, percent: str) -> Lines:
    """The worst case of each depth, and how many lose more than `percent`."""
    gains = [_gains(results, arm, results.keys, "elapsed_ns") for arm in results.others]
    return [
        ["", *_depth_names(results)],
        ["worst", *(decimal(min(of_depth)) for of_depth in gains)],
        ["losses", *(str(sum(one < -float(percent) for one in of_depth)) for of_depth in gains)],
    ]


def cost_of_off(results: Results) -> Lines:
    """Guest instructions and time of the patched kernel with the policy off."""
    lines: Lines = [["threads", "unpatched", "patched, off", "improvement, %", "elapsed, %"]]
    for key in results.keys:
        lines.append(
            [
                str(key[1]),
                whole(results.mean("baseline", key, "instructions")),
                whole(results.mean("off", key, "instructions")),
                results.spread("off", key, "instructions", 5),
                results.spread("off", key, "elapsed_ns"),
            ]
        )
    return lines


def along(results: Results, arm: str, axis: str) -> Lines:
    """What an arm improves of the elapsed time, a column for each value of an axis."""
    values = list(dict.fromkeys(row[axis] for row in results.document["rows"]))
    lines: Lines = [["benchmark", "threads", *(whole(value) for value in values)]]
    for key in results.keys:
        cells = [results.spread(arm, key, "elapsed_ns", **{axis: one}) for one in values]
        lines.append([*_head(key), *cells])
    return lines


def mean_regret_by_axis(results: Results, arm: str) -> Lines:
    """An arm's regret, means over the cases of a benchmark and of each value of each axis."""
    means = {
        (one["benchmark"], axis, one[axis]): one["regret"]
        for one in results.simulation["mean_regrets"]
        for axis in ("threads", *results.document["axes"])
        if one["variant_name"] == arm and axis in one
    }
    order = ["threads", *results.document["axes"]]
    columns = sorted({where[1:] for where in means}, key=lambda one: (order.index(one[0]), one[1]))
    shown = {"threads": "thr.", "cs_lines": "lines", "cpus": "CPUs"}
    lines: Lines = [["benchmark", *(f"{shown.get(axis, axis)} {one}" for axis, one in columns)]]
    for name in dict.fromkeys(key[0] for key in results.keys):
        lines.append([name, *(decimal(means.get((name, *column)), 2) for column in columns)])
    return lines


def splash(results: Results, arm: str) -> Lines:
    """Of programs that tell how long they wait: what a policy does to them."""
    metrics = ("elapsed_ns", "cycles", "bus_requests", "l2_miss_ratio")
    heads = ("elapsed", "cycles", "bus requests", "L2 miss ratio")
    lines: Lines = [
        ["program", "threads", "unpatched, ms", f"{arm}, ms", *heads, "hints", "at barriers, %"]
    ]
    for key in results.keys:
        arms = (results.baseline, arm)
        gains = [decimal(results.improvement(arm, key, metric)) for metric in metrics]
        if gains[0] == NOTHING:
            cells = [NOTHING] * 8
        else:
            waits = " to ".join(_at_barriers(results, one, key) for one in arms)
            spent = [_millis(results.mean(one, key, "elapsed_ns")) for one in arms]
            cells = [*spent, *gains, str(_counters(results, arm, key)["hint_set"]), waits]
        lines.append([f"``{key[0]}``", str(key[1]), *cells])
    return lines


def _at_barriers(results: Results, arm: str, key: Key) -> str:
    """In percent of the threads' time."""
    share = entry(results.simulation["synchronization"], arm, key)["barrier_share"]
    return f"{100 * share:.0f}"


def _counters(results: Results, arm: str, key: Key) -> dict[str, int]:
    """What a policy did."""
    return dict(entry(results.simulation["mechanism"], arm, key)["counters"])


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
        lines.append([words, _millis(changes[0]["elapsed_ns"]["off"]), *ranges])
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
    published = results.document["published"]
    told = [name for name in heads if any(one["metric"] == name for one in published)]
    units = {one["metric"]: one["unit"] for one in published}
    shown = [metric for metric in heads if metric in results.document["rows"][0]["rounds"][0]]
    there = [f"{heads[name].split(',')[0]} there, {units[name]}" for name in told]
    lines: Lines = [["program", "contender", *(heads[one] for one in shown), *there]]
    for row in results.document["rows"]:
        cells = [_with_range([one[metric] for one in row["rounds"]], metric) for metric in shown]
        values = [_published(published, row, name) for name in told]
        lines.append([f"``{row['program']}``", row["contender"], *cells, *values])
    return lines


def _with_range(values: Sequence[float], metric: str) -> str:
    """The median, and how far the rounds lie apart from it at the most."""
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


KINDS: dict[str, Callable[..., Lines]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        times,
        improvements,
        regrets,
        standings,
        latencies,
        depths,
        depth_losses,
        cost_of_off,
        along,
        mean_regret_by_axis,
        splash,
        costs,
        trials,
        predictions,
        localities,
    )
}


def simple_table(lines: Lines) -> str:
    """A simple table of reStructuredText; the first line is its head."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([rule, text[0], rule, *text[1:], rule])


def write(page: str, load: Callable[[str], Results | None]) -> tuple[str, list[str]]:
    """The page with its tables written anew, and the experiments that have no results."""
    missing: list[str] = []

    def table(block: re.Match[str]) -> str:
        kind, experiment, *rest = block["words"].split()
        if kind not in KINDS:
            raise Wrong(f"no kind of table is called {kind}: there are {', '.join(KINDS)}")
        results = load(experiment)
        if results is None:
            missing.append(experiment)
            return block[0]
        try:
            text = simple_table(KINDS[kind](results, *rest))
        except (KeyError, TypeError, StopIteration) as error:
            raise Wrong(f"{block['words']}: its results have no such table: {error!r}") from error
        return f".. measured: {block['words']}\n\n{text}\n\n.. end of measured"

    return BLOCK.sub(table, page), missing


def main() -> int:
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else "results")

    def load(experiment: str) -> Results | None:
        for name in ("summary.json", "trust.json", "costs.json", "theses.json"):
            path = directory / experiment / name
            if path.exists():
                return Results(json.loads(path.read_text("utf-8")))
        tried = sorted((directory / experiment).glob("try-*.json"))
        return (
            Results({"trials": [json.loads(one.read_text("utf-8")) for one in tried]})
            if tried
            else None
        )

    missing: set[str] = set()
    for path in sorted(PAGES.glob("*.rst")):
        page = path.read_text("utf-8")
        try:
            new, without = write(page, load)
        except Wrong as wrong:
            print(f"{path}: {wrong}", file=sys.stderr)
            return 2
        missing.update(without)
        if new != page:
            path.write_text(new, "utf-8")
            print(f"wrote {path.name}")
    picture = directory / "demo/regret.svg"
    if picture.exists():
        # README's: of the same results as the tables.
        shutil.copyfile(picture, PAGES / "images/demo.svg")
        print("wrote images/demo.svg")
    for experiment in sorted(missing):
        print(f"no results of {experiment}: its tables are left as they are")
    return 0


if __name__ == "__main__":
    sys.exit(main())
