# SPDX-License-Identifier: GPL-2.0
"""A tree in the layout of the original SPLASH-2, to be changed by a test."""

from __future__ import annotations

import shutil
from pathlib import Path

PROJECT = Path(__file__).parents[2]
TREE = PROJECT / "splash2-harness/macros/tests/tree"


def copy_tree(directory: Path) -> Path:
    """Its root, below the directory."""
    shutil.copytree(TREE, directory / "tree")
    return directory / "tree"


def change(tree: Path, name: str, old: str, new: str) -> None:
    """Replace text in a file of its codes/."""
    path = tree / "codes" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
