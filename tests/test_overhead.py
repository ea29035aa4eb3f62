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
    # Beside a busy CPU the balancer looks around now and then. How often is another in each build:
    # 1 to 28 instructions of 4,200 were seen where nothing had changed that a wake-up executes.
    assert abs(more["wakeup", "off"]) < costs["wakeup", overhead.UNPATCHED] / 100
    # To place one is part of a hand-off, which is measured beside another CPU. It saves the search
    # for an idle one, which in some builds takes longer than placing: no more than with it off.
    assert more["handoff", "strict"] > 20
    # A policy that is on is what it costs.
    assert more["wake", "off"] + 10 < more["wake", "strict"] < more["wake", "adaptive"] < 100
