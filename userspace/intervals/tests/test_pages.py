# SPDX-License-Identifier: GPL-2.0
"""The runtime's pages: short, true to the sources, with tables that a command fills; `make docs`
checks their form."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fastlab.report.measured_pages import BLOCK, Lines, Results, write
from intervals_bench import theses_catalogue

HOUSE = Path(__file__).parents[1]
FOLDER = HOUSE / "Documentation"
SCRIPT = FOLDER / "tables.py"
PAGES = sorted(FOLDER.glob("*.rst"))
SOURCES = {".c", ".h", ".hpp", ".cpp", ".S", ".py"}


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    sys.modules.pop("tables", None)
    return importlib.import_module("tables")


def test_there_are_few_pages_with_short_lines() -> None:
    assert 1 < len(PAGES) <= 10
    long = [f"{page.name}: {line}" for page in PAGES for line in page.read_text().splitlines()]
    assert [line for line in long if len(line.partition(": ")[2]) > 100] == []


@pytest.mark.parametrize(
    ("before", "compiler"),
    [
        ("Write ``first.c``::", ["cc", "-x", "c", "-std=c11"]),
        ("In C\\+\\+\n=+\n\n::", ["c++", "-x", "c++", "-std=c++17"]),
    ],
)
def test_the_tutorials_programs_compile(before: str, compiler: list[str], tmp_path: Path) -> None:
    text = (FOLDER / "tutorial.rst").read_text()
    source = re.search(before + r"\n\n((?: {4}[^\n]*\n|\n)+)", text)
    assert source
    assert len(source[1].strip().splitlines()) <= 15 or "c++" in compiler
    (tmp_path / "first").write_text(source[1])
    command = [*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{HOUSE}/include"]
    done = subprocess.run([*command, str(tmp_path / "first")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_table_is_of_a_known_kind_and_experiment(tables: ModuleType) -> None:
    known = {"spin", "stealing", "runtime", "runtime-scan", "openmp", "openmp-suites", "intervals"}
    known |= {f"theses-{one.name}-simulated" for one in theses_catalogue.EVALUATIONS}
    asked = 0
    for page in PAGES:
        text = page.read_text("utf-8")
        blocks = [block["words"].split(" + ") for block in BLOCK.finditer(text)]
        assert text.count(".. measured:") == len(blocks), f"{page}: a table has no end"
        assert {words.split()[0] for block in blocks for words in block} <= tables.KINDS.keys()
        assert {block[0].split()[1] for block in blocks} <= known
        asked += len(blocks)
    assert asked > 20


def test_every_evaluation_has_its_conclusions() -> None:
    text = (FOLDER / "theses.rst").read_text()
    words = [block["words"] for block in BLOCK.finditer(text) if "verdicts" in block["words"]]
    for one in theses_catalogue.EVALUATIONS:
        told = any(f"theses-{one.name}-simulated" in line for line in words)
        assert told == bool(one.simulated), one.name


def test_a_number_of_another_page_stands_in_the_results() -> None:
    """Measured times stand in results.rst and theses.rst alone; commands' output is indented."""
    measured = re.compile(r"\b\d+\.\d+ (?:ns|µs|us|ms)\b|\bnanoseconds\b")
    pages = [page for page in PAGES if page.stem not in ("results", "theses")]
    said = {page.stem: re.sub(r"^[\t ].*$", "", page.read_text(), flags=re.M) for page in pages}
    found = {name: measured.findall(text) for name, text in said.items()}
    assert {name: numbers for name, numbers in found.items() if numbers} == {}


def rows(experiment: str) -> dict[tuple[str, str], dict[str, str]]:
    """A table of results.rst by its first two columns."""
    block = next(
        block
        for block in BLOCK.finditer((FOLDER / "results.rst").read_text())
        if block["words"].split()[1] == experiment
    )
    rule, head, _, *lines, _ = block["table"].strip().splitlines()
    spans = [match.span() for match in re.finditer("=+", rule)]
    heads, *cells = (
        [line[start:end].strip() for start, end in spans] for line in (head, *lines) if line
    )
    return {(line[0], line[1]): dict(zip(heads, line, strict=True)) for line in cells}


