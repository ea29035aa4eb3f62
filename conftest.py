# SPDX-License-Identifier: GPL-2.0
"""What all tests in Python share."""

from __future__ import annotations

import signal

import pytest

# A background job (nohup, some CI) may start with SIGINT ignored, and child processes inherit that:
# tests that interrupt a program would fail.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: takes too long for `make test`; in `make test-full`")
