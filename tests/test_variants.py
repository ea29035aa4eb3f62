# SPDX-License-Identifier: GPL-2.0
"""The variants of Kbuild/kernels.toml, those too that only `make test-full` builds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from lab import PROJECT, unpacked

from fastlab.base.cache import cache_dir
from fastlab.base.model import FastError
from fastlab.kernel import kbuild, patches
from fastlab.kernel.catalogue import SeriesEntry, VariantEntry, load_catalogue, patch_folder
from fastlab.kernel.kbuild import Tree

CATALOGUE = load_catalogue(PROJECT)
PRIMARY = CATALOGUE.pick_series(None)
VARIANTS = [
    pytest.param(series, variant, id=f"{series.name}-{variant.name}")
    for series in CATALOGUE.series.values()
    for variant in CATALOGUE.pick_variants(series, ())
]


@cache
def source(series: SeriesEntry) -> Path:
    """The unpatched source; a test downloads only the primary series'."""
    origin = series.origin
    if series != PRIMARY:
        origin = replace(origin, debian_suite="", sha256="")
    try:
        return unpacked(origin, series.name)
    except FastError as error:
        if series == PRIMARY:
            raise
        pytest.skip(f"`fast kernel build {series.name}` has not run here: {error}")


@pytest.mark.parametrize(("series", "variant"), VARIANTS)
def test_the_patches_of_a_variant_apply(
    series: SeriesEntry, variant: VariantEntry, tmp_path: Path
) -> None:
    folders = [patch_folder(PROJECT, series.name, name) for name in variant.patches]
    listed = [patch for folder in folders for patch in patches.read_series(folder)]
    assert patches.apply(listed, source(series), tmp_path)


@pytest.mark.parametrize("series", CATALOGUE.series.values(), ids=lambda one: str(one.name))
def test_the_fragments_of_a_series_are_met(series: SeriesEntry, tmp_path: Path) -> None:
    """Those of the variant that has the most; the debugging ones are built by other tests."""
    (tmp_path / "source").symlink_to(source(series))
    tree = Tree(tmp_path)
    kbuild.prepare(tree)
    names = ("base", "scx", *series.fragments)
    fragments = [PROJECT / f"Kbuild/{name}.config" for name in names]
    config = kbuild.configure(tree, fragments, cache_dir())
    assert config["SCHED_CLASS_EXT"] == "y"
