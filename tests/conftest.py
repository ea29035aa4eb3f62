# SPDX-License-Identifier: GPL-2.0
"""What the tests that cross folders share."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from lab import compile_guest, pristine, series_folder

from fastlab.kernel import patches


@pytest.fixture(scope="session")
def patched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the kernel that the series touches, patched.

    The tree that the kernel was built in may have another project's series by now.
    """
    directory = tmp_path_factory.mktemp("patched")
    patches.apply(patches.read_series(series_folder()), pristine(), directory)
    return directory


@pytest.fixture(scope="session")
def functional(patched: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the kernel's futex selftests, built to run without libraries."""
    tools = tmp_path_factory.mktemp("selftests") / "tools"
    for part in ("testing/selftests", "scripts"):
        shutil.copytree(pristine() / "tools" / part, tools / part, symlinks=True)
    shutil.copytree(patched / "tools", tools, dirs_exist_ok=True)
    directory = tools / "testing/selftests/futex/functional"
    # Under `make test` lib.mk would take itself for a part of that make, and build into /.
    words = ["make", "-s", "-C", directory, f"OUTPUT={directory}", "LDFLAGS=-static"]
    subprocess.run(words, env={"PATH": os.environ["PATH"]}, check=True)
    return directory


@pytest.fixture(scope="session")
def policy_stress(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_guest("policy_stress", tmp_path_factory.mktemp("stress"))
