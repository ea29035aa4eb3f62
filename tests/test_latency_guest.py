# SPDX-License-Identifier: GPL-2.0
"""fast-latency in the guest, whose kernel traces what the machine of the tests may not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lab import PROJECT, Lab, kernel

LATENCY = PROJECT / "build/user/userspace/latency"
PROGRAMS = {
    "/bin/fast-latency": LATENCY / "fast-latency",
    "/bin/libfast-handoff.so": LATENCY / "libfast-handoff.so",
    "/bin/subject": LATENCY / "tests/latency-subject",
    "/bin/single_ctr-dynamic": PROJECT / "build/user/microbench/single_ctr-dynamic",
}


class Measured(Lab):
    """The patched kernel's machine."""

    measures = False

    def latencies(self, name: str, *argv: str, fast: int = 0) -> dict[str, Any]:
        options = ["--roi"] if "--threads" in argv else []
        command = ["/bin/fast-latency", *options, "--json", "/proc/self/fd/1", "--", *argv]
        outcome = self.run(name, command, sysctls={"kernel.sched_fast": fast})
        assert outcome.exit_status == 0, outcome.errors
        (document,) = (line for line in outcome.said if '"latencies"' in line)
        found: dict[str, Any] = json.loads(document)["latencies"]
        assert all(latency["why_not"] is None for latency in found.values()), found
        return found


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return Measured(tmp_path_factory.mktemp("latency") / "lab", kernel("fast"), PROGRAMS)


def times(latency: dict[str, Any]) -> list[int]:
    return [end for end, count in latency["buckets"] for _ in range(count)]


def test_every_wakeup_of_a_sleeper_is_seen(lab: Measured) -> None:
    found = lab.latencies("sleeps", "/bin/subject", "sleeps", "50")
    assert found["handoff"]["events"] == 0
    # And one of the thread that waits for the sleeper's end.
    assert found["wakeup"]["events"] == 51
    # Of a millisecond's sleep only what comes after its end.
    assert times(found["wakeup"])[-1] < 500_000


def test_every_handoff_is_seen(lab: Measured) -> None:
    found = lab.latencies("handoffs", "/bin/subject", "handoffs", "20", "mutex")
    assert found["handoff"]["events"] == 20
    # Both look every 100 us whether it is their turn, which are wake-ups as well.
    assert found["wakeup"]["events"] > 20


@pytest.mark.parametrize("fast", [0, 1])
def test_a_benchmark_under_each_policy(lab: Measured, fast: int) -> None:
    argv = ("/bin/single_ctr-dynamic", "--threads", "8", "--iterations", "10000", "--json")
    found = lab.latencies(f"single_ctr-{fast}", *argv, fast=fast)
    assert 50 < found["handoff"]["events"] < 10000
    assert found["wakeup"]["events"] > 50
