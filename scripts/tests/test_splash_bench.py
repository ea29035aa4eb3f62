# SPDX-License-Identifier: GPL-2.0
"""Our SPLASH-2 programs beside an original tree's, with shell scripts for both."""

from __future__ import annotations

import io
import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_tree import PROJECT, change, copy_tree

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.guest import meson
from fastlab.guest.initramfs import program_path
from fastlab.plan import splash_sizes
from fastlab.splash import driver, programs, side_by_side, timing
from fastlab.splash.driver import BuiltProgram
from fastlab.splash.programs import NAMES, PROGRAMS, Invocation
from fastlab.splash.side_by_side import SplashRow, SplashSession
from fastlab.splash.source_tree import SourceTree
from fastlab.splash.timing import CASES, SplashCase

FFT = SplashCase("fft", "2^4 points", "4", {"m": 4}, tested_apart=True)
LU = SplashCase("lu_contiguous", "64 x 64", "64", {"n": 64, "b": 16})
BARNES = SplashCase("barnes", "2,048 bodies", "2048", {"bodies": 2048}, timing._BARNES)

TOTAL = "Total time without initialization : %16d"
SELF_TEST = 'for word; do [ "$word" = -t ] && echo TEST PASSED; done; exit 0'


def said(ms: float, check: str = "ok", detail: str = "") -> str:
    """What one of ours prints."""
    return json.dumps({"elapsed_ns": int(ms * 1e6), "check": check, "check_detail": detail})


