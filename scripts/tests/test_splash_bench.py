# SPDX-License-Identifier: GPL-2.0
"""Our SPLASH-2 programs beside an original tree's: pairs, documents, the command."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_tree import PROJECT, change, copy_tree
from splash_lab import FFT, LU, Lab, only, said

from fastlab.cli import main
from fastlab.guest import meson
from fastlab.splash import driver, side_by_side, timing
from fastlab.splash.timing import SplashCase

BARNES = SplashCase("barnes", "2,048 bodies", "2048", {"bodies": 2048}, timing._BARNES)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    only(monkeypatch, LU)
    return Lab(tmp_path)


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
    assert "interrupted; finished work is kept" in capsys.readouterr().err
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
    ("words", "status", "said"),
    [
        (("--only=ocean",), 2, "no program ocean; there are barnes, cholesky"),
        (("--only=radix",), 1, "it has no radix (kernels/radix)"),
        (("--tree=/nowhere",), 1, "/nowhere: no such directory; name an unpacked SPLASH-2"),
        (("--json=/nowhere/rows.json",), 1, "/nowhere/rows.json: its directory does not exist"),
    ],
)
def test_bad_input_is_refused_before_anything_is_built(
    lab: Lab,
    command: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    status: int,
    said: str,
) -> None:
    assert command(*words) == status
    assert said in capsys.readouterr().err
    assert not (lab.directory / "out/codes").exists()
