# SPDX-License-Identifier: GPL-2.0
"""The vocabulary: every figure of a run with its name, unit, direction and source.

A new figure is one more line here; comparisons, reports and `fast try` follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Better = Literal["lower", "higher"]
# Sources. run: the clock or the benchmark, in every run. kernel: every kernel counts it. counter:
# the cache model or hardware counts it. latency: single events; on a real machine a separate run
# measures it.
Provider = Literal["run", "kernel", "counter", "latency"]
# Backends that compare it. A metric that is compared nowhere is only in the rows.
Where = Literal["everywhere", "simulated", "real", "nowhere"]


@dataclass(frozen=True)
class Metric:
    """`unit` is the unit of a value; `modelled` is that of the simulation if it differs. `words`
    describe a value divided by `scale` to people; `fast try` leaves a metric without words out.
    `ratio` names the numerator and the denominator. `chart` is the title of a chart of the
    simulation's improvements, if there is one; a `headline` has a table as well."""

    name: str
    unit: str
    better: Better = "lower"
    source: Provider = "counter"
    where: Where = "everywhere"
    modelled: str = ""
    words: str = ""
    scale: float = 1
    ratio: tuple[str, ...] = ()
    chart: str = ""
    headline: bool = False

    @property
    def latency(self) -> str:
        """The name in LATENCIES that the metric belongs to, or ""."""
        return self.name.partition("_")[0] if self.source == "latency" else ""

    @property
    def needs(self) -> tuple[str, ...]:
        """The counters that the metric is computed from."""
        return self.ratio or (self.name,)


# handoff: from the release of a mutex to the moment when another thread, which was waiting for it
# then, has it; wakeup: from the kernel's decision to wake a thread to its switch onto a CPU.
# Documentation/latency.rst has what exactly. A real machine's runs may have histograms of them.
LATENCIES: Mapping[str, str] = {"handoff": "hand-off of a mutex", "wakeup": "wake-up"}
# In thousandths: integers compare exactly with counts.
PERCENTILES: Mapping[str, int] = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999, "max": 1000}
# The percentiles that a table shows, and their column titles.
SHOWN_PERCENTILES: Mapping[str, str] = {"p50": "median", "p99": "99 %"}

# `cycles` is the number of cycles in which CPUs are not idle, summed over the CPUs.
VOCABULARY: tuple[Metric, ...] = (
    Metric(
        "elapsed_ns",
        "ns of wall time",
        source="run",
        modelled="ns of modelled time",
        words="time, ms",
        scale=1e6,
        chart="elapsed time (modelled)",
        headline=True,
    ),
    Metric(
        "task_clock",
        "ns on a CPU, all threads together",
        source="kernel",
        where="real",
        words="time on a CPU, all threads together, ms",
        scale=1e6,
    ),
    Metric(
        "cycles",
        "CPU cycles",
        modelled="modelled cycles",
        words="cycles, all CPUs together",
        chart="cycles of busy CPUs (modelled)",
        headline=True,
    ),
    Metric("instructions", "instructions", words="instructions"),
    Metric("l1i_references", "references", where="nowhere"),
    Metric("l1i_misses", "misses", where="nowhere", words="L1 instruction misses"),
    Metric("l1d_references", "references", where="nowhere"),
    Metric("l1d_misses", "misses", where="nowhere", words="L1 data misses"),
    Metric("l2_references", "references", words="L2 references"),
    Metric("l2_misses", "misses", words="L2 misses", chart="L2 misses"),
    Metric("l2_miss_ratio", "misses per reference", ratio=("l2_misses", "l2_references")),
    Metric("l3_references", "references", words="L3 references"),
    Metric("l3_misses", "misses", words="L3 misses"),
    Metric("l3_miss_ratio", "misses per reference", ratio=("l3_misses", "l3_references")),
    Metric("bus_requests", "requests", words="bus requests", chart="bus requests", headline=True),
    Metric("cache_to_cache", "transfers", where="real", words="cache to cache transfers"),
    Metric("invalidations", "lines", where="nowhere"),
    Metric("writebacks", "lines", where="nowhere"),
    Metric(
        "throughput",
        "iterations per second",
        "higher",
        "run",
        modelled="iterations per second of modelled time",
        chart="throughput (modelled)",
        headline=True,
    ),
    Metric("context_switches", "switches", source="kernel", words="context switches"),
    Metric("migrations", "migrations", source="kernel", words="migrations"),
    Metric("fairness", "Jain's index over the threads' throughput", "higher", "run"),
    Metric(
        "fairness_min_max",
        "slowest thread's throughput by the fastest's",
        "higher",
        "run",
        "real",
    ),
    *(
        Metric(
            f"{latency}_{name}",
            "ns",
            source="latency",
            # The simulation has every single one.
            where="simulated" if name == "mean" else "everywhere",
            modelled="ns of modelled time",
        )
        for latency in LATENCIES
        for name in ("mean", *PERCENTILES)
    ),
)

