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


@pytest.mark.parametrize("version", ["9.2.0", "10.0.2 (Debian 1:10.0.2+ds-2~bpo12+1)"])
def test_a_new_qemu_is_taken(bin_dir: Path, version: str) -> None:
    qemu = script(bin_dir / "qemu-system-x86_64", f"echo 'QEMU emulator version {version}'")
    assert tools.require_qemu() == qemu


def test_an_old_qemu_names_both_versions_and_the_backport(bin_dir: Path) -> None:
    script(bin_dir / "qemu-system-x86_64", "echo 'QEMU emulator version 7.2.9 (Debian)'")
    with pytest.raises(FastError) as error:
        tools.require_qemu()
    for part in ("7.2.9", "9.2", "bookworm-backports", "qemu-system-x86"):
        assert part in str(error.value)


def test_a_missing_qemu_names_the_need(bin_dir: Path) -> None:
    with pytest.raises(FastError, match=r"is missing, version 9\.2 or newer: .*backports"):
        tools.require_qemu()


def test_a_qemu_that_does_not_start_is_quoted(bin_dir: Path) -> None:
    script(bin_dir / "qemu-system-x86_64", "echo 'libfoo.so.1: cannot open' >&2; exit 127")
    with pytest.raises(FastError, match=r"libfoo\.so\.1: cannot open"):
        tools.require_qemu()
