# SPDX-License-Identifier: GPL-2.0
"""Tools are found, or their Debian package is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fastlab.base import tools
from fastlab.base.model import FastError


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the whole PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    return directory


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_present_tool_is_its_path(bin_dir: Path) -> None:
    flex = script(bin_dir / "flex", "exit 0")
    assert tools.require("flex") == flex


def test_a_missing_tool_names_its_package(bin_dir: Path) -> None:
    with pytest.raises(FastError) as error:
        tools.require("xz")
    assert str(error.value) == (
        "xz is missing: install the Debian package xz-utils (apt-get install xz-utils)"
    )


def test_what_is_required_has_a_package() -> None:
    """A tool that is not in the list would be missing with a traceback."""
    sources = "".join(path.read_text() for path in Path(tools.__file__).parents[1].rglob("*.py"))
    named = set(re.findall(r'\brequire\("([^"]+)"\)', sources))
    assert {"setarch", "taskset", "tar"} <= named
    assert named <= tools.PACKAGES.keys()


def test_all_missing_tools_are_named_at_once(bin_dir: Path) -> None:
    script(bin_dir / "bison", "exit 0")
    with pytest.raises(FastError) as error:
        tools.require_all(["bison", "flex", "dh"])
    assert str(error.value) == (
        "flex, dh are missing: install the Debian packages debhelper, flex "
        "(apt-get install debhelper flex)"
    )


def test_a_missing_header_names_its_package(bin_dir: Path) -> None:
    script(bin_dir / "gcc", "exit 1")
    with pytest.raises(FastError, match=r"gelf\.h is missing.*libelf-dev"):
        tools.require_all([], headers=["gelf.h"])


def test_a_present_header_is_asked_of_the_compiler(bin_dir: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    script(bin_dir / "gcc", f'read line; echo "$line" > {asked}')
    tools.require_all([], headers=["gelf.h"])
    assert asked.read_text() == "#include <gelf.h>\n"


def qemu(bin_dir: Path, version: str) -> Path:
    return script(bin_dir / "qemu-system-x86_64", f"echo 'QEMU emulator version {version}'")


@pytest.mark.parametrize(
    ("version", "plugin_api"),
    [
        ("9.2.0", 4),
        ("10.0.2 (Debian 1:10.0.2+ds-2~bpo12+1)", 4),
        ("11.0.3", 4),
        ("11.1.0", 7),
        ("11.1.3 (Debian 1:11.1.3+ds-1~bpo13+1)", 7),
    ],
)
def test_a_qemu_of_the_range_is_taken_with_its_plugin(
    bin_dir: Path, version: str, plugin_api: int
) -> None:
    path = qemu(bin_dir, version)
    assert tools.require_qemu() == tools.Qemu(path, plugin_api)


@pytest.mark.parametrize("version", ["7.2.9 (Debian)", "9.1.3"])
def test_an_old_qemu_names_the_range_and_the_backport(bin_dir: Path, version: str) -> None:
    path = qemu(bin_dir, version)
    with pytest.raises(FastError) as error:
        tools.require_qemu()
    for part in (str(path), version.split()[0], "too old", "QEMU 9.2 to 11.1", "bookworm-back"):
        assert part in str(error.value)


@pytest.mark.parametrize("version", ["11.2.0", "12.0.0 (Debian 1:12.0.0+ds-1)"])
def test_a_qemu_that_is_too_new_names_the_range(bin_dir: Path, version: str) -> None:
    path = qemu(bin_dir, version)
    with pytest.raises(FastError) as error:
        tools.require_qemu()
    for part in (str(path), version.split()[0], "too new", "QEMU 9.2 to 11.1", "first in PATH"):
        assert part in str(error.value)


def test_a_missing_qemu_names_the_range(bin_dir: Path) -> None:
    with pytest.raises(FastError, match=r"is missing; .* QEMU 9\.2 to 11\.1: .*backports"):
        tools.require_qemu()


def test_the_range_is_the_same_wherever_it_is_said() -> None:
    """scripts/qemu-versions has it; what cannot read that says the same."""
    oldest, newest = re.findall(r"=([\d.]+)$", tools.QEMU_VERSIONS.read_text(), re.MULTILINE)
    assert min(tools.PLUGIN_APIS) == tuple(map(int, oldest.split(".")))
    for name in (
        "userspace/cachesim/simulation.h",
        "userspace/cachesim/qemu_plugin_api.h",
        "scripts/fastlab/guest/snapshot.py",
        "Documentation/cache-model.rst",
        "Documentation/deterministic-mode.rst",
        "Documentation/kernels.rst",
        "README.md",
    ):
        text = re.sub(r"[\s*`]+", " ", (tools.PROJECT / name).read_text())
        assert f"QEMU {oldest} to {newest}" in text, name
    assert f"qemu-system-x86 (>= 1:{oldest})" in (tools.PROJECT / "debian/control").read_text()


def test_a_plugin_is_built_for_each_version_of_the_api() -> None:
    text = (tools.PROJECT / "userspace/cachesim/meson.build").read_text()
    assert f"plugin_versions = {sorted(set(tools.PLUGIN_APIS.values()))}" in text


def test_a_qemu_that_does_not_start_is_quoted(bin_dir: Path) -> None:
    script(bin_dir / "qemu-system-x86_64", "echo 'libfoo.so.1: cannot open' >&2; exit 127")
    with pytest.raises(FastError, match=r"libfoo\.so\.1: cannot open"):
        tools.require_qemu()
