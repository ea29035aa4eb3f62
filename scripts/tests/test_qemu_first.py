# SPDX-License-Identifier: GPL-2.0
"""Commands that simulate say that this QEMU will not do before they build anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fastlab.base.project import PROJECT
from fastlab.bench import bench_machine
from fastlab.cli import main
from fastlab.guest import meson
from fastlab.kernel import kernels
from fastlab.trace import record_simulated
from fastlab.trial import in_simulation

DEMO = str(PROJECT / "experiments/demo.toml")
PRESET = PROJECT / "userspace/cachesim/presets/rx4640.toml"
MEASURED = str(PROJECT / "experiments/measured/zen3.toml")


@pytest.fixture
def qemu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where PATH finds QEMU first; and nothing may be built."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("FAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(PRESET.read_text().replace('"rx4640"', '"mine"'))

    def built(*_: object) -> None:
        pytest.fail("something was built")

    monkeypatch.setattr(kernels, "build", built)
    monkeypatch.setattr(meson, "build_programs", built)
    for module in (bench_machine, in_simulation, record_simulated):
        monkeypatch.setattr(module, "build_programs", built)
    return tmp_path / "qemu-system-x86_64"


@pytest.mark.parametrize(
    "words",
    [
        ["run", DEMO],
        ["try", "--", "true"],
        ["trace", DEMO],
        ["trust", "--preset", "mine.toml"],
        ["trust", "--measured", MEASURED],
        ["bench", "sim"],
        ["bench", "overhead"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("version", ["9.1.2", "11.2.0"])
def test_no_other_qemu_has_anything_built(
    words: list[str], version: str, qemu: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(words, version, qemu, capsys)


def refused(words: list[str], version: str, qemu: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command ends with the QEMU's path and the versions that it needs."""
    qemu.write_text(f"#!/bin/sh\necho 'QEMU emulator version {version}'\n")
    qemu.chmod(0o755)
    assert main.main(words) == 1
    said = capsys.readouterr().err
    assert f"{qemu} is version {version}" in said
    assert "QEMU 9.2 to 11.1" in said


def test_guests_of_kvm_take_any_qemu_but_need_one(
    qemu: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(qemu.parent))
    assert main.main(["run", str(PROJECT / "experiments/ab.toml"), "--backend", "kvm"]) == 1
    assert "qemu-system-x86_64 is missing: install" in capsys.readouterr().err
