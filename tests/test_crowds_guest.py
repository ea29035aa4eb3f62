# SPDX-License-Identifier: GPL-2.0
"""The adaptive policy gathers threads that hand over, and ends a home when that changes."""

from __future__ import annotations

import pytest
from lab import Lab, compile_guest, kernel

from fastlab.base.model import Machine
from fastlab.guest.vm import Outcome

PROGRAMS = ("crowds", "seldom", "strangers")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    directory = tmp_path_factory.mktemp("crowds")
    further = {f"/bin/{name}": compile_guest(name, directory) for name in PROGRAMS}
    return Lab(directory / "lab", kernel("fast"), further, Machine(cpus=4))


def told(lab: Lab, program: str, what: str, policy: str = "adaptive") -> tuple[list[str], Outcome]:
    """The words of a program's line that begins with `what`, and how its run ended."""
    outcome = lab.run(f"{program}-{policy}", [f"/bin/{program}"], fast={"policy": policy})
    assert outcome.exit_status == 0, outcome.errors
    (line,) = (line for line in outcome.output_lines if line.startswith(f"{what} "))
    return line.split()[1:], outcome


def test_two_groups_that_merge_are_measured_anew(lab: Lab) -> None:
    (times, *_), outcome = told(lab, "crowds", "times")
    # The pairs had homes.
    assert outcome.mechanism and outcome.mechanism["hint_set"] > 1000
    # The four threads have none: on one CPU they would take four times as long.
    assert float(times) < 1.5, outcome.output_lines


def test_threads_that_seldom_sleep_are_not_measured_for_long(lab: Lab) -> None:
    took = {
        policy: float(told(lab, "seldom", "ns", policy)[0][0]) for policy in ("off", "adaptive")
    }
    # With measurement all the time it would take 1.4 times as long.
    assert took["adaptive"] < 1.2 * took["off"], took


def test_a_thread_that_a_stranger_wakes_stays_at_home(lab: Lab) -> None:
    words, outcome = told(lab, "strangers", "together")
    together, calls = (int(word) for word in words if word.isdigit())
    # Sometimes the home has just ended, to be measured again.
    assert together >= 0.8 * calls, outcome.output_lines
