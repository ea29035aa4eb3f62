# SPDX-License-Identifier: GPL-2.0
"""What `fast doctor` says of machines that lack something; and that it needs nothing itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_machine import FakeMachine
from heard import Heard

from fastlab.backend import readiness
from fastlab.backend.host import HYBRID_PMU, PARANOID, PMU, only_user
from fastlab.base import tools
from fastlab.base.model import FastError, Kernel
from fastlab.base.project import PROJECT
from fastlab.cli import main
from fastlab.guest import kvm
from fastlab.kernel import kernels, sched_ext


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """A machine, with a project whose Debian packages are all installed."""
    monkeypatch.setenv("FAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(readiness.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(readiness, "ROOM_GIB", 0)
    monkeypatch.setattr(tools, "require_qemu", lambda: tools.Qemu(Path("/bin/true"), 4))
    monkeypatch.setattr(tools, "version", lambda path: b"QEMU 10\nCopyright\n")
    monkeypatch.setattr(kvm, "DEVICE", tmp_path / "kvm")
    monkeypatch.setattr(sched_ext, "find_clang", lambda: Path("/bin/clang-19"))
    script = tmp_path / "scripts/install-deps"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["pytest>=8"]\n')
    return FakeMachine(tmp_path / "machine")


def examine(tmp_path: Path, machine: FakeMachine) -> dict[str, readiness.Examined]:
    found = readiness.examine(tmp_path, Heard(), machine.root)
    return {one.what: one for one in found}


def states(found: dict[str, readiness.Examined]) -> dict[str, str]:
    return {name: one.state for name, one in found.items()}


def test_what_builds_no_scheduler_is_no_failure(
    tmp_path: Path, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_old() -> Path:
        raise FastError("scx_simple needs clang 17 or newer")

    monkeypatch.setattr(sched_ext, "find_clang", too_old)
    one = examine(tmp_path, machine)["sched_ext"]
    assert one == readiness.Examined("sched_ext", "note", "scx_simple needs clang 17 or newer")


def test_our_scheduler(tmp_path: Path, machine: FakeMachine) -> None:
    one = examine(tmp_path, machine)["scx_fast"]
    assert (one.state, "clang 17" in one.text) == ("note", True)
    program = tmp_path / "build/user" / sched_ext.SCX_FAST
    program.parent.mkdir(parents=True)
    program.touch()
    assert examine(tmp_path, machine)["scx_fast"] == readiness.Examined(
        "scx_fast", "ok", str(program)
    )


def test_all_that_is_needed_is_there(tmp_path: Path, machine: FakeMachine) -> None:
    found = examine(tmp_path, machine)
    assert "missing" not in states(found).values()
    assert found["QEMU"].text == "QEMU 10"
    assert found["kernels"] == readiness.Examined(
        "kernels", "note", "none is built yet; what needs one builds it"
    )
    assert "the simulation does not need it" in found["KVM"].text
    assert found["sched_ext"] == readiness.Examined("sched_ext", "ok", "/bin/clang-19")


def test_a_cache_that_is_only_read_is_said(
    tmp_path: Path, machine: FakeMachine, read_only: Callable[[Path], None]
) -> None:
    (tmp_path / "cache").mkdir()
    read_only(tmp_path / "cache")
    disk = examine(tmp_path, machine)["disk"]
    assert disk.state == "note"
    assert f"{tmp_path}/cache cannot be written to" in disk.text


def test_what_is_missing_is_said(
    tmp_path: Path, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_qemu() -> Path:
        raise FastError("qemu-system-x86_64 is missing, version 9.2 or newer: install it")

    script = tmp_path / "scripts/install-deps"
    script.write_text("#!/bin/sh\necho 'install-deps: would install bison' >&2\nexit 1\n")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["no-such-thing>=8"]\n')
    monkeypatch.setattr(tools, "require_qemu", no_qemu)
    monkeypatch.setattr(readiness.platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(readiness, "ROOM_GIB", 1 << 40)
    found = examine(tmp_path, machine)
    missing = [name for name, state in states(found).items() if state == "missing"]
    assert missing == ["processor", "Debian packages", "QEMU", "Python packages", "disk"]
    assert found["Debian packages"].text == f"would install bison (as root: {script})"
    assert found["Python packages"].text == "not installed: no-such-thing; run `make`"
    assert "set FAST_CACHE elsewhere" in found["disk"].text


def let_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """KVM's device, a built kernel and the guest's init, which is returned."""
    kvm.DEVICE.touch()
    init = tmp_path / "build/user/userspace/guest/init"
    init.parent.mkdir(parents=True)
    init.touch()
    kernel = Kernel("6.12", "fast", "6.12-fast-1", "vmlinux", "System.map")
    built = [kernels.Build(kernel, "6.12.1", (), tmp_path)]
    monkeypatch.setattr(kernels, "built", lambda cache: built)
    return init


def test_kvm_is_real_only_if_a_guest_boots(
    tmp_path: Path, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    kvm.DEVICE.touch()
    assert "but was not tested" in examine(tmp_path, machine)["KVM"].text
    let_probe(tmp_path, monkeypatch)
    for why, state in (("no guest boots with it", "note"), ("", "ok")):
        monkeypatch.setattr(kvm, "probe", lambda *_, why=why: why)
        one = examine(tmp_path, machine)["KVM"]
        assert (one.state, one.text) == (state, why or "a guest has booted")


def test_what_stops_the_probe_of_kvm_does_not_stop_the_doctor(
    tmp_path: Path, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    init = let_probe(tmp_path, monkeypatch)

    def no_strip(kernel: Kernel, given: Path, reporter: object) -> str:
        assert given == init
        raise FastError("strip is missing: install the Debian package binutils")

    monkeypatch.setattr(kvm, "probe", no_strip)
    found = examine(tmp_path, machine)
    assert found["KVM"] == readiness.Examined(
        "KVM", "note", "strip is missing: install the Debian package binutils"
    )
    assert "this kernel" in found
    assert not (tmp_path / "build/user/build.ninja").exists()


def test_kvm_is_not_tried_while_somebody_measures(
    tmp_path: Path, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_probe(tmp_path, monkeypatch)
    monkeypatch.setattr(kvm, "probe", lambda *_: pytest.fail("it was tried"))
    with only_user(machine.root):
        one = examine(tmp_path, machine)["KVM"]
    assert one.state == "note"
    assert "is measuring on this machine" in one.text


def test_a_pmu_that_cannot_be_used_is_not_ok(
    tmp_path: Path, machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.root / PMU).mkdir(parents=True)
    assert examine(tmp_path, machine)["PMU"].state == "ok"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    one = examine(tmp_path, machine)["PMU"]
    assert (one.state, "kernel.perf_event_paranoid is 2" in one.text) == ("note", True)
    (machine.root / PARANOID).write_text("0\n")
    assert examine(tmp_path, machine)["PMU"].state == "ok"
    (machine.root / PMU).rmdir()
    assert "no hardware counters" in examine(tmp_path, machine)["PMU"].text
    (machine.root / HYBRID_PMU).mkdir()
    assert "cores of two kinds" in examine(tmp_path, machine)["PMU"].text


def test_a_kernel_with_fast_is_told(tmp_path: Path, machine: FakeMachine) -> None:
    machine.boot(1, fast=False)
    assert examine(tmp_path, machine)["this kernel"].state == "note"
    machine.boot(2, fast=True)
    assert examine(tmp_path, machine)["this kernel"].state == "ok"


def test_the_status_says_whether_something_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for state, status in (("note", 0), ("missing", 1)):
        found = [readiness.Examined("QEMU", state, "/a/path-that/is-not/broken " * 5)]  # type: ignore[arg-type]
        monkeypatch.setattr(readiness, "examine", lambda *_, found=found: found)
        assert main.main(["doctor"]) == status
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith(f"{state:8}QEMU ")
        assert all(len(line) <= 60 for line in lines)
        assert not any(line.endswith("-") for line in lines)


def test_it_runs_where_nothing_is_installed() -> None:
    """By a Python with no packages at all."""
    answer = subprocess.run(
        ["/usr/bin/python3", "-S", "-P", "-m", "fastlab.cli", "doctor"],
        env={
            "PYTHONPATH": str(PROJECT / "scripts"),
            "PATH": os.environ["PATH"],
            "HOME": "/nowhere",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in answer.stderr
    assert answer.returncode == 1
    assert "missing Python packages" in answer.stdout
