# SPDX-License-Identifier: GPL-2.0
"""tests/patches: what a user may want to compare with stock 7.3, by `fast ab --kernel 7.3 --patch`.
They apply to the source of that series as it comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab import PROJECT, unpacked

from fastlab.kernel import patches
from fastlab.kernel.catalogue import load_catalogue

CHANGED = {
    "base-slice": ("kernel/sched/fair.c", "sysctl_sched_base_slice\t\t\t= 3000000ULL;"),
    "no-wake-affine": ("kernel/sched/topology.c", "| 0*SD_WAKE_AFFINE"),
}


@pytest.mark.full
@pytest.mark.parametrize("name", CHANGED)
def test_a_patch_applies_to_stock(tmp_path: Path, name: str) -> None:
    series = load_catalogue(PROJECT).pick_series("7.3")
    stock = unpacked(series.origin, series.name)
    file, line = CHANGED[name]
    assert line not in (stock / file).read_text()
    touched = patches.apply([PROJECT / f"tests/patches/{name}.patch"], stock, tmp_path)
    assert touched == {file}
    assert line in (tmp_path / file).read_text()
