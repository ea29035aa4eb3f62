# SPDX-License-Identifier: GPL-2.0
"""SPLASH-2's FFT, LU and Cholesky against numpy's transform and LAPACK."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import numpy
import pytest
from lab import PROJECT

from fastlab.base.progress import PlainReporter
from fastlab.guest.meson import build_programs

EPSILON = numpy.finfo(float).eps


@pytest.fixture(scope="module")
def programs() -> Path:
    return build_programs(PROJECT, PlainReporter(io.StringIO())) / "splash2-harness"


def dump(program: Path, path: Path, *options: str) -> numpy.ndarray:
    """The program's input and its result."""
    subprocess.run([program, f"--dump={path}", *options], check=True, stdout=subprocess.DEVNULL)
    return numpy.fromfile(path)


@pytest.mark.parametrize(("m", "threads"), [(2, 1), (10, 3), (16, 4)])
def test_fft(programs: Path, tmp_path: Path, m: int, threads: int) -> None:
    values = dump(programs / "fft", tmp_path / "dump", f"-m{m}", f"-t{threads}")
    points, transform = values.view(complex).reshape(2, 2**m)
    expected = numpy.fft.fft(points)
    assert abs(transform - expected).max() <= 4 * EPSILON * m * numpy.linalg.norm(points)


@pytest.mark.parametrize("program", ["lu_contiguous", "lu_noncontiguous"])
@pytest.mark.parametrize(("n", "b", "threads"), [(1, 1, 1), (100, 16, 6), (256, 16, 4)])
def test_lu(programs: Path, tmp_path: Path, program: str, n: int, b: int, threads: int) -> None:
    options = (f"-n{n}", f"-b{b}", f"-t{threads}")
    matrix, factors = dump(programs / program, tmp_path / "dump", *options).reshape(2, n, n)
    lower = numpy.tril(factors, -1) + numpy.eye(n)
    upper = numpy.triu(factors)
    # Higham, theorem 9.3; the product's own rounding is as large.
    assert (abs(lower @ upper - matrix) <= EPSILON * n * (abs(lower) @ abs(upper))).all()

    right = numpy.arange(1, n + 1)
    solution = numpy.linalg.solve(upper, numpy.linalg.solve(lower, right))
    expected = numpy.linalg.solve(matrix, right)
    # The diagonal dominates: the condition is near one.
    assert numpy.linalg.norm(solution - expected) <= n * EPSILON * numpy.linalg.norm(expected)


@pytest.mark.parametrize(
    "options",
    [
        ("--dense=1", "-t1"),
        ("--dense=100", "--block=16", "-t6"),
        ("--grid=5", "--block=7", "-t4"),
        ("--grid=6", "--order=mindegree", "-t3"),
        ("--grid=4", "--order=natural", "-t16"),
    ],
)
def test_cholesky(programs: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    values = dump(programs / "cholesky", tmp_path / "dump", *options)
    n = round((len(values) / 2) ** 0.5)
    matrix, factor = values.reshape(2, n, n)
    assert (factor == numpy.tril(factor)).all()
    # There is one factor with a positive diagonal; the matrices' condition is below a hundred.
    expected = numpy.linalg.cholesky(matrix)
    scale = numpy.linalg.norm(expected)
    assert numpy.linalg.norm(factor - expected) <= 100 * n * EPSILON * scale
