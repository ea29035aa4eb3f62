# SPDX-License-Identifier: GPL-2.0
"""Values in messages: what is wrong may be long, and what programs say may be of several lines."""

from __future__ import annotations

import re

SHOWN = 60


def cut(text: str, most: int = SHOWN) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def one_line(text: str) -> str:
    """The text where a line is meant, as in KTAP or in a row of a table: without what breaks lines,
    or what a terminal would obey."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", " ".join(text.split()))


def shown(value: object) -> str:
    return cut(repr(value))