def test_sentences_agree_with_their_tables() -> None:
    runtime, openmp = rows("runtime"), rows("openmp")
    suites, scan = rows("openmp-suites"), rows("runtime-scan")

    def ratio(name: str, workers: int, above: str, below: str) -> float:
        row = runtime.get((name, str(workers))) or scan[name, str(workers)]
        return float(row[above]) / float(row[below])

    # "a tenth of oneTBB's time, a little less than rayon's, and six times Lace's"
    assert 0.09 < ratio("fib, ns", 1, "intervals", "tbb") < 0.11
    assert 0.85 < ratio("fib, ns", 1, "intervals", "rayon") < 1
    assert 5.5 < ratio("fib, ns", 1, "intervals", "lace") < 6.5
    # "oneTBB and rayon take three times as long", "7 % less", "10 to 11 % less", "10 %", "5 %"
    for peer in ("tbb", "rayon"):
        one, two = (float(runtime["fj, ns", workers][peer]) for workers in "12")
        assert 2.7 < two / one < 3.1
    assert ratio("matmul, ms", 2, "rayon", "intervals") == pytest.approx(0.93, abs=0.005)
    for peer in ("tbb", "libgomp", "libomp"):
        assert 0.885 < ratio("sor, ms", 2, peer, "intervals") < 0.91
        assert 1.25 < ratio("scan, ms", 2, peer, "intervals") < 1.45
    assert ratio("uts_t3, ns", 2, "lace", "intervals") == pytest.approx(0.9, abs=0.01)
    for peer in ("rayon", "libfork"):
        assert ratio("uts_t3, ns", 2, peer, "intervals") == pytest.approx(0.95, abs=0.01)
    # OpenMP, over libgomp: "a third", "a 33rd and a 16th", "about half", and each loss
    for table, told in (
        (openmp, {("fib", 1): 0.34, ("nqueens", 1): 0.30, ("fib", 2): 0.03, ("nqueens", 2): 0.06}),
        (openmp, {("health", 2): 0.50, ("floorplan", 2): 0.57, ("floorplan", 1): 1.15}),
        (openmp, {("strassen", 1): 1.34, ("alignment", 2): 1.19, ("atomic", 2): 1.03}),
        (suites, {("alignment", 2): 1.50, ("sparselu_for", 2): 1.19, ("floorplan", 1): 1.13}),
    ):
        for (name, threads), share in told.items():
            assert float(table[f"``{name}``", str(threads)]["/ libgomp"]) == share


def test_names_in_the_pages_are_the_sources() -> None:
    folders = ("src", "include", "openmp", "models", "bench", "guest", "tests")
    files = [path for folder in folders for path in (HOUSE / folder).rglob("*") if path.is_file()]
    names = {path.name for path in files}
    code = "".join(path.read_text("utf-8", "replace") for path in files if path.suffix in SOURCES)
    code += (HOUSE / "debian/libintervals1.symbols").read_text()
    for page in PAGES:
        for word in re.findall(r"``([^`\n]+)``", page.read_text()):
            name = word.partition("(")[0].rpartition("->")[2]
            if re.fullmatch(r"(ivl|IVL)_\w+", name) or "->" in word:
                assert name in code, f"{page.name}: {word}"
            if re.fullmatch(r"(src|tests|models|bench|openmp)/[\w/.-]+\.\w+", name):
                assert (HOUSE / name).is_file(), f"{page.name}: {word}"
            elif page.stem == "design" and re.fullmatch(r"\w+\.[ch]", name):
                assert name in names, f"{page.name}: {word}"


def test_quoted_messages_are_the_librarys() -> None:
    """A run of literal words, between names and numbers, stands in a message of the sources."""
    strings = "".join(path.read_text() for path in (HOUSE / "src").rglob("*.c"))
    strings = re.sub(r'"\s*"', "", strings)
    quoted = re.findall(
        r"^\tintervals: (.*)$", (FOLDER / "debugging.rst").read_text(), re.MULTILINE
    )
    told = [
        re.split(r"[\w.]*\d[\w.]*|\[\.\.\.\]|\b(?:outer|inner|fib|holder|needy|till)\b", line)
        for line in quoted
    ]
    words = [part.strip(" :,") for line in told for part in line if len(part.split()) > 6]
    assert len(words) > 2 and [part for part in words if part not in strings] == []


# Each kind of table, of made-up results.


def test_steals_are_means_over_seeds(tables: ModuleType) -> None:
    results = Results(STEALS)
    assert tables.kinds.steal_misses(results, "domains") == [
        ["kernel", "workers", "domains: attempts", "got nothing", "ratio"],
        ["sort", "2", "20.0", "16.0", "0.800"],
    ]
    assert tables.kinds.steal_nodes(results, "random", "domains")[1:] == [
        ["sort", "2", victims, "2.0", "2.0", "8.0", "0.800"] for victims in ("random", "domains")
    ]


