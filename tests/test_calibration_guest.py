# SPDX-License-Identifier: GPL-2.0
"""`fast calibrate` knows how many instructions a kernel's path has: counted where they can be."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab import PROJECT, Lab, compile_guest, kernel

from fastlab.base.model import Machine, Watchdogs
from fastlab.plan import presets
from fastlab.trust import calibrate

CALIBRATE = PROJECT / "userspace/calibrate"
CONTEXT_SWITCH = 3000


@pytest.mark.full
def test_the_counts_give_back_what_the_preset_says(tmp_path: Path) -> None:
    """A guest calibrates its machine, whose preset says what it should find."""
    preset = tmp_path / "slow-switch.toml"
    preset.write_text(
        presets.load("epyc-milan")
        .path.read_text()
        .replace('"epyc-milan"', '"slow-switch"')
        .replace("context_switch = 0 ", f"context_switch = {CONTEXT_SWITCH} ")
    )
    sources = [str(CALIBRATE / name) for name in ("pairs.c", "compute.c")]
    includes = [f"-I{PROJECT / path}" for path in ("userspace/calibrate", "userspace/roi")]
    further = [f"-I{PROJECT / 'microbench/common'}", "-D_GNU_SOURCE"]
    program = compile_guest("calibration_subject", tmp_path, *sources, *includes, *further)
    machine = Machine(cpus=1, preset=str(preset))
    lab = Lab(tmp_path / "lab", kernel("baseline"), {"/bin/calibrate": program}, machine)
    outcome = lab.run("calibrate", ["/bin/calibrate"], Watchdogs(boot=300, run=900))
    assert outcome.exit_status == 0, outcome.errors
    assert outcome.output is not None and outcome.document is not None

    known = outcome.document
    wait, handoff = (
        outcome.output[name] * known["mhz"] / 1000 for name in ("refused_wait", "handoff_same_cpu")
    )
    kernel_cpi = known["kernel_cpi"] / 100
    assert wait / calibrate.WAIT_INSTRUCTIONS == pytest.approx(kernel_cpi, rel=0.05)
    counted = calibrate.HANDOFF_INSTRUCTIONS * kernel_cpi + calibrate.HANDOFF_CYCLES
    assert handoff - counted == pytest.approx(CONTEXT_SWITCH, rel=0.1)
