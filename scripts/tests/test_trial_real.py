# SPDX-License-Identifier: GPL-2.0
"""`fast try` on the running kernel, on a fake machine: blocks, verdicts, and what goes wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from fake_machine import FakeMachine
from test_real import built
from test_run import Silent

from fastlab import cli, kernels, trial_real, verdict_real
from fastlab.dataset import BLOCK, ORDERS
from fastlab.model import FastError
from fastlab.subject import MARKER
from fastlab.trial_real import BLOCKS, LATENCY_RUNS, Request, Trial

RUNS = BLOCKS * BLOCK
# What kernel.sched_fast is before: none of the policies that are tried.
FOUND = 2


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """A FAST kernel, and ./program in the current directory."""
    build = tmp_path / "project/build/user"
    counters = build / "userspace/counters"
    counters.mkdir(parents=True)
    machine = FakeMachine(counters)
    machine.boot(1, fast=True)
    (build / "userspace/latency").symlink_to("counters")
    (counters / "libfast-handoff.so").touch()
    (machine.root / "proc/sys/kernel/sched_fast").write_text(f"{FOUND}\n")
    shutil.copyfile("/bin/true", tmp_path / "program")
    (tmp_path / "program").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trial_real, "Places", lambda: kernels.Places(tmp_path / "project"))
    monkeypatch.setattr(trial_real, "build_programs", lambda project, reporter: build)
    monkeypatch.setattr(trial_real, "run", partial(trial_real.run, root=machine.root))
    return machine


def attempt(backend: str = "soft", seconds: float = 20.0) -> Trial:
    request = Request(("./program", "two words"), backend, seconds, Path.cwd())
    return trial_real.run(request, Silent())


def refusal(backend: str = "soft", seconds: float = 20.0) -> str:
    with pytest.raises(FastError) as caught:
        attempt(backend, seconds)
    return str(caught.value)


def cells(trial: Trial) -> dict[str, list[str]]:
    table = verdict_real.tables(trial)[0]
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_help_is_told_with_its_evidence(machine: FakeMachine) -> None:
    found = attempt()
    (one,) = verdict_real.judge(found)
    assert one.kind == "helps"
    assert one.sentence.startswith("FAST helps this program: policy strict takes 19.9 % (95 % ")
    assert "12 blocks, p = " in one.sentence
    assert "by the rank test 0.00049." in one.sentence
    assert "The noise floor was not measured" in one.sentence
    assert "leave --backend out" not in one.sentence
    time = verdict_real.changes(found, "strict")["elapsed_ns"]
    assert time.improvement_pct == pytest.approx(19.9, abs=0.1)
    assert time.low == pytest.approx(19.8, abs=0.2)
    assert time.high == pytest.approx(20.0, abs=0.2)


def test_harm(machine: FakeMachine) -> None:
    machine.mode("slower")
    (one,) = verdict_real.judge(attempt())
    assert one.kind == "hurts"
    assert "policy strict adds 9.9 % (95 % interval: 9.8 to 10.1) to its time; " in one.sentence


def test_no_difference(machine: FakeMachine) -> None:
    machine.mode("same")
    found = attempt()
    (one,) = verdict_real.judge(found)
    assert one.kind == "no difference"
    assert "can be told from noise: with policy strict it improves by " in one.sentence
    assert "p = " in one.sentence
    # Both tests are needed.
    time = verdict_real.changes(found, "strict")["elapsed_ns"]
    assert replace(time, p=0.01, p_rank=0.06).side == ""
    assert replace(time, p=0.06, p_rank=0.01).side == ""
    assert replace(time, p=0.01, p_rank=0.01).side


def test_nothing_to_act_on_whatever_the_times_are(machine: FakeMachine) -> None:
    machine.mode("idle")
    (one,) = verdict_real.judge(attempt())
    assert one.kind == "nothing to act on"
    assert "no thread was woken by a lock's hand-off (hint_set = 0)" in one.sentence


def test_policies_take_turns_in_blocks(machine: FakeMachine) -> None:
    found = attempt()
    # Then come the latencies.
    policies = [run[1] for run in machine.runs() if len(run) == 3]
    assert [run[1:2] + run[3:] for run in machine.runs()[RUNS + 1 :]] == [
        ["0", "latency"],
        ["1", "latency"],
    ] * LATENCY_RUNS
    # The first run only warms up.
    assert len(policies) == RUNS + 1
    assert policies[0] == "0"
    assert ["01"[shot.policy == "strict"] for shot in found.shots] == policies[1:]
    orders = {
        tuple("AB"[policy == "1"] for policy in policies[i : i + BLOCK])
        for i in range(1, RUNS, BLOCK)
    }
    assert orders == set(ORDERS)
    # What was set before is put back.
    assert machine.sysctl("sched_fast") == FOUND
    assert machine.sysctl("sched_fast_depth") == 64


def test_what_is_shown(machine: FakeMachine) -> None:
    found = attempt()
    rows = cells(found)
    assert rows["L2 misses"] == ["n/a", "n/a", "n/a"]
    assert rows["cycles"] == ["n/a", "n/a", "n/a"]
    assert rows["time on a CPU, all threads together, ns"][2].startswith("19.9 % (")
    assert rows["migrations"][0] != "n/a"
    metrics, mechanism, _, _ = verdict_real.tables(found)
    assert metrics.title == (
        "./program 'two words': all of it, on 6.12.30-fast #1 SMP, backend soft"
    )
    assert [cell.text for cell in mechanism.rows[0]] == ["sum of 24 runs", "168", "168", "168"]
    assert any("of the whole machine" in line for line in verdict_real.doubts(found))


def test_latencies_and_their_locks(machine: FakeMachine) -> None:
    found = attempt()
    _, _, latencies, locks = verdict_real.tables(found)
    assert [cell.text for cell in latencies.rows[0]] == [
        *("hand-off of a mutex", "4.02 (4 to 4.04)", "4.02 (4 to 4.04)"),
        *("3.01 (3 to 3.03)", "3.01 (3 to 3.03)"),
    ]
    assert [cell.text for cell in latencies.rows[1]][1:3] == ["3 (3 to 3)", "9 (9 to 9)"]
    assert [[cell.text for cell in row[:4]] for row in locks.rows] == [
        ["heap+0x80", "0x4c8080", "90", "90.0 %"],
        ["other programs that it started", "", "10", "10.0 %"],
    ]
    document = verdict_real.document(found, [])
    assert [one["policy"] for one in document["latencies"]] == ["off", "strict"] * LATENCY_RUNS
    # Nobody counted them.
    assert document["latencies"][0]["locks"][0]["wakes"] is None


def test_a_latency_that_is_not_available(machine: FakeMachine) -> None:
    machine.mode("no-tracefs")
    found = attempt()
    latencies = verdict_real.tables(found)[2]
    assert [cell.text for cell in latencies.rows[1]] == ["wake-up", *["n/a"] * 4]
    assert latencies.note.endswith(" Wake-up, in 6 of 6 runs: tracefs cannot be used: denied.")
    assert latencies.rows[0][1].text != "n/a"
    machine.mode(f"at {2 * (RUNS + 1) + 2 * LATENCY_RUNS + 1} no-tracefs")
    latencies = verdict_real.tables(attempt())[2]
    assert [cell.text for cell in latencies.rows[1]][1:3] == ["3 (3 to 3)", "9 (9 to 9)"]
    assert latencies.note.endswith(" Wake-up, in 1 of 6 runs: tracefs cannot be used: denied.")


def test_no_hand_off_is_no_table_of_locks(machine: FakeMachine) -> None:
    machine.mode("uncontended")
    found = attempt()
    _, _, latencies = verdict_real.tables(found)
    assert [cell.text for cell in latencies.rows[0]][1:] == ["none"] * 4
    assert "leave --backend out" not in verdict_real.judge(found)[0].sentence


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("fails", "program ended with status 2 with policy strict: single_ctr: cannot make"),
        ("hang", "program took longer than 1 s with policy strict"),
        ("ends-badly", "program ended with status 3 with policy strict: (it said nothing"),
        ("no-counts", "program ended with status 0 with policy strict"),
    ],
)
def test_a_program_that_cannot_be_measured_so(machine: FakeMachine, mode: str, why: str) -> None:
    """What was counted is not lost."""
    machine.mode(f"at {RUNS + 3} {mode}")
    found = attempt(seconds=1.0)
    assert len(machine.runs()) == RUNS + 3
    *_, latencies, _ = verdict_real.tables(found)
    assert [cell.text for cell in latencies.rows[1]] == [
        *("wake-up", "3 (3 to 3)", "9 (9 to 9)", "n/a", "n/a")
    ]
    assert "Wake-up, in 1 of 2 runs: under fast-latency " in latencies.note
    assert why in latencies.note
    (one,) = verdict_real.judge(found)
    assert one.kind == "helps"
    assert "which locks the hand-offs come from is not available here" in one.sentence.lower()
    assert machine.sysctl("sched_fast") == FOUND


def test_hardware_counters(machine: FakeMachine) -> None:
    machine.mode("pmu")
    found = attempt("perf")
    rows = cells(found)
    assert rows["cycles"][2].startswith("19.9 % (")
    # The first group of events, in every run, and what the kernel counts.
    assert rows["L2 misses"][0] != "n/a"
    assert rows["context switches"][0] != "n/a"
    assert rows["L3 references"] == ["n/a", "n/a", "n/a"]
    assert any(
        "others may have run on these: no cgroup." in line for line in verdict_real.doubts(found)
    )


def test_of_nothing_there_is_no_percentage(machine: FakeMachine) -> None:
    found = attempt()
    shots = []
    for shot in found.shots:
        migrations = {**shot.counters["migrations"], "total": 2 * (shot.policy == "strict")}
        shots.append(replace(shot, counters={**shot.counters, "migrations": migrations}))  # type: ignore[dict-item]
    assert cells(replace(found, shots=tuple(shots)))["migrations"] == ["0", "2", "-"]


def test_markers_are_counted_by(machine: FakeMachine) -> None:
    attempt()
    counts = Path("project/build/try/soft/measured.json")
    assert json.loads(counts.read_text())["regions"] is None
    with Path("program").open("ab") as file:
        file.write(MARKER)
    assert attempt().marked
    assert json.loads(counts.read_text())["regions"] == 1
    # In a script they would be text.
    Path("program").write_bytes(b"#!/bin/sh\n" + MARKER)
    assert not attempt().marked


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("at 5 fails", "program ended with status 2 with policy "),
        ("at 5 killed", "program ended with status -9 with policy "),
        ("at 5 no-counts", "fast-stat wrote no counts"),
        ("at 1 fails", "program ended with status 2 with policy off\nsingle_ctr: cannot make"),
        ("meddle", r"FAST fired 14 times with policy off: something else"),
    ],
)
def test_a_run_that_says_nothing_is_an_error(machine: FakeMachine, mode: str, says: str) -> None:
    machine.mode(mode)
    said = refusal()
    assert says in said
    assert ("single_ctr: cannot make threads" in said) == ("fails" in mode)
    assert machine.sysctl("sched_fast") == FOUND


def test_a_program_that_hangs(machine: FakeMachine) -> None:
    machine.mode("at 5 hang")
    said = refusal(seconds=1.0)
    assert "program took longer than 1 s with policy " in said
    assert "(--timeout)" in said
    assert machine.sysctl("sched_fast") == FOUND


def test_an_ordinary_kernel(machine: FakeMachine) -> None:
    machine.boot(2)
    said = refusal()
    assert (
        "6.12.30, is not one with FAST: it has no sysctl kernel.sched_fast; boot a kernel" in said
    )
    assert "leave --backend out" in said
    assert machine.runs() == []


def test_no_hardware_counters(machine: FakeMachine) -> None:
    assert "backend perf is not available here: fast-stat: no PMU" in refusal("perf")
    assert machine.runs() == []


@pytest.mark.parametrize(
    "option",
    [("--cpus", "2"), ("--memory-mb", "64"), ("--preset", "rx4640"), ("--with", "/etc")],
)
def test_options_of_the_simulated_machine(
    machine: FakeMachine, option: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["try", "--backend", "soft", *option, "--", "./program"]) == 1
    said = capsys.readouterr().err
    assert f"{option[0]} is about the simulated machine; backend soft runs" in said
    assert machine.runs() == []


def test_the_command(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["try", "--backend=soft", "--json=all.json", "--", "./program", "--json", "x"]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "./program --json x: all of it, on 6.12.30-fast #1 SMP, backend soft" in said
    assert "FAST helps this program" in said
    assert "- Not available on this machine, so not checked: " in said
    document = json.loads(Path("all.json").read_text())
    (one,) = document["verdicts"]
    assert one["kind"] == "helps"
    assert one["changes"]["elapsed_ns"]["p_rank"] < 0.05
    assert one["changes"]["l2_misses"]["off"] is None
    assert len(document["runs"]) == RUNS
    assert document["runs"][0]["circumstances"]["environment"]["cpu"] == "Some CPU"
    assert document["backend"] == "soft"


def test_the_real_fast_stat(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its counts of a program without markers. What this kernel does not have is still fake."""
    build = built()
    monkeypatch.setattr(trial_real, "build_programs", lambda project, reporter: build)
    found = attempt()
    assert len(found.shots) == RUNS
    for shot in found.shots:
        assert shot.elapsed_ns > 0
        assert shot.value("task_clock")
        assert shot.value("context_switches") is not None
        assert shot.value("cycles") is None
    # No kernel with FAST counted anything.
    assert verdict_real.judge(found)[0].kind == "nothing to act on"
