# SPDX-License-Identifier: GPL-2.0
"""On a real machine: runs that fail, and experiments that it cannot make."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from fake_machine import FAST, FakeMachine
from real_runs import CALIBRATION_RUNS, OFF, POLICIES, STRICT, execute, rows_of
from waiting import child_ends, kill_when

from fastlab.backend.host import only_user
from fastlab.base.model import FastError, Watchdogs
from fastlab.base.process import run_group
from fastlab.statistics.calibration import calibrate
from fastlab.statistics.paired import analyse

pytestmark = pytest.mark.usefixtures("few_blocks")


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("fails", "it ended with status 2: single_ctr: cannot make threads"),
        ("killed", "ended with status -9"),
        ("no-counts", "fast-stat wrote no counts"),
        ("two-rois", "2 regions of interest in one run"),
        ("doubtful", "more l2_misses than l2_references"),
    ],
)
def test_a_failed_run_is_a_row_and_is_made_again(
    machine: FakeMachine, mode: str, reason: str
) -> None:
    machine.boot(1, fast=True)
    machine.mode(f"at 4 {mode}")
    outcome = execute(machine)
    ends = ["ok"] * CALIBRATION_RUNS
    ends[3] = "failed"
    assert [row["status"] for row in outcome.dataset.rows] == ends
    assert reason in outcome.dataset.rows[3]["reason"]
    # Without the whole calibration no comparison begins, and nothing is claimed.
    assert calibrate(outcome.dataset).blocks is None
    assert any(reason in one.sentence for one in analyse(outcome.dataset).left_out)
    machine.mode("")
    again = execute(machine)
    assert {row["status"] for row in again.dataset.rows} == {"ok"}
    assert len(again.dataset.rows) == len(machine.runs()) - 1


def test_a_run_that_hangs_is_killed_with_its_children(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("at 3 hang")
    row = execute(machine, replace(POLICIES, watchdogs=Watchdogs(run=1.0))).dataset.rows[2]
    assert row["status"] == "failed"
    assert "watchdog: no end after 1 s" in row["reason"]
    # The child would sleep for a minute.
    assert row["duration"] < 45
    assert child_ends(machine.root)


def test_the_total_watchdog(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    with pytest.raises(FastError, match=r"longer than 0\.2 s in all; the \d+ rows written"):
        execute(machine, replace(POLICIES, watchdogs=Watchdogs(total=0.2)))
    assert rows_of(machine)
    assert machine.setting("policy") == "off"


def test_what_was_built_anew_meanwhile_ends_the_experiment(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    program = machine.toolbox.fast_stat
    machine.toolbox = replace(machine.toolbox, written={program: 1})
    with pytest.raises(FastError, match=f"^{program}: built anew while the experiment was measu"):
        execute(machine)
    assert rows_of(machine) == []
    machine.toolbox = replace(machine.toolbox, written={program: program.stat().st_mtime_ns})
    execute(machine)
    assert rows_of(machine)


def test_fast_that_never_fires_is_invalid(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    machine.mode("idle")
    found = analyse(execute(machine).dataset)
    (finding,) = found.of_metric("elapsed_ns")
    assert finding.verdict == "INVALID"
    assert "FAST never fired" in finding.reason


def test_a_kernel_that_lacks_what_a_variant_needs(machine: FakeMachine) -> None:
    with pytest.raises(FastError, match=r"runs on kernel fast, and the running kernel, 6\.12\.30"):
        execute(machine)
    machine.boot(1, fast=True)
    unknown = replace(STRICT, knobs={"width": 1})
    with pytest.raises(FastError, match=r"has no width in sched/fast; it has depth, opt_in, pol"):
        execute(machine, replace(POLICIES, variants=(OFF, unknown)))
    shutil.rmtree(machine.root / FAST)
    with pytest.raises(FastError, match=r"as root, mount debugfs: `mount -t debugfs debugfs /"):
        execute(machine)
    assert machine.runs() == []


def test_a_policy_that_the_kernel_does_not_know(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.boot(1, fast=True)
    machine.refuse(monkeypatch, "policy", "strict")
    with pytest.raises(FastError, match=r"policy cannot be set to strict: Invalid argument; it is"):
        execute(machine)
    assert machine.runs() == []


def test_policies_need_root(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.boot(1, fast=True)

    def refuse(path: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied")

    # Root may read everything, so the test gives the kernel's answer to other users.
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(FastError, match=r"sched/fast cannot be read: Permission denied; .* sudo"):
        execute(machine)
    assert machine.runs() == []


def test_one_experiment_at_a_time(machine: FakeMachine) -> None:
    machine.boot(1, fast=True)
    with (
        only_user(machine.root),
        pytest.raises(FastError, match="`fast try` is measuring on this machine"),
    ):
        execute(machine)
    assert machine.runs() == []


def test_what_a_killed_experiment_has_started_still_measures(machine: FakeMachine) -> None:
    child = machine.root / "child"
    # In the shell alone: a mv that has done its work and not ended would hold the lock, too.
    words = ["sh", "-c", f"echo $$ >{child}; exec sleep 60"]
    script = (
        "from pathlib import Path; from subprocess import DEVNULL\n"
        "from fastlab.backend.host import only_user; from fastlab.base.process import run_group\n"
        f"with only_user(Path({str(machine.root)!r})):\n"
        f"    run_group({words!r}, 60, cwd=Path(), stdout=DEVNULL)\n"
    )
    kill_when(lambda: child.exists() and bool(child.read_text()), script)
    left = int(child.read_text())
    with (
        pytest.raises(FastError, match="or a program that it started is still running"),
        only_user(machine.root),
    ):
        pass
    with os.fdopen(os.pidfd_open(left)) as ended:
        os.kill(left, signal.SIGKILL)
        select.select([ended], [], [], 60)
    with only_user(machine.root):
        pass


def test_what_was_left_behind_by_a_run_does_not_measure(machine: FakeMachine) -> None:
    child = machine.root / "child"
    with only_user(machine.root):
        words = ["sh", "-c", f"setsid sleep 60 & echo $! >{child}"]
        run_group(words, 60, cwd=Path(), stdout=subprocess.DEVNULL)
    try:
        with only_user(machine.root):
            pass
    finally:
        os.kill(int(child.read_text()), signal.SIGKILL)
