# SPDX-License-Identifier: GPL-2.0
"""The initramfs: cpio reads it, and where a program was built makes no difference."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fastlab.guest import build_image, find_built
from fastlab.model import FastError


def compiled(directory: Path, status: int = 0) -> Path:
    directory.mkdir()
    (directory / "main.c").write_text(f"int main(void) {{ return {status}; }}\n")
    subprocess.run(["gcc", "-g", "-o", "main", directory / "main.c"], cwd=directory, check=True)
    return directory / "main"


def test_cpio_unpacks_the_image(tmp_path: Path) -> None:
    program = compiled(tmp_path / "one", status=7)
    image = build_image({"/init": program, "/bin/single_ctr": program})
    listed = subprocess.run(["cpio", "-itv"], input=image, capture_output=True, check=True)
    lines = [line.split() for line in listed.stdout.decode().splitlines()]
    assert [(line[0], line[-1]) for line in lines] == [
        ("drwxr-xr-x", "bin"),
        ("drwxr-xr-x", "dev"),
        ("crw-------", "dev/console"),
        ("-rwxr-xr-x", "bin/single_ctr"),
        ("-rwxr-xr-x", "init"),
    ]
    unpack = ["cpio", "-i", "--quiet", "init"]
    subprocess.run(unpack, input=image, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "init"]).returncode == 7


def test_the_image_does_not_tell_where_it_was_built(tmp_path: Path) -> None:
    images = {build_image({"/init": compiled(tmp_path / name)}) for name in ("one", "two")}
    assert len(images) == 1
    assert build_image({"/init": compiled(tmp_path / "three", status=1)}) not in images


def test_a_program_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "init").write_text("#!/bin/sh\n")
    with pytest.raises(FastError, match="cannot be put into the guest"):
        build_image({"/init": tmp_path / "init"})


def test_what_is_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"guest/init.*libcachesim.so: not built.*ninja"):
        find_built(tmp_path)
