# SPDX-License-Identifier: GPL-2.0
"""Shell scripts for programs, and a build directory that says where they are."""

from __future__ import annotations

import shutil
from pathlib import Path

from fastlab.base import manifest
from fastlab.base.project import PROJECT, build_dir

# What this checkout builds, and of it the microbenchmarks.
BUILD = build_dir(PROJECT)
BENCHMARKS = manifest.suite(BUILD, manifest.MICROBENCHMARKS)


def write(path: Path, text: str) -> Path:
    """A file that can be executed, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def give_manifest(build: Path) -> None:
    """A build directory has the programs of this checkout's."""
    build.mkdir(parents=True, exist_ok=True)
    shutil.copy(BUILD / manifest.FILE, build)