class Lab:
    """Programs that note how they are called, and print the next of their lines each time."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.build = directory / "build"
        self.codes = directory / "codes"
        self.log = directory / "log"
        self.built: list[BuiltProgram] = []

    def ours(self, name: str, *answers: str, then: str = "exit 0") -> None:
        path = program_path(self.build, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write(path, f"ours {name} ${{*%--json}}", answers, then)

    def theirs(self, name: str, *answers: str, then: str = SELF_TEST, threads: str = "") -> None:
        """It takes its threads from -pN unless they are given."""
        path = self.directory / name.upper()
        threads = threads or "${1#-p}"
        report = f'printf "threads %d\\nparallel_ns 9\\n" {threads} > $FAST_SPLASH_REPORT'
        self._write(path, f"theirs {name} $*", answers, f"{report}\n{then}")
        (program,) = programs.select([name])
        self.built.append(BuiltProgram(program, path))

    def times(self, *ms: float) -> list[str]:
        return [TOTAL % (1000 * one) for one in ms]

    def _write(self, path: Path, note: str, answers: tuple[str, ...], then: str) -> None:
        lines = path.with_name(f"{path.name}.answers")
        lines.write_text("".join(f"{one}\n" for one in answers))
        path.write_text(
            f'#!/bin/sh\necho "{note}" >> {self.log}\n'
            f'sed -n 1p {lines}; [ "$(wc -l < {lines})" -gt 1 ] && sed -i 1d {lines}\n'
            f"{then}\n"
        )
        path.chmod(0o755)

    def calls(self) -> list[str]:
        return [line.strip() for line in self.log.read_text().splitlines()]

    def session(self, *threads: int, rounds: int = 1, timeout: float = 60) -> SplashSession:
        request = driver.TreeRequest(
            self.directory,
            PROJECT,
            threads=threads or (1,),
            timeout=timeout,
            output=self.directory / "out",
        )
        tree = SourceTree(self.directory, self.codes, self.codes, PROGRAMS)
        return SplashSession(request, rounds, tree, self.built, self.build)

    def rows(self, *threads: int, rounds: int = 1, timeout: float = 60) -> list[SplashRow]:
        session = self.session(*threads, rounds=rounds, timeout=timeout)
        session.run(PlainReporter(io.StringIO()))
        return session.rows()


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    only(monkeypatch, LU)
    return Lab(tmp_path)


def only(monkeypatch: pytest.MonkeyPatch, *cases: SplashCase) -> None:
    monkeypatch.setattr(side_by_side, "CASES", cases)


def test_ours_and_theirs_take_turns_and_so_does_who_is_first(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, FFT, LU)
    for name in ("fft", "lu_contiguous"):
        lab.ours(name, said(1))
        lab.theirs(name, *lab.times(1))
    lab.rows(2, 1, rounds=2)
    fft = "-m4 -n65536 -l4"
    assert lab.calls() == [
        "ours fft --m=4 --threads=1",
        # Its own test is in the time that it prints: it is made once, in a run of its own.
        f"theirs fft -p1 {fft} -t",
        f"theirs fft -p1 {fft}",
        "ours fft --m=4 --threads=2",
        f"theirs fft -p2 {fft} -t",
        f"theirs fft -p2 {fft}",
        "ours lu_contiguous --n=64 --b=16 --threads=1",
        "theirs lu_contiguous -p1 -n64 -b16 -t",
        "ours lu_contiguous --n=64 --b=16 --threads=2",
        "theirs lu_contiguous -p2 -n64 -b16 -t",
        f"theirs fft -p1 {fft}",
        "ours fft --m=4 --threads=1",
        f"theirs fft -p2 {fft}",
        "ours fft --m=4 --threads=2",
        "theirs lu_contiguous -p1 -n64 -b16 -t",
        "ours lu_contiguous --n=64 --b=16 --threads=1",
        "theirs lu_contiguous -p2 -n64 -b16 -t",
        "ours lu_contiguous --n=64 --b=16 --threads=2",
    ]


def test_a_ratio_is_that_of_a_pair(lab: Lab) -> None:
    lab.ours("lu_contiguous", said(10), said(20), said(60))
    lab.theirs("lu_contiguous", *lab.times(10, 40, 30))
    (row,) = lab.rows(rounds=3)
    assert row.ours_ns == side_by_side.Spread(20e6, 10e6, 60e6)
    assert row.theirs_ns == side_by_side.Spread(30e6, 10e6, 40e6)
    # Not 20 / 30.
    assert row.ratio == side_by_side.Spread(1.0, 0.5, 2.0)
    assert (row.status, row.reason, row.runs) == ("ok", "", 3)
    (line,) = side_by_side.table([row]).rows
    assert [cell.text for cell in line] == [
        "lu_contiguous",
        "64 x 64",
        "ok",
        "1",
        "3",
        "20.0 (10.0 to 60.0)",
        "30.0 (10.0 to 40.0)",
        "1.00 (0.50 to 2.00)",
    ]


def test_what_is_short_has_several_pairs_a_round(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, replace(LU, pairs=3))
    lab.ours("lu_contiguous", said(1))
    lab.theirs("lu_contiguous", *lab.times(2))
    (row,) = lab.rows(rounds=2)
    assert row.runs == 6
    firsts = [call.split()[0] for call in lab.calls()[::2]]
    assert firsts == ["ours", "theirs", "ours", "theirs", "ours", "theirs"]


@pytest.mark.parametrize(("ms", "tone"), [(10, "gain"), (30, "loss")])
def test_the_table_colours_who_is_slower(lab: Lab, ms: int, tone: str) -> None:
    lab.ours("lu_contiguous", said(ms))
    lab.theirs("lu_contiguous", *lab.times(20))
    assert side_by_side.table(lab.rows()).rows[0][-1].tone == tone


@pytest.mark.parametrize(
    ("answer", "then", "status", "reason"),
    [
        (said(1, "failed", "key 3"), "exit 1", "wrong", "self-check: key 3"),
        (said(1, "failed", "key 3"), "exit 0", "wrong", "self-check: key 3"),
        (said(1), "exit 1", "wrong", "self-check: "),
        ("", "echo ours: too many threads >&2; exit 2", "failed", "ended with status 2: ours: too"),
        (said(1), "kill -SEGV $$", "failed", "killed by SIGSEGV"),
        ("nonsense", "exit 0", "failed", "printed no result: nonsense"),
        ("[]", "exit 0", "failed", "printed no result: []"),
        ('{"check": "ok", "check_detail": ""}', "exit 0", "failed", "printed no result"),
        ("", "echo no memory >&2; exit 1", "failed", "printed no result: no memory"),
        ("", "exec sleep 60", "failed", "did not end within 0.5 s"),
    ],
)
def test_ours_without_a_right_result_has_no_time(
    lab: Lab, answer: str, then: str, status: str, reason: str
) -> None:
    lab.ours("lu_contiguous", answer, then=then)
    lab.theirs("lu_contiguous", *lab.times(1))
    (row,) = lab.rows(rounds=3, timeout=0.5)
    assert row.status == status
    assert row.reason.startswith(f"ours: {reason}")
    assert (row.ours_ns, row.theirs_ns, row.ratio) == (None, None, None)
    # It is not tried again.
    assert len(lab.calls()) == 1
    (line,) = side_by_side.table([row]).rows
    assert line[2].text == f"{row.status}: {row.reason}"
    assert [cell.text for cell in line[5:]] == ["n/a"] * 3
    (failure,) = side_by_side.failures([row])
    assert failure == f"lu_contiguous, 64 x 64, 1 threads: {row.status}: {row.reason}"


@pytest.mark.parametrize(
    ("answer", "then", "threads", "status", "reason"),
    [
        (TOTAL % 9, "echo TEST FAILED", "", "wrong", "TEST FAILED"),
        (TOTAL % 9, "exit 0", "", "wrong", 'it never said "TEST PASSED"'),
        (TOTAL % 9, SELF_TEST, "7", "wrong", "it ran with 7 threads"),
        (TOTAL % 9, "exit 3", "", "failed", "ended with status 3: Total time"),
        ("", SELF_TEST, "", "failed", "it did not print the time of its parallel phase"),
        # A clock of whole seconds, too, is no time.
        (TOTAL % 0, SELF_TEST, "", "failed", "it did not print the time of its parallel phase"),
        ("", "exec sleep 60", "", "hung", "no end after 0.5 s"),
    ],
)
def test_theirs_without_a_right_result_has_no_time(
    lab: Lab, answer: str, then: str, threads: str, status: str, reason: str
) -> None:
    lab.ours("lu_contiguous", said(1))
    lab.theirs("lu_contiguous", answer, then=then, threads=threads)
    (row,) = lab.rows(rounds=3, timeout=0.5)
    assert row.status == status
    assert row.reason.startswith(f"theirs: {reason}")
    assert row.ratio is None
    assert len(lab.calls()) == 2
    assert side_by_side.failures([row])


def test_a_test_that_fails_apart_counts(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, FFT)
    lab.ours("fft", said(1))
    lab.theirs("fft", *lab.times(1), then="echo TEST FAILED")
    (row,) = lab.rows()
    assert (row.status, row.reason) == ("wrong", "theirs: TEST FAILED")
    assert lab.calls()[1:] == ["theirs fft -p1 -m4 -n65536 -l4 -t"]


def test_what_fails_later_is_no_result_although_it_was_measured_before(lab: Lab) -> None:
    lab.ours("lu_contiguous", said(1), said(1, "failed", "late"))
    lab.theirs("lu_contiguous", *lab.times(1))
    (row,) = lab.rows(rounds=3)
    assert (row.status, row.reason, row.ratio) == ("wrong", "ours: self-check: late", None)
    assert row.runs == 1


def test_theirs_must_compute_the_same_at_every_number_of_threads(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, SplashCase("cholesky", "d750.O", "d750", {"order": "natural"}))
    matrix = lab.codes / "kernels/cholesky/inputs/d750.O"
    matrix.parent.mkdir(parents=True)
    matrix.touch()
    lab.ours("cholesky", said(1))
    operations = 'echo "$((10 / ${1#-p})) operations for factorization"; echo PASSED'
    lab.theirs("cholesky", *lab.times(1), then=operations)
    one, two = lab.rows(1, 2)
    assert one.status == "ok"
    assert (two.status, two.reason) == (
        "wrong",
        "theirs: operations is 5.0, 10.0 is right (1 threads)",
    )
    assert lab.calls()[:2] == [
        f"ours cholesky --order=natural --matrix={matrix} --threads=1",
        f"theirs cholesky -p1 -B32 -C16384 -t {matrix}",
    ]


def test_a_tree_without_the_matrix(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, SplashCase("cholesky", "d750.O", "d750", {}))
    lab.ours("cholesky", said(1))
    lab.theirs("cholesky", *lab.times(1))
    (row,) = lab.rows()
    assert row.status == "failed"
    assert row.reason.startswith("theirs: ")
    assert "d750.O is not there: the tree lacks this matrix" in row.reason
    assert not lab.log.exists()


def test_what_theirs_cannot_do_is_skipped(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, FFT)
    lab.ours("fft", said(1))
    lab.theirs("fft", *lab.times(1))
    one, three = lab.rows(1, 3)
    assert one.status == "ok"
    assert (three.status, three.reason) == ("skipped", "theirs: a power of two only")
    assert side_by_side.failures([three]) == []
    assert not any("p3" in call or "threads=3" in call for call in lab.calls())


def test_what_of_theirs_cannot_be_built_is_a_row(lab: Lab) -> None:
    lab.ours("lu_contiguous", said(1))
    lab.theirs("lu_contiguous", *lab.times(1))
    lab.built = [replace(lab.built[0], path=None, failure="cannot be built: lu.C\nmore")]
    (row,) = lab.rows()
    assert row.status == "failed"
    assert side_by_side.failures([row]) == [
        "lu_contiguous, 64 x 64, 1 threads: failed: theirs: cannot be built: lu.C"
    ]
    assert not lab.log.exists()


def test_ours_that_is_not_built_is_an_error(lab: Lab) -> None:
    lab.theirs("lu_contiguous", *lab.times(1))
    with pytest.raises(FastError, match="splash2-harness/lu_contiguous: not built"):
        lab.session()


def test_the_document(lab: Lab) -> None:
    lab.ours("lu_contiguous", said(10), said(20), said(1, "failed"))
    lab.theirs("lu_contiguous", *lab.times(10, 40))
    request = driver.TreeRequest(Path("tree"), PROJECT)
    content = side_by_side.document(lab.rows(rounds=2), "fast bench splash", request, 2)
    assert (content["command"], content["tree"], content["rounds"]) == (
        "fast bench splash",
        "tree",
        2,
    )
    assert content["machine"]["cpus"] >= 1
    (row,) = json.loads(json.dumps(content))["rows"]
    ours, theirs = row.pop("ours"), row.pop("theirs")
    assert ours.endswith("/lu_contiguous --n=64 --b=16 --threads=1 --json")
    assert theirs.endswith("/LU_CONTIGUOUS -p1 -n64 -b16 -t")
    assert row == {
        "program": "lu_contiguous",
        "problem": "64 x 64",
        "threads": 1,
        "ours_ns": [10e6, 20e6],
        "theirs_ns": [10e6, 40e6],
        "ratio": 0.75,
        "least_ratio": 0.5,
        "most_ratio": 1.0,
        "status": "ok",
        "reason": "",
    }


@pytest.fixture
def command(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., int]]:
    """The command line for a tree that is built for it, beside scripts for our programs."""
    only(monkeypatch, BARNES, replace(FFT, size="12"))
    tree = copy_tree(tmp_path)
    monkeypatch.setattr(meson, "build_programs", lambda project, reporter: lab.build)
    monkeypatch.setattr(driver, "output_directory", lambda request: tmp_path / "out")
    before = signal.getsignal(signal.SIGTERM)
    yield lambda *words: main.main(["bench", "splash", "--tree", str(tree), *words])
    signal.signal(signal.SIGTERM, before)


def test_the_command(
    lab: Lab, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    lab.ours("barnes", said(10))
    lab.ours("fft", said(10))
    path = lab.directory / "rows.json"
    assert command("--rounds=2", "--json", str(path)) == 0
    assert f"wrote {path}" in capsys.readouterr().out
    rows = json.loads(path.read_text())["rows"]
    assert [(row["program"], row["threads"], row["status"]) for row in rows] == [
        (name, threads, "ok") for name in ("barnes", "fft") for threads in (1, 2)
    ]
    for row in rows:
        assert row["ours_ns"] == [10**7] * 2
        assert all(ns > 0 and ns % 1000 == 0 for ns in row["theirs_ns"])


def test_a_wrong_result_is_an_error(
    lab: Lab, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    lab.ours("fft", said(10))
    change(lab.directory / "tree", "kernels/fft/work.C", "sum += item;", ";")
    assert command("--only=fft", "--rounds=1", "--threads=1") == 1
    out, err = capsys.readouterr()
    assert "wrong: theirs: TEST FAILED" in out
    assert "fft, 2^4 points, 1 threads: wrong: theirs: TEST FAILED" in err
    assert str(lab.directory / "out") in err


def test_an_interrupt_keeps_what_is_measured(
    lab: Lab, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    lab.ours("barnes", said(10))
    lab.ours("fft", then=f"kill -INT {os.getpid()}; exec sleep 60")
    path = lab.directory / "rows.json"
    assert command("--threads=1", "--json", str(path)) == 130
    assert "interrupted; what is finished is kept" in capsys.readouterr().err
    barnes, fft = json.loads(path.read_text())["rows"]
    assert (barnes["status"], len(barnes["ours_ns"])) == ("ok", 1)
    assert (fft["status"], fft["ratio"]) == ("not measured", None)


def test_an_interrupt_before_all_results_keeps_the_older_file(
    lab: Lab, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    lab.ours("fft", then=f"kill -INT {os.getpid()}; exec sleep 60")
    path = lab.directory / "rows.json"
    path.write_text("older")
    assert command("--only=fft", "--json", str(path)) == 130
    assert path.read_text() == "older"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only=ocean",), "no program ocean; there are barnes, cholesky"),
        (("--only=radix",), "it has no radix (kernels/radix)"),
        (("--tree=/nowhere",), "/nowhere: no such directory; name an unpacked SPLASH-2"),
        (("--json=/nowhere/rows.json",), "/nowhere/rows.json: its directory does not exist"),
    ],
)
def test_bad_input_is_refused_before_anything_is_built(
    lab: Lab,
    command: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    assert command(*words) == 1
    assert said in capsys.readouterr().err
    assert not (lab.directory / "out/codes").exists()


def test_there_is_a_case_for_each_program_with_options_that_it_takes() -> None:
    assert list(dict.fromkeys(case.program for case in CASES)) == list(NAMES)
    for case in CASES:
        known = splash_sizes.OPTIONS[case.program]
        assert all(known[name].holds(value) for name, value in case.options.items()), case
        assert splash_sizes.complaint(case.program, case.options) == ("", "")


def test_both_do_the_same_work(tmp_path: Path) -> None:
    (tmp_path / "inputs").mkdir()
    for name in ("d750.O", "tk29.O"):
        (tmp_path / "inputs" / name).touch()
    # Options of ours whose value stands in words of theirs, or as a line of their input.
    for case in CASES:
        (program,) = programs.select([case.program])
        call = program.call(tmp_path, case.size, 2)
        options = case.options
        words, lines = [*call.arguments], call.input.splitlines()
        for name in {"m", "n", "b", "r"} & options.keys() - {"steps"}:
            assert f"-{name}{options[name]}" in words, case
        steps = _steps_counted(case.program, call)
        assert options.get("steps") == steps
        for name in {"bodies", "particles"} & options.keys():
            assert str(options[name]) in lines, case
        if "molecules" in options:
            assert lines[0].split()[1] == str(options["molecules"])
            assert float(lines[2].split()[1]) == options["cutoff"]
            # One potential energy is counted in theirs, and so it must be in ours.
            assert lines[1].split()[2] == lines[0].split()[2]
            assert options["energy_every"] == steps
    assert [case.problem for case in CASES if case.problem.endswith(".O")] == [
        "d750.O",
        "tk29.O",
    ]


def _steps_counted(program: str, call: Invocation) -> int | None:
    """The time steps in what theirs print: all but the first two, or but the first."""
    lines = call.input.splitlines()
    if program == "barnes":
        return round(float(lines[9]) / float(lines[4])) + 1 - 2
    if program == "fmm":
        return int(lines[5]) - 2
    if program.startswith("water"):
        return int(lines[0].split()[2]) - 1
    return None


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("fft", "Total time without initialization :           117301"),
        ("fmm", "Total time without initialization :           247578"),
        ("barnes", "TRACKTIME     =       238422"),
        ("water_nsquared", "Measured Time (2nd timestep onward) = 337908"),
    ],
)
def test_the_lines_of_theirs_are_found(program: str, line: str) -> None:
    case = next(one for one in CASES if one.program == program)
    found = re.match(rf"^{case.phase}(\d+)", line)
    assert found and found[1] == line.split()[-1]


def test_the_document_has_the_command_and_each_case() -> None:
    section = (PROJECT / "Documentation/splash2-speed.rst").read_text()
    assert "scripts/fast bench splash --tree" in section
    rows = [line for line in section.splitlines() if line.startswith("``")]
    for case in CASES:
        wanted = (f"``{case.program}`` ", case.problem)
        assert any(all(word in line for word in wanted) for line in rows), wanted
