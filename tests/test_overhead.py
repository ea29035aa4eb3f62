# SPDX-License-Identifier: GPL-2.0
"""What the series costs in a simulated machine: nearly nothing while it is off."""

from __future__ import annotations

import io

from fastlab.base.progress import PlainReporter
from fastlab.bench import overhead


def test_off_costs_a_test_of_a_switch() -> None:
    # On the kernels that other tests boot, too.
    costs = overhead.measure(PlainReporter(io.StringIO()), fragments=())
    more = {
        (operation, arm): cost - costs[operation, overhead.UNPATCHED]
        for (operation, arm), cost in costs.items()
    }
    # Without jump labels: a load, a test and a branch. A compiler may win more than that by what it
    # makes of the changed function, as gcc 14 does.
    assert -5 < more["wake", "off"] < 10
    assert abs(more["switch", "off"]) < 10
    # Where in a period of a millisecond a wake-up falls decides how much the load's average takes,
    # and beside a busy CPU the balancer looks around now and then: 1 to 28 instructions were seen
    # where nothing had changed that a wake-up executes.
    for operation in ("wakeup", "handoff"):
        assert abs(more[operation, "off"]) < costs[operation, overhead.UNPATCHED] / 100
    # To place one is part of a hand-off, which is measured beside another CPU.
    assert more["handoff", "strict"] > 20
    # A policy that is on costs nearly nothing while no threads have handed over.
    for policy in ("strict", "soft", "adaptive"):
        assert more["wake", "off"] < more["wake", policy] < more["wake", "off"] + 12
        assert more["wait", "off"] <= more["wait", policy] < more["wait", "off"] + 8
