# SPDX-License-Identifier: GPL-2.0
"""Shell scripts for programs."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, text: str) -> Path:
    """A file that can be executed, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
