# SPDX-License-Identifier: GPL-2.0
"""Running libgomp's tests: what their directives say, and how a run is judged."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from fastlab.base.model import FastError
from fastlab.base.process import Answer
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.guest import meson
from intervals_bench import gomp_testsuite as suite

MAIN = "int main (void) { return %s; }\n"
FORTRAN = "module one\nend module\nprogram good\n use one\n use omp_lib\nend program\n"


def test_a_test_is_run_unless_it_says_otherwise() -> None:
    case = suite.read_case(MAIN % 0)
    assert (case.kind, case.options, case.should_fail, case.not_here) == ("run", [], False, "")


def test_directives() -> None:
    case = suite.read_case(
        '/* { dg-do run { target tls_runtime } } */\n/* { dg-options "-O0 -std=c99" } */\n'
        '/* { dg-additional-options "-Wall" } */\n'
        '/* { dg-set-target-env-var OMP_SCHEDULE "guided,7" } */\n'
        '/* { dg-shouldfail "ends" } */\n/* { dg-output "a(\\n|\\r\\n)b" } */\n'
        '/* { dg-additional-sources "other.c" } */\n' + MAIN % 0
    )
    assert case.options == ["-O0", "-std=c99", "-Wall"]
    assert case.environment == {"OMP_SCHEDULE": "guided,7"}
    assert case.should_fail and case.sources == ["other.c"] and not case.not_here
    assert not suite.verdict(case, Answer(1, "a\nb", ""))
    assert suite.verdict(case, Answer(1, "ab", "")) == "its output is not the expected one"
    assert suite.verdict(case, Answer(0, "a\nb", "")).startswith("status 0")
    bare = "! { dg-additional-sources one.c }\n"
    assert suite.read_case(bare).sources == ["one.c"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/* { dg-do compile } */ " + MAIN % 0, "is not run: compile"),
        ('#include "libgomp.h"\n' + MAIN % 0, "tests the inside of GCC's library"),
        (
            "/* { dg-require-effective-target offload_device } */ " + MAIN % 0,
            "is for another machine: offload_device",
        ),
    ],
)
def test_what_does_not_apply_says_why(text: str, why: str) -> None:
    assert suite.read_case(text).not_here == why


def archive(directory: Path, tests: dict[str, str]) -> Path:
    """A source package in small."""
    made = directory / "gcc-1.tar.xz"
    with tarfile.open(made, "w:xz") as file:
        for name, text in tests.items():
            entry = tarfile.TarInfo(f"gcc-1/libgomp/testsuite/{name}")
            entry.size = len(text)
            file.addfile(entry, io.BytesIO(text.encode()))
    return made


def library(directory: Path) -> Path:
    """A library that makes every program end with status 3 that asks for it."""
    source = directory / "library.c"
    source.write_text(
        "#include <stdlib.h>\nint intervals_gomp;\n"
        '__attribute__((constructor)) static void end(void) { if (getenv("END")) _Exit(3); }\n'
    )
    made = directory / "library.so"
    suite.ask(["gcc", "-shared", "-fPIC", "-o", str(made), str(source)], 60)
    return made


def test_each_ends_in_one_of_three_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    callers = tmp_path / "callers"
    callers.mkdir()
    monkeypatch.chdir(callers)
    tests = {
        "libgomp.c/good.c": MAIN % 0,
        "libgomp.c/writes.c": "#include <stdio.h>\n" + MAIN % '!fopen ("left", "w")',
        "libgomp.c/ours.c": '/* { dg-set-target-env-var END "1" } */\n' + MAIN % 0,
        "libgomp.c/both.c": MAIN % 1,
        "libgomp.c/wrong.c": "int main (void) { return nothing; }\n",
        "libgomp.c-c++-common/part.c": "int helper (void);",
        "libgomp.c-c++-common/whole.c": '#include "body.h"',
        "libgomp.c-c++-common/body.h": MAIN % 0,
        "libgomp.c++/good.C": MAIN % "bool()",
        "libgomp.fortran/folder/good.f90": FORTRAN,
        "libgomp.fortran/folder/part.f90": "subroutine helper\nend subroutine\n",
        "libgomp.other/other.c": MAIN % 0,
    }
    made = ["--library", str(library(tmp_path)), "--archive", str(archive(tmp_path, tests))]
    json = tmp_path / "results.json"
    assert main.main(["bench", "gomp-testsuite", *made, "--json", str(json)]) == 0
    shown = capsys.readouterr().out
    results = {line.split()[0]: line for line in shown.splitlines() if "libgomp." in line}
    assert "83.3 %" in shown and "libgomp.c/good.c" not in results
    assert "failed" in results["libgomp.c/ours.c"] and "status 3" in results["libgomp.c/ours.c"]
    assert "fails with GCC's own library" in results["libgomp.c/both.c"]
    assert "does not compile" in results["libgomp.c/wrong.c"]
    assert "a part of another test" in results["libgomp.c-c++-common/part.c"]
    assert "a part of another test" in results["libgomp.fortran/folder/part.f90"]
    assert '"passed": 5' in json.read_text()
    assert not list(callers.iterdir())


def test_the_library_is_built_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built = tmp_path / "subprojects/intervals/openmp"
    built.mkdir(parents=True)
    library(tmp_path).rename(built / "libgomp.so.1")
    monkeypatch.setattr(meson, "build_programs", lambda *_: tmp_path)
    tests = {"libgomp.c/good.c": MAIN % 0, "libgomp.c-c++-common/part.h": ""}
    words = ["--archive", str(archive(tmp_path, tests))]
    assert main.main(["bench", "gomp-testsuite", *words]) == 0
    assert "100.0 %" in capsys.readouterr().out


def test_bad_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reporter = PlainReporter(io.StringIO())
    ours, empty = library(tmp_path), archive(tmp_path, {"none/x.c": ""})
    with pytest.raises(FastError, match="no libgomp/testsuite; name a tarball of GCC's"):
        suite.measure(reporter, suite.SuiteRequest(ours, empty))
    some = archive(tmp_path, {"libgomp.c/good.c": MAIN % 0, "libgomp.c-c++-common/part.h": ""})
    with pytest.raises(FastError, match=r"no test is named bad\*; .*such as libgomp\.c/task"):
        suite.measure(reporter, suite.SuiteRequest(ours, some, ("bad*",)))
    with pytest.raises(FastError, match=r"is not libintervals-gomp.*without --library"):
        suite.measure(reporter, suite.SuiteRequest(some, some))
    with pytest.raises(FastError, match="without --library it is built"):
        suite.measure(reporter, suite.SuiteRequest(tmp_path / "none", some))
    monkeypatch.setattr(suite, "SOURCES", tmp_path / "nowhere")
    with pytest.raises(FastError, match="install the Debian package gcc-12-source"):
        suite.find_archive()