SIMULATED: tuple[Metric, ...] = tuple(
    replace(metric, unit=metric.modelled or metric.unit)
    for metric in VOCABULARY
    if metric.where in ("everywhere", "simulated")
)
REAL: tuple[Metric, ...] = tuple(
    metric for metric in VOCABULARY if metric.where in ("everywhere", "real")
)
NAMED: Mapping[str, Metric] = {metric.name: metric for metric in VOCABULARY}
HEADLINES: tuple[str, ...] = tuple(metric.name for metric in SIMULATED if metric.headline)
CHARTED: tuple[str, ...] = (
    *HEADLINES,
    *(metric.name for metric in SIMULATED if metric.chart and not metric.headline),
)

# What attribution counts for each instruction, the most important event first.
EVENTS: Mapping[str, str] = {
    "cycles": "cycles",
    "stall_cycles": "cycles of waiting for memory",
    **{
        name: NAMED[name].words
        for name in (
            "instructions",
            "l1i_misses",
            "l1d_misses",
            "l2_misses",
            "l3_misses",
            "bus_requests",
            "cache_to_cache",
        )
    },
}

# The cache model's counters in a row, and their units.
MODEL_UNITS: Mapping[str, str] = {
    metric.name: metric.modelled or metric.unit
    for metric in VOCABULARY
    if metric.source == "counter" and not metric.ratio
}
# Metrics that need hardware counters on a real machine.
HARDWARE: frozenset[str] = frozenset(metric.name for metric in REAL if metric.source == "counter")

# The kernel's mechanism counters, in the order of a hint's life: whether a woken thread got a hint;
# what the wake-up made of the hint (one of `used` to `rejected_depth`); and what the balancer did.
MECHANISM = (
    "hint_set",
    "hint_mm",
    "hint_class",
    "used",
    "same_cpu",
    "preferred",
    "moot",
    "rejected_affinity",
    "rejected_offline",
    "rejected_domain",
    "rejected_capacity",
    "rejected_energy",
    "rejected_numa",
    "rejected_cookie",
    "rejected_throttled",
    "rejected_class",
    "rejected_depth",
    "delayed",
    "balance_kept",
    "balance_pulled",
)
HINTS = "hint_set"
# Every woken thread that FAST considered is counted in exactly one of these. strict considers the
# threads that a futex_wake() of one waiter wakes, adaptive all threads.
LOOKED_AT = ("hint_set", "hint_mm", "hint_class")
# Counters of threads that FAST moved to the lock-hot CPU, or kept there.
FIRED = ("used", "same_cpu")
# The same, and the counter of soft, which starts its search for an idle CPU there.
DECIDED = (*FIRED, "preferred")


def improvement(baseline: float, variant: float, better: Better) -> float | None:
    """The paper's improvement (section 4.1) in percent: (baseline - variant) * 100 / baseline, with
    the opposite sign where more is better. None: the baseline is 0."""
    if baseline == 0:
        return None
    change = (baseline - variant) * 100 / baseline
    return change if better == "lower" else -change
