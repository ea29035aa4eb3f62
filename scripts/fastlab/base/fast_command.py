# SPDX-License-Identifier: GPL-2.0
"""The `fast` commands that messages name, as the reader can type them."""

from __future__ import annotations

import os
import shlex

# The name by which a checkout's launcher was called. An installed `fast` is in PATH.
VARIABLE = "FAST_COMMAND"


def fast_command(*words: str) -> str:
    """`fast` with these words, quoted for a shell."""
    return shlex.join([os.environ.get(VARIABLE) or "fast", *words])
