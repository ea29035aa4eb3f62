# SPDX-License-Identifier: GPL-2.0
"""What the original programs are told, and how what they say is judged."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from fastlab.base.model import FastError
from fastlab.splash import checks, driver
from fastlab.splash.checks import ProgramOutput, differences
from fastlab.splash.driver import TreeRow, TreeVerdict
from fastlab.splash.programs import NAMES, PROGRAMS, SIZES, Invocation, Program, select

STEP = 0.025


def named(name: str) -> Program:
    return next(one for one in PROGRAMS if one.name == name)


def call(name: str, size: str = "", threads: int = 4, directory: Path = Path()) -> Invocation:
    program = named(name)
    return program.call(directory, size or program.sizes["small"], threads)


def test_the_nine_of_the_paper_with_its_sizes() -> None:
    paper = {one.name: one.sizes["paper"] for one in PROGRAMS}
    assert paper == {
        "barnes": "92000",
        "cholesky": "d750",
        "fft": "24",
        "fmm": "32000",
        "lu_contiguous": "2048",
        "lu_noncontiguous": "2048",
        "radix": "16777216",
        "water_nsquared": "9261",
        "water_spatial": "9261",
    }
    assert all(set(one.sizes) == set(SIZES) for one in PROGRAMS)
    assert [one.name for one in select(["fft", "barnes"])] == ["barnes", "fft"]
    assert [one.name for one in select([])] == list(NAMES)


def test_choleskys_options_and_values_are_one_word(tmp_path: Path) -> None:
    (tmp_path / "inputs").mkdir()
    with pytest.raises(FastError, match=r"tk14.O is not there: the tree lacks this matrix"):
        call("cholesky", directory=tmp_path)
    (tmp_path / "inputs/tk14.O.Z").touch()
    with pytest.raises(FastError, match=r"unpack .*tk14.O.Z first"):
        call("cholesky", directory=tmp_path)
    (tmp_path / "inputs/tk14.O").touch()
    words = call("cholesky", directory=tmp_path).arguments
    assert words[0] == "-p4"
    assert words[-1] == str(tmp_path / "inputs/tk14.O")


def test_bodies_come_line_by_line() -> None:
    lines = call("barnes", threads=16).input.split("\n")
    # An infile or an outfile of any name, a newline included, would be opened.
    assert lines[0] == lines[3] == ""
    assert lines[1] == "2048"
    assert lines[8] == "5.0"
    assert lines[11] == "16"
    assert len(lines) == 13
    # getparam() writes a byte beyond its memory: what malloc rounds up has room for these.
    assert max(map(len, lines)) < 23
    assert all(call("fmm").input.split("\n")[:9])


@pytest.mark.parametrize("name", ["water_nsquared", "water_spatial"])
def test_water_has_a_number_for_each_velocity(name: str) -> None:
    made = call(name, "9261")
    numbers = [float(word) for word in made.files["random.in"].split()]
    assert len(numbers) == 9 * 9261 + 1
    assert -4 <= min(numbers) < -3.9 < 3.9 < max(numbers) <= 4
    assert made.files == call(name, "9261").files
    assert made.input.split()[1] == "9261"
    assert made.input.split()[8] == "4"


def test_threads_that_hang_are_not_tried() -> None:
    for name in ("fft", "radix"):
        assert named(name).refusal(6) == "a power of two only"
        assert named(name).refusal(64) == ""
    assert named("cholesky").refusal(6) == ""


def judged(name: str, output: str, *report: str, size: int = 0) -> checks.Judgement:
    """A report is of as many lines as were asked for, unless the size says otherwise."""
    return named(name).judge(ProgramOutput(output, report, str(size or len(report) or 100)))


WATER_STEP = """***** NEW RUN STARTING FROM REGULAR LATTICE *****
         3        1.55091      0.05469     10.60384                      -2.18384
           10.026        302.62666        -19.54609
