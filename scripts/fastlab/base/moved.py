# SPDX-License-Identifier: GPL-2.0
"""Build directories of a checkout or a cache that was moved or copied.

Meson's directories and Python's environments contain absolute paths. After a move they fail, or use
the files at the old place if these still exist.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

# The first line of an environment's script. A long path, or a path with a space, is a word of a
# shell command.
_ENVIRONMENT = re.compile(r"(?:#!|exec' \"?)(/[^\n]*)/bin/python")
# make-sysroot's.
_SYSROOT = re.compile(r"^root = '(.*)'$", re.MULTILINE)
_PYTHON = re.compile(r"python3\.\d+")


def forget_moved(directory: Path) -> str:
    """Remove the directory if it was made at another place, or for another Python. Returns a
    message for the user, or "". A directory that does not tell its place stays."""
    made = _made_at(directory)
    if made and made.resolve() != directory.resolve():
        why = f"was made as {made}"
    elif _is_of_another_python(directory):
        why = "was made for another Python"
    else:
        return ""
    if directory.is_symlink():
        directory.unlink()
    else:
        shutil.rmtree(directory)
    return f"{directory} {why}: removing it; it will be built again"


def source_of(directory: Path) -> Path | None:
    """The source directory that Meson builds there. None: not a Meson directory, or incomplete."""
    return _meson_says(directory, "source")


def _meson_says(directory: Path, what: str) -> Path | None:
    try:
        info = json.loads((directory / "meson-info/meson-info.json").read_bytes())
        return Path(info["directories"][what])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _made_at(directory: Path) -> Path | None:
    if made := _meson_says(directory, "build"):
        return made
    for name, pattern in (("bin/pip", _ENVIRONMENT), ("meson.ini", _SYSROOT)):
        path = directory / name
        match = pattern.search(path.read_text(errors="replace")) if path.is_file() else None
        if match:
            return Path(match[1])
    return None


def _is_of_another_python(directory: Path) -> bool:
    """An environment's Python is a link to the system's, which an upgrade may have replaced."""
    link = directory / "bin/python"
    if not link.is_symlink():
        return False
    python = link.resolve()
    if not python.exists():
        return True
    named = _PYTHON.fullmatch(python.name)
    return bool(named) and not (directory / "lib" / python.name).is_dir()
