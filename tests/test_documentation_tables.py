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

from intervals_bench import theses_catalogue

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
    page, left = tables.write(PAGE, {"demo": tables.Results(DEMO)}.get)
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
    assert tables.write(page, {"demo": tables.Results(DEMO)}.get)[0] == page


def test_without_results_a_page_is_left_as_it_is(tables: ModuleType) -> None:
    assert tables.write(PAGE, lambda _: None) == (PAGE, ["no results of demo"])


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
    with pytest.raises(tables.Wrong, match=said):
        tables.write(page, {"demo": tables.Results(DEMO)}.get)


def test_programs_that_were_tried(tables: ModuleType) -> None:
    def verdict(policy: str, low: float) -> dict[str, Any]:
        change = {"off": 2e6, "on": 1e6, "low": low, "high": 2.5}
        return {"policy": policy, "changes": {"elapsed_ns": change, "cycles": change}}

    trial = {"argv": ["xz", "-k"], "verdicts": [verdict("strict", -1), verdict("adaptive", 0.5)]}
    head, line = tables.commands.trials(tables.Results({"trials": [trial]}))
    assert head[1:4] == ["off, ms", "elapsed: strict", "elapsed: adaptive"]
    ranges = ["-1.0 to 2.5", "0.5 to 2.5"]
    assert line == ["``xz -k``", "2.0", *ranges, *ranges]


def test_medians_stand_beside_what_a_thesis_has(tables: ModuleType) -> None:
    def row(contender: str, *rounds: dict[str, float]) -> dict[str, Any]:
        point = {"program": "sort", "contender": contender, "status": "ok"}
        return {**point, "rounds": list(rounds)}

    rounds = [{"time": time, "l3_misses": misses} for time, misses in ((2e-6, 10), (3e-6, 10))]
    document = {
        "rows": [
            row("near", *rounds, rounds[0]),
            row("far", {"time": 1e-3, "l3_misses": 0}),
            row("gone") | {"status": "failed"},
        ],
        "published": [
            {"program": "sort", "metric": "time", "unit": "s", "values": {"near": 1.5}},
            {"program": "other", "metric": "time", "unit": "s", "values": {"far": 3.0}},
        ],
    }
    assert tables.commands.localities(tables.Results(document)) == [
        ["program", "contender", "time, us", "L3 misses", "time there, s"],
        ["``sort``", "near", "2 ± 50.0 %", "10 ± 0.0 %", "1.5"],
        ["``sort``", "far", "1,000 ± 0.0 %", "0", ""],
        ["``sort``", "gone", "failed", "failed", ""],
    ]


