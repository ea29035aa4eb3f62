# SPDX-License-Identifier: GPL-2.0
"""Beside an original tree: what has no time, since its result is not right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from splash_lab import FFT, LU, SELF_TEST, TOTAL, Lab, only, said

from fastlab.base.model import FastError
from fastlab.splash import side_by_side
from fastlab.splash.timing import SplashCase


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    only(monkeypatch, LU)
    return Lab(tmp_path)


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
    (row,) = lab.rows(rounds=3, timeout=0.5 if "sleep" in then else 60.0)
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
    (row,) = lab.rows(rounds=3, timeout=0.5 if "sleep" in then else 60.0)
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
