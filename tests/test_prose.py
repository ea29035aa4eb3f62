# SPDX-License-Identifier: GPL-2.0
"""Comments, messages and pages are plain English: their subjects are nouns of the model.

`python tests/test_prose.py FOLDER...` shows where the words are.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Words that stand for a noun, and turns of phrase that took a reader several attempts.
DIALECT = re.compile(
    r"\b(who|whom|whoever|whosever|nobody|somebody|so many|so manyth|those of|others|"
    r"can be told from|is at work here)\b",
    re.IGNORECASE,
)
C_PROSE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
PYTHON_PROSE = re.compile(r'#[^\n]*|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"', re.DOTALL)
HASH_PROSE = re.compile(r"#[^\n]*")
KINDS = {
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp", ".S", ".hh"), C_PROSE),
    ".py": PYTHON_PROSE,
    **dict.fromkeys((".build", ".toml", ".sh", ".config"), HASH_PROSE),
    **dict.fromkeys((".rst", ".md", ".1"), re.compile(r".+", re.DOTALL)),
    "": PYTHON_PROSE,  # Makefile and the scripts: of Python or of sh
}
LIMIT = 2  # per 1,000 words


def folder(path: str) -> str:
    """A folder of the first two levels, or of three below userspace and scripts."""
    parts = path.split("/")[:-1]
    return "/".join(parts[: 3 if parts[:1] in (["userspace"], ["scripts"]) else 2]) or "."


@cache
def prose() -> dict[str, list[tuple[str, str]]]:
    """Of each folder the files, with their words for people: comments, strings, pages."""
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    folders = defaultdict(list)
    for path in listing.stdout.split():
        # The series is read as its own list has it; this file names what it looks for.
        if path.startswith("kernel-patches/") or path == "tests/test_prose.py":
            continue
        kind = KINDS.get(Path(path).suffix)
        if kind and (ROOT / path).is_file():
            text = (ROOT / path).read_text(errors="replace")
            folders[folder(path)].append((path, "\n".join(kind.findall(text))))
    return folders


def rate(text: str) -> float:
    return 1000 * len(DIALECT.findall(text)) / max(1000, len(re.findall(r"[A-Za-z']+", text)))


@pytest.mark.parametrize("name", sorted(prose()))
def test_plain_english(name: str) -> None:
    found = rate("\n".join(text for _, text in prose()[name]))
    assert found < LIMIT, f"{found:.1f} per 1,000 words: python tests/test_prose.py {name}"


# Sentences that readers could not follow. CONTRIBUTING.md quotes one, with a better one.
QUOTED = (
    "no difference to this program's time that can be told from that of another beginning",
    "Who takes a lock that is free makes no system call, and is not seen.",
    "Do all sleep but the caller, who was the so manyth to say so?",
    "somebody is at work here, waiting for the end of it",
)


@pytest.mark.parametrize("sentence", QUOTED)
def test_a_quoted_sentence_does_not_come_back(sentence: str) -> None:
    assert rate(sentence) > 0
    files = [file for files in prose().values() for file in files if file[0] != "CONTRIBUTING.md"]
    # A comment breaks its lines, and begins each with a mark.
    assert not [path for path, text in files if sentence in re.sub(r"[\s*#/\"]+", " ", text)]


if __name__ == "__main__":
    for name, files in sorted(prose().items()):
        print(f"{rate(chr(10).join(text for _, text in files)):5.1f} {name}")
        for path, text in files if name in sys.argv[1:] else []:
            for line in text.splitlines():
                if DIALECT.search(line):
                    print(f"      {path}: {line.strip()}")
