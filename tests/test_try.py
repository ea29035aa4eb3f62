# SPDX-License-Identifier: GPL-2.0
"""`fast try` in real guests: what it says of programs whose hand-offs are known, and of xz."""

from __future__ import annotations

import io
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from lab import PROJECT

from fastlab.attribution.in_trial import profile_trial
from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.plan.rows import Row, counters_digest, value
from fastlab.trial import in_simulation, runs, verdict
from fastlab.trial.in_simulation import QUANTA
from fastlab.trial.runs import ARMS, Trial

SOURCE = PROJECT / "tests/two_locks.c"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where two_locks is."""
    path = tmp_path_factory.mktemp("try")
    subprocess.run(["gcc", "-g", "-O2", "-o", path / "two_locks", SOURCE, "-pthread"], check=True)
    return path


def run(directory: Path, *argv: str, seconds: float = 600.0, attribute: bool = False) -> Trial:
    request = runs.TrialRequest(argv, directory, seconds, attribute=attribute)
    return in_simulation.run(request, PlainReporter(io.StringIO()))


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> int:
    """How often each arm is run, for what more runs do not tell."""
    monkeypatch.setattr(in_simulation, "QUANTA", QUANTA[:2])
    return 2


def handoffs(found: Trial) -> list[dict[str, int]]:
    """Of each run, by the names of the locks that had any."""
    return [
        {lock.name: lock.handoffs for lock in one.locks if lock.handoffs} for one in found.timed
    ]


def check_locks(row: Row) -> None:
    """Each woken waiter takes the lock and releases it, and none stays asleep."""
    handed_over = {lock["name"]: lock["handoffs"] for lock in row["locks"]}
    assert handed_over == {"often": 30, "seldom": 10}
    for lock in row["locks"]:
        assert lock["left"] == 0
        assert lock["local"] + lock["remote"] == lock["handoff"]["count"] == lock["handoffs"]
        assert lock["hold_local"]["count"] == lock["local"]
        assert lock["hold_remote"]["count"] == lock["remote"]
        assert lock["taken_in"] == ["wait_for_it"]
        assert "wait_for_it" in lock["released_in"]
        assert len(lock["released_in"]) == 2
        if row["cpus"] == 1:
            assert lock["remote"] == 0
        if row["variant"] == "strict":
            assert lock["local"] > lock["remote"]
    # Another part of the plugin has counted the same.
    assert row["latencies"]["handoff"]["count"] == 40


def in_order(found: Trial) -> list[Row]:
    return [row for arm in ARMS for row in found.of_arm(arm.name)]


def test_known_hand_offs_of_named_locks(directory: Path) -> None:
    found = run(directory, "./two_locks")
    assert handoffs(found) == [{"often": 30, "seldom": 10}] * (len(ARMS) * len(QUANTA))
    for row in found.rows:
        assert (row["mechanism"] or {})["hint_set"] == (40 if row["variant"] == "strict" else 0)
        assert all(value(row, one.name) is not None for one in verdict.metrics(found))
        check_locks(row)
    assert found.uncontrolled == ""
    strict, adaptive = verdict.judge(found)
    # Each waiter did nothing but wait on another CPU; FAST lets it go on beside its lock. The time
    # is that of forty sleeps, by whose ends it may be said to help, or not.
    assert strict.kind in ("helps", "no difference")
    assert verdict.changes(found, "strict")["cycles"].side == "better"
    # So few hand-offs say nothing of what gathering would bring.
    assert adaptive.sentence.endswith(" It moved no thread.")
    again = run(directory, "./two_locks", attribute=True)
    # Attribution changes nothing.
    assert counters_digest(again.rows) == counters_digest(found.rows)
    for one in profile_trial(again, directory / "profile"):
        rows = again.of_arm(one.variant_name)
        assert one.runs == len(rows)
        for name in one.totals.keys() - {"stall_cycles"}:
            assert one.totals[name] == sum(row["counters"][name]["total"] for row in rows), name
        text = (directory / f"profile/{one.variant_name}.callgrind").read_text()
        # The program has lines of source, and was linked with what has none.
        assert re.search(r"^fl=.*two_locks\.c\nfn=main$", text, re.MULTILINE)
        assert re.search(r"^ob=.*/libc\.so\.6$", text, re.MULTILINE)
        assert re.search(r"^fn=try_to_wake_up$", text, re.MULTILINE)


@pytest.mark.usefixtures("twice")
def test_locks_with_priority_inheritance_are_left_alone(directory: Path) -> None:
    found = run(directory, "./two_locks", "inherit")
    for timed in found.timed:
        unlocks = {lock.name: lock.pi_unlocks for lock in timed.locks if lock.pi_unlocks}
        # Five waiters, each of which unlocks without knowing whether another thread waits.
        assert unlocks == {"inheriting": 10}
    verdicts = verdict.judge(found)
    assert verdicts[0].kind == "nothing to act on"
    (remark,) = verdict.remarks(found, verdicts)
    assert "priority inheritance, which the kernel unlocked 10 times a run" in remark


@pytest.mark.usefixtures("twice")
def test_it_is_known_where_locks_were_allocated(directory: Path) -> None:
    lines = SOURCE.read_text().splitlines()
    places = {
        name: f"{name}_owner (two_locks.c:{number})"
        for number, line in enumerate(lines, 1)
        for name in ("first", "second", "aligned")
        if line.endswith(f"\t/* {name} */")
    }
    found = run(directory, "./two_locks", "allocated", attribute=True)
    for row in found.rows:
        twice, once = row["locks"]
        assert (twice["handoffs"], once["handoffs"]) == (6, 3)
        assert twice["name"].startswith("heap+")
        assert twice["allocated_in"] == [places["first"], places["second"]]
        assert once["allocated_in"] == [places["aligned"]]
    unasked = run(directory, "./two_locks", "allocated")
    for row, known in zip(in_order(unasked), in_order(found), strict=True):
        assert all("allocated_in" not in lock for lock in row["locks"])
        # It costs the program nothing that its figures would tell.
        assert {**row, "key": 0, "duration": 0} == {
            **known,
            "key": 0,
            "duration": 0,
            "locks": [
                {name: value for name, value in lock.items() if name != "allocated_in"}
                for lock in known["locks"]
            ],
        }


def test_a_program_without_locks_gives_nothing_to_act_on(directory: Path, twice: int) -> None:
    found = run(directory, "./two_locks", "alone")
    assert handoffs(found) == [{}] * (len(ARMS) * twice)
    strict, adaptive = verdict.judge(found)
    assert strict.kind == "nothing to act on"
    assert adaptive.sentence.endswith(" It moved no thread.")


def test_a_program_that_fails_is_an_error_with_its_words(directory: Path) -> None:
    with pytest.raises(FastError) as caught:
        run(directory, "./two_locks", "fail")
    said = str(caught.value)
    assert f"{directory}/two_locks ended with status 3 with policy" in said
    assert "this is why" in said


def script(directory: Path, *lines: str) -> str:
    path = directory / "script"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return "./script"


def test_a_script_whose_command_is_missing_is_told_although_it_ends_well(
    tmp_path: Path, twice: int
) -> None:
    found = run(tmp_path, script(tmp_path, "no-such-command", "exit 0"))
    assert found.errors and found.errors.runs == found.errors.every == len(ARMS) * twice
    (line,) = found.errors.lines
    assert line.endswith("/script: 2: no-such-command: not found")


def test_the_end_of_a_failed_scripts_output_is_told(tmp_path: Path) -> None:
    with pytest.raises(FastError) as caught:
        run(tmp_path, script(tmp_path, "echo so far", "no-such-command", "exit 3"))
    said = str(caught.value).splitlines()
    assert "/script ended with status 3 with policy " in said[0]
    assert "no-such-command" in said[1]
    assert said[2:4] == ["the end of its output:", "so far"]


def test_a_program_that_hangs_is_ended(directory: Path) -> None:
    with pytest.raises(FastError, match=r"took longer than 3 s with policy .* \(--timeout\)"):
        run(directory, "./two_locks", "hang", seconds=3.0)


@pytest.mark.full
def test_a_program_with_markers_is_measured_by_them(tmp_path: Path) -> None:
    source = tmp_path / "marked.c"
    source.write_text(
        SOURCE.read_text()
        .replace("#include <pthread.h>", '#include <pthread.h>\n#include "roi.h"', 1)
        .replace(
            "\tfor (int i = 0; i < 40", "\troi_warmup();\n\troi_begin();\n\tfor (int i = 0; i < 8"
        )
        .replace("\treturn 0;\n}\n", "\troi_end();\n\treturn 0;\n}\n")
    )
    command = ["gcc", "-O2", f"-I{PROJECT}/userspace/roi", "-o", "marked", source, "-pthread"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = run(tmp_path, "./marked")
    assert found.marked
    assert handoffs(found) == [{"often": 6, "seldom": 2}] * (len(ARMS) * len(QUANTA))
    with pytest.raises(FastError, match="but did not pass them"):
        run(tmp_path, "./marked", "alone")


@pytest.mark.full
def test_xz_with_threads(tmp_path: Path) -> None:
    """A program of a third party: a verdict, and hand-offs that have a place."""
    xz = shutil.which("xz")
    if not xz:
        pytest.skip("xz is not installed (Debian package xz-utils)")
    text = random.Random(1).choices(b"abcdefgh     ", k=1 << 18)
    (tmp_path / "text").write_bytes(bytes(text))
    found = run(tmp_path, "xz", "-1", "-T4", "--block-size=32768", "-k", "-c", "text")
    for one in verdict.judge(found):
        assert one.sentence.startswith(f"Policy {one.policy} ")
    assert all((value(row, "instructions") or 0) > 10_000_000 for row in found.rows)
    for timed in found.timed:
        assert any(lock.handoffs and lock.name.startswith("heap") for lock in timed.locks)
        assert all(lock.program for lock in timed.locks)
