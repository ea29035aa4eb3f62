# SPDX-License-Identifier: GPL-2.0
"""Hand-offs and wake-ups in the guest: by fast-latency, for its kernel traces what the machine of
the tests may not, and by the simulation's plugin. Both must see the same.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from lab import PROJECT, Lab, kernel

from fastlab.guest.vm import Outcome
from fastlab.plan.arms import POLICIES

LATENCY = PROJECT / "build/user/userspace/latency"
PROGRAMS = {
    "/bin/fast-latency": LATENCY / "fast-latency",
    "/bin/libfast-handoff.so": LATENCY / "libfast-handoff.so",
    "/bin/subject": LATENCY / "tests/latency-subject",
    "/bin/single_ctr-dynamic": PROJECT / "build/user/microbench/single_ctr-dynamic",
}


def by_fast_latency(outcome: Outcome) -> dict[str, Any]:
    assert outcome.exit_status == 0, outcome.errors
    (document,) = (line for line in outcome.output_lines if '"latencies"' in line)
    found: dict[str, Any] = json.loads(document)["latencies"]
    assert all(latency["why_not"] is None for latency in found.values()), found
    return found


class Measured(Lab):
    """The patched kernel's machine."""

    measures = False

    def latencies(self, name: str, *argv: str) -> dict[str, Any]:
        command = ["/bin/fast-latency", "--json", "/proc/self/fd/1", "--", *argv]
        return by_fast_latency(self.run(name, command))


class Simulated(Lab):
    """The same, under the plugin."""

    def latencies(self, name: str, *argv: str) -> dict[str, Any]:
        outcome = self.run(name, list(argv))
        assert outcome.exit_status == 0, outcome.errors
        return by_plugin(outcome)


def by_plugin(outcome: Outcome) -> dict[str, Any]:
    assert outcome.document
    found: dict[str, Any] = outcome.document["latencies"]
    return found


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return Measured(tmp_path_factory.mktemp("latency") / "lab", kernel("fast"), PROGRAMS)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    return Simulated(tmp_path_factory.mktemp("latency") / "simulated", kernel("fast"), PROGRAMS)


def times(latency: dict[str, Any]) -> list[int]:
    return [end for end, count in latency["buckets"] for _ in range(count)]


def test_every_wakeup_of_a_sleeper_is_seen(lab: Measured) -> None:
    found = lab.latencies("sleeps", "/bin/subject", "sleeps", "50")
    assert found["handoff"]["events"] == 0
    assert found["handoff"]["unseen"].startswith("no pthread mutex was seen")
    # And one of the thread that waits for the sleeper's end.
    assert found["wakeup"]["events"] == 51
    # Of a millisecond's sleep only what comes after its end.
    assert times(found["wakeup"])[-1] < 500_000


def test_every_handoff_is_seen(lab: Measured) -> None:
    found = lab.latencies("handoffs", "/bin/subject", "handoffs", "20", "mutex")
    assert found["handoff"]["events"] == 20
    # Both look every 100 us whether it is their turn, which are wake-ups as well.
    assert found["wakeup"]["events"] > 20


@pytest.mark.parametrize("policy", POLICIES)
def test_a_benchmark_under_each_policy(simulated: Simulated, policy: str) -> None:
    """Whose threads fight for the lock only where time is that of their caches."""
    iterations = 20000
    argv = ["/bin/single_ctr-dynamic", "--threads", "8", "--iterations", str(iterations), "--json"]
    command = ["/bin/fast-latency", "--roi", "--json", "/proc/self/fd/1", "--", *argv]
    outcome = simulated.run(f"single_ctr-{policy}", command, fast={"policy": policy})
    found = by_fast_latency(outcome)
    # Adaptive gathers them on one CPU, where they hardly meet.
    least = 1 if policy == "adaptive" else 50
    assert least <= found["handoff"]["events"] < iterations
    assert found["wakeup"]["events"] >= least


def test_the_simulation_sees_every_wakeup_of_a_sleeper(simulated: Simulated) -> None:
    found = simulated.latencies("sleeps", "/bin/subject", "sleeps", "50")
    assert found["handoff"]["count"] == 0
    assert found["handoff"]["mean_ns"] is None
    assert found["wakeup"]["count"] == 51
    assert 100 < found["wakeup"]["p50_ns"] < 100_000
    assert found["wakeup"]["p50_ns"] <= found["wakeup"]["p99_ns"] <= found["wakeup"]["max_ns"]


def test_the_simulation_sees_every_handoff(simulated: Simulated) -> None:
    found = simulated.latencies("handoffs", "/bin/subject", "region", "20", "3")
    assert found["handoff"]["count"] == 20
    assert 100 < found["handoff"]["p50_ns"] < 100_000
    assert found["wakeup"]["count"] > 20


def test_both_see_the_same(simulated: Simulated) -> None:
    command = ["/bin/fast-latency", "--roi", "--json", "/proc/self/fd/1"]
    outcome = simulated.run("both", [*command, "--", "/bin/subject", "region", "20", "3"])
    by_trace, by_steps = by_fast_latency(outcome), by_plugin(outcome)
    assert by_trace["handoff"]["events"] == by_steps["handoff"]["count"] == 20
    # fast-latency begins a little before the marker: its answer wakes the program, and the waiter
    # looks every 100 us whether it is its turn.
    more = by_trace["wakeup"]["events"] - by_steps["wakeup"]["count"]
    assert 1 <= more <= 5
    # The same events take about as long by either's clock. What comes before the marker may be
    # the longest of all.
    for name, before in {"handoff": 0, "wakeup": more}.items():
        traced = times(by_trace[name])
        assert by_steps[name]["p50_ns"] == pytest.approx(traced[len(traced) // 2], rel=0.2)
        longest = traced[-1 - before :]
        assert any(by_steps[name]["max_ns"] == pytest.approx(one, rel=0.4) for one in longest)
