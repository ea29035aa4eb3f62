# SPDX-License-Identifier: GPL-2.0
"""Where this project is: a checkout, or what `make install` made of one."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fastlab.base import toml_table
from fastlab.base.cache import cache_dir

# The directory with kernel-patches/, Kbuild/, the C sources and this package.
PROJECT = Path(__file__).resolve().parents[3]
# Only an installed one has it.
MARK = "installed"


def is_installed(project: Path) -> bool:
    """Is it nobody's checkout? Then it is not to be written to."""
    return (project / MARK).is_file()


def work_dir(project: Path) -> Path:
    """Where all is that is built of the project, and what is written on the way: build/ of a
    checkout, the cache for an installed one. It need not exist."""
    if not is_installed(project):
        return project / "build"
    # Another version's files may be older than what was built of this one's.
    version = hashlib.sha256((project / MARK).read_bytes()).hexdigest()[:8]
    return cache_dir() / "work" / version


def build_dir(project: Path) -> Path:
    """Where Meson builds the project's programs. It need not exist."""
    return work_dir(project) / "user"


def python_package(name: str, project: Path = PROJECT) -> str:
    """What is said of a Python package that should be there, and what brings it."""
    how = "run `make`, which installs it"
    if is_installed(project):
        how = f"remove {cache_dir() / 'venv'}, which the next command makes anew"
    return f"the Python package {name} is missing: {how}"


def version(project: Path = PROJECT) -> str:
    """This version's number."""
    table = toml_table.read(project / "pyproject.toml", "that of a checkout")
    return str(table["project"]["version"])
