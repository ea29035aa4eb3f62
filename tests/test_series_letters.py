# SPDX-License-Identifier: GPL-2.0
"""What the series' letters say of their patches: a reviewer reads the diffstat first."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from lab import series_folder

from fastlab.kernel import patches

FOLDER = series_folder()
PATCHES = patches.read_series(FOLDER)
COVER = FOLDER / "0000-cover-letter.patch"
FILE = re.compile(r"^ (\S+) +\| +(\d+) [+-]+$", re.MULTILINE)
TOTAL = re.compile(
    r"^ (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$",
    re.MULTILINE,
)
# Lines added and lines removed.
Change = tuple[int, int]


def changes(patch: Path) -> dict[str, Change]:
    """Of each file, counted by git."""
    counted = subprocess.run(
        ["git", "apply", "--numstat", patch], check=True, capture_output=True, text=True
    ).stdout
    columns = [line.split("\t") for line in counted.splitlines()]
    return {name: (int(added), int(removed)) for added, removed, name in columns}


def said(letter: Path) -> tuple[list[tuple[str, int]], tuple[int, int, int]]:
    """The diffstat's files, the begin of a long name left out, and its total."""
    text = letter.read_text()
    total = TOTAL.search(text)
    assert total, f"{letter}: no diffstat"
    files, added, removed = (int(number or 0) for number in total.groups())
    lines = [(name.removeprefix("..."), int(lines)) for name, lines in FILE.findall(text)]
    return lines, (files, added, removed)


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: str(patch.name)[:4])
def test_a_letters_diffstat_is_that_of_its_patch(patch: Path) -> None:
    counted = changes(patch)
    files, total = said(patch)
    assert [lines for _, lines in files] == [sum(change) for change in counted.values()]
    for (end, _), name in zip(files, counted, strict=True):
        assert name.endswith(end)
    added, removed = (sum(column) for column in zip(*counted.values(), strict=True))
    assert total == (len(counted), added, removed)


def test_the_cover_letters_diffstat_is_that_of_the_series() -> None:
    """By what is left of all patches, since a line that one adds another may remove."""
    grown: dict[str, int] = {}
    for patch in PATCHES:
        for name, (added, removed) in changes(patch).items():
            grown[name] = grown.get(name, 0) + added - removed
    files, (count, added, removed) = said(COVER)
    assert count == len(grown) == len(files)
    assert added - removed == sum(grown.values())
    assert added + removed == sum(lines for _, lines in files)
