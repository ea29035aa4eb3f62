# SPDX-License-Identifier: GPL-2.0
"""The cases of the comparison with an original tree: both do the same work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_tree import PROJECT

from fastlab.base.toml_table import TomlTable
from fastlab.plan import splash_sizes
from fastlab.splash import programs
from fastlab.splash.programs import NAMES, Invocation
from fastlab.splash.timing import CASES


def test_there_is_a_case_for_each_program_with_options_that_it_takes() -> None:
    assert list(dict.fromkeys(case.program for case in CASES)) == list(NAMES)
    for case in CASES:
        splash_sizes.check(TomlTable(Path(), case.program, case.options), case.program)
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
    section = (PROJECT / "Documentation/splash2-original.rst").read_text()
    assert "scripts/fast bench splash --tree" in section
    rows = [line for line in section.splitlines() if line.startswith("``")]
    for case in CASES:
        wanted = (f"``{case.program}`` ", case.problem)
        assert any(all(word in line for word in wanted) for line in rows), wanted
