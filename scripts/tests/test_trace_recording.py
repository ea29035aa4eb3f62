# SPDX-License-Identifier: GPL-2.0
"""Recordings are made: of a program, of a run, of a guest."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_machine import FakeMachine
from heard import Heard
from tracing import COUNTED, LINES, recording

from fastlab.base.model import FastError, Variant
from fastlab.cli import main
from fastlab.guest import vm
from fastlab.plan.experiment import load_experiment
from fastlab.trace import record_running, record_simulated
from fastlab.trace.recording import Loss, Recording, recording_of
from fastlab.trial.subject import MARKER

PROJECT = Path(__file__).resolve().parents[2]


def document(**changes: Any) -> str:
    """What fast-trace says of LINES."""
    return json.dumps({"mechanism": COUNTED, "maps": None, "buffer_kb": 64, "lost": [], **changes})


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """A kernel with FAST, and ./program in the current directory. What records says under which
    policy it does so, and hands over what is in LINES."""
    build = tmp_path / "build"
    machine = FakeMachine(tmp_path / "counters")
    fast = machine.root / "sys/kernel/debug/sched/fast"
    machine.boot(1, fast=True)
    machine.set("policy", "off strict [soft] adaptive")
    machine.set("opt_in", "Y")
    tools = {
        build / record_simulated.FAST_TRACE: f"""
            echo "$@" >> words
            test ! -d {fast} || cat {fast}/policy {fast}/opt_in >> settings
            test -e broken && exit 125
            test -e none && {{ : > "$4"; exit 126; }}
            test -e full && cp full "$4" || echo '{document()}' > "$4"
            touch "$2"
            test ! -e failing""",
        tmp_path / "bin/trace-cmd": "cat <<END\n" + "\n".join(LINES) + "\nEND",
    }
    for path, script in tools.items():
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    shutil.copyfile("/bin/true", tmp_path / "program")
    (tmp_path / "program").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(record_running, "build_programs", lambda project, reporter: build)
    monkeypatch.setattr(
        record_running, "record_program", partial(record_running.record_program, root=machine.root)
    )
    return machine


def test_a_program_under_each_policy(
    machine: FakeMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["trace", "--", "./program", "two words"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^ off +2 +1 +1 ", said, re.MULTILINE)
    assert re.search(r"^ strict +2 +1 +1 ", said, re.MULTILINE)
    directory = Path("results/trace-program")
    assert {path.name for path in directory.iterdir()} == {
        *(f"{policy}.{end}" for policy in ("off", "strict") for end in ("dat", "json", "pftrace")),
        "timeline.svg",
    }
    # Also a program that does not ask for FAST gets it.
    assert Path("settings").read_text().split() == ["off", "0", "strict", "0"]
    assert (machine.setting("policy"), machine.setting("opt_in")) == ("soft", "1")
    first = Path("words").read_text().splitlines()[0]
    assert (
        first == f"--output {directory}/off.dat --json {directory}/off.json -- ./program two words"
    )


def test_a_kernel_without_fast(machine: FakeMachine) -> None:
    machine.boot(2, fast=False)
    request = record_running.ProgramRequest(["./program"], Path("traces"))
    (found,) = record_running.record_program(request, Heard())
    assert (found.title, len(found.handoffs)) == ("kernel", 2)


def test_full_buffers(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    """CPU 1's last event is at 3500, CPU 0's at 3250: from then on it is not known what it does."""
    machine.boot(2, fast=False)
    lost = [{"cpu": 0, "events": 1200}]
    Path("full").write_text(document(lost=lost))
    assert main.main(["trace", "--buffer-kb", "64", "--", "./program"]) == 0
    assert "--buffer-kb 64 -- ./program" in Path("words").read_text()
    said = capsys.readouterr().out
    assert (
        "- kernel: 1,200 events are lost, from 0.00 ms after its begin on: the buffers of CPU 0 "
        "were full (64 KiB each). The table, timeline.svg and kernel.pftrace end there; kernel.dat "
        "has all that was kept. Larger buffers: --buffer-kb\n"
    ) in said
    assert "FAST decided about" not in said
    request = record_running.ProgramRequest(["./program"], Path("traces"))
    (found,) = record_running.record_program(request, Heard())
    assert found.events[-1].ns == 3250
    assert [(one.acquired, one.taken) for one in found.handoffs] == [(2500, True), (None, None)]


def test_the_first_full_buffer_counts() -> None:
    lost = [{"cpu": 1, "events": 5}, {"cpu": 0, "events": 7}]
    said = json.loads(document(lost=lost))
    found = recording_of("strict", recording().events, said, Path("/bin/true"))
    assert found.events[-1].ns == 3250
    assert found.lost == Loss(12, [0, 1], 64)
    whole = recording_of("strict", recording().events, json.loads(document()), Path("/bin/true"))
    assert (whole.events, whole.lost) == (recording().events, None)


def test_a_program_with_markers_is_recorded_between_them(machine: FakeMachine) -> None:
    with Path("program").open("ab") as file:
        file.write(MARKER)
    record_running.record_program(
        record_running.ProgramRequest(["./program"], Path("traces")), Heard()
    )
    assert "--roi -- ./program" in Path("words").read_text()


@pytest.mark.parametrize(
    ("prepare", "program", "complaint"),
    [
        ("broken", "./program", "nothing was recorded: fast-trace has said why"),
        ("none", "./program", "nothing was recorded: fast-trace has said why"),
        (
            "failing",
            "./program",
            "program ended with status 1; what was recorded is tra",
        ),
        ("", "./nowhere", "no such program"),
        ("traces", "./program", "traces: cannot be made: File exists; name another"),
    ],
)
def test_a_recording_that_fails(
    machine: FakeMachine, prepare: str, program: str, complaint: str
) -> None:
    if prepare:
        Path(prepare).touch()
    with pytest.raises(FastError, match=complaint):
        record_running.record_program(
            record_running.ProgramRequest([program], Path("traces")), Heard()
        )
    assert "soft" in machine.setting("policy")


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        ([], 2, "name either an experiment, as in fast trace experiments/demo.toml, or a program"),
        (["a.toml", "--", "true"], 2, "name either an experiment"),
        (["a.toml"], 1, "a.toml: No such file"),
        (["--run", "x", "--", "true"], 2, "--run applies to experiments"),
        (["--variants", "x", "--", "true"], 2, "--variants applies to experiments"),
    ],
)
def test_bad_usage(
    words: list[str], status: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["trace", *words]) == status
    assert complaint in capsys.readouterr().err


def test_a_run_of_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def record(request: record_simulated.TraceRequest, reporter: object) -> list[Recording]:
        asked.append(request)
        return [recording(mechanism={**COUNTED, "hint_mm": 1})]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(record_simulated, "record_experiment", record)
    words = ["trace", str(PROJECT / "experiments/demo.toml"), "--run", "single_ctr-16"]
    assert main.main([*words, "--variants", "onecpu,strict", "--buffer-kb", "8"]) == 0
    (request,) = asked
    assert [one.name for one in request.variants] == ["onecpu", "strict"]
    assert request.buffer_kb == 8
    assert request.directory == Path("results/demo/trace/single_ctr-16")
    assert "- strict: FAST decided about 2 woken threads by the trace, and about 3 by" in (
        capsys.readouterr().out
    )
    assert (request.directory / "timeline.svg").is_file()


DEMO = load_experiment(PROJECT / "experiments/demo.toml")


def test_what_is_recorded_by_default() -> None:
    assert record_simulated.pick_case(DEMO, None) == DEMO.cases[0]
    assert [one.name for one in record_simulated.pick_variants(DEMO, ())] == ["baseline", "strict"]


def test_what_was_asked_for() -> None:
    case = record_simulated.pick_case(DEMO, "doubly_list-16")
    assert (case.workload.benchmark, case.workload.threads) == ("doubly_list", 16)
    assert [one.name for one in record_simulated.pick_variants(DEMO, ("onecpu",))] == ["onecpu"]
    with pytest.raises(FastError, match=r"'single_ctr' of demo .*; known: single_ctr-4,"):
        record_simulated.pick_case(DEMO, "single_ctr")
    with pytest.raises(FastError, match=r"no variant 'soft' of demo.*; known: baseline, "):
        record_simulated.pick_variants(DEMO, ("soft",))


STRICT = Variant("strict", "fast", "strict")
SAID = ('{"check":"ok"}', '{"schema":1}', *(base64.b64encode(b"trace").decode(),))


def outcome(**changes: Any) -> vm.Outcome:
    good = vm.Outcome({}, {"check": "ok"}, {}, 0, (), 1.0, SAID)
    return replace(good, **changes)


def test_what_a_guest_hands_over(tmp_path: Path) -> None:
    found = record_simulated.handed_over(outcome(), STRICT, tmp_path)
    assert found == ({"schema": 1}, b"trace")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"exit_status": 125, "errors": ("fast-trace: no room",)}, "status 125: fast-trace: no ro"),
        ({"output": {"check": "failed"}}, "self-check says failed"),
        ({"output": None}, "self-check says None"),
        ({"output_lines": (*SAID[:2], "!")}, "the trace has not come whole"),
    ],
)
def test_a_guest_that_fails(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(FastError, match=f"strict: .*{complaint}") as raised:
        record_simulated.handed_over(outcome(**changes), STRICT, tmp_path)
    assert str(tmp_path) in str(raised.value)
