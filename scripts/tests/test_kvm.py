# SPDX-License-Identifier: GPL-2.0
"""KVM is used only where a guest booted with it: with a program that acts as QEMU."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from fastlab.base.model import Kernel
from fastlab.base.progress import PlainReporter
from fastlab.guest import initramfs, kvm

FAKE = Path(__file__).with_name("fake_qemu.py")
KERNEL = Kernel("6.12", "fast", "id", "vmlinux", "System.map")


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands for /dev/kvm; the machine, with it, is the fake."""
    path = tmp_path / "kvm"
    path.touch()
    programs = tmp_path / "build/userspace/guest"
    programs.mkdir(parents=True)
    shutil.copy("/bin/true", programs / "init")
    monkeypatch.setattr(kvm, "DEVICE", path)
    monkeypatch.setattr(kvm, "BOOT_SECONDS", 1.0)
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (bin_dir / "qemu-system-x86_64").symlink_to(FAKE)
    monkeypatch.setenv("PATH", str(bin_dir), prepend=":")
    return path


def probe(path: Path) -> str:
    return kvm.probe(KERNEL, path / "build" / initramfs.INIT, PlainReporter(io.StringIO()))


def test_kvm_is_used_when_a_guest_booted(device: Path, tmp_path: Path) -> None:
    assert probe(tmp_path) == ""


def test_without_the_device_nothing_is_tried(device: Path, tmp_path: Path) -> None:
    device.unlink()
    assert probe(tmp_path) == f"{device}: No such file or directory"


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("boot-hang", "it: boot took longer than 1 s"),
        ("boot-panic", "Kernel panic - not syncing: No working init found"),
        ("no-plugin", "QEMU ended with status 1; Could not load plugin"),
    ],
)
def test_a_device_with_which_nothing_boots_is_not_used(
    mode: str, words: str, device: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_QEMU", mode)
    why = probe(tmp_path)
    assert why.startswith(f"{device} is there, but no guest boots with it: ")
    assert words in why and "\n" not in why
    # `fast doctor` has no experiment, so no watchdogs to set.
    assert "[watchdogs]" not in why


def test_the_guest_is_executed_by_kvm(
    device: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(kvm.vm, "boot", lambda simulation, *rest: asked.append(simulation))
    probe(tmp_path)
    arguments = kvm.vm.machine_arguments(asked[0])
    assert arguments[arguments.index("-accel") + 1] == "kvm"
    assert "-icount" not in arguments
    assert arguments[arguments.index("-append") + 1] == "console=ttyS0 panic=-1"
