# SPDX-License-Identifier: GPL-2.0
"""Tables of experiments: `fast run`, whose results have a summary.json."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from fastlab.report.measured_pages import (
    NOTHING,
    Key,
    Lines,
    Results,
    decimal,
    entry,
    millis,
    whole,
)


def _micros(ns: float | None) -> str:
    return whole(None if ns is None else ns / 1e3)


def _head(key: Key) -> list[str]:
    return [key[0], str(key[1])]


WORDS = {"baseline": "unpatched", "onecpu": "one CPU"}


def times(results: Results, *arms: str) -> Lines:
    """Each arm's milliseconds; of all arms, or of these."""
    arms = arms or tuple(results.arms)
    lines: Lines = [["benchmark", "threads", *(WORDS.get(arm, arm) for arm in arms)]]
    for key in results.keys:
        spent = [millis(results.mean(arm, key, "elapsed_ns")) for arm in arms]
        lines.append([*_head(key), *spent])
    return lines


def gains(results: Results, *arms: str) -> Lines:
    """The baseline's milliseconds, and what each arm improves of them; all arms, or these."""
    arms = arms or tuple(results.others)
    lines: Lines = [["benchmark", "threads", f"{results.baseline}, ms", *arms]]
    for key in results.keys:
        spent = millis(results.mean(results.baseline, key, "elapsed_ns"))
        lines.append(
            [*_head(key), spent, *(results.spread(arm, key, "elapsed_ns") for arm in arms)]
        )
    return lines


def regrets(results: Results) -> Lines:
    """Each arm's regret."""
    lines: Lines = [["benchmark", "threads", *results.arms]]
    for key in results.keys:
        found = (entry(results.simulation["regrets"], arm, key) for arm in results.arms)
        lines.append([*_head(key), *(decimal(one["regret"], 2) for one in found)])
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


def latencies(results: Results, what: str, *arms: str) -> Lines:
    """How long `what` takes, handoff or wakeup: of the baseline and these arms, in microseconds."""
    columns = [(arm, one) for arm in (results.baseline, *arms) for one in ("p50", "p99", "max")]
    heads = (f"{WORDS.get(arm, arm)}\n{one}" for arm, one in columns)
    lines: Lines = [["benchmark", "threads", *heads]]
    for key in results.keys:
        cells = (_micros(results.mean(arm, key, f"{what}_{one}")) for arm, one in columns)
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
    shown = {"cs_lines": "lines", "cpus": "CPUs"}
    lines: Lines = [["benchmark", *(f"{shown.get(axis, axis)}\n{one}" for axis, one in columns)]]
    for name in dict.fromkeys(key[0] for key in results.keys):
        lines.append([name, *(decimal(means.get((name, *column)), 2) for column in columns)])
    return lines


def splash(results: Results, arm: str) -> Lines:
    """Of programs that report how long they wait: what a policy does to them."""
    metrics = ("elapsed_ns", "cycles", "bus_requests", "l2_miss_ratio")
    heads = ("elapsed", "cycles", "bus requests", "L2 miss ratio")
    lines: Lines = [["program", "threads", *heads, "hints", "at barriers, %"]]
    for key in results.keys:
        gains = [decimal(results.improvement(arm, key, metric)) for metric in metrics]
        cells = [NOTHING] * 6
        if gains[0] != NOTHING:
            waits = (_at_barriers(results, one, key) for one in (results.baseline, arm))
            hints = str(results.counters(arm, key)["hint_set"])
            cells = [*gains, hints, " to ".join(waits)]
        lines.append([f"``{key[0]}``", str(key[1]), *cells])
    return lines


def _at_barriers(results: Results, arm: str, key: Key) -> str:
    """In percent of the threads' time."""
    share = entry(results.simulation["synchronization"], arm, key)["barrier_share"]
    return f"{100 * share:.0f}"
