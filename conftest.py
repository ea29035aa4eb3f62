# SPDX-License-Identifier: GPL-2.0
"""What all tests in Python share."""

from __future__ import annotations

import signal

import pytest

# Whoever starts us in the background (nohup, some CI) may have us ignore SIGINT, and what we start
# inherits that: no test that interrupts a program would be interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: takes too long for `make test`; in `make test-full`")
