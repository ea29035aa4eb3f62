# SPDX-License-Identifier: GPL-2.0
"""experiments/scx-arms.sh builds the schedulers that an experiment names; an arm whose scheduler
cannot be built is left out, and the reason is said."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from fastlab.base.project import PROJECT

# What makes the kernel's own, and what makes those of crates.io. A name in `broken` fails.
PYTHON = """#!/bin/sh
if grep -qx "$3" broken; then echo "$3: no clang" >&2; exit 1; fi
echo >"$4/$3"
"""
CARGO = """#!/bin/sh
if grep -qx "$5" broken; then echo "warning: old"; echo "error: no $5"; exit 101; fi
mkdir -p "$4/bin" && echo >"$4/bin/$5"
"""
FAST = """#!/bin/sh
echo "$@"
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A checkout with the script, the experiment, and tools that only say what they were told."""
    (tmp_path / "experiments").mkdir()
    for name in ("scx-arms.sh", "scx-arms.toml"):
        shutil.copy(PROJECT / "experiments" / name, tmp_path / "experiments")
    write(tmp_path / "build/venv/bin/python", PYTHON)
    write(tmp_path / "bin/cargo", CARGO)
    write(tmp_path / "scripts/fast", FAST)
    (tmp_path / "broken").touch()
    return tmp_path


def run(lab: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [lab / "experiments/scx-arms.sh", *words],
        env={"PATH": f"{lab}/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )


def schedulers(lab: Path) -> dict[str, str]:
    """Of the arms that are left, by their names."""
    document = tomllib.loads((lab / "build/schedulers/scx-arms.toml").read_text())
    return {arm["name"]: arm.get("scheduler", "") for arm in document["variant"]}


def test_all_are_built_and_the_runs_are_made(lab: Path) -> None:
    answer = run(lab, "--jobs", "1")
    experiment = "build/schedulers/scx-arms.toml"
    assert answer.stdout == f"run {experiment} --output results/scx-arms --jobs 1\n"
    assert answer.stderr == ""
    arms = schedulers(lab)
    assert (arms["scx-lavd"], arms["scx-central"]) == ("./scx_lavd", "./scx_central")
    for scheduler in arms.values():
        assert not scheduler.startswith("./") or (lab / "build/schedulers" / scheduler).is_file()


def test_what_cannot_be_built_is_left_out_with_the_reason(lab: Path) -> None:
    (lab / "broken").write_text("scx_central\nscx_lavd\n")
    answer = run(lab)
    assert answer.stderr.splitlines() == [
        "scx-arms: scx_central is left out: scx_central: no clang",
        "scx-arms: scx_lavd is left out: error: no scx_lavd",
    ]
    arms = schedulers(lab)
    assert not {"scx-central", "scx-lavd"} & set(arms)
    assert {"fair", "scx-simple", "scx-cosmos", "scx-strict", "adaptive"} <= set(arms)
    # The next time it may be there.
    (lab / "broken").write_text("")
    run(lab)
    assert "scx-lavd" in schedulers(lab)
