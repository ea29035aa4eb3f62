# SPDX-License-Identifier: GPL-2.0
"""`fast trace` in real guests: three counts of the same hand-offs, which know nothing of each
other: the trace's futex calls, FAST's counters, and the simulation's plugin."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab import PROJECT

from fastlab.base.model import Watchdogs
from fastlab.base.progress import PlainReporter
from fastlab.plan.experiment import load_experiment
from fastlab.trace import output, record_simulated
from fastlab.trace.recording import Recording

RUN = "single_ctr-16"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trace") / "traces"


@pytest.fixture(scope="module")
def recordings(directory: Path) -> dict[str, Recording]:
    """The demo's run under its baseline and strict."""
    demo = load_experiment(PROJECT / "experiments/demo.toml")
    # The machine of the tests may be a busy one.
    demo = replace(demo, watchdogs=Watchdogs(boot=600, run=3600))
    case = record_simulated.pick_case(demo, RUN)
    variants = record_simulated.pick_variants(demo, ())
    request = record_simulated.TraceRequest(demo, case, variants, directory)
    found = record_simulated.record_experiment(request, PlainReporter(io.StringIO()))
    return {one.title: one for one in found}


def by_plugin(directory: Path, title: str) -> dict[str, Any]:
    text = (directory / "machines" / title / "plugin.jsonl").read_text()
    document: dict[str, Any] = json.loads(text)
    return document


def test_the_handoffs_are_those_that_fast_counts(recordings: dict[str, Recording]) -> None:
    strict = recordings["strict"]
    assert strict.mechanism
    assert len(strict.handoffs) == strict.counted == strict.looked_at
    # How many there are depends on the series and its compiler: from 52 to 686 were seen.
    assert len(strict.handoffs) > 20
    decisions = Counter(one.decision for one in strict.handoffs)
    assert decisions == {
        name: count
        for name, count in strict.mechanism.items()
        if count and (name in ("used", "same_cpu", "moot") or name.startswith("rejected"))
    }
    balanced = Counter(one.text("event") for one in strict.named("sched_fast_balance"))
    assert balanced["balance_kept"] == strict.mechanism["balance_kept"]
    assert balanced["balance_pulled"] == strict.mechanism["balance_pulled"]
    assert output.doubts(list(recordings.values())) == []


@pytest.mark.parametrize("title", ["baseline", "strict"])
def test_those_not_in_vain_are_the_plugins(
    recordings: dict[str, Recording], directory: Path, title: str
) -> None:
    recording = recordings[title]
    counted = by_plugin(directory, title)["latencies"]["handoff"]
    taken = [one for one in recording.handoffs if one.taken]
    assert len(taken) == counted["count"] > 50
    assert all(one.acquired and one.woken for one in recording.handoffs)
    # From the begin of the same call to the end of the other, each seen from its own side: a
    # microsecond or two apart, and at the median many lie as near to each other.
    mean = sum(one.latency or 0 for one in taken) / len(taken)
    assert mean == pytest.approx(counted["mean_ns"], rel=0.1)


def test_time_is_modelled_time(recordings: dict[str, Recording], directory: Path) -> None:
    for title, recording in recordings.items():
        # Of the 1.3 GHz of rx4640; fast-trace is told of the markers a little before and after.
        modelled = by_plugin(directory, title)["elapsed_cycles"] / 1.3
        assert recording.end - recording.begin == pytest.approx(modelled, rel=0.02)


def test_the_lock_has_a_name(recordings: dict[str, Recording]) -> None:
    for recording in recordings.values():
        (lock,) = {recording.lock(one.lock) for one in recording.handoffs}
        assert lock.startswith("heap+0x")


def test_what_is_left(recordings: dict[str, Recording], directory: Path) -> None:
    assert recordings["baseline"].mechanism is None
    written = output.write_recordings(list(recordings.values()), directory)
    for path in written:
        assert 10_000 < path.stat().st_size < 5_000_000
    for title in recordings:
        assert (directory / f"{title}.dat").stat().st_size < 1_000_000
