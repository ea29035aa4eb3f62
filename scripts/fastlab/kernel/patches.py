# SPDX-License-Identifier: GPL-2.0
"""A quilt series: read it, apply it with zero fuzz, and explain the hunk that does not fit."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fastlab.base import tools
from fastlab.base.model import FastError

if TYPE_CHECKING:
    # Loaded when it is used: the command line also answers where nothing is installed yet.
    from unidiff.patch import Hunk, PatchedFile, PatchSet

# --force: ask nothing, and never take a patch for a reversed one.
OPTIONS = ("-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch", "--reject-file=-")

UNEVEN = (
    "patch(1) takes one with less context after its change than before for a file's last, "
    "and one with less before for the first"
)


def digest(patches: Iterable[Path]) -> str:
    """Changes when a patch or their order does; names and comments do not matter."""
    content = hashlib.sha256()
    for patch in patches:
        content.update(hashlib.sha256(patch.read_bytes()).digest())
    return content.hexdigest()


def read_series(directory: Path) -> list[Path]:
    """The patches of the `series` in the directory, in its order: one name per line, `#` begins a
    comment."""
    index = directory / "series"
    if not index.is_file():
        raise FastError(f"{index} is missing: it lists the patches to apply, one per line")
    lines = (line.partition("#")[0].strip() for line in index.read_text("utf-8-sig").splitlines())
    patches = [directory / line for line in lines if line]
    if not patches:
        raise FastError(f"{index} lists no patch: the patched kernel would be the unpatched one")
    for patch in patches:
        if not patch.is_file():
            raise FastError(f"{index} lists {patch.name}, but {patch} is no file")
    return patches


def apply(patches: Iterable[Path], pristine: Path, scratch: Path) -> set[str]:
    """Apply the patches to copies of the files it touches; `pristine` is only read.

    The patched files are left in the empty directory `scratch`, under their paths in the tree.
    Returns the paths of all touched files: one that is not in `scratch` was deleted. Hunks may
    move (an offset) but not fit loosely (no fuzz); a FastError explains the first that fails.
    """
    program = tools.require("patch")
    touched: set[str] = set()
    for patch in patches:
        parsed = _parse(patch)
        for path in {name for file in parsed for name in _paths(file)} - touched:
            _copy(pristine, scratch, path)
            touched.add(path)
        before = {file.path: _lines(scratch / next(_paths(file))) for file in parsed}
        answer = subprocess.run(
            [program, *OPTIONS, f"--input={patch.resolve()}"],
            cwd=scratch,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
        )
        if answer.returncode != 0:
            raise FastError(_explain(patch, parsed, before, answer.stdout))
    return touched


def _parse(patch: Path) -> PatchSet:
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        parsed = PatchSet(patch.read_text(encoding="utf-8", errors="replace"))
    except UnidiffParseError as error:
        raise FastError(f"{patch} is no well-formed patch: {error}") from error
    if not parsed:
        raise FastError(f"{patch} holds no change: no line in it begins a diff")
    for path in (name for file in parsed for name in _paths(file)):
        if path.startswith("/") or ".." in Path(path).parts:
            raise FastError(f"{patch} would change {path}, which is outside the kernel's tree")
    return parsed


def _paths(file: PatchedFile) -> Iterator[str]:
    """The paths that a part of a patch reads or writes, the old one first."""
    for name in (file.source_file, file.target_file):
        if name != "/dev/null":
            yield name.partition("/")[2]


def _copy(pristine: Path, scratch: Path, path: str) -> None:
    if (pristine / path).is_file():
        (scratch / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(pristine / path, scratch / path)


def _lines(file: Path) -> list[str] | None:
    if not file.is_file():
        return None
    return file.read_text(encoding="utf-8", errors="replace").split("\n")


def _explain(
    patch: Path, parsed: PatchSet, before: dict[str, list[str] | None], output: str
) -> str:
    """What patch(1) complained about: patch, file, hunk, and the lines that it met."""
    after = "refresh the patch against this source, or build from the source it was made for"
    for file in parsed:
        lines = before[file.path]
        if lines is None and not file.is_added_file:
            return f"{patch}: there is no file {file.path} in this source; {after}"
        if lines is not None and file.is_added_file:
            return f"{patch}: it would create {file.path}, which this source already has; {after}"
    failed = re.search(r"^Hunk #(\d+) FAILED at", output, re.MULTILINE)
    if failed is None:
        return f"{patch} does not apply; patch says:\n{output.strip()}"
    named = re.findall(r"^patching file '?(.+?)'?(?: \(.*)?$", output[: failed.start()], re.M)
    file = next(file for file in parsed if file.path == named[-1])
    number = int(failed[1])
    report = _compare(file[number - 1], before[file.path] or [])
    return f"{patch}: hunk {number} of {file.path} does not apply\n{report}\n{after}"


def _compare(hunk: Hunk, lines: Sequence[str]) -> str:
    """The hunk's old lines against the most similar place of the file."""
    expected = [line.value.rstrip("\n") for line in hunk.source_lines()]
    at = _closest(expected, lines, hunk.source_start - 1)
    met = lines[at : at + len(expected)]
    compared = [line for line in difflib.ndiff(expected, met) if not line.startswith("?")]
    header = (
        f"  @@ -{hunk.source_start},{hunk.source_length} "
        f"+{hunk.target_start},{hunk.target_length} @@ {hunk.section_header}"
    ).rstrip()
    if met == expected:
        return f"{header}\n  its lines are there, from line {at + 1} on; {UNEVEN}"
    body = "\n".join(f"    {line}".rstrip() for line in compared)
    return f"{header}\n  the patch expects (-), line {at + 1} and following are (+):\n{body}"


def _closest(expected: Sequence[str], lines: Sequence[str], start: int) -> int:
    """Where in `lines` most of the expected lines stand; the nearest to `start` of equals."""

    def rank(at: int) -> tuple[int, int]:
        same = sum(a == b for a, b in zip(expected, lines[at : at + len(expected)], strict=False))
        return same, -abs(at - start)

    last = max(len(lines) - len(expected), 0)
    return max(range(last + 1), key=rank)
