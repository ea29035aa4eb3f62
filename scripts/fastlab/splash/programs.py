# SPDX-License-Identifier: GPL-2.0
"""The nine programs of the paper in an original tree: how each is told what to do, and judged.

An original program takes its threads and its size as arguments, or as lines of its standard input
in a fixed order; what it accepts and then gets wrong is refused or avoided here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from fastlab.base.model import FastError, UsageError
from fastlab.splash import checks
from fastlab.splash.checks import Judge

Size = Literal["small", "base", "paper"]
SIZES: tuple[Size, ...] = ("small", "base", "paper")

WATER_SEED = 1
# A molecule has three atoms, and a velocity three directions; one number comes before all.
NUMBERS_PER_MOLECULE = 9


@dataclass(frozen=True)
class Invocation:
    """One run: words after the program's name, standard input, files to be there by their name."""

    arguments: Sequence[str] = ()
    input: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    """`directory` is below codes/; `sizes` are the words that `call` and people understand.

    m4 reads `macros` after parmacs.m4. `tolerance` is relative, for comparing the values of
    different thread counts. `remark` explains a figure that is shown without being judged.
    """

    name: str
    directory: str
    sizes: Mapping[Size, str]
    call: Callable[[Path, str, int], Invocation]
    judge: Judge
    tolerance: float = 0.0
    power_of_two: bool = False
    macros: str = ""
    remark: str = ""

    def refusal(self, threads: int) -> str:
        """Why this number of threads is not tried, or ""."""
        if self.power_of_two and threads & (threads - 1):
            return "a power of two only"
        return ""


def _words(form: str, directory: Path, size: str, threads: int) -> Invocation:
    """Of a program that takes nothing but words: `form` has them, but for the threads and the own
    test, with the place of the size."""
    return Invocation([f"-p{threads}", *form.format(size).split(), "-t"])


def _cholesky(directory: Path, size: str, threads: int) -> Invocation:
    """Its options have their value in the same word: with "-p 4", 4 is the matrix's file."""
    return Invocation([f"-p{threads}", "-B32", "-C16384", "-t", str(matrix(directory, size))])


def matrix(directory: Path, size: str) -> Path:
    """The file of a matrix that comes with Cholesky."""
    inputs = directory / "inputs"
    matrices = [path for path in sorted(inputs.glob("*")) if path.name.lower() == f"{size}.o"]
    if not matrices:
        packed = [path for path in sorted(inputs.glob(f"{size}.[oO].*"))]
        raise FastError(
            f"{inputs}/{size}.O is not there"
            + (f"; unpack {packed[0]} first" if packed else ": the tree lacks this matrix")
        )
    return matrices[0]


def _barnes(directory: Path, size: str, threads: int) -> Invocation:
    """Short lines: the last byte of each is written behind its memory. Space for leaves is given,
    for with its default of 0.5 a large run writes past it."""
    lines = ["", size, 123, "", BARNES_STEP, BARNES_SOFTENING, 1.0, 2.0, 5.0, 0.075, 0.25, threads]
    return Invocation(input="".join(f"{line}\n" for line in lines))


def _fmm(directory: Path, size: str, threads: int) -> Invocation:
    """No line is empty: only the original programs take an empty line for the default."""
    lines = ["two cluster", "plummer", size, "1e-6", threads, 5, FMM_STEP, "0.0", "cost zones"]
    return Invocation(input="".join(f"{line}\n" for line in lines))


def _water(cutoff: str, directory: Path, size: str, threads: int) -> Invocation:
    """With random numbers of its own: a tree's file has enough for 588 molecules, and beyond it the
    velocities are what was in memory."""
    molecules = int(size)
    generator = random.Random(WATER_SEED)
    count = NUMBERS_PER_MOLECULE * molecules + 1
    numbers = "".join(f"{generator.uniform(-4, 4):.6f}\n" for _ in range(count))
    text = f"1.5e-16 {molecules} 3 6\n-1 3000 3 0\n{threads} {cutoff}\n"
    return Invocation(input=text, files={"random.in": numbers})


BARNES_STEP = 0.025
BARNES_SOFTENING = 0.05
FMM_STEP = 0.025
# A quarter of the box of 512 molecules.
WATER_CUTOFF = "6.212752"

_WATER_SIZES: Mapping[Size, str] = {"small": "512", "base": "512", "paper": "9261"}

FMM_REMARK = (
    "fmm's forces are not judged, but its places: the figure is their root mean square distance "
    "from sums over all other particles, as a part of these. Splash-3 computes wrong forces at any "
    "number of threads: 1e+00 is as far off as they are large"
)
WATER_REMARK = (
    "water's temperature is not judged, but its energies and its pressure: Splash-3's "
    "water_spatial computes some 600,000 K where water_nsquared has 303 K, at any number of threads"
)

# In the order of the paper's Table 4; the sizes of its Table 2, and SPLASH-2's own as "base".
PROGRAMS: tuple[Program, ...] = (
    Program(
        "barnes",
        "apps/barnes",
        {"small": "2048", "base": "16384", "paper": "92000"},
        _barnes,
        checks.barnes(BARNES_SOFTENING, BARNES_STEP, bound=6e-2),
        tolerance=1e-9,
        macros="barnes.m4",
    ),
    Program(
        "cholesky",
        "kernels/cholesky",
        {"small": "tk14", "base": "tk15", "paper": "d750"},
        _cholesky,
        checks.cholesky,
    ),
    Program(
        "fft",
        "kernels/fft",
        {"small": "14", "base": "16", "paper": "24"},
        partial(_words, "-m{} -n65536 -l4"),
        checks.verdict_word("TEST PASSED", "TEST FAILED"),
        power_of_two=True,
    ),
    Program(
        "fmm",
        "apps/fmm",
        {"small": "2048", "base": "16384", "paper": "32000"},
        _fmm,
        checks.fmm(FMM_STEP),
        tolerance=1e-5,
        macros="fmm.m4",
        remark=FMM_REMARK,
    ),
    *(
        Program(
            f"lu_{kind}contiguous",
            f"kernels/lu/{kind and 'non_'}contiguous_blocks",
            {"small": "256", "base": "512", "paper": "2048"},
            partial(_words, "-n{} -b16"),
            checks.verdict_word("TEST PASSED", "TEST FAILED"),
        )
        for kind in ("", "non")
    ),
    Program(
        "radix",
        "kernels/radix",
        {"small": "65536", "base": "1048576", "paper": "16777216"},
        partial(_words, "-n{} -r1024"),
        checks.verdict_word("PASSED", "FAILED"),
        power_of_two=True,
    ),
    *(
        Program(
            f"water_{kind}",
            f"apps/water-{kind}",
            _WATER_SIZES,
            partial(_water, WATER_CUTOFF),
            checks.water,
            tolerance=1e-5,
            remark=WATER_REMARK,
        )
        for kind in ("nsquared", "spatial")
    ),
)
NAMES = tuple(program.name for program in PROGRAMS)


def select(names: Sequence[str]) -> list[Program]:
    """The programs of these names, in their own order; none: all."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise UsageError(f"no program {', '.join(unknown)}; there are {', '.join(NAMES)}")
    return [program for program in PROGRAMS if not names or program.name in names]
