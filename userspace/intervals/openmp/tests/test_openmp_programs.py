# SPDX-License-Identifier: GPL-2.0
"""Programs from Debian and from Python's package index on libintervals-gomp.

Each program runs ten times with 1, 2 and 7 threads. Each run must end, and have the result that
the program has with GCC's library. A program that is not installed is skipped.
"""

from __future__ import annotations

import io
import math
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from fastlab.base.progress import PlainReporter
from fastlab.guest import meson

PROJECT = Path(__file__).parents[4]
THREADS = (1, 2, 7)
RUNS = 10
# Seconds of one run. A machine that is busy with something else makes a region slow, not endless.
PATIENCE = 300.0
INSTALL_PACKAGES = "scripts/install-deps --openmp"
DEBIAN_PYTHON = "/usr/bin/python3"
WHEELS = str(PROJECT / "build/openmp-venv/bin/python")
INSTALL_WHEELS = "scripts/make-venv pyproject.toml build/openmp-venv openmp"
# Each thread that a library has in a region says so once, with its identifier: the kernel's, which
# is decimal, on ours, and an address on GCC's. Some wheels have a copy of that.
TAKES_PART = "thread of a region:"
DISPLAY = {"OMP_DISPLAY_AFFINITY": "true", "OMP_AFFINITY_FORMAT": f"{TAKES_PART} %n %i"}

CAFFEINE = """24

C 1.07317 0.04885 -0.07573
N 2.51365 0.01256 -0.07580
C 3.35199 1.09592 -0.07533
N 4.61898 0.73028 -0.07549
C 4.57907 -0.63144 -0.07531
C 3.30131 -1.10256 -0.07524
C 2.98068 -2.48687 -0.07377
O 1.82530 -2.90038 -0.07577
N 4.11440 -3.30433 -0.06936
C 5.45174 -2.85618 -0.07235
O 6.38934 -3.65965 -0.07232
N 5.66240 -1.47682 -0.07487
C 7.00947 -0.93648 -0.07524
C 3.92063 -4.74093 -0.06158
H 0.73398 1.08786 -0.07503
H 0.71239 -0.45698 0.82335
H 0.71240 -0.45580 -0.97549
H 2.99301 2.11762 -0.07478
H 7.76531 -1.72634 -0.07591
H 7.14864 -0.32182 0.81969
H 7.14802 -0.32076 -0.96953
H 2.86501 -5.02316 -0.05833
H 4.40233 -5.15920 0.82837
H 4.40017 -5.16929 -0.94780
"""

GMIC = (
    "600,600,1,3,sin(x*y/99)*99+c blur 3 median 5 rotate 30,2,1 resize 60,60,1,3,2 "
    "output picture.asc"
)

SKLEARN = """
import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import pairwise_distances_argmin
random = np.random.default_rng(1)
x = random.normal(size=(4000, 12))
y = x[:, 0] * x[:, 1] + np.sin(x[:, 2])
trees = HistGradientBoostingRegressor(max_iter=30, random_state=1).fit(x, y)
print(*trees.predict(x[:9]), trees.score(x, y))
groups = KMeans(8, n_init=2, random_state=1).fit(x)
print(groups.inertia_, *np.bincount(groups.labels_))
print(*pairwise_distances_argmin(x[:50], x[50:]))
"""

FAISS = """
import faiss
import numpy as np
x = np.random.default_rng(1).normal(size=(20000, 32)).astype("float32")
flat = faiss.IndexFlatL2(32)
flat.add(x)
groups = faiss.IndexIVFFlat(faiss.IndexFlatL2(32), 32, 64)
groups.train(x)
groups.add(x)
groups.nprobe = 8
for index in (flat, groups):
    distances, found = index.search(x[:50], 5)
    print(*found.ravel(), *distances.ravel())
"""