COMPUTESTART (after initialization) = 0
"""


@pytest.mark.parametrize(
    ("name", "output", "right", "words"),
    [
        ("fft", "x\nTEST PASSED\n", True, "TEST PASSED"),
        ("fft", "TEST FAILED\n", False, "TEST FAILED"),
        ("fft", "", False, "never said"),
        ("lu_contiguous", "TEST FAILED: (0.5 diff)\n", False, "0.5 diff"),
        ("radix", "PASSED: All keys in place.\n", True, "PASSED"),
        ("radix", "FAILED: 3 keys out of place.\n", False, "3 keys"),
        ("cholesky", "Error opening file\n", False, "operations"),
        ("cholesky", "9 operations for factorization\nPASSED\n", True, "PASSED"),
        ("cholesky", "9 operations for factorization\nMax error is 0.5\n", False, "0.5"),
        ("cholesky", "9 operations for factorization\n", False, "never said"),
        (
            "water_spatial",
            WATER_STEP + "Exited Happily with XTT = 10.026 (note)\n",
            True,
            "; not judged: 303 K",
        ),
        ("water_spatial", "Exited Happily with XTT = 10.026 (note)\n", False, "step's energies"),
        ("water_spatial", "Exited Happily with XTT = 1.998e+33 (note)\n", False, "1.998e+33"),
        ("water_spatial", "Exited Happily with XTT = nan (note)\n", False, "nan"),
        ("water_spatial", "Exited Happily with XTT = - (note)\n", False, "-"),
        ("water_spatial", "ERROR: Usage\n", False, "Exited Happily"),
        ("barnes", "COMPUTETIME = 5\n", False, "0 bodies, not 100"),
        ("fmm", "Finished FMM\n", False, "0 particles, not 100"),
    ],
)
def test_what_programs_say_of_themselves(name: str, output: str, right: bool, words: str) -> None:
    judgement = judged(name, output)
    assert judgement.right is right
    assert words in judgement.detail


def test_choleskys_work_is_the_same_at_every_thread_count() -> None:
    one = judged("cholesky", "9 operations for factorization\nPASSED\n").values
    two = judged("cholesky", "8 operations for factorization\nPASSED\n").values
    assert differences(one, one, 0) == []
    assert differences(two, one, 0) == ["operations is 8.0, 9.0 is right"]
    assert differences({}, one, 0) == ["operations is None, 9.0 is right"]


def test_waters_pressure_is_the_same_at_every_thread_count() -> None:
    end = "Exited Happily with XTT = 10.0256 (note)"
    one = judged("water_nsquared", WATER_STEP + end).values
    assert one == {"XTT": 10.0256, "potential energy": -2.18384, "pressure": -19.54609}
    other = judged("water_nsquared", WATER_STEP.replace("-19.546", "-19.556") + end).values
    assert differences(other, one, 1e-5) == ["pressure is -19.55609, -19.54609 is right"]


def bodies(count: int = 100, wrong: float = 1.0) -> list[str]:
    """What barnes.m4 reports after a leapfrog step; accelerations are `wrong` times the sums."""
    generator = random.Random(2)
    places = [[generator.uniform(-1, 1) for _ in range(3)] for _ in range(count)]
    lines = []
    for here in places:
        acceleration = [0.0, 0.0, 0.0]
        for there in places:
            square = math.dist(here, there) ** 2 + 0.05**2
            for k in range(3):
                acceleration[k] += wrong / count * (there[k] - here[k]) / square**1.5
        velocity = [a * STEP / 2 for a in acceleration]
        after = [x + v * STEP for x, v in zip(here, velocity, strict=True)]
        end = [v + a * STEP / 2 for v, a in zip(velocity, acceleration, strict=True)]
        lines.append(" ".join(map(str, ["body", 1 / count, *after, *end, *acceleration])))
    return lines


def test_bodies_are_pulled_by_all_others() -> None:
    good = judged("barnes", "", *bodies())
    assert good.right
    assert float(good.detail.split()[1]) < 1e-12
    assert good.values["mass"] == pytest.approx(1)
    assert not judged("barnes", "", *bodies(wrong=1.1)).right
    assert not judged("barnes", "", *bodies(wrong=-1)).right
    assert "1 of 100 bodies never" in judged("barnes", "", *bodies()[1:], "body" + " 0" * 10).detail
    assert not judged("barnes", "", *bodies()[1:], "body" + " nan" * 10).right
    # Those that are left pull each other as they should, but they are not all.
    fewer = judged("barnes", "", *bodies(), size=101)
    assert (fewer.right, fewer.detail) == (False, "it reported 100 bodies, not 101")
    assert not judged("barnes", "", *bodies(), "body 0.01 0.5").right
    assert not judged("barnes", "", *bodies(), "body 0.01 0.5", size=100).right


def particle(number: int, x: float = 0.5) -> str:
    return f"particle {number} 1 0.25 {x} {number} 0 0 0 0"


def test_particles_are_all_there_once() -> None:
    good = [particle(i) for i in range(4)]
    assert judged("fmm", "", *reversed(good)).right
    assert not judged("fmm", "", *good[1:]).right
    fewer = judged("fmm", "", *good, size=5)
    assert (fewer.right, fewer.detail) == (False, "it reported 4 particles, not 5")
    assert not judged("fmm", "", *good, "particle 4 1", size=4).right
    assert not judged("fmm", "", *good[:3], good[3] + " 0").right
    assert not judged("fmm", "", *good, good[0]).right
    assert not judged("fmm", "", *good[:3], particle(3, math.nan)).right
    assert "; not judged: forces " in judged("fmm", "", *good).detail
    moved = judged("fmm", "", *good[:3], particle(3, 0.6)).values
    assert differences(moved, judged("fmm", "", *good).values, named("fmm").tolerance)


def tree_row(program: str, verdict: TreeVerdict) -> TreeRow:
    return TreeRow(program, "512", 1, "", 1.0, 1, 0, verdict, "")


def test_a_figure_that_is_not_judged_is_explained_below_the_table() -> None:
    both = [tree_row(name, "ok") for name in ("water_nsquared", "water_spatial", "fmm")]
    note = driver.table(both).note
    assert note.count("Water's temperature is not judged") == 1
    assert "Fmm's forces are not judged" in note and "1e+00 is as far off" in note
    for rows in ([tree_row("fft", "ok")], [tree_row("fmm", "failed")]):
        assert "judged" not in driver.table(rows).note
