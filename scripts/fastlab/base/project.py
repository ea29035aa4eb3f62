# SPDX-License-Identifier: GPL-2.0
"""Where this project is: a checkout, or what `make install` made of one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from fastlab.base import toml_table
from fastlab.base.cache import cache_dir

# The directory with kernel-patches/, Kbuild/, the C sources and this package.
PROJECT = Path(__file__).resolve().parents[3]
# Only an installed project has this file.
MARK = "installed"


def is_installed(project: Path) -> bool:
    """Is this an installed project, which is read-only, and not a checkout?"""
    return (project / MARK).is_file()


def work_dir(project: Path) -> Path:
    """The directory of build results and temporary files: build/ of a checkout, the cache for an
    installed project. It may not exist yet."""
    if not is_installed(project):
        return project / "build"
    # The files of another version may be older than what was built from this one.
    version = hashlib.sha256((project / MARK).read_bytes()).hexdigest()[:8]
    return cache_dir() / "work" / version


def build_dir(project: Path) -> Path:
    """Where Meson builds the project's programs. It need not exist."""
    return work_dir(project) / "user"


def python_package(name: str, project: Path = PROJECT) -> str:
    """The message for a missing Python package, with the command that installs it."""
    how = "run `make`, which installs it"
    if is_installed(project):
        how = f"remove {cache_dir() / 'venv'}; the next command creates it again"
    return f"the Python package {name} is missing: {how}"


def version(project: Path = PROJECT) -> str:
    """The version of the project."""
    return str(_described(project)["version"])


def requirements(extra: str, project: Path = PROJECT) -> tuple[str, ...]:
    """The Python packages of an optional group, as pip takes them."""
    return tuple(_described(project)["optional-dependencies"][extra])


def _described(project: Path) -> dict[str, Any]:
    table = toml_table.read(project / "pyproject.toml", "that of a checkout")
    return dict(table["project"])