LIGHTGBM = """
import lightgbm
import numpy as np
x = np.random.default_rng(1).normal(size=(5000, 12))
y = x[:, 0] * x[:, 1] + np.sin(x[:, 2])
words = {"objective": "regression", "deterministic": True, "force_row_wise": True, "verbose": -1}
trees = lightgbm.train(words, lightgbm.Dataset(x, y), 40)
print(*trees.predict(x[:50]))
"""

OPENBLAS = """
import ctypes, sys
import numpy as np
blas = ctypes.CDLL(sys.argv[1])
assert blas.openblas_get_parallel() == 2, "this OpenBLAS is not the one that is parallel by OpenMP"
size = 700
a = np.random.default_rng(1).normal(size=(size, size))
c = np.zeros((size, size))
dgemm = blas.cblas_dgemm
number, matrix = ctypes.c_double, ctypes.c_void_p
dgemm.argtypes = [*[ctypes.c_int] * 6, number, *[matrix, ctypes.c_int] * 2, number, matrix]
dgemm.argtypes.append(ctypes.c_int)
for _ in range(20):
    dgemm(101, 111, 112, size, size, size, 1.0, a.ctypes.data, size, a.ctypes.data, size, 0.0,
          c.ctypes.data, size)
assert np.abs(c - a @ a.T).max() < 1e-9
print(*c.sum(0))
"""


@dataclass(frozen=True)
class Program:
    """`command` runs in a directory of its own; {threads} in it is their number. The result is what
    it writes to the file `result`, or prints. Numbers in it may differ by `tolerance`, relative or
    absolute: the order of a sum over threads is a matter of chance. `missing` says what is not
    installed; empty: nothing."""

    name: str
    command: tuple[str, ...]
    missing: Callable[[], str]
    prepare: Callable[[Path], None] = lambda directory: None
    result: str = ""
    tolerance: float = 0.0


def needs(path: str | Path, installs: str = INSTALL_PACKAGES) -> Callable[[], str]:
    return lambda: "" if shutil.which(path, os.F_OK) else f"no {path}: `{installs}` installs it"


def needs_module(python: str, name: str, installs: str) -> Callable[[], str]:
    def missing() -> str:
        found = (
            needs(python, installs)() == ""
            and not subprocess.run([python, "-c", f"import {name}"], capture_output=True).returncode
        )
        return "" if found else f"no {name} for {python}: `{installs}` installs it"

    return missing


def write_page(directory: Path) -> None:
    page = Figure(figsize=(6, 3), dpi=150)
    for line, text in enumerate(("The quick brown fox jumps", "over the lazy dog, 1234567890")):
        page.text(0.05, 0.7 - 0.3 * line, text, size=18)
    page.savefig(directory / "page.png")


def write_proteins(directory: Path) -> None:
    chance = random.Random(1)
    acids = "ACDEFGHIKLMNPQRSTVWY"
    ancestor = chance.choices(acids, k=200)
    with (directory / "proteins.fa").open("w") as file:
        for number in range(20):
            kept = (acid for acid in ancestor if chance.random() > 0.05)
            changed = (chance.choice(acids) if chance.random() < 0.1 else acid for acid in kept)
            print(f">protein{number}", "".join(changed), sep="\n", file=file)


def write_molecule(directory: Path) -> None:
    (directory / "caffeine.xyz").write_text(CAFFEINE)


OPENBLAS_FILE = f"/usr/lib/{os.uname().machine}-linux-gnu/openblas-openmp/libopenblas.so.0"

