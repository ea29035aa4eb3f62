# SPDX-License-Identifier: GPL-2.0
"""Figures that stand outside of Documentation/results.rst are those of its tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
LETTER = ROOT / "kernel-patches/6.12/0000-cover-letter.patch"
Row = Mapping[str, str]


def table(words: str, keys: int = 1) -> dict[tuple[str, ...], Row]:
    """A measured table of the page of results: its rows by their first cells."""
    page = (ROOT / "Documentation/results.rst").read_text("utf-8")
    block = page.split(f".. measured: {words}\n", 1)[1].split(".. end of measured", 1)[0]
    rule = re.findall(r"^=+(?: +=+)+$", block, re.MULTILINE)[0]
    starts = [match.start() for match in re.finditer("=+", rule)]
    ends = [*starts[1:], None]
    _, head, body, _ = block.split(rule)
    lines = [head.strip("\n").splitlines()[-1], *body.strip("\n").splitlines()]
    heads, *rows = (
        [line[a:b].strip() for a, b in zip(starts, ends, strict=True)] for line in lines
    )
    return {tuple(row[:keys]): dict(zip(heads, row, strict=True)) for row in rows}


def quoted(path: Path, sentence: str) -> tuple[str, ...]:
    """The figures of a sentence, in which # stands for each of them."""
    words = sentence.split()
    pattern = r"\s+".join(re.escape(word).replace(r"\#", r"([\d,.+-]+?)") for word in words)
    found = re.search(pattern, path.read_text("utf-8"))
    assert found, f"{path.name} does not say: {sentence}"
    return found.groups()


def percent(regret: str) -> str:
    return f"{100 * (float(regret) - 1):.0f}"


def test_readme_has_the_standings_of_the_demo() -> None:
    rows = table("standings demo")
    adaptive, strict = rows[("adaptive",)], rows[("strict",)]
    worse = "worse than unpatched by more than 2 %"
    assert quoted(
        README,
        "adaptive` finds out while the program runs. In the demo it takes # % longer than the "
        "best choice on average, and # % longer at worst. # of its # cases are slower",
    ) == (
        percent(adaptive["mean regret"]),
        percent(adaptive["worst"]),
        adaptive[worse],
        str(len(table("times demo", 2))),
    )
    assert quoted(README, "no policy to leave on: # of the # cases are slower")[0] == strict[worse]


def test_readme_has_the_losses() -> None:
    slower = [-float(row["elapsed"]) for row in table("splash splash2-short strict", 2).values()]
    assert quoted(README, "programs take up to # % longer") == (f"{max(slower):.0f}",)
    worse = table("standings map-milan")[("adaptive",)]["worse than unpatched by more than 2 %"]
    assert quoted(README, "of 93 cases # are slower by more than 2 %") == (worse,)
    longest = max(
        float(row["max"].replace(",", ""))
        for row in table("latencies demo wakeup strict adaptive", 2).values()
        if row["max"] != "n/a"
    )
    assert quoted(README, "single waits get longer, up to # ms") == (f"{longest / 1e3:.0f}",)


def test_readme_has_the_errors_of_the_model() -> None:
    """As `fast trust` makes them of its table (fastlab/trust/summary.py)."""
    rows = table("predictions trust-zen3 cycles misses", 3)
    errors = [
        fmean(abs(int(row[column].rpartition("(")[2].split()[0])) for row in rows.values())
        for column in ("free / confined", "free")
    ]
    within = [verdict for _, verdict, _ in rows].count("within")
    assert "noisy" not in str(rows.keys())
    assert quoted(
        README,
        "the simulation is off by # % on average in cycles, free / confined, and by # % in L2 "
        "misses, free; # of # rows are within all bounds",
    ) == (*(f"{error:.0f}" for error in errors), str(within), str(len(rows)))


def test_the_picture_is_of_the_table() -> None:
    texts = re.findall(
        r"<text[^>]*>([^<]*)</text>", (ROOT / "Documentation/images/demo.svg").read_text()
    )
    workloads = [text for text in texts if re.fullmatch(r"\w+ \d+", text)]
    figures = [text for text in texts if re.fullmatch(r"\d+\.\d\d", text)]
    arms = texts[: texts.index(workloads[0])]
    regrets = {
        f"{name} {threads}": row for (name, threads), row in table("regrets demo", 2).items()
    }
    assert workloads == list(regrets) and len(arms) >= 3
    assert figures == [regrets[workload][arm] for workload in workloads for arm in arms]


@pytest.mark.parametrize(
    ("line", "experiment", "arm"),
    [
        (0, "arms", "baseline"),
        (1, "arms", "onecpu"),
        (2, "arms", "strict"),
        (3, "arms", "adaptive"),
        *(
            (line, name, arm)
            for name in ("think", "map")
            for line, arm in enumerate(("baseline", "onecpu", "strict", "adaptive"))
        ),
    ],
)
def test_the_cover_letter_has_the_standings(line: int, experiment: str, arm: str) -> None:
    names = ("unpatched", "one CPU, unpatched", "strict", "adaptive")
    text = LETTER.read_text("utf-8").split("mean worst losses", 1)[1]
    found = re.search(rf"^{names[line]} +([\d. -]+)$", text, re.MULTILINE)
    assert found
    cells = found[1].split()
    at = 3 * ("arms", "think", "map").index(experiment)
    row = table(f"standings {experiment}")[(arm,)]
    worse = row["worse than unpatched by more than 2 %"]
    assert cells[at : at + 3] == [row["mean regret"], row["worst"], worse]


@pytest.mark.parametrize(
    "key", sorted(table("improvements think strict elapsed_ns cycles bus_requests l2_misses", 2))
)
def test_the_cover_letter_has_the_seldom_contended_case(key: tuple[str, str]) -> None:
    found = re.search(rf"^{key[0]} +{key[1]} +(.*)$", LETTER.read_text("utf-8"), re.MULTILINE)
    assert found
    figures = [
        table(f"improvements think {arm} elapsed_ns cycles bus_requests l2_misses", 2)[key][metric]
        for arm in ("strict", "adaptive")
        for metric in ("elapsed", "cycles")
    ]
    assert found[1].split()[4:] == [figure.partition(" ")[0] for figure in figures]


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        ("futex_wake, nobody waits", "wake"),
        ("futex_wait, another value", "wait"),
        ("futex_wake, a hand-off", "handoff"),
        ("wake-up by a pipe", "wakeup"),
        ("context switch", "switch"),
    ],
)
def test_the_cover_letter_has_the_costs(words: str, operation: str) -> None:
    found = re.search(rf"^{words} +(.*)$", LETTER.read_text("utf-8"), re.MULTILINE)
    assert found
    _, *cells = table("costs overhead")[(operation,)].values()
    assert found[1].split() == cells
