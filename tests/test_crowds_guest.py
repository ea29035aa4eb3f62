# SPDX-License-Identifier: GPL-2.0
"""The adaptive policy gathers threads that hand over, and ends a home when that changes."""

from __future__ import annotations

from pathlib import Path

from lab import Lab, compile_guest, kernel

from fastlab.base.model import Machine


def test_two_groups_that_merge_are_measured_anew(tmp_path: Path) -> None:
    program = compile_guest("crowds", tmp_path)
    lab = Lab(tmp_path / "lab", kernel("fast"), {"/bin/crowds": program}, Machine(cpus=4))
    outcome = lab.run("run", ["/bin/crowds"], fast={"policy": "adaptive"})
    assert outcome.exit_status == 0, outcome.errors
    # The pairs had homes.
    assert outcome.mechanism and outcome.mechanism["hint_set"] > 1000
    (line,) = (line for line in outcome.output_lines if line.startswith("times "))
    # The four threads have none: on one CPU they would take four times as long.
    assert float(line.split()[1]) < 1.5, outcome.output_lines


def test_threads_that_seldom_sleep_are_not_measured_for_long(tmp_path: Path) -> None:
    program = compile_guest("seldom", tmp_path)
    lab = Lab(tmp_path / "lab", kernel("fast"), {"/bin/seldom": program}, Machine(cpus=4))
    took = {}
    for policy in ("off", "adaptive"):
        outcome = lab.run(policy, ["/bin/seldom"], fast={"policy": policy})
        assert outcome.exit_status == 0, outcome.errors
        (line,) = (line for line in outcome.output_lines if line.startswith("ns "))
        took[policy] = float(line.split()[1])
    # With measurement all the time it would take 1.4 times as long.
    assert took["adaptive"] < 1.2 * took["off"], took


def test_a_thread_that_a_stranger_wakes_stays_at_home(tmp_path: Path) -> None:
    program = compile_guest("strangers", tmp_path)
    lab = Lab(tmp_path / "lab", kernel("fast"), {"/bin/strangers": program}, Machine(cpus=4))
    outcome = lab.run("run", ["/bin/strangers"], fast={"policy": "adaptive"})
    assert outcome.exit_status == 0, outcome.errors
    (line,) = (line for line in outcome.output_lines if line.startswith("together "))
    together, calls = (int(word) for word in line.split() if word.isdigit())
    # Sometimes the home has just ended, to be measured again.
    assert together >= 0.8 * calls, outcome.output_lines
