# SPDX-License-Identifier: GPL-2.0
"""What the tests that cross folders share."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from lab import kernel

from fastlab.cache import cache_dir


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: takes too long for `make test`; in `make test-full`")


@pytest.fixture(scope="session")
def functional(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the kernel's futex selftests, built to run without libraries."""
    kernel("fast")
    tree = cache_dir() / "trees/6.12-fast/source/tools"
    copy = tmp_path_factory.mktemp("selftests") / "tools"
    for part in ("testing/selftests", "scripts"):
        shutil.copytree(tree / part, copy / part, symlinks=True)
    directory = copy / "testing/selftests/futex/functional"
    # Under `make test` lib.mk would take itself for a part of that make, and build into /.
    words = ["make", "-s", "-C", directory, f"OUTPUT={directory}", "LDFLAGS=-static"]
    subprocess.run(words, env={"PATH": os.environ["PATH"]}, check=True)
    return directory
