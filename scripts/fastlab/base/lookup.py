# SPDX-License-Identifier: GPL-2.0
"""One of several by its name, and what is said of a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from fastlab.base.model import FastError

T = TypeVar("T")


def pick(known: Mapping[str, T], name: str, kind: str, of: str = "") -> T:
    """The named one `of` something; a FastError lists those there are."""
    if name not in known:
        hint = closest(name, known)
        raise FastError(f"there is no {kind} {name!r}{of}{hint}; there are: {', '.join(known)}")
    return known[name]


def closest(word: str, allowed: Iterable[str]) -> str:
    """A hint at what was meant, or ""."""
    match = difflib.get_close_matches(word, list(allowed), n=1)
    return f" (did you mean {match[0]}?)" if match else ""
