# SPDX-License-Identifier: GPL-2.0
"""Values in messages: what is wrong may be long."""

from __future__ import annotations

SHOWN = 60


def cut(text: str, most: int = SHOWN) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def shown(value: object) -> str:
    return cut(repr(value))
