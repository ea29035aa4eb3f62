# SPDX-License-Identifier: GPL-2.0
"""The SHA-256 of each file of a directory, kept beside them as sha256sum reads it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from fastlab.base.files import write_files

NAME = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def seal(directory: Path) -> None:
    """Write the checksums of the directory's files."""
    lines = [f"{digest}  {name}\n" for name, digest in _digests(directory).items()]
    write_files(directory, [(NAME, "".join(lines))])


def is_sealed(directory: Path) -> bool:
    """Does the directory have checksums?"""
    return (directory / NAME).is_file()


def damage(directory: Path) -> str:
    """The difference from the checksums, or "". Reads all files."""
    try:
        lines = (directory / NAME).read_text(errors="replace").splitlines()
        matches = [_LINE.fullmatch(line) for line in lines]
        expected = {match[2]: match[1] for match in matches if match}
        if not expected or None in matches:
            return f"{NAME} is not readable"
        digests = _digests(directory)
    except OSError as error:
        return f"{Path(error.filename or directory).name}: {error.strerror}"
    missing = sorted(expected.keys() - digests.keys())
    if missing:
        return f"{', '.join(missing)} missing"
    altered = [name for name in expected if digests[name] != expected[name]]
    return f"{', '.join(altered)} altered or cut short" if altered else ""


def _digests(directory: Path) -> Mapping[str, str]:
    files = sorted(path for path in directory.iterdir() if path.is_file() and path.name != NAME)
    digests = {}
    for path in files:
        with path.open("rb") as file:
            digests[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests
