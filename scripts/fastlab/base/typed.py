# SPDX-License-Identifier: GPL-2.0
"""The commands that advice names, as they can be typed here."""

from __future__ import annotations

import os
import shlex

# How a checkout's launcher was called; an installed one is in PATH.
VARIABLE = "FAST_COMMAND"


def typed(*words: str) -> str:
    """`fast` with these words, to be typed by the reader of an error."""
    return shlex.join([os.environ.get(VARIABLE) or "fast", *words])
