# SPDX-License-Identifier: GPL-2.0
"""Text that an editor has begun with a byte order mark is read like any other."""

from __future__ import annotations

import gzip
from codecs import BOM_UTF8
from pathlib import Path

import pytest
import samples
from command_line import EXPERIMENT
from heard import Heard
from kernel_lab import Lab

from fastlab.base import toml_table
from fastlab.base.model import FastError
from fastlab.base.project import PROJECT
from fastlab.kernel import kernels
from fastlab.kernel.kernels import DebRequest
from fastlab.plan import plan_file, presets
from fastlab.plan.experiment import load_experiment
from fastlab.plan.paired_plan import make_plan


def mark(path: Path) -> Path:
    path.write_bytes(BOM_UTF8 + path.read_bytes())
    return path


def test_an_experiment_and_a_machine(tmp_path: Path) -> None:
    plain = tmp_path / "plain.toml"
    plain.write_text(EXPERIMENT)
    marked = tmp_path / "marked.toml"
    marked.write_text(EXPERIMENT)
    assert load_experiment(mark(marked)) == load_experiment(plain)
    preset = tmp_path / "mine.toml"
    text = (presets.DIRECTORY / "rx4640.toml").read_text()
    preset.write_text(text.replace('"rx4640"', '"mine"'))
    before = presets.load(str(preset))
    assert presets.load(str(mark(preset))) == before


def test_what_is_wrong_behind_it_is_where_it_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes(BOM_UTF8 + b'name = "\xe4"')
    with pytest.raises(FastError, match="byte 11 is not UTF-8 text"):
        toml_table.read(path, "another")


def test_toml_is_read_in_one_place() -> None:
    package = PROJECT / "scripts/fastlab"
    readers = [path.name for path in package.rglob("*.py") if "tomllib" in path.read_text()]
    assert readers == ["toml_table.py"]


def test_all_that_a_kernel_is_made_of(lab: Lab) -> None:
    for path in (
        lab.fragments / "kernels.toml",
        lab.fragments / "base.config",
        lab.fragments / "fast.config",
        lab.patches / "series",
    ):
        mark(path)
    (kernel,) = lab.build("fast")
    content = Path(kernel.vmlinux).read_bytes()
    assert b"CONFIG_SMP=y" in content and b"CONFIG_SCHED_FAST=y" in content


@pytest.mark.parametrize("packed", [False, True])
def test_a_whole_configuration(packed: bool, lab: Lab) -> None:
    config = lab.root / "config"
    text = BOM_UTF8 + b"CONFIG_DEBUG=y\n"
    config.write_bytes(gzip.compress(text) if packed else text)
    request = DebRequest(lab.root / "out", config=config, places=lab.places)
    (package,) = kernels.deb(request, Heard())
    assert "CONFIG_DEBUG=y" in package.read_text().splitlines()


def test_a_plan(tmp_path: Path) -> None:
    experiment = samples.experiment(oracle=("baseline", "fast"))
    plan = make_plan(experiment, "soft")
    plan_file.keep(tmp_path, plan, experiment, "tools", begun=False)
    mark(tmp_path / plan_file.NAME)
    assert plan_file.load(tmp_path) == plan
