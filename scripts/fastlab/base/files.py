# SPDX-License-Identifier: GPL-2.0
"""Files that are written completely or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fastlab.base.model import FastError


def readable(name: str) -> str:
    """The name of a file for people and documents: U+FFFD replaces each byte that is not UTF-8."""
    return os.fsencode(name).decode(errors="replace")


def write_files(directory: Path, files: Iterable[tuple[str, str | bytes]]) -> list[Path]:
    """Write each named file of the directory; a reader sees the old or the new one, never half."""
    paths = []
    for name, content in files:
        path = directory / name
        # A name that is no UTF-8 comes out as it came in.
        written = content.encode(errors="surrogateescape") if isinstance(content, str) else content
        _replace(path, written)
        paths.append(path)
    return paths


def _replace(path: Path, content: bytes) -> None:
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise FastError(
            f"{path}: cannot be written: {error.strerror}; make room or choose another directory, "
            "then run the same command again (raw results are safe)"
        ) from error


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file in the same way."""
    write_files(path.parent, [(path.name, json.dumps(content, indent=1) + "\n")])
