# SPDX-License-Identifier: GPL-2.0
"""Locks: their names, the functions that take and release them, and the report's tables."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples
from samples import futex, summarise

from fastlab.base.model import Place
from fastlab.guest.call_chain import Stopped, call_site
from fastlab.guest.run_locks import KEPT, heap_maps, locks_of
from fastlab.guest.symbols import Symbols, parse_maps, static_maps
from fastlab.plan.experiment import plan
from fastlab.plan.row_check import impossible
from fastlab.plan.rows import Row
from fastlab.report import lock_tables
from fastlab.report.contents import markdown, shown
from fastlab.report.document import document
from fastlab.statistics.lock_uses import MOST, LockUse, lock_uses

SOURCE = Path(__file__).with_name("futex_calls.c")
MAPS = parse_maps("1000-9000 rw-p 0 0:0 0 [heap]\nf000-ff000 rw-p 0 0:0 0\n")


@pytest.mark.parametrize(
    "options",
    [("-O2", "-g"), ("-O2", "-g", "-static"), ("-O0", "-no-pie", "-fno-omit-frame-pointer")],
    ids=["dynamic", "static", "unoptimised"],
)
def test_who_takes_and_releases_a_lock_is_found(tmp_path: Path, options: Sequence[str]) -> None:
    program = tmp_path / "futex_calls"
    subprocess.run(["gcc", *options, "-o", program, SOURCE, "-pthread"], check=True)
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60)
    if ran.returncode == 77:
        pytest.skip("no seccomp filters here")
    maps, *calls, allocation = map(json.loads, ran.stdout.splitlines())
    symbols = Symbols(parse_maps("\n".join(maps["maps"][:-1])), program)
    found = [
        (one["what"], call_site(symbols, Stopped(one["pc"], one["sp"], one["bp"], one["stack"])))
        for one in calls
    ]
    assert found == [
        ("mutex", "takes_here"),
        ("mutex", "releases_here"),
        ("condition", "waits_here"),
    ]
    line = 1 + SOURCE.read_text().splitlines().index("\tstand_in();\t/* the call */")
    where = f" (futex_calls.c:{line})" if "-g" in options else ""
    document = {
        "futexes": [futex(0x1010, handoffs=3), futex(0x1020)],
        "call_sites": [
            {"address": 0x1010, "releases": False, **calls[0], "allocation": allocation},
            {"address": 0x1010, "releases": True, **calls[1]},
            {"address": 0x1020, "releases": True, **calls[1]},
        ],
    }
    other, ours = locks_of(document, symbols)
    assert ours["allocated_in"] == [f"allocates_here{where}"]
    assert ours["taken_in"] == ["takes_here"]
    assert "allocated_in" not in other
    # What was not kept of a stack is not guessed.
    short = Stopped(calls[0]["pc"], calls[0]["sp"], calls[0]["bp"], calls[0]["stack"][:2])
    assert call_site(symbols, short) == ""


def test_a_static_programs_places_are_known_beforehand(tmp_path: Path) -> None:
    program = tmp_path / "program"
    subprocess.run(["gcc", "-pie", "-o", program, SOURCE, "-pthread"], check=True)
    assert static_maps(program) == []
    subprocess.run(["gcc", "-static", "-o", program, SOURCE, "-pthread"], check=True)
    nm = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    (mutex,) = [int(line.split()[0], 16) for line in nm.splitlines() if line.endswith(" b mutex")]
    symbols = Symbols([*static_maps(program), *heap_maps(0x900000)], program)
    assert symbols.describe(mutex) == "mutex"
    assert symbols.describe(0x900D40) == "heap+0xd40"
    assert symbols.is_lasting(mutex)
    assert symbols.is_lasting(0x900D40)
    assert not symbols.is_lasting(0x7FFF00000000)
    assert heap_maps(None) == []


def test_locks_have_names_that_last() -> None:
    found = locks_of(
        {
            "futexes": [
                futex(0x1010, handoffs=3),
                futex(0x10000),
                futex(0x20000, handoffs=7),
                futex(0x1020, handoffs=0),
                futex(0x1030, program=False),
            ]
        },
        Symbols(MAPS, Path("program")),
    )
    names = [(one["name"], one["handoffs"], one["hold_local"]["ns"]) for one in found]
    # What is mapped on demand may lie elsewhere next time.
    assert names == [("anonymous memory", 17, 2400), ("heap+0x10", 3, 1200)]
    assert all(one["taken_in"] == [] for one in found)
    # In an experiment the addresses of a dynamic program's objects are not known.
    (only,) = locks_of({"futexes": [futex(0x1010), futex(0x2010)]}, Symbols((), Path("program")))
    assert (only["name"], only["handoffs"]) == ("somewhere", 20)


def test_the_locks_of_most_handoffs_are_kept() -> None:
    futexes = [futex(0x1000 + 4 * i, handoffs=i + 1) for i in range(2 * KEPT)]
    found = locks_of({"futexes": futexes}, Symbols(MAPS, Path("program")))
    assert [one["handoffs"] for one in found] == list(range(2 * KEPT, KEPT, -1))


def row(variant: str, seed: int, *futexes: dict[str, Any]) -> Row:
    of = samples.experiment(seeds=(1, 2))
    (run,) = [one for one in plan(of) if (one.variant.name, one.seed) == (variant, seed)]
    made = samples.row(of, run)
    made["locks"] = locks_of({"futexes": futexes}, Symbols(MAPS, Path("program")))
    return made


def uses(arms: dict[str, list[Row]]) -> list[LockUse]:
    return list(lock_uses(Place("single_ctr", 4, ()), "baseline", arms))


def test_a_lock_stands_beside_the_baselines() -> None:
    before = [row("baseline", seed, futex(0x1000)) for seed in (1, 2)]
    hold = {"count": 8, "ns": 750}
    after = [
        row(
            "fast",
            1,
            futex(
                0x1000,
                handoffs=20,
                left=30,
                local=8,
                remote=0,
                hold_local=hold,
                hold_remote={"count": 0, "ns": 0},
            ),
        ),
        row("fast", 2),
    ]
    base, fast = uses({"baseline": before, "fast": after})
    assert (base.variant_name, base.name, base.handoffs, base.left) == (
        "baseline",
        "heap",
        10,
        0.5,
    )
    assert (base.same_cpu_share, base.moved_share) == (0.75, 0.125)
    assert (base.handoff_ns, base.outside_ns) == (1000, 10000)
    assert (base.hold_local_ns, base.hold_remote_ns, base.hold_ns) == (200, 900, 375)
    assert base.gain_pct is None
    # Of two runs, in one of which there was no hand-off.
    assert (fast.handoffs, fast.left, fast.same_cpu_share) == (10, 1.5, 1)
    assert (fast.hold_local_ns, fast.hold_remote_ns) == (93.75, None)
    assert fast.gain_pct == 75


def test_what_an_arm_has_not_is_not_available() -> None:
    nothing = uses({"baseline": [row("baseline", 1, futex(0x1000))], "fast": [row("fast", 1)]})[1]
    assert nothing.handoffs == 0
    assert nothing.left is nothing.same_cpu_share is nothing.hold_ns is nothing.gain_pct is None
    # Results of a time when locks were not looked at.
    old = row("baseline", 1)
    del old["locks"]
    assert uses({"baseline": [old], "fast": [old]}) == []
    (only,) = uses({"baseline": [old], "fast": [row("fast", 1, futex(0x1000))]})
    assert (only.variant_name, only.gain_pct) == ("fast", None)


def test_the_locks_of_most_handoffs_under_any_arm_are_told() -> None:
    many = [futex(0x1000 + 4 * i, handoffs=i + 1) for i in range(10)]
    rare = futex(0x1100, handoffs=100)
    found = uses({"baseline": [row("baseline", 1, *many)], "fast": [row("fast", 1, rare)]})
    assert len(found) == 2 * MOST
    assert [one.name for one in found[:4]] == ["heap+0x100"] * 2 + ["heap+0x24"] * 2


def test_reports_have_a_table_of_locks() -> None:
    of = samples.experiment(seeds=(1, 2))
    rows = [
        row(run.variant.name, run.seed, futex(0x1040), futex(0x1080, handoffs=1))
        for run in plan(of)
    ]
    for one in rows:
        one["locks"][0]["taken_in"] = ["get", "put"]
        one["locks"][0]["outside"] = {"count": 1, "ns": 4_160_000}
    found = summarise(of, rows)
    table, callers = [one for one in shown(found) if one.title in ("Locks", "Callers")]
    first = [cell.text for cell in table.rows[0]]
    assert first == [
        *("single_ctr-4", "heap+0x40", "baseline"),
        *("10", "0.5", "75", "12", "1", "0.2", "0.9", "-", "4,160"),
    ]
    assert [row[2].text for row in table.rows] == ["baseline", "fast"] * 2
    assert table.rows[1][10].text == "+0.0"
    assert table.rows[2][1].text == "heap+0x80"
    assert "| single_ctr-4 | heap+0x40 | fast | 10 |" in markdown(found)
    # The other lock has no caller, and allocations were not watched.
    assert "allocated in" not in callers.columns
    assert [[cell.text for cell in row] for row in callers.rows] == [
        ["single_ctr-4", "heap+0x40", "get, put"]
    ]
    for one in rows:
        one["locks"][1]["allocated_in"] = [f"make_{one['variant']} (a.c:1)"]
        assert impossible(dict(one)) == ""
    found = summarise(of, rows)
    (callers,) = [one for one in shown(found) if one.title == "Callers"]
    assert callers.columns == ["workload", "lock", "allocated in", "taken in"]
    assert [[cell.text for cell in row[1:4]] for row in callers.rows] == [
        ["heap+0x40", "n/a", "get, put"],
        ["heap+0x80", "make_baseline (a.c:1), make_fast (a.c:1)", "n/a"],
    ]
    told = document(found)["simulation"]["locks"]
    assert told[1]["name"] == "heap+0x40"
    assert told[1]["gain_pct"] == 0
    # Without them there is none.
    assert not [one for one in shown(replace(found, locks=())) if "lock" in one.columns]


def test_of_a_matrix_each_point_has_its_first_lock() -> None:
    of = samples.experiment(seeds=(1, 2))
    rows = [row(one.variant.name, one.seed, futex(0x1040), futex(0x1080)) for one in plan(of)]
    found = summarise(of, rows)
    placed = tuple(replace(one, axes=(("think", 7),)) for one in found.findings)
    uses = tuple(replace(one, axes=(("think", 7),)) for one in found.locks)
    (table,) = lock_tables.locks(replace(found, findings=placed, locks=uses))
    assert [[cell.text for cell in row[:3]] for row in table.rows] == [
        ["single_ctr,think=7-4", "heap+0x40", arm] for arm in ("baseline", "fast")
    ]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"left": -1}, "left of lock heap is -1; allowed: 0 to"),
        ({"handoff": {"count": 1, "ns": -2}}, "handoff of lock heap is -2"),
        ({"further": 1}, "with fields that no lock has"),
    ],
)
def test_a_lock_that_cannot_be_is_refused(change: dict[str, Any], complaint: str) -> None:
    made: dict[str, Any] = dict(row("baseline", 1, futex(0x1000)))
    assert impossible(made) == ""
    made["locks"][0] |= change
    assert complaint in impossible(made)