STEALS = {
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


def test_steals_are_means_over_seeds(tables: ModuleType) -> None:
    results = tables.Results(STEALS)
    assert tables.commands.steal_misses(results, "domains") == [
        ["kernel", "workers", "domains: attempts", "got nothing", "ratio"],
        ["sort", "2", "20.0", "16.0", "0.800"],
    ]
    assert tables.commands.steal_nodes(results, "random", "domains")[1:] == [
        ["sort", "2", one, "2.0", "2.0", "8.0", "0.800"] for one in ("random", "domains")
    ]


THESES = {
    "sizes": {"fib": 18},
    "contenders": [
        {"name": "serial", "runtime": "serial"},
        {"name": "near", "runtime": "intervals"},
        {"name": "far", "runtime": "intervals"},
    ],
    "rows": [
        {"program": "fib", "contender": name, "workers": workers, "rounds": rounds, "status": was}
        for name, workers, was, rounds in (
            ("serial", 1, "ok", [{"time": 2e-6}]),
            (
                "near",
                2,
                "ok",
                [{"time": 1e-6, "remote_share": 0.5}, {"time": 3e-6}, {"time": 2e-6}],
            ),
            ("far", 2, "failed", []),
        )
    ],
    "published": [
        {
            "program": "fib",
            "metric": "time",
            "where": "Niagara",
            "unit": "s",
            "workers": workers,
            "values": {"near": 1.5},
        }
        for workers in (2, 64)
    ],
    "conclusions": [
        {
            "source": "section 1",
            "words": "near * is | faster",
            "outcome": "upheld",
            "reason": "time of fib_ near "
            + "x " * 60
            + "; what the machine said: /some/place; and",
        },
    ],
}


def test_what_theses_measured_stands_beside_what_they_say(tables: ModuleType) -> None:
    results = tables.Results(THESES)
    assert tables.theses.contenders(results, "time") == [
        ["program", "size here", "workers", "where", "serial", "near", "far"],
        ["``fib``", "18", "2", "here", "2 ± 0.0 %", "2 ± 50.0 %", "failed"],
        ["``fib``", "", "2", "Niagara, s", "", "1.5", ""],
    ]
    shares = tables.theses.contenders(results, "remote_share")
    assert shares[1:] == [["``fib``", "18", "2", "here", "n/a", "0.500 ± 0.000", "failed"]]


def test_conclusions_are_a_list_of_definitions(tables: ModuleType) -> None:
    said = tables.theses.verdicts(tables.Results(THESES)).splitlines()
    assert said[0] == '"near \\* is \\| faster" (section 1)'
    assert said[1].startswith("    *upheld*: time of fib\\_ near x x")
    assert said[-1].endswith("x ; and") and "place" not in said[-1]
    assert len(said) == 3 and all(len(line) <= 100 for line in said)
    page = ".. measured: verdicts some\n\nold\n.. end of measured"
    assert said[0] in tables.write(page, lambda _: tables.Results(THESES))[0]


@pytest.mark.parametrize("kind", ["localities some", "contenders some time", "verdicts some"])
def test_interrupted_rounds_leave_a_table_as_it_is(tables: ModuleType, kind: str) -> None:
    row = THESES["rows"][1] | {"rounds": []}
    results = tables.Results({**THESES, "rows": [THESES["rows"][0], row]})
    page = f".. measured: {kind}\n\nold\n.. end of measured\n\n{PAGE}"
    made, left = tables.write(page, {"some": results, "demo": tables.Results(DEMO)}.get)
    assert left == ["some has not been measured to its end (fib, near: no round)"]
    # And the others are written.
    assert made.count("old") == 1 and "50.0 ± 0.2" in made


def test_interrupted_seeds_leave_a_table_as_it_is(tables: ModuleType) -> None:
    rows = [STEALS["rows"][0], STEALS["rows"][1] | {"runs": []}]
    page = ".. measured: steal-misses some random\n\nold\n.. end of measured"
    made, left = tables.write(page, lambda _: tables.Results({"rows": rows}))
    assert made == page
    assert left == [
        "some has not been measured to its end (sort, 2 workers, victims domains: no run)"
    ]


def test_the_command_goes_on_where_a_table_is_left(tmp_path: Path) -> None:
    name = "theses-cachestress-simulated"
    (tmp_path / name).mkdir()
    document = THESES | {"rows": [THESES["rows"][1] | {"rounds": []}]}
    (tmp_path / name / "theses.json").write_text(json.dumps(document))
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert f"{name} has not been measured to its end" in done.stdout
    assert "no results of demo: its tables are left as they are" in done.stdout


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
    table = tables.commands.runtimes(tables.Results({"rows": rows}))
    assert table == [
        ["benchmark", "workers", "unit", "intervals", "serial", "tbb", "± %"],
        ["fib", "1", "ns", "9.88", "1", "failed", "2.5"],
        ["fib", "2", "ns", "5", "", "n/a", "n/a"],
    ]


def test_nothing_is_not_negative(tables: ModuleType) -> None:
    assert tables.experiments.decimal(-0.01) == "0.0"


def test_every_table_of_the_pages_is_of_an_experiment(tables: ModuleType) -> None:
    asked: list[str] = []
    for page in sorted((ROOT / "Documentation").glob("*.rst")):
        text = page.read_text("utf-8")
        blocks = [block["words"].split() for block in tables.BLOCK.finditer(text)]
        assert text.count(".. measured:") == len(blocks), f"{page}: a table has no end"
        assert {kind for kind, *_ in blocks} <= tables.KINDS.keys()
        asked += [experiment for _, experiment, *_ in blocks]
    of_commands = {"trust-zen3", "trust-my-machine", "overhead", "programs", "stealing", "runtime"}
    of_commands |= {"runtime-scan", "openmp", "openmp-suites", "theses-locks", "beside"}
    of_commands |= {
        f"theses-{name}-simulated"
        for name in (one.name for one in theses_catalogue.EVALUATIONS if one.simulated)
    }
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


def test_openmp_libraries_stand_side_by_side(tables: ModuleType) -> None:
    def row(library: str, value: float | None, ratio: float | None) -> dict[str, Any]:
        point = {"benchmark": "barrier", "threads": 2, "library": library, "unit": "ns"}
        return point | {"value": value, "spread": 0.05, "ratio": ratio, "status": "ok"}

    rows = [row("libgomp", 400.0, 1.0), row("libomp", None, None), row("ours", 300.0, 0.75)]
    results = tables.Results({"rows": rows + [one | {"benchmark": "lock"} for one in rows]})
    assert tables.commands.openmp(results, "barrier") == [
        ["benchmark", "threads", "unit", "libgomp", "libomp", "ours", "/ libgomp"],
        ["``barrier``", "2", "µs", "0.4 ± 5 %", "n/a", "0.3 ± 5 %", "0.75"],
    ]
