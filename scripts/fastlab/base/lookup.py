# SPDX-License-Identifier: GPL-2.0
"""Looking up a name, and the message for an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from fastlab.base.model import FastError

T = TypeVar("T")


def pick(known: Mapping[str, T], name: str, kind: str, of: str = "") -> T:
    """The named value. A FastError for an unknown name lists the known names; `of` says where they
    are."""
    if name not in known:
        hint = closest(name, known)
        raise FastError(f"no {kind} {name!r}{of}{hint}; known: {', '.join(known)}")
    return known[name]


def closest(word: str, allowed: Iterable[str]) -> str:
    """A suggestion for a misspelt word, or ""."""
    match = difflib.get_close_matches(word, list(allowed), n=1)
    return f" (did you mean {match[0]}?)" if match else ""
