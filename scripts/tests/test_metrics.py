# SPDX-License-Identifier: GPL-2.0
"""The vocabulary and the C sources that print it have the same names."""

from __future__ import annotations

import re
from pathlib import Path

from fastlab.base.metrics import (
    CHARTED,
    EVENTS,
    FIRED,
    HARDWARE,
    HEADLINES,
    HINTS,
    LATENCIES,
    MODEL_UNITS,
    NAMED,
    PERCENTILES,
    REAL,
    SIMULATED,
    VOCABULARY,
)

PROJECT = Path(__file__).resolve().parents[2]
# What is printed and is no figure of a run: of fast-stat, and of the cache model, which tells of
# remote memory where there are several nodes.
UNUSED = {"page_faults", "stall_cycles", "bus_wait_cycles", "remote_memory"}


def source(path: str) -> str:
    return (PROJECT / path).read_text()


def test_names_are_told_apart_by_their_kind() -> None:
    assert len(NAMED) == len(VOCABULARY)
    for one in VOCABULARY:
        assert set(one.needs) <= NAMED.keys()
        assert (one.latency in LATENCIES) == (one.source == "latency")
    assert {one.where for one in SIMULATED} == {"everywhere", "simulated"}
    assert {one.where for one in REAL} == {"everywhere", "real"}


def test_fast_stat_counts_by_these_names() -> None:
    table = source("userspace/counters/events.c").partition("counter_names")[2].partition("};")[0]
    printed = dict(re.findall(r'\{ "(\w+)", "(\w+)" \}', table))
    counted = {one.name for one in REAL if one.source in ("kernel", "counter") and not one.ratio}
    assert counted == printed.keys() - UNUSED
    for name in counted:
        assert printed[name] in NAMED[name].unit
    plain = {name for name in HARDWARE if not NAMED[name].ratio}
    assert plain == counted - {one.name for one in REAL if one.source == "kernel"}


def test_the_cache_model_counts_by_these_names() -> None:
    text = source("userspace/cachesim/document.c")
    table = text.partition("put_counts(")[2].partition("};")[0]
    assert MODEL_UNITS.keys() == set(re.findall(r'\{ "(\w+)", n->', table)) - UNUSED
    assert list(LATENCIES) == re.findall(r'put_latency\(out, "(\w+)"', text)
    table = text.partition("percentiles[] = {")[2].partition("};")[0]
    printed = {name: int(part) for name, part in re.findall(r'\{ "([\w.]+)", (\d+) \}', table)}
    assert printed == dict(PERCENTILES)
    assert '\\"mean_ns\\"' in text


def test_fast_latency_measures_by_these_names() -> None:
    table = source("userspace/latency/fast_latency.c").partition("struct latency latencies[]")[2]
    assert list(LATENCIES) == re.findall(r'\.name = "(\w+)"', table.partition("};")[0])


def test_benchmarks_print_these_names() -> None:
    text = source("microbench/common/results.c")
    names = ["elapsed_ns", "throughput", "context_switches", "migrations", "fairness"]
    assert set(names) <= NAMED.keys()
    for name in (*names, "thread_throughput"):
        assert f'\\"{name}\\":' in text


def test_the_kernel_counts_decisions_by_these_names() -> None:
    text = "".join(
        path.read_text() for path in sorted((PROJECT / "kernel-patches/6.12").glob("0006-*"))
    )
    for name in (*FIRED, HINTS):
        assert f'= "{name}"' in text


def test_what_is_shown_again_is_in_the_vocabulary() -> None:
    assert HEADLINES == ("elapsed_ns", "cycles", "bus_requests", "throughput")
    assert (*HEADLINES, "l2_misses") == CHARTED
    assert all(NAMED[name] in VOCABULARY and NAMED[name].chart for name in CHARTED)
    # The cache model counts by these for each instruction.
    text = source("userspace/cachesim/attribution.c")
    assert set(EVENTS) <= set(re.findall(r'"(\w+)"', text))
    assert all(EVENTS.values())
