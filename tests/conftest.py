# SPDX-License-Identifier: GPL-2.0
"""What the tests that cross folders share."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: takes too long for `make test`; in `make test-full`")
