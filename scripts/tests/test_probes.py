# SPDX-License-Identifier: GPL-2.0
"""`fast stat` and `fast latency` become the C programs, with every argument."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fastlab.backend.counting import FAST_LATENCY, FAST_STAT
from fastlab.cli import main, probes

PROGRAMS = {"stat": FAST_STAT, "latency": FAST_LATENCY}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which Meson builds programs; execv() raises instead of replacing pytest."""

    def execv(path: str, argv: list[str]) -> None:
        raise SystemExit(f"{Path(path).name}: {argv[1:]}")

    monkeypatch.setattr(probes, "work_dir", lambda _: tmp_path)
    monkeypatch.setattr(os, "execv", execv)
    return tmp_path / "user"


def build(programs: Path, program: str) -> None:
    path = programs / program
    path.parent.mkdir(parents=True)
    path.write_text("")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ([], []),
        (["--events", "software", "true"], ["--events", "software", "true"]),
        (["--json", "x", "--", "a", "--", "-b"], ["--json", "x", "--", "a", "--", "-b"]),
        # Behind a first `--` also options that fast has itself.
        (["--", "--help"], ["--help"]),
        (["--list", "--version"], ["--list", "--version"]),
    ],
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_argument_goes_through(
    programs: Path, name: str, words: list[str], given: list[str]
) -> None:
    build(programs, PROGRAMS[name])
    with pytest.raises(SystemExit, match=f"^fast-{name}: ") as ended:
        main.main([name, *words])
    assert ended.value.code == f"fast-{name}: {given}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_is_not_built_is_named(
    programs: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main([name, "true"]) == 1
    error = capsys.readouterr().err
    assert error == (
        f"fast: {programs / PROGRAMS[name]}: not built; build the programs first: run `make`\n"
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_names_the_program(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main([name, "--help"])
    assert ended.value.code == 0
    assert f"fast-{name}" in capsys.readouterr().out
