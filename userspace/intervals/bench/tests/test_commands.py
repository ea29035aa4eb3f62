# SPDX-License-Identifier: GPL-2.0
"""What users of the runtime's commands get wrong is said before any work begins."""

from __future__ import annotations

from pathlib import Path

import pytest
import test_bad_input
import test_qemu_first
from test_bad_input import ERROR, USAGE, place
from test_qemu_first import qemu

__all__ = ["place", "qemu"]

# The command line, its status, and what it is told.
BAD = (
    ("bench runtime --workers 2,0", USAGE, "'0' is not a whole number of at least 1"),
    ("bench runtime --workers 99999", USAGE, "--workers 99999: the benchmarks have at most 4096"),
    ("bench runtime --only none", USAGE, "no such benchmark: none; there are fib, fj"),
    ("bench runtime --runtimes cilk,tbb", USAGE, "no such runtime: cilk; there are intervals, ser"),
    ("bench openmp --only none", USAGE, "no such benchmark: none"),
    ("bench openmp-suites", USAGE, "say where they are, by --bots DIR or --epcc DIR"),
    ("bench theses none", USAGE, "no such evaluation: none; there are "),
    ("bench theses slaw-fib --only none", USAGE, "slaw-fib has no program none; it has"),
    ("bench theses slaw-fib --output odd.toml", ERROR, "is a file; name a directory"),
    ("bench theses numa-others --simulate", USAGE, "numa-others has no sizes for the simulated m"),
    (
        "bench theses cachestress --simulate --only=blub",
        USAGE,
        "cachestress has no program blub; it has cachestress_best",
    ),
    ("bench theses cachestress --simulate --quick", USAGE, "not allowed with argument"),
    ("bench runtime --lace nowhere", ERROR, "--lace nowhere: no such directory"),
    ("bench runtime --json dir", ERROR, "dir: is a directory; name a file in it"),
    ("bench runtime --json no/a.json", ERROR, "no/a.json: its directory does not exist"),
    ("bench stealing --json no/a.json", ERROR, "no/a.json: its directory does not exist"),
    ("bench stealing --json dir", ERROR, "dir: is a directory; name a file in it"),
)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(("line", "status", "said"), BAD, ids=[line for line, *_ in BAD])
def test_bad_words(line: str, status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    test_bad_input.refused(line, status, said, capsys)


@pytest.mark.parametrize("words", ["bench stealing", "bench theses jgf-threads --simulate"])
@pytest.mark.parametrize("version", ["9.1.2", "11.2.0"])
def test_no_other_qemu_has_anything_built(
    words: str, version: str, qemu: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test_qemu_first.refused(words.split(), version, qemu, capsys)
