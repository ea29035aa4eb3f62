# SPDX-License-Identifier: GPL-2.0
"""The manifest of the programs that Meson writes, and what is said without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiment_files import GOOD, write
from fake_programs import BENCHMARKS, BUILD, give_manifest

from fastlab.base import manifest
from fastlab.base.model import FastError
from fastlab.guest.initramfs import program_path
from fastlab.plan import splash_sizes
from fastlab.plan.experiment import load_experiment


def test_it_has_every_program_of_each_suite() -> None:
    sources = (BUILD.parents[1] / "microbench").glob("*.c")
    described = [
        path.stem for path in sources if "const struct bench benchmark" in path.read_text()
    ]
    assert sorted(BENCHMARKS) == sorted(described)
    assert manifest.suite(BUILD, "splash2") == tuple(splash_sizes.OPTIONS)
    assert {*manifest.benchmarks()} > {*BENCHMARKS, *splash_sizes.OPTIONS}
    assert "overhead" in manifest.read(BUILD) and "overhead" not in manifest.benchmarks()


def test_a_program_is_where_it_says() -> None:
    for name, program in manifest.read(BUILD).items():
        for path in (program.path, program.dynamic):
            assert (BUILD / path).is_file(), name


def test_the_dynamic_form_is_another_file_only_of_a_static_program() -> None:
    assert program_path(BUILD, "barnes").name == "barnes"
    assert program_path(BUILD, "barnes", dynamic=True).name == "barnes-dynamic"
    mutex = program_path(BUILD, "intervals_mutex")
    assert program_path(BUILD, "intervals_mutex", dynamic=True) == mutex


def test_an_unknown_program_is_named(tmp_path: Path) -> None:
    give_manifest(tmp_path)
    with pytest.raises(FastError, match=r"has no program barns, did you mean barnes\?|barnes"):
        program_path(tmp_path, "barns")


def test_results_are_read_where_nothing_has_been_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names of benchmarks are checked by the build; all else of an experiment at once."""
    monkeypatch.setattr(manifest, "build_dir", lambda _: tmp_path / "nothing")
    assert manifest.benchmarks() == ()
    other = GOOD.replace('"single_ctr"', '"of_another_version"')
    assert "of_another_version" in load_experiment(write(tmp_path, other)).benchmarks
    with pytest.raises(FastError, match="a benchmark's name"):
        load_experiment(write(tmp_path, GOOD.replace('"single_ctr"', '"../single_ctr"')))