PROGRAMS = (
    Program(
        "xtb",
        ("xtb", "caffeine.xyz", "--gfn", "2", "--grad"),
        needs("xtb"),
        write_molecule,
        "gradient",
        1e-6,
    ),
    Program(
        "tesseract",
        ("tesseract", "page.png", "-", "tsv"),
        needs("tesseract"),
        write_page,
    ),
    Program(
        "clustalo",
        ("clustalo", "-i", "proteins.fa", "--threads={threads}"),
        needs("clustalo"),
        write_proteins,
    ),
    Program(
        "gmic",
        ("gmic", *GMIC.split()),
        needs("gmic"),
        result="picture.asc",
    ),
    Program(
        "scikit-learn of Debian",
        (DEBIAN_PYTHON, "-c", SKLEARN),
        needs_module(DEBIAN_PYTHON, "sklearn", INSTALL_PACKAGES),
        tolerance=1e-9,
    ),
    Program(
        "scikit-learn, wheel",
        (WHEELS, "-c", SKLEARN),
        needs_module(WHEELS, "sklearn", INSTALL_WHEELS),
        tolerance=1e-9,
    ),
    Program(
        "faiss of Debian",
        (DEBIAN_PYTHON, "-c", FAISS),
        needs_module(DEBIAN_PYTHON, "faiss", INSTALL_PACKAGES),
        tolerance=1e-4,
    ),
    Program(
        "faiss, wheel",
        (WHEELS, "-c", FAISS),
        needs_module(WHEELS, "faiss", INSTALL_WHEELS),
        tolerance=1e-4,
    ),
    Program(
        "lightgbm, wheel",
        (WHEELS, "-c", LIGHTGBM),
        needs_module(WHEELS, "lightgbm", INSTALL_WHEELS),
    ),
    Program(
        "OpenBLAS",
        (sys.executable, "-c", OPENBLAS, OPENBLAS_FILE),
        needs(OPENBLAS_FILE),
    ),
)


def same(one: str, other: str, tolerance: float) -> bool:
    """Word by word."""
    words, others = one.split(), other.split()
    return len(words) == len(others) and all(
        left == right or close(left, right, tolerance)
        for left, right in zip(words, others, strict=True)
    )


def close(one: str, other: str, tolerance: float) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=tolerance, abs_tol=tolerance)
    except ValueError:
        return False


def run(
    program: Program, threads: int, directory: Path, environment: Mapping[str, str]
) -> tuple[str, str]:
    """The result, and what it wrote to standard error."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    program.prepare(directory)
    done = subprocess.run(
        [word.replace("{threads}", str(threads)) for word in program.command],
        cwd=directory,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    result = (directory / program.result).read_text() if program.result else done.stdout
    assert result.split(), "no result"
    return result, done.stderr


@pytest.fixture(scope="module")
def library() -> Path:
    build = meson.build_programs(PROJECT, PlainReporter(io.StringIO()))
    return build / "subprojects/intervals/openmp/libgomp.so.1"


def test_what_is_the_same() -> None:
    assert same("a 1.0 2", "a 1.0000001 2", 1e-6)
    assert not same("a 1.0 2", "a 1.00001 2", 1e-6)
    assert not same("a 1 2", "b 1 2", 1e-6)
    assert not same("a 1 2", "a 1", 1e-6)
    assert not same("1", "1.0000001", 0.0)


@pytest.mark.full
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_results(program: Program, threads: int, library: Path, tmp_path: Path) -> None:
    if missing := program.missing():
        pytest.skip(missing)
    directory = tmp_path / "run"
    # On a busy machine GCC's library would spin for minutes.
    theirs, _ = run(program, threads, directory, {"OMP_WAIT_POLICY": "passive"})
    preloaded = {"LD_PRELOAD": str(library)}
    for number in range(RUNS):
        # Threads that sleep at once come in other orders than threads that spin before.
        policy = {"OMP_WAIT_POLICY": "passive"} if number % 2 else {}
        ours, errors = run(program, threads, directory, {**preloaded, **policy, **DISPLAY})
        assert same(theirs, ours, program.tolerance), f"run {number}:\n{theirs}\nours:\n{ours}"
        took_part = dict(re.findall(rf"{TAKES_PART} (\d+) (\w+)", errors))
        assert threads == 1 or len(took_part) > 1, f"run {number}: no region has several threads"
        assert all(map(str.isdecimal, took_part.values())), f"run {number}: on GCC's: {took_part}"
