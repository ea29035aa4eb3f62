# SPDX-License-Identifier: GPL-2.0
"""Driving a tree in the layout of the original SPLASH-2, made for this, and what may go wrong."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from fake_tree import PROJECT, change, copy_tree

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.splash import driver, source_tree
from fastlab.splash.driver import TreeRequest, TreeRow

ROI = bytes.fromhex("0f1f8400")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copy_tree(tmp_path)


def request(
    tree: Path, *programs: str, threads: tuple[int, ...] = (2,), **more: int
) -> TreeRequest:
    output = tree.parent / "built"
    return TreeRequest(tree, PROJECT, programs, threads, output=output, **more)


def run(tree: Path, *programs: str, threads: tuple[int, ...] = (2,), **more: int) -> list[TreeRow]:
    reporter = PlainReporter(io.StringIO())
    return list(driver.run(request(tree, *programs, threads=threads, **more), reporter))


def verdicts(rows: list[TreeRow]) -> list[tuple[str, int, str]]:
    return [(row.program, row.threads, row.verdict) for row in rows]


def test_every_macro_does_what_it_says_at_any_number_of_threads(tree: Path) -> None:
    rows = run(tree, threads=(1, 2, 7, 16, 64, 1100))
    assert verdicts(rows) == [
        *(("barnes", threads, "ok") for threads in (1, 2, 7, 16, 64, 1100)),
        *(("fft", threads, "ok") for threads in (1, 2)),
        ("fft", 7, "skipped"),
        *(("fft", threads, "ok") for threads in (16, 64)),
        ("fft", 1100, "skipped"),
    ]
    for row in rows:
        if row.verdict == "ok":
            assert row.parallel_ns and row.seconds and row.parallel_ns < row.seconds * 1e9
            assert row.exit_status == 0


@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_the_macros_are_clean(tree: Path, monkeypatch: pytest.MonkeyPatch, sanitizer: str) -> None:
    flags = (*source_tree.CFLAGS, f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all")
    monkeypatch.setattr(source_tree, "CFLAGS", flags)
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # a program of SPLASH-2 frees nothing
    rows = run(tree, threads=(1, 2, 8))
    assert [(row.verdict, row.detail) for row in rows if row.verdict != "ok"] == []


def test_the_tree_is_not_written_to(tree: Path) -> None:
    for path in tree.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*")}
    assert verdicts(run(tree, "fft")) == [("fft", 2, "ok")]
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*")} == before
    for path in tree.rglob("*"):
        path.chmod(0o755)
    with pytest.raises(FastError, match="inside the tree, which is only read"):
        driver.build(TreeRequest(tree, PROJECT, output=tree / "out"), PlainReporter(io.StringIO()))
    assert not (tree / "out").exists()


def test_what_an_earlier_build_left_in_the_tree_is_not_used(tree: Path) -> None:
    directory = tree / "codes/kernels/fft"
    for name in ("fft.c", "shared.h", "fft.o", "FFT"):
        (directory / name).write_text("made by another build\n")
    assert verdicts(run(tree, "fft")) == [("fft", 2, "ok")]


def test_splash_3_has_other_names_and_newer_c(tree: Path) -> None:
    codes = tree / "codes"
    for path in [*codes.rglob("*.C"), *codes.rglob("*.H")]:
        path.rename(path.with_suffix(f".{path.suffix[1:].lower()}.in"))
    rules = (codes / "Makefile.config").read_text()
    rules = rules[: rules.index(".SUFFIXES")]
    for kind in "hc":
        rules += f"%.{kind}: %.{kind}.in\n\t$(M4) $(MACROS) $< > $@\n"
    (codes / "Makefile.config").write_text(rules)
    # No C89: implicit int is an error there with newer compilers.
    change(tree, "kernels/fft/fft.c.in", "main(argc, argv)\nint argc;\nchar **argv;\n{", "X{")
    change(tree, "kernels/fft/fft.c.in", "X{", "int main(int argc, char **argv)\n{")
    change(tree, "kernels/fft/fft.c.in", "for (i = 1; i < P", "for (long i = 1; i < P")
    assert verdicts(run(tree, "fft", "barnes", threads=(1, 4))) == [
        *(("barnes", threads, "ok") for threads in (1, 4)),
        *(("fft", threads, "ok") for threads in (1, 4)),
    ]


def test_the_region_of_interest_is_marked(tree: Path) -> None:
    built = driver.build(request(tree), PlainReporter(io.StringIO()))
    for one in built:
        assert one.path
        code = one.path.read_bytes()
        for mark in (1, 2, 3):
            assert ROI + bytes([mark, 0, 0x41, 0x46]) in code


def test_only_what_has_changed_is_built_again(tree: Path) -> None:
    (first,) = driver.build(request(tree, "fft"), PlainReporter(io.StringIO()))
    assert first.path
    stamp = first.path.stat().st_mtime_ns
    driver.build(request(tree, "fft"), PlainReporter(io.StringIO()))
    assert first.path.stat().st_mtime_ns == stamp
    change(tree, "kernels/fft/fft.C", "TEST %s", "TEST  %s")
    driver.build(request(tree, "fft"), PlainReporter(io.StringIO()))
    assert first.path.stat().st_mtime_ns != stamp


# What is changed, in which program, and what the row must say.
BROKEN = {
    "wrong result": ("kernels/fft/work.C", "sum += item;", ";", "fft", "wrong", "TEST FAILED"),
    "nothing said": ("kernels/fft/fft.C", "if (testing)", "if (0)", "fft", "wrong", "never said"),
    "other threads": ("kernels/fft/fft.C", "P = atoi(optarg);", ";", "fft", "wrong", "1 threads"),
    "bad status": ("kernels/fft/fft.C", "G_FREE(mine)", "exit(3);", "fft", "failed", "status 3"),
    "crash": ("kernels/fft/fft.C", "G_FREE(mine)", "abort();", "fft", "failed", "SIGABRT"),
    "wrong force": (
        "apps/barnes/code.C",
        "square * sqrt",
        "square * 1.1 * sqrt",
        "barnes",
        "wrong",
        "forces",
    ),
    "idle body": (
        "apps/barnes/code.C",
        "i = me; i < nbody",
        "i = me; i < nbody - 1",
        "barnes",
        "wrong",
        "1 of 2048 bodies never",
    ),
    "lost body": ("apps/barnes/code.C", "nbody = given[1]", "nbody = 9", "barnes", "wrong", "9 b"),
    "lost mass": ("apps/barnes/code.C", "1.0 / nbody", "nproc / 1e4", "barnes", "wrong", "mass is"),
    "syntax error": ("kernels/fft/work.C", "int me,", "int me me,", "fft", "failed", "work.C"),
    "missing macro": (
        "kernels/fft/work.C",
        "int me,",
        "MENTER(x) int me,",
        "fft",
        "failed",
        "MENTER is not among",
    ),
    "no macros": (
        "apps/barnes/code.C",
        "MAIN_ENV",
        "",
        "barnes",
        "failed",
        "uses the PARMACS macros",
    ),
    "no target": (
        "apps/barnes/Makefile",
        "TARGET",
        "PROGRAM",
        "barnes",
        "failed",
        "has no TARGET",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_found_and_said(tree: Path, case: str) -> None:
    name, old, new, program, verdict, words = BROKEN[case]
    change(tree, name, old, new)
    row = run(tree, program, threads=(1, 2))[-1]
    assert (row.verdict, row.program) == (verdict, program)
    assert words in row.detail


def test_one_that_cannot_be_built_does_not_stop_the_others(tree: Path) -> None:
    change(tree, "apps/barnes/code.C", "MAIN_END", "MAIN_END +")
    assert verdicts(run(tree)) == [("barnes", 0, "failed"), ("fft", 2, "ok")]


def test_one_that_hangs_is_ended(tree: Path) -> None:
    change(tree, "kernels/fft/work.C", "BARRIER(shared->start, P)", "BARRIER(shared->start, P + 1)")
    (row,) = run(tree, "fft", timeout=1)
    assert row.verdict == "hung"
    assert "no end after 1 s" in row.detail
    assert row.seconds and row.seconds < 30
    program = str(tree.parent / "built/codes/kernels/fft/FFT").encode()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            assert program not in file.read_bytes()


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("", "no such directory; name an unpacked SPLASH-2"),
        ("codes", "has no codes/, with kernels/ and apps/"),
        ("codes/Makefile.config", "no Makefile.config or makefile.config"),
        ("codes/kernels codes/apps", "none of the nine programs"),
    ],
)
def test_what_is_no_tree_is_said(tree: Path, gone: str, words: str) -> None:
    for name in gone.split() or [""]:
        path = tree / name
        path.unlink() if path.is_file() else shutil.rmtree(path)
    with pytest.raises(FastError, match=words):
        run(tree)


@pytest.mark.parametrize("place", [".", "Splash-4"])
def test_splash_4_is_said_to_be_no_such_tree(place: str, tmp_path: Path) -> None:
    """As it is published: programs side by side."""
    for name in ("barnes/Makefile", "lu-contiguous_blocks/Makefile", "common/atomic.h"):
        path = tmp_path / place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "Makefile.config").touch()
    with pytest.raises(FastError, match=r"this is Splash-4, which is not supported: .*; name an"):
        source_tree.find_tree(tmp_path)


def test_the_directory_codes_is_a_tree_too(tree: Path) -> None:
    assert verdicts(run(tree / "codes", "fft")) == [("fft", 2, "ok")]


def test_programs_that_are_not_there(tree: Path) -> None:
    with pytest.raises(FastError, match=r"it has no radix \(kernels/radix\)"):
        run(tree, "radix")
    with pytest.raises(FastError, match=r"no program ocean; there are barnes, cholesky"):
        run(tree, "ocean")


def test_a_missing_tool_is_said_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tree))
    with pytest.raises(FastError, match="m4"):
        run(tree)


def test_the_command(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--tree", str(tree), "--output", str(tmp_path / "built")]
    assert main.main(["splash", "build", *words, "fft"]) == 0
    assert capsys.readouterr().out == f"fft: {tmp_path}/built/codes/kernels/fft/FFT\n"

    file = tmp_path / "rows.json"
    threads = ["--threads", "1,2", "--json", str(file)]
    assert main.main(["splash", "run", *words, *threads]) == 0
    assert "TEST PASSED" in capsys.readouterr().out
    rows = json.loads(file.read_text())["rows"]
    assert [(row["program"], row["threads"]) for row in rows] == [
        *(("barnes", threads) for threads in (1, 2)),
        *(("fft", threads) for threads in (1, 2)),
    ]
    assert rows[2]["command"].endswith("FFT -p1 -m14 -n65536 -l4 -t")

    change(tree, "kernels/fft/work.C", "sum += item;", ";")
    assert main.main(["splash", "run", *words, "fft", "--threads", "2"]) == 1
    assert "fft, 2 threads: wrong: TEST FAILED" in capsys.readouterr().err


def test_nothing_run_is_an_error(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--tree", str(tree), "--output", str(tmp_path / "built"), "fft", "--threads"]
    assert main.main(["splash", "run", *words, "3"]) == 1
    out, err = capsys.readouterr()
    assert "a power of two only" in out
    assert "nothing was run" in err
    assert main.main(["splash", "run", *words, "1,3"]) == 0


def interrupt_in(tree: Path, source: str, before: str) -> None:
    """Let the program interrupt the test's process, and then sleep."""
    change(tree, source, before, f'system("kill -INT {os.getpid()}; sleep 60"); {before}')


def test_an_interrupt_keeps_the_rows_so_far(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt_in(tree, "kernels/fft/fft.C", "CLOCK(begun)")
    file = tmp_path / "rows.json"
    words = ["--tree", str(tree), "--output", str(tmp_path / "built"), "--json", str(file)]
    assert main.main(["splash", "run", *words, "--threads", "2"]) == 130
    out, err = capsys.readouterr()
    assert "direct sums" in out
    assert "interrupted; finished work is kept" in err
    rows = json.loads(file.read_text())["rows"]
    assert [(row["program"], row["verdict"]) for row in rows] == [("barnes", "ok")]


def test_an_interrupt_before_all_runs_keeps_the_older_file(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt_in(tree, "kernels/fft/fft.C", "CLOCK(begun)")
    change(tree, "apps/barnes/code.C", "MAIN_END", "MAIN_END +")
    file = tmp_path / "rows.json"
    file.write_text("older")
    words = ["--tree", str(tree), "--output", str(tmp_path / "built"), "--json", str(file)]
    assert main.main(["splash", "run", *words, "--threads", "2"]) == 130
    assert file.read_text() == "older"
    assert capsys.readouterr().out == ""