STEALS: dict[str, Any] = {
    "rows": [
        {
            "benchmark": "sort",
            "workers": 2,
            "victims": victims,
            "runs": [
                {
                    "steals": 10 * times,
                    "steal_failures": 8 * times,
                    "steals_remote": 5 * times,
                    "steal_failures_remote": 4 * times,
                }
                for times in (1, 3)
            ],
        }
        for victims in ("random", "domains")
    ]
}

FAST = {"time": 1e-6, "steals": 10, "remote_share": 0.5}
THESES: dict[str, Any] = {
    "sizes": {"fib": 18, "sor": 64},
    "contenders": [
        {"name": "serial", "runtime": "serial"},
        {"name": "near", "runtime": "intervals"},
        {"name": "far", "runtime": "intervals"},
    ],
    "rows": [
        {"program": program, "contender": name, "workers": workers, "rounds": rounds, "status": was}
        for program, name, workers, was, rounds in (
            ("fib", "serial", 1, "ok", [{"time": 2e-6}]),
            ("fib", "near", 2, "ok", [FAST, {"time": 3e-6}, {"time": 2e-6}]),
            ("fib", "far", 2, "failed", []),
            ("sor", "serial", 1, "ok", [{"time": 1e-3}]),
            ("sor", "near", 2, "ok", [{"time": 5e-6}]),
            ("sor", "far", 2, "ok", [{"time": 4e-6}]),
        )
    ],
    "published": [
        {
            "program": "fib",
            "metric": metric,
            "where": where,
            "unit": unit,
            "workers": workers,
            "values": {"near": 1.5},
        }
        for metric, where, unit, workers in (
            ("time", "Niagara 2, 64 threads", "s", 2),
            ("time", "Niagara 2, 64 threads", "s", 64),
            ("steals", "Niagara 2, 64 threads", "", 2),
            ("steals", "Xeon", "", None),
        )
    ],
    "conclusions": [
        {
            "source": "section 1",
            "words": "near * is | faster",
            "outcome": "upheld",
            "reason": "2 of 2 hold: time of fib_ near " + "x " * 60 + "x; time of sor; and 2 more",
        },
        {
            "source": "abstract",
            "words": "it ends",
            "outcome": "upheld",
            "reason": "it said; what the machine said: /some/place; and went on",
        },
    ],
}


def table(tables: ModuleType, kind: str, *arguments: str) -> Lines:
    lines: Lines = tables.KINDS[kind](Results(THESES), *arguments)
    return lines


def test_the_sources_figures_follow_the_measured_ones(tables: ModuleType) -> None:
    assert table(tables, "contenders", "time") == [
        ["program", "size", "workers", "serial", "near", "far"],
        ["fib", "18", "2", "2 ±0.0", "2 ±50.0", "failed"],
        ["published, s", "", "2", "", "1.5", ""],
        ["sor", "64", "2", "1,000 ±0.0", "5 ±0.0", "4 ±0.0"],
    ]
    assert table(tables, "contenders", "remote_share")[1][4] == "0.500 ±0.000"
    assert table(tables, "metrics", "time", "steals")[:5] == [
        ["program", "time, us", "steals"],
        ["fib, serial", "2 ±0.0", "n/a"],
        ["fib, near", "2 ±50.0", "10 ±0.0"],
        ["published, Niagara 2", "1.5 s", "1.5"],
        ["published, Xeon", "", "1.5"],
    ]


def test_only_rows_with_published_figures(tables: ModuleType) -> None:
    lines = table(tables, "published", "time", "steals")
    assert [line[0] for line in lines] == [
        "program",
        "fib, near",
        "published, Niagara 2",
        "published, Xeon",
    ]


def test_contenders_are_lines_and_programs_columns(tables: ModuleType) -> None:
    assert table(tables, "transposed", "time") == [
        ["contender", "fib", "sor", "± %, at most"],
        ["serial", "2", "1,000", "0.0"],
        ["near", "2", "5", "50.0"],
        ["far", "failed", "4", "0.0"],
    ]


