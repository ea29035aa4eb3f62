# SPDX-License-Identifier: GPL-2.0
"""The policy adaptive on a machine without a TSC: the kernel says that it cannot measure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lab import Lab, kernel

from fastlab.guest import hardware

WARNING = "sched/fast: sched_clock() counts ticks: adaptive cannot measure"
ARGV = ["/bin/single_ctr", "--threads=4", "--iterations=2000", "--think=100"]


class Emulated(Lab):
    """A machine whose time is QEMU's."""

    measures = False

    def warnings(self, name: str, policy: str) -> tuple[int, int]:
        """How often the kernel warns while the policy is on, and how many hints were set."""
        outcome = self.run(name, ARGV, fast={"policy": policy})
        assert outcome.exit_status == 0, outcome.errors
        assert outcome.mechanism is not None
        said = (self.path / name / "serial.log").read_text(errors="replace")
        return said.count(WARNING), outcome.mechanism["hint_set"]


def test_adaptive_is_silent_with_a_clock_that_measures(tmp_path: Path) -> None:
    lab = Emulated(tmp_path / "lab", kernel("fast"))
    assert lab.warnings("adaptive", "adaptive")[0] == 0


def test_adaptive_says_that_the_clock_counts_ticks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = replace(hardware.EMULATED, cpu=f"{hardware.EMULATED.cpu},-tsc")
    monkeypatch.setattr(hardware, "EMULATED", without)
    lab = Emulated(tmp_path / "lab", kernel("fast"))
    assert lab.warnings("adaptive", "adaptive") == (1, 0)
    # strict does not measure.
    warnings, hints = lab.warnings("strict", "strict")
    assert warnings == 0
    assert hints > 0
