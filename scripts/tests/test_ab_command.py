# SPDX-License-Identifier: GPL-2.0
"""`fast ab`: one change of the kernel, one line of an answer, and an exit status."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
import samples
import test_trial
from test_trial import Lab, outcome

from fastlab.base.model import Recipe
from fastlab.cli import main
from fastlab.guest import vm
from fastlab.trial import in_simulation
from fastlab.trial.in_simulation import QUANTA

lab = test_trial.lab


@pytest.fixture(autouse=True)
def place(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lab.directory)
    lab.seconds = 600


def document(cycles: int, misses: int, wakeup: int) -> dict[str, Any]:
    """What a run counted."""
    made = samples.document(elapsed_cycles=cycles, l3_misses=misses)
    latency = {**made["latencies"]["wakeup"], "p99_ns": wakeup}
    return {**made, "latencies": {**made["latencies"], "wakeup": latency}, "futexes": []}


def answers(lab: Lab, cycles: int, misses: int, wakeup: int) -> None:
    """B, which is the arm with a feature, counts this; A 100,000 of each."""

    def answer(job: vm.Job, quantum: int) -> vm.Outcome:
        own = (cycles, misses, wakeup) if job.features else (100_000,) * 3
        # No two quanta count the same.
        shift = 1000 + QUANTA.index(quantum)
        return outcome(document=document(*(number * shift for number in own)), mechanism=None)

    lab.answer = answer


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    command = ["ab", "--feature", "NO_WAKE_AFFINE", *words, "--", "./program"]
    assert main.main(command) == status
    return capsys.readouterr().out


def test_the_answer_is_one_line(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    answers(lab, 97_000, 88_000, 108_000)
    lines = said(capsys).splitlines()
    assert lines[:2] == [
        "B takes 3.0 % less time than A, 12 % fewer misses, p99 wake-up +8 %.",
        "A: Linux 6.12. B: Linux 6.12, NO_WAKE_AFFINE.",
    ]
    assert {(job.features, job.fast.get("policy")) for job, *_ in lab.jobs} == {
        ((), None),
        (("NO_WAKE_AFFINE",), None),
    }
    # FAST has no part in it.
    assert not any("hint_set" in line or "onecpu" in line for line in lines)


def test_a_loss_and_no_difference_are_told(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    answers(lab, 110_000, 112_000, 90_000)
    line, *_ = said(capsys).splitlines()
    assert line == "B takes 10.0 % more time than A, 12 % more misses, p99 wake-up -10 %."
    answers(lab, 101_000, 100_000, 100_000)
    line, *_ = said(capsys).splitlines()
    assert line == "B takes 1.0 % more time than A (in the median below 2 %)."
    answers(lab, 100_000, 100_000, 100_000)
    line, *_ = said(capsys).splitlines()
    assert line == "B's time differs from A's by no more than run-to-run (+0.0 %)."


@pytest.mark.parametrize(
    ("cycles", "limit", "status"),
    [(97_000, "0", 0), (97_000, "5", 4), (104_000, "-5", 0), (104_000, "-3", 4), (100_000, "0", 0)],
)
def test_the_status_tells_whether_a_limit_is_met(
    lab: Lab, cycles: int, limit: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(lab, cycles, 100_000, 100_000)
    said(capsys, f"--fail-below={limit}", status=status)


def test_the_document_has_both_kernels(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    answers(lab, 97_000, 88_000, 108_000)
    said(capsys, "--json=all.json", "--kernel", "6.12", "--kernel", "linux@v7.3")
    found = json.loads((lab.directory / "all.json").read_text())
    assert found["baseline"] == "A"
    assert {arm: kernel["variant"] for arm, kernel in found["kernels"].items()} == {
        "A": "a",
        "B": "b",
    }
    (verdict,) = found["verdicts"]
    assert (verdict["kind"], verdict["sentence"][:26]) == ("helps", "B takes 3.0 % less time th")


def test_a_change_is_a_kernel_of_its_own(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def run(request: Any, reporter: object) -> None:
        asked.append(request.question)
        raise KeyboardInterrupt

    monkeypatch.setattr(in_simulation, "run", run)
    shutil.copy("/bin/true", lab.directory / "scx_simple")
    words = "--kernel 7.3 --patch a.patch --patch b --config CONFIG_HZ_300=y"
    assert main.main(["ab", *words.split(), "--", "./program"]) == 130
    assert main.main(["ab", "--scheduler", "./scx_simple -f", "--", "./program"]) == 130
    changed, scheduled = asked
    assert changed.kernels == (
        Recipe("a", "7.3"),
        Recipe("b", "7.3", ("a.patch", "b"), ("CONFIG_HZ_300=y",)),
    )
    # Both have sched_ext: the scheduler is the only difference.
    assert scheduled.kernels == (Recipe("a", "6.12", (), ("scx",)),)
    assert [arm.kernel for arm in scheduled.arms] == ["a", "a"]
    assert scheduled.arms[1].scheduler == ("./scx_simple", "-f")
    assert scheduled.words == "A: Linux 6.12. B: Linux 6.12, ./scx_simple -f."


def test_a_scheduler_is_in_the_guest(lab: Lab) -> None:
    shutil.copy("/bin/true", lab.directory / "scx_simple")
    assert main.main(["ab", "--scheduler", "./scx_simple -f", "--", "./program"]) == 0
    (image,) = lab.images
    assert b"scheduler-B\0" in image
    assert {tuple(job.scheduler) for job, *_ in lab.jobs} == {(), ("/scheduler-B", "-f")}


BAD = {
    "nothing": ([], 2, "A and B are the same: give --patch"),
    "the same kernel twice": (["--kernel", "6.12", "--kernel", "6.12"], 2, "are the same"),
    "three kernels": (["--kernel", "6.12"] * 3, 2, "--kernel is given 3 times"),
    "a feature": (["--feature", "no_x"], 2, "--feature no_x: allowed: names such as"),
    "a feature both ways": (
        ["--feature", "X", "--feature", "NO_X"],
        2,
        "X is given more",
    ),
    "a scheduler without an end": (["--scheduler", "a 'b"], 2, "No closing quotation; quote it"),
    "an empty scheduler": (
        ["--scheduler", "", "--feature", "NO_WAKE_AFFINE"],
        2,
        "--scheduler: '' is no command line: name a program",
    ),
    "an unknown scheduler": (
        ["--scheduler", "scx_no_such"],
        1,
        "arm B: scheduler: scx_no_such: no such program in PATH; install it, or give its path; a "
        "kernel's source has some in tools/sched_ext",
    ),
    "our scheduler, not built": (
        ["--scheduler", "scx_fast --"],
        1,
        "arm B: scheduler: scx_fast is not built: it needs clang 17 and libbpf 1.4, or newer",
    ),
    "a scheduler that is a script": (["--scheduler", "./script"], 1, "is no ELF program"),
}


@pytest.mark.parametrize(("words", "status", "message"), BAD.values(), ids=BAD.keys())
def test_bad_usage(
    lab: Lab,
    words: list[str],
    status: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = lab.directory / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert status_of(["ab", *words, "--", "./program"]) == status
    assert message in capsys.readouterr().err
    assert not lab.jobs


GIVEN = {
    "a server that is not there": (["--server", "no-such"], 1, "no-such: no such program in PATH"),
    "an empty server": (["--server", " "], 2, "--server: ' ' is no command line: name a program"),
    "a server without an end": (["--server", "a 'b"], 2, "No closing quotation; quote it as for"),
    "an input that is not there": (["--stdin", "no-such"], 1, "no-such: no such file; --stdin"),
    "an input that is a directory": (["--stdin", "/"], 1, "/: is not a file; --stdin takes the"),
    "a variable without a value": (["--env", "X"], 2, "--env: 'X' is not NAME=VALUE"),
    "a date that is none": (["--date", "2026-02-30"], 2, "nor a day such as 2026-01-31"),
    "a file that is not there": (["--with", "no-such"], 1, "no-such: no such file for the guest"),
    "a machine that is not there": (["--presets", "epyc-milan,x"], 2, "--presets x: there is no"),
    "a machine that is too small": (["--memory-mb", "1"], 1, "add memory (--memory-mb)"),
    "a limit that is no number": (["--fail-below", "2%"], 2, "'2%' is not a finite number"),
}


@pytest.mark.parametrize(("words", "status", "message"), GIVEN.values(), ids=GIVEN.keys())
def test_what_the_program_cannot_be_given(
    lab: Lab,
    words: list[str],
    status: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["ab", "--feature", "NO_WAKE_AFFINE", *words, "--", "./program"]
    assert status_of(command) == status
    assert message in capsys.readouterr().err
    assert not lab.jobs


def status_of(command: list[str]) -> int:
    try:
        return main.main(command)
    except SystemExit as refused:
        assert isinstance(refused.code, int)
        return refused.code


def test_a_scheduler_that_fails_to_load_is_told(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy("/bin/true", lab.directory / "scx_simple")

    def answer(job: vm.Job, quantum: int) -> vm.Outcome:
        words = ("init: the scheduler of /scheduler-B did not last", "scx: load: Invalid argument")
        return outcome(exit_status=126, errors=words) if job.scheduler else outcome()

    lab.answer = answer
    assert main.main(["ab", "--scheduler", "./scx_simple", "--", "./program"]) == 1
    told = capsys.readouterr().err
    assert "did not last" in told and "scx: load: Invalid argument" in told


def test_a_program_that_ends_at_once_is_doubted(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.answer = lambda job, quantum: outcome(document=document(1500, 1, 1), mechanism=None)
    assert "./program ends after 0.0015 ms: most of that is its start" in said(capsys)
