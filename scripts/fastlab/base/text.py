# SPDX-License-Identifier: GPL-2.0
"""Text for messages and tables: shortened, and on one line."""

from __future__ import annotations

import re

SHOWN = 60


def cut(text: str, most: int = SHOWN) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def one_line(text: str) -> str:
    """The text without line breaks and without control characters that a terminal would obey."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", " ".join(text.split()))


def shown(value: object) -> str:
    return cut(repr(value))
