# SPDX-License-Identifier: GPL-2.0
"""`fast try` on the running kernel, on a fake machine: blocks, verdicts, and what goes wrong."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from fake_machine import FakeMachine
from heard import Heard
from test_this_machine import built

from fastlab.backend import host
from fastlab.backend.counting import Call, count_run
from fastlab.base.metrics import NAMED
from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.kernel import kernels
from fastlab.plan.paired_plan import BLOCK, ORDERS
from fastlab.plan.rows import value
from fastlab.statistics import calibration, significance
from fastlab.trial import on_kernel, verdict, verdict_tables
from fastlab.trial.given import Given
from fastlab.trial.on_kernel import BLOCKS, LATENCY_RUNS
from fastlab.trial.runs import POLICIES, Trial, TrialRequest
from fastlab.trial.subject import MARKER

RUNS = BLOCKS * BLOCK * len(POLICIES)
# The policy before: none of those that are tried.
FOUND = "soft"


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
    machine.set("policy", f"off strict [{FOUND}] adaptive")
    machine.set("opt_in", "Y")
    shutil.copyfile("/bin/true", tmp_path / "program")
    (tmp_path / "program").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(on_kernel, "Places", lambda: kernels.Places(tmp_path / "project"))
    monkeypatch.setattr(on_kernel, "build_programs", lambda project, reporter: build)
    monkeypatch.setattr(on_kernel, "run", partial(on_kernel.run, root=machine.root))
    return machine


def attempt(backend: str = "soft", seconds: float = 20.0) -> Trial:
    request = TrialRequest(("./program", "two words"), Path.cwd(), seconds, backend)
    return on_kernel.run(request, Heard())


def refusal(backend: str = "soft", seconds: float = 20.0) -> str:
    with pytest.raises(FastError) as caught:
        attempt(backend, seconds)
    return str(caught.value)


def cells(trial: Trial) -> dict[str, list[str]]:
    table = verdict_tables.tables(trial)[0]
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_help_is_told_with_its_evidence(machine: FakeMachine) -> None:
    found = attempt()
    verdicts = verdict.judge(found)
    for policy, one in zip(POLICIES, verdicts, strict=True):
        assert one.kind == "helps"
        said = rf"Policy {policy} helps this program: it takes (19\.9|20\.0) % \(95 % "
        assert re.match(said, one.sentence)
        assert "12 blocks, p = " in one.sentence
        assert "by the rank test 0.00049." in one.sentence
    (remark,) = verdict.remarks(found, verdicts)
    assert "The noise floor was not measured" in remark
    time = verdict.changes(found, "strict")["elapsed_ns"]
    assert time.middle == pytest.approx(19.9, abs=0.2)
    assert time.low == pytest.approx(19.8, abs=0.2)
    assert time.high == pytest.approx(20.0, abs=0.2)


def test_harm(machine: FakeMachine) -> None:
    machine.mode("slower")
    one, _ = verdict.judge(attempt())
    assert one.kind == "hurts"
    assert "strict hurts this program: it adds 9.9 % (95 % interval: 9.7 to 10.0)" in one.sentence


def test_no_difference(machine: FakeMachine) -> None:
    machine.mode("same")
    found = attempt()
    one, _ = verdict.judge(found)
    assert one.kind == "no difference"
    assert "has no measurable effect on this program's time (" in one.sentence
    assert "p = " in one.sentence
    # Both tests are needed.
    metric = NAMED["elapsed_ns"]
    blocks = calibration.Blocks(((1.0,), (2.0,)), (1.0, 2.0), (0.5,), None, "")
    for p, p_rank, side in ((0.01, 0.06, ""), (0.06, 0.01, ""), (0.01, 0.01, "worse")):
        assert (
            verdict._change(metric, blocks, significance.Test(0.5, 0.4, 0.6, p, p_rank), None).side
            == side
        )


def test_without_all_of_its_runs_there_is_no_answer(
    machine: FakeMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.mode("at 30 doubtful")
    assert main.main(["try", "--backend=soft", "--json=all.json", "--", "./program"]) == 3
    said = capsys.readouterr().out
    document = json.loads(Path("all.json").read_text())
    kinds = {one["policy"]: one["kind"] for one in document["verdicts"]}
    (policy,) = {row["pair"] for row in document["runs"] if row["status"] == "failed"}
    (other,) = set(POLICIES) - {policy}
    assert kinds == {policy: "not available", other: "helps"}
    assert (
        f"The effect of policy {policy} on this program's time is not available: 11 of 12 blocks "
        "are "
        "whole; more l2_misses than l2_references. Run it again.\n"
    ) in said
    assert "(n/a" not in said
    # What the other's runs say of off is shown.
    (time,) = [line for line in said.splitlines() if line.startswith(" time, ms")]
    assert time.count("n/a") == 2


def test_nothing_to_act_on_whatever_the_times_are(machine: FakeMachine) -> None:
    machine.mode("idle")
    one, adaptive = verdict.judge(attempt())
    assert adaptive.sentence.endswith(" It moved no thread.")
    assert one.kind == "nothing to act on"
    assert "no thread was woken by a lock's hand-off (hint_set = 0)" in one.sentence


@pytest.mark.parametrize("reads", ["aaa", "abb", "abc", ""])
def test_a_clock_that_adaptive_cannot_measure_with_is_said(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch, reads: str
) -> None:
    """It counts ticks if it stands still between two of three reads; one tick may come."""
    read = iter(reads)
    path = machine.root / "sys/kernel/debug/sched/debug"
    original = host._scheduler_clock

    def scheduler_clock(root: Path) -> str:
        if reads:
            head = f"Sched Debug Version: v0.11\nktime  : 1\nsched_clk : 5.{next(read)}\n"
            path.write_text(head + "cpu_clk : 5.1\n")
        return original(root)

    monkeypatch.setattr(host, "_scheduler_clock", scheduler_clock)
    said = io.StringIO()
    request = TrialRequest(("./program",), Path.cwd(), 20.0, "soft")
    on_kernel.run(request, PlainReporter(said))
    expected = reads in ("aaa", "abb")
    assert ("remark: the kernel's scheduler clock counts ticks" in said.getvalue()) == expected


def test_policies_take_turns_in_blocks(machine: FakeMachine) -> None:
    found = attempt()
    # Then come the latencies.
    policies = [run[1] for run in machine.runs() if len(run) == 3]
    assert [run[1:2] + run[3:] for run in machine.runs()[RUNS + 1 :]] == [
        ["off", "latency"],
        ["strict", "latency"],
        ["adaptive", "latency"],
    ] * LATENCY_RUNS
    # The first run only warms up.
    assert len(policies) == RUNS + 1
    assert policies[0] == "off"
    assert [row["variant"] for row in found.rows] == policies[1:]
    assert set(policies) == {"off", *POLICIES}
    orders = {
        tuple("AB"[policy != "off"] for policy in policies[i : i + BLOCK])
        for i in range(1, RUNS, BLOCK)
    }
    assert orders == set(ORDERS)
    # What was set before is put back.
    assert machine.setting("policy") == FOUND
    assert (machine.setting("depth"), machine.setting("opt_in")) == ("64", "1")


def test_what_is_shown(machine: FakeMachine) -> None:
    found = attempt()
    rows = cells(found)
    assert rows["L2 misses"] == ["n/a"] * 5
    assert rows["cycles, all CPUs together"] == ["n/a"] * 5
    assert rows["time on a CPU, all threads together, ms"][2].startswith("20.0 % (")
    assert rows["migrations"][0] != "n/a"
    metrics, mechanism, _, _ = verdict_tables.tables(found)
    assert metrics.title == (
        "./program 'two words': the whole program, on 6.12.30-fast #1 SMP, backend soft"
    )
    assert [[cell.text for cell in row] for row in mechanism.rows] == [
        [policy, "7", "7", "7"] for policy in POLICIES
    ]
    assert metrics.note.endswith(
        "no control onecpu: a program notices that the running kernel confines it."
    )
    assert any("cover the whole machine" in line for line in verdict_tables.doubts(found))


def test_latencies_and_their_locks(machine: FakeMachine) -> None:
    found = attempt()
    _, _, latencies, locks = verdict_tables.tables(found)
    assert [[cell.text for cell in row] for row in latencies.rows] == [
        ["off", "4.03 (4.01 to 4.04)", "4.03 (4.01 to 4.04)", "3", "9"],
        ["strict", "3.02 (3 to 3.04)", "3.02 (3 to 3.04)", "3", "9"],
        ["adaptive", "3.01 (3 to 3.03)", "3.01 (3 to 3.03)", "3", "9"],
    ]
    assert [[cell.text for cell in row[:4]] for row in locks.rows] == [
        ["heap+0x80", "0x4c8080", "90", "90.0 %"],
        ["other programs that the program started", "", "10", "10.0 %"],
    ]
    document = verdict_tables.document(found, [])
    assert [one["arm"] for one in document["latencies"]] == [
        "off",
        *POLICIES,
    ] * LATENCY_RUNS
    # The wakes were not counted.
    assert document["latencies"][0]["locks"][0]["wakes"] is None


def test_a_latency_that_is_not_available(machine: FakeMachine) -> None:
    machine.mode("no-tracefs")
    found = attempt()
    latencies = verdict_tables.tables(found)[2]
    assert not any("wake-up" in column for column in latencies.columns)
    assert latencies.note.endswith(" Wake-up, in 9 of 9 runs: tracefs cannot be used: denied.")
    assert latencies.rows[0][1].text != "n/a"
    machine.mode(f"at {2 * (RUNS + 1) + 3 * LATENCY_RUNS + 1} no-tracefs")
    latencies = verdict_tables.tables(attempt())[2]
    assert [cell.text for cell in latencies.rows[0]][3:] == ["3", "9"]
    assert latencies.note.endswith(" Wake-up, in 1 of 9 runs: tracefs cannot be used: denied.")


def test_locks_that_are_not_seen(machine: FakeMachine) -> None:
    machine.mode("no-mutexes")
    latencies = verdict_tables.tables(attempt())[2]
    assert not any("hand-off" in column for column in latencies.columns)
    reason = "Hand-off of a mutex, in 9 of 9 runs: no pthread mutex was seen."
    assert latencies.note.endswith(reason)


def test_no_hand_off_is_no_table_of_locks(machine: FakeMachine) -> None:
    machine.mode("uncontended")
    found = attempt()
    _, _, latencies = verdict_tables.tables(found)
    assert [[cell.text for cell in row[1:3]] for row in latencies.rows] == [["none"] * 2] * 3
    assert len(verdict.remarks(found, verdict.judge(found))) == 1


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("fails", "program ended with status 2 with policy strict: single_ctr: cannot make"),
        ("hang", "program took longer than 1 s with policy strict"),
        ("ends-badly", "program ended with status 3 with policy strict: (no error output"),
        ("no-counts", "program ended with status 0 with policy strict"),
    ],
)
def test_a_program_that_cannot_be_measured_so(machine: FakeMachine, mode: str, why: str) -> None:
    """What was counted is not lost."""
    machine.mode(f"at {RUNS + 3} {mode}")
    found = attempt(seconds=1.0)
    assert len(machine.runs()) == RUNS + 3
    *_, latencies, _ = verdict_tables.tables(found)
    assert [[cell.text for cell in row[3:]] for row in latencies.rows] == [
        ["3", "9"],
        ["n/a", "n/a"],
    ]
    assert "Wake-up, in 1 of 2 runs: under fast-latency " in latencies.note
    assert why in latencies.note
    verdicts = verdict.judge(found)
    assert verdicts[0].kind == "helps"
    _, remark = verdict.remarks(found, verdicts)
    assert "The locks behind the hand-offs are not available here" in remark
    assert machine.setting("policy") == FOUND


def test_hardware_counters(machine: FakeMachine) -> None:
    machine.mode("pmu")
    found = attempt("perf")
    rows = cells(found)
    assert rows["cycles, all CPUs together"][2].startswith("20.0 % (")
    # The first group of events, in every run, and what the kernel counts.
    assert rows["L2 misses"][0] != "n/a"
    assert rows["context switches"][0] != "n/a"
    assert rows["L3 references"] == ["n/a"] * 5
    assert any("on the measured CPUs: no cgroup." in line for line in verdict_tables.doubts(found))


def test_of_nothing_there_is_no_percentage(machine: FakeMachine) -> None:
    found = attempt()
    rows = tuple({**row, "migrations": 2 * (row["variant"] != "off")} for row in found.rows)
    assert cells(replace(found, rows=rows))["migrations"] == ["0", *["2", "-"] * 2]  # type: ignore[arg-type]


def test_markers_are_counted_by(machine: FakeMachine) -> None:
    attempt()
    counts = Path("project/build/try/soft/last-run/measured.json")
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
        ("meddle", r"FAST fired 14 times with policy off: another process"),
    ],
)
def test_a_run_that_says_nothing_is_an_error(machine: FakeMachine, mode: str, says: str) -> None:
    machine.mode(mode)
    said = refusal()
    assert says in said
    assert ("single_ctr: cannot make threads" in said) == ("fails" in mode)
    assert machine.setting("policy") == FOUND


def test_the_end_of_its_output_is_told_too(machine: FakeMachine) -> None:
    machine.mode("at 5 fails-late")
    said = refusal().splitlines()
    assert said[1:3] == ["no more", "the end of its output:"]
    assert said[3:13] == [str(number) for number in range(99991, 100001)]


def test_what_it_wrote_on_its_standard_error_is_told_after_success(machine: FakeMachine) -> None:
    machine.mode("at 5 warns")
    doubt = verdict_tables.doubts(attempt())[0]
    assert doubt.startswith("./program ended with status 0, but wrote to its standard error in ")
    assert f" in 1 of {RUNS} runs: " in doubt and doubt.endswith("\n    xz: not found")


def test_what_the_first_run_wrote_is_none_of_the_blocks(machine: FakeMachine) -> None:
    machine.mode("at 1 warns")
    assert attempt().errors is None


def test_a_status_is_ignored_if_asked(machine: FakeMachine) -> None:
    # Under fast-latency.
    machine.mode("ends-badly")
    assert not any(timed.figures for timed in attempt().timed)
    request = TrialRequest(("./program",), Path.cwd(), 20.0, "soft")
    request = replace(request, given=Given(ignore_status=True))
    assert all(timed.figures for timed in on_kernel.run(request, Heard()).timed)
    # fast-stat itself failed.
    machine.mode("fails")
    with pytest.raises(FastError, match="fast-stat wrote no counts"):
        on_kernel.run(request, Heard())


def test_input_and_environment(machine: FakeMachine) -> None:
    stat = Path("passes-on").absolute()
    stat.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    stat.chmod(0o755)
    Path("input").write_text("read, ")
    script = 'cat; echo "$NAME, $HOME"'
    call = Call(
        ["sh", "-c", script],
        20.0,
        False,
        "0",
        Path.cwd(),
        Path.cwd(),
        Path("input"),
        {"NAME": "a b"},
    )
    assert count_run(call, stat, "cycles", machine.root).exit_status == 0
    assert call.output.read_text() == f"read, a b, {os.environ['HOME']}\n"


def test_a_program_that_hangs(machine: FakeMachine) -> None:
    machine.mode("at 5 hang")
    said = refusal(seconds=1.0)
    assert "program took longer than 1 s with policy " in said
    assert "(--timeout)" in said
    assert machine.setting("policy") == FOUND


def test_an_ordinary_kernel(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr(on_kernel, "build_programs", build)
    machine.boot(2)
    said = refusal()
    assert "is not one with FAST: it was built without CONFIG_SCHED_FAST; boot a kernel" in said
    assert "leave --backend out" in said
    assert machine.runs() == []


def test_no_hardware_counters(machine: FakeMachine) -> None:
    assert "backend perf is not available here: fast-stat: no PMU" in refusal("perf")
    assert machine.runs() == []


@pytest.mark.parametrize(
    "option",
    [
        ("--cpus", "2"),
        ("--memory-mb", "64"),
        ("--preset", "rx4640"),
        ("--presets", "rx4640,epyc-milan"),
        ("--with", "/etc"),
        ("--with", "auto"),
        ("--date", "today"),
        ("--server", "true"),
    ],
)
def test_options_of_the_simulated_machine(
    machine: FakeMachine, option: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["try", "--backend", "soft", *option, "--", "./program"]) == 2
    said = capsys.readouterr().err
    assert f"{option[0]} describes the simulated machine, and backend soft runs" in said
    assert machine.runs() == []


def test_the_command(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["try", "--backend=soft", "--json=all.json", "--", "./program", "--json", "x"]
    assert main.main(words) == 0
    said = capsys.readouterr().out
    assert "./program --json x: the whole program, on 6.12.30-fast #1 SMP, backend soft" in said
    assert "Policy adaptive helps this program" in said
    assert "- Not available on this machine, so not checked: " in said
    document = json.loads(Path("all.json").read_text())
    one, _ = document["verdicts"]
    assert one["kind"] == "helps"
    assert one["changes"]["elapsed_ns"]["p_rank"] < 0.05
    assert one["changes"]["l2_misses"]["off"] is None
    assert len(document["runs"]) == RUNS
    assert document["runs"][0]["circumstances"]["environment"]["cpu"] == "Some CPU"
    assert document["backend"] == "soft"


def test_the_real_fast_stat(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its counts of a program without markers. What this kernel does not have is still fake."""
    build = built()
    monkeypatch.setattr(on_kernel, "build_programs", lambda project, reporter: build)
    found = attempt()
    assert len(found.rows) == RUNS
    for row in found.rows:
        assert row["elapsed_ns"]
        assert value(row, "task_clock")
        assert value(row, "context_switches") is not None
        assert value(row, "cycles") is None
    # No kernel with FAST counted anything.
    assert verdict.judge(found)[0].kind == "nothing to act on"
