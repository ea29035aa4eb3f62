# SPDX-License-Identifier: GPL-2.0
"""Documentation/tables.py writes measured tables into pages."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fastlab.base.model import FastError
from fastlab.report.measured_pages import BLOCK, Results, decimal, simple_table, write

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "Documentation" / "tables.py"

PAGE = """\
Before.

.. measured: along demo strict quantum

old
.. end of measured

After.
"""


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    # As when it is run.
    sys.path.insert(0, str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("tables", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["tables"] = module
    spec.loader.exec_module(module)
    return module


def row(quantum: int, improvement: float | None) -> dict[str, Any]:
    return {
        "benchmark": "single_ctr",
        "threads": 4,
        "quantum": quantum,
        "variant_name": "strict",
        "metric": "elapsed_ns",
        "baseline": 2e6,
        "variant": 1e6,
        "improvement_pct": improvement,
        "spread": 0.25,
    }


DEMO = {
    "baseline": "baseline",
    "variants": ["strict"],
    "rows": [row(500, 50.04), row(2000, None)],
}


def test_a_block_gets_its_table_and_the_rest_stays(tables: ModuleType) -> None:
    page, left = write(PAGE, tables.KINDS, {"demo": Results(DEMO)}.get)
    assert left == []
    assert (
        page
        == """\
Before.

.. measured: along demo strict quantum

==========  =======  ==========  =====
benchmark   threads  500         2,000
==========  =======  ==========  =====
single_ctr  4        50.0 ± 0.2  n/a
==========  =======  ==========  =====

.. end of measured

After.
"""
    )
    assert write(page, tables.KINDS, {"demo": Results(DEMO)}.get)[0] == page


def test_arms_are_all_or_those_that_are_named(tables: ModuleType) -> None:
    rows = [row(500, 50.04), {**row(500, -3.0), "variant_name": "soft", "variant": 3e6}]
    results = Results({"baseline": "baseline", "variants": ["strict", "soft"], "rows": rows})
    gains, times = tables.experiments.gains, tables.experiments.times
    head = ["benchmark", "threads", "baseline, ms"]
    case = ["single_ctr", "4"]
    assert gains(results) == [
        [*head, "strict", "soft"],
        [*case, "2.0", "50.0 ± 0.2", "-3.0 ± 0.2"],
    ]
    assert gains(results, "soft") == [[*head, "soft"], [*case, "2.0", "-3.0 ± 0.2"]]
    assert times(results) == [
        ["benchmark", "threads", "unpatched", "strict", "soft"],
        [*case, "2.0", "1.0", "3.0"],
    ]
    assert times(results, "soft") == [["benchmark", "threads", "soft"], [*case, "3.0"]]


def test_without_results_a_page_is_left_as_it_is(tables: ModuleType) -> None:
    assert write(PAGE, tables.KINDS, lambda _: None) == (PAGE, ["no results of demo"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("alongg demo strict quantum", "no kind of table is called alongg"),
        ("along demo strict", "along demo strict: its results have no such table"),
        ("along demo strict cpus", "along demo strict cpus: its results have no such table"),
        ("standings demo", "standings demo: its results have no such table"),
    ],
)
def test_what_is_wrong_is_said(tables: ModuleType, words: str, said: str) -> None:
    page = PAGE.replace("along demo strict quantum", words)
    with pytest.raises(FastError, match=said):
        write(page, tables.KINDS, {"demo": Results(DEMO)}.get)


def test_programs_that_were_tried(tables: ModuleType) -> None:
    def verdict(policy: str, low: float) -> dict[str, Any]:
        change = {"off": 2e6, "on": 1e6, "low": low, "high": 2.5}
        return {"policy": policy, "changes": {"elapsed_ns": change, "cycles": change}}

    trial = {"name": "xz", "verdicts": [verdict("strict", -1), verdict("adaptive", 0.5)]}
    head, line = tables.commands.trials(Results({"trials": [trial]}))
    assert head[1:4] == ["off, ms", "elapsed\nstrict", "elapsed\nadaptive"]
    ranges = ["-1.0 to 2.5", "0.5 to 2.5"]
    assert line == ["xz", "2.0", *ranges, *ranges]


def test_a_program_has_the_name_of_its_file(tmp_path: Path, tables: ModuleType) -> None:
    change = {"off": 2e6, "on": 1e6, "low": 0, "high": 1}
    verdict = {"policy": "strict", "changes": {"elapsed_ns": change, "cycles": change}}
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/try-a-b.json").write_text(json.dumps({"verdicts": [verdict]}))
    assert tables.commands.trials(tables.load(tmp_path, "programs"))[1][0] == "a-b"


def test_equal_neighbours_share_a_heading() -> None:
    lines = [["name", "a\np50", "a\np99", "b\np50"], ["x", "1", "2", "3"]]
    assert (
        simple_table(lines)
        == """\
====  ===  ===  ===
..    a         b
----  --------  ---
name  p50  p99  p50
====  ===  ===  ===
x     1    2    3
====  ===  ===  ==="""
    )


def test_predictions_have_the_columns_that_are_asked_for(tables: ModuleType) -> None:
    heads = ["benchmark", "verdict", "threads", "cycles, free / confined", "L2 misses, free"]
    results = Results({"table": [heads, ["a", "within", "2", "1 / 1", "3"]]})
    assert tables.commands.predictions(results, "misses") == [
        ["benchmark", "verdict", "threads", "L2 misses\nfree"],
        ["a", "within", "2", "3"],
    ]


def test_nothing_is_not_negative() -> None:
    assert decimal(-0.01) == "0.0"


def test_every_table_of_the_pages_is_of_an_experiment(tables: ModuleType) -> None:
    asked: list[str] = []
    for page in sorted((ROOT / "Documentation").glob("*.rst")):
        text = page.read_text("utf-8")
        blocks = [block["words"].split() for block in BLOCK.finditer(text)]
        assert text.count(".. measured:") == len(blocks), f"{page}: a table has no end"
        assert {kind for kind, *_ in blocks} <= tables.KINDS.keys()
        asked += [experiment for _, experiment, *_ in blocks]
    of_commands = {"trust-zen3", "trust-my-machine", "overhead", "programs", "beside"}
    for experiment in set(asked) - of_commands:
        assert (ROOT / "experiments" / f"{experiment}.toml").exists(), experiment
    assert len(asked) > 20


def test_the_command_names_what_it_could_not_write(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0
    assert "no results of demo: its tables are left as they are" in done.stdout


def test_results_that_are_being_written_are_named(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/summary.json").write_text('{"schema": 3,')
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True)
    assert done.returncode == 2
    assert f"{tmp_path}/demo/summary.json is not whole" in done.stderr
    assert "Traceback" not in done.stderr
