# SPDX-License-Identifier: GPL-2.0
"""What the runtime's tests in Python share: the laboratory's (scripts/tests)."""

from __future__ import annotations

from command_line import signals

__all__ = ["signals"]
