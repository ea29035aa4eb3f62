# SPDX-License-Identifier: GPL-2.0
"""run-tests counts what there is, and never takes a tool that broke for a tool that passed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).resolve()
SCRIPT = HERE.parents[1] / "run-tests"
JUNIT = """<testsuites><testsuite>
<testcase classname="a" name="good"/>
<testcase classname="a" name="bad"><failure message="1 != 2&#10;more"/></testcase>
<testcase classname="a" name="broken"><error message="no fixture"/></testcase>
<testcase classname="a" name="left out"><skipped message="no clang"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def run_tests(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader = SourceFileLoader("run_tests", str(SCRIPT))
    spec = spec_from_loader("run_tests", loader)
    assert spec
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run_tests", module)
    loader.exec_module(module)
    return module


def outcomes(run_tests: ModuleType, path: Path, status: int) -> list[tuple[str, str]]:
    return [(case.outcome, case.reason) for case in run_tests.junit("stage", path, status)]


def test_every_case_counts_once(run_tests: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(JUNIT)
    assert outcomes(run_tests, path, 1) == [
        ("passed", ""),
        ("failed", "1 != 2\nmore"),
        ("failed", "no fixture"),
        ("skipped", "no clang"),
    ]


def test_a_program_says_why_it_skips_a_case(run_tests: ModuleType, tmp_path: Path) -> None:
    """Meson's file has its output, and no reason."""
    path = tmp_path / "junit.xml"
    path.write_text(
        """<testsuites><testsuite><testcase name="1 - fine"/>
        <testcase name="2 - not here"/><testcase name="3 - loud"/>
        <testcase name="4 - silent"><skipped/></testcase>
        <system-out>1..4\nok 1 - fine\n# left out: one CPU only\nok 2 - not here
        # so it is\nok 3 - loud\nok 4 - silent # SKIP</system-out></testsuite>
        <testsuite><testcase name="spread"><skipped/>
        <system-out>begins\nCPU 0 is none of this process\n</system-out></testcase>
        <testcase name="crowded"><skipped/>
        <system-err>no real-time scheduling here\n</system-err></testcase>
        <testcase name="mute"><skipped/></testcase></testsuite></testsuites>"""
    )
    assert outcomes(run_tests, path, 0) == [
        ("passed", ""),
        ("skipped", "one CPU only"),
        ("passed", ""),
        ("skipped", ""),
        ("skipped", "CPU 0 is none of this process"),
        ("skipped", "no real-time scheduling here"),
        ("skipped", ""),
    ]


def test_unittest_says_what_it_skips(run_tests: ModuleType, tmp_path: Path) -> None:
    """As it really does: one with a docstring, one that has parts, and a whole class."""
    program, path = tmp_path / "test_some.py", tmp_path / "junit.xml"
    program.write_text(
        """import unittest
class Some(unittest.TestCase):
    def test_fine(self): "It is (fine)."
    def test_told(self):
        "It needs one (or two) CPUs."
        self.skipTest("one CPU: 'cpu0'")
    def test_parts(self):
        for part in "a", "b":
            with self.subTest(part=part):
                part == "a" or self.skipTest("no b\\nhere")
@unittest.skip("not root")
class All(unittest.TestCase):
    def test_all(self): pass
unittest.main(verbosity=2)
"""
    )
    done = subprocess.run([sys.executable, program], text=True, stderr=subprocess.PIPE)
    suite = ElementTree.Element("testsuite")
    case = ElementTree.SubElement(suite, "testcase", name="some")
    ElementTree.SubElement(case, "system-err").text = done.stderr
    ElementTree.ElementTree(suite).write(path)
    cases = [(one.name, one.outcome, one.reason) for one in run_tests.junit("gcc", path, 0)]
    assert cases == [
        ("gcc:  some", "passed", ""),
        ("gcc:  some test_all", "skipped", "not root"),
        ("gcc:  some test_parts", "skipped", r"no b\nhere"),
        ("gcc:  some test_told", "skipped", "one CPU: 'cpu0'"),
    ]


def test_a_tool_that_failed_without_a_failed_case_is_one(
    run_tests: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "junit.xml"
    path.write_text('<testsuites><testcase name="good"/></testsuites>')
    assert outcomes(run_tests, path, 3) == [("passed", ""), ("failed", "status 3")]


def test_a_program_that_ended_between_its_cases_is_named(
    run_tests: ModuleType, tmp_path: Path
) -> None:
    race = "SUMMARY: ThreadSanitizer: data race a.c:7 in f"
    path, ends = tmp_path / "junit.xml", tmp_path / "testlog.json"
    path.write_text(
        """<testsuites><testcase classname="p.told" name="1"><failure/></testcase>
        <testcase classname="p.race" name="1"/></testsuites>"""
    )
    rows: list[dict[str, object]] = [
        {"name": "p:s / fine", "result": "OK", "returncode": 0},
        {"name": "p:s / left out", "result": "SKIP", "returncode": 77},
        {"name": "p:s / told", "result": "FAIL", "returncode": 1},
        {"name": "p:s / race", "result": "ERROR", "returncode": 66, "stderr": f"=\n{race}\n="},
        {"name": "p / hung", "result": "TIMEOUT", "returncode": -15},
    ]
    ends.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    failed = [
        (case.name, case.reason)
        for case in run_tests.junit("tsan", path, 3, ends)
        if case.outcome == "failed"
    ]
    assert failed == [
        ("tsan: p.told 1", ""),
        ("tsan: race", f"ERROR, status 66: {race}"),
        ("tsan: hung", "TIMEOUT, status -15"),
    ]


@pytest.mark.parametrize("status", [-9, 0])
@pytest.mark.parametrize("content", [None, "", JUNIT[:90]])
def test_a_tool_that_died_is_a_failed_case(
    run_tests: ModuleType, tmp_path: Path, content: str | None, status: int
) -> None:
    """And so is one that says that it did not, and has told of no case."""
    path = tmp_path / "junit.xml"
    if content is not None:
        path.write_text(content)
    ((outcome, reason),) = outcomes(run_tests, path, status)
    assert outcome == "failed"
    assert reason.startswith(f"status {status}, {path}")


def test_a_selection_may_have_no_tests(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    for status, outcomes in ((5, []), (0, ["failed"])):
        monkeypatch.setattr(run_tests, "run", lambda command, status=status: status)
        assert [case.outcome for case in run_tests.python("none")] == outcomes


def test_a_program_that_is_not_there_is_a_failed_case(
    run_tests: ModuleType, tmp_path: Path
) -> None:
    case = run_tests.check("lint", [tmp_path / "no-such-program"])
    assert (case.outcome, case.reason) == ("failed", "status 127")


def test_each_model_is_a_case(
    run_tests: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(run_tests, "BUILD", tmp_path)
    (none,) = run_tests.models()
    assert (none.outcome, none.reason) == ("failed", "none has been built")
    for name, status in (("queues/model-good", 0), ("workers/model-bad", 1)):
        program = tmp_path / "gcc/subprojects/intervals/models" / name
        program.with_name(f"{program.name}.p").mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho {name} had $1\nexit {status}\n")
        program.chmod(0o755)
    assert {case.name: case.outcome for case in run_tests.models()} == {
        "model-good 1000000": "passed",
        "model-bad 1000000": "failed",
    }
    assert "queues/model-good had 1000000" in capsys.readouterr().out


def summarised(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, stages: list[Any], *words: str
) -> int:
    """The status of run-tests with these stages."""
    monkeypatch.setattr(sys, "argv", ["run-tests", *words])
    monkeypatch.setattr(run_tests, "stages", lambda full: stages)
    status: int = run_tests.main()
    return status


@pytest.mark.parametrize(
    ("cases", "status", "last"),
    [
        ([("a", "passed"), ("b", "passed")], 0, "2 passed, 0 failed, 0 skipped"),
        ([("a", "passed"), ("b", "skipped")], 0, "1 passed, 0 failed, 1 skipped"),
        ([("a", "failed"), ("b", "passed")], 1, "1 passed, 1 failed, 0 skipped"),
    ],
)
def test_the_last_line_counts_and_the_status_tells(
    run_tests: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cases: list[tuple[str, Any]],
    status: int,
    last: str,
) -> None:
    made = [run_tests.Case(name, outcome, "because") for name, outcome in cases]
    one = run_tests.Stage("one", 2, None, lambda: iter(made[:1]))
    slow = run_tests.Stage("slow", -1, None, lambda: iter(made[1:]))
    assert summarised(run_tests, monkeypatch, [one, slow]) == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == last
    # No stage fails that takes longer than its budget.
    assert lines[-4:-1] == [
        "  0.0 of   2.0 minutes: one",
        "  0.0 of  -1.0 minutes: slow OVER",
        "  0.0 of   1.0 minutes",
    ]
    named = [f"{case.outcome}: {case.name}: because" for case in made if case.outcome != "passed"]
    assert [line for line in lines if "because" in line] == named


@pytest.mark.parametrize(
    ("words", "run"),
    [
        ((), ["sources", "model", "library"]),
        (("laboratory",), ["sources", "model"]),
        (("runtime",), ["sources", "library"]),
    ],
)
def test_a_door_has_stages_of_its_own(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], run: list[str]
) -> None:
    made: list[str] = []

    def stage(name: str, door: str | None) -> object:
        def cases() -> list[Any]:
            made.append(name)
            return []

        return run_tests.Stage(name, 1, door, cases)

    monkeypatch.setattr(run_tests, "touched", lambda: "laboratory")
    doors = {"sources": None, "model": "laboratory", "library": "runtime"}
    stages = [stage(name, door) for name, door in doors.items()]
    assert summarised(run_tests, monkeypatch, stages, *words) == 0
    assert made == run


@pytest.mark.parametrize(
    ("files", "order"),
    [
        (["userspace/intervals/src/idle.c"], [None, None, "runtime", "laboratory"]),
        (
            ["userspace/intervals/src/idle.c", "README.md"],
            [None, None, "laboratory", "runtime"],
        ),
        ([], [None, None, "laboratory", "runtime"]),
    ],
)
def test_the_touched_door_comes_first(
    run_tests: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    files: list[str],
    order: list[str | None],
) -> None:
    def git(*words: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *names, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    git("commit", "--allow-empty", "-m", "first")
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    git("add", ".")
    git("commit", "--allow-empty", "-m", "second")
    monkeypatch.setattr(run_tests, "PROJECT", tmp_path)
    doors = ["laboratory", None, "runtime", None]
    stages = [run_tests.Stage("one", 1, door, list) for door in doors]
    assert [stage.door for stage in run_tests.chosen(stages, None)] == order


def test_no_door_of_another_name(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        summarised(run_tests, monkeypatch, [], "kitchen")
    assert "'kitchen' (choose from 'laboratory', 'runtime')" in capsys.readouterr().err


def test_suites_that_are_left_out_are_there(run_tests: ModuleType) -> None:
    """Of a name that no test has Meson says nothing, and leaves out nothing."""
    files = [path.read_text() for path in SCRIPT.parents[1].glob("[ms]*/**/meson.build")]
    files += [path.read_text() for path in SCRIPT.parents[1].glob("userspace/**/meson.build")]
    suites = {name for text in files for name in re.findall(r"\bsuite: .*", text)}
    named = {name for words in suites for name in re.findall(r"'([\w-]+)'", words)}
    left_out = {suite for _, suites in run_tests.SANITIZERS.values() for suite in suites}
    assert left_out <= named


@pytest.mark.parametrize("full", [False, True])
def test_a_sanitizer_runs_what_it_is_for(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    chosen: list[tuple[str, ...]] = []
    monkeypatch.setattr(run_tests, "configured", lambda *words: 0)
    monkeypatch.setattr(run_tests, "tested", lambda *words: chosen.append(words) or ())
    assert list(run_tests.sanitized("tsan", "--suite=x", full)) == []
    ((build, door, *without),) = chosen
    assert (build, door) == ("tsan", "--suite=x")
    assert ("--no-suite=variant" in without, "--no-suite=cachesim" in without) == (
        not full,
        not full,
    )


def test_a_build_that_cannot_be_set_up_is_a_failed_case(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_tests, "BUILD", tmp_path)
    monkeypatch.setattr(run_tests, "run", lambda *words: 1)
    cases = [*run_tests.built("gcc"), *run_tests.sanitized("asan", "", False)]
    assert [(case.name, case.outcome) for case in cases] == [
        ("build gcc", "failed"),
        ("build asan", "failed"),
    ]


def test_what_is_started_can_be_interrupted_though_we_may_not(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sh", "-c", "kill -INT $$"]
    stage = run_tests.Stage("one", 1, None, lambda: [run_tests.check("one", words)])
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert summarised(run_tests, monkeypatch, [stage]) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert f"failed: one: status {-signal.SIGINT}\n" in capsys.readouterr().out


def test_a_test_can_be_interrupted() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_pytest_alone_may_be_started_in_the_background() -> None:
    name = f"{HERE}::{test_a_test_can_be_interrupted.__name__}"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pytest_alone = [sys.executable, "-m", "pytest", "-q", name]
        done = subprocess.run(pytest_alone, cwd=HERE.parents[2], capture_output=True, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == 0, done.stdout
