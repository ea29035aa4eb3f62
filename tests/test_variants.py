# SPDX-License-Identifier: GPL-2.0
"""The variants of Kbuild/kernels.toml, those too that only `make test-full` builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab import PROJECT, pristine

from fastlab.kernel import patches
from fastlab.kernel.catalogue import VariantEntry, load_catalogue, patch_folder

CATALOGUE = load_catalogue(PROJECT)


@pytest.mark.parametrize("variant", CATALOGUE.pick_variants([]), ids=lambda one: str(one.name))
def test_the_patches_of_a_variant_apply(variant: VariantEntry, tmp_path: Path) -> None:
    series = CATALOGUE.pick_series(None).name
    folders = [patch_folder(PROJECT, series, name) for name in variant.patches]
    listed = [patch for folder in folders for patch in patches.read_series(folder)]
    assert patches.apply(listed, pristine(), tmp_path)
