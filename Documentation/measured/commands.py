# SPDX-License-Identifier: GPL-2.0
"""Tables of commands other than `fast run`: `fast bench overhead`, `fast try`, `fast trust`."""

from __future__ import annotations

from fastlab.report.measured_pages import METRICS, Lines, Results, decimal, millis


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
    heads = [f"{METRICS[metric]}\n{one}" for metric in metrics for one in policies]
    lines: Lines = [["program", "off, ms", *heads]]
    for trial in trials:
        changes = [one["changes"] for one in trial["verdicts"]]
        found = [one[metric] for metric in metrics for one in changes]
        ranges = [f"{decimal(one['low'])} to {decimal(one['high'])}" for one in found]
        lines.append([trial["name"], millis(changes[0]["elapsed_ns"]["off"]), *ranges])
    return lines


def predictions(results: Results, *words: str) -> Lines:
    """Of `fast trust`: of its table the columns whose heading has one of these words."""
    heads, *rows = results.document["table"]
    chosen = [i for i, head in enumerate(heads) if i < 3 or any(one in head for one in words)]
    shown = [head.replace(", free", "\nfree").replace(", confined", "\nconfined") for head in heads]
    return [[line[i] for i in chosen] for line in (shown, *rows)]