def test_conclusions_are_a_list(tables: ModuleType) -> None:
    lines = tables.kinds.verdicts(Results(THESES)).splitlines()
    assert lines[0].startswith('* "near \\* is \\| faster" (section 1): *upheld*. 2 of 2 hold: ')
    assert "fib\\_ near" in lines[0] and all(len(line) <= 100 for line in lines)
    assert lines[-2].endswith("x; and 3 more")
    assert lines[-1] == '* "it ends" (abstract): *upheld*. it said; and went on'


@pytest.mark.parametrize("words", ["contenders some time + verdicts", "metrics some time"])
def test_interrupted_rounds_leave_a_table_as_it_is(tables: ModuleType, words: str) -> None:
    page = f".. measured: {words}\n\nold\n.. end of measured\n"
    whole = write(page, tables.KINDS, {"some": Results(THESES)}.get)[0]
    assert "fib" in whole and ("verdicts" not in words) == ("upheld" not in whole)
    row = THESES["rows"][1] | {"rounds": []}
    results = Results(THESES | {"rows": [THESES["rows"][0], row]})
    made, left = write(page, tables.KINDS, {"some": results}.get)
    assert made == page
    assert left == ["some has not been measured to its end (fib, near: no round)"]


def test_interrupted_seeds_leave_a_table_as_it_is(tables: ModuleType) -> None:
    rows = [STEALS["rows"][0], STEALS["rows"][1] | {"runs": []}]
    page = ".. measured: steal-misses some random\n\nold\n.. end of measured"
    made, left = write(page, tables.KINDS, lambda _: Results({"rows": rows}))
    assert made == page
    assert left == [
        "some has not been measured to its end (sort, 2 workers, victims domains: no run)"
    ]


def test_the_command_goes_on_where_a_table_is_left(tmp_path: Path) -> None:
    name = "theses-cachestress-simulated"
    (tmp_path / name).mkdir()
    document = THESES | {"rows": [THESES["rows"][1] | {"rounds": []}]}
    (tmp_path / name / "theses.json").write_text(json.dumps(document))
    # In a checkout fastlab is not installed: it is where this process has found it.
    installed = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, SCRIPT, tmp_path]
    done = subprocess.run(command, env=installed, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert f"{name} has not been measured to its end" in done.stdout
    assert "no results of runtime: its tables are left as they are" in done.stdout


def test_runtimes_stand_side_by_side(tables: ModuleType) -> None:
    def measured(runtime: str, workers: int, **more: Any) -> dict[str, Any]:
        row = {"benchmark": "fib", "runtime": runtime, "workers": workers, "status": "ok"}
        return {**row, "spread": 0.05, **more}

    rows = [
        measured("intervals", 1, ns_per_task=9.876),
        measured("serial", 1, ns_per_task=1.0),
        measured("tbb", 1, ns_per_task=None, status="failed"),
        measured("intervals", 2, ns_per_task=5.0, spread=None),
        measured("tbb", 2, ns_per_task=None, status="not available"),
    ]
    assert tables.kinds.runtimes(Results({"rows": rows})) == [
        ["benchmark", "workers", "intervals", "serial", "tbb", "± %"],
        ["fib, ns", "1", "9.88", "1", "failed", "2.5"],
        ["fib, ns", "2", "5", "", "n/a", "n/a"],
    ]
    assert tables.kinds.runtimes(Results({"rows": rows}), "intervals", "tbb")[0][2:] == [
        "intervals",
        "tbb",
        "± %",
    ]


def test_openmp_libraries_stand_side_by_side(tables: ModuleType) -> None:
    def row(name: str, library: str, value: float | None, ratio: float | None) -> dict[str, Any]:
        point = {"benchmark": name, "threads": 2, "library": library, "unit": "ns"}
        return point | {"value": value, "spread": 0.05, "ratio": ratio, "status": "ok"}

    rows = [row("barrier", "libgomp", 400.0, 1.0), row("barrier", "libomp", None, None)]
    rows += [row("barrier", "ours", 300.0, 0.75)]
    rows += [row("static", "libgomp", 3.0, 1.0), row("static", "libomp", 1.0, None)]
    rows += [row("static", "ours", None, None)]
    assert tables.kinds.openmp(Results({"rows": rows})) == [
        ["benchmark", "threads", "unit", "libgomp", "libomp", "ours", "/ libgomp"],
        ["``barrier``", "2", "µs", "0.4 ± 5 %", "n/a", "0.3 ± 5 %", "0.75"],
    ]
    failed = row("static", "ours", None, None) | {"status": "failed"}
    assert tables.kinds.openmp(Results({"rows": [*rows[:-1], failed]}))[2][5] == "failed"
