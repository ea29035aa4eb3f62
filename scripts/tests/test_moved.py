# SPDX-License-Identifier: GPL-2.0
"""A checkout that was moved or copied, or has another one's environment, runs its own code."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fastlab.base.model import FastError
from fastlab.base.moved import forget_moved, source_of
from fastlab.base.progress import PlainReporter
from fastlab.base.project import PROJECT
from fastlab.guest import meson

OTHER = 'raise SystemExit("the code of another checkout")\n'
# A space and a letter that JSON escapes.
NAMES = ("old place", "neuer Ört")


def environment(directory: Path) -> None:
    """A virtual environment, and a script of its pip as pip itself writes it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    pip = directory / "bin/pip"
    pip.write_text(f"#!/bin/sh\n'''exec' \"{directory}/bin/python3\" \"$0\" \"$@\"\n' '''\n")
    pip.chmod(0o755)


def stand_in(checkout: Path) -> None:
    """A checkout whose code cannot be taken for this one's."""
    package = checkout / "scripts/fastlab/cli"
    package.mkdir(parents=True)
    for name in ("../__init__.py", "__init__.py", "__main__.py"):
        (package / name).write_text(OTHER)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """This command with an environment in which another checkout is installed."""
    own, other = (tmp_path / name for name in NAMES)
    leave = shutil.ignore_patterns("tests", "__pycache__", "*.egg-info")
    shutil.copytree(PROJECT / "scripts", own / "scripts", ignore=leave)
    version = 'name = "fastlab"\nversion = "4.5.6"\nrequires-python = ">=3.11"\ndependencies = []\n'
    (own / "pyproject.toml").write_text(f"[project]\n{version}")
    stand_in(other)
    environment(own / "build/venv")
    (own / "build/venv/complete").touch()
    (packages,) = (own / "build/venv/lib").glob("python*/site-packages")
    (packages / "__editable__.fastlab.pth").write_text(f"{other / 'scripts'}\n")
    return own


def fast(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "scripts/fast", *words],
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": str(checkout.parent)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("gone", [False, True])
def test_the_command_runs_its_own_code(checkout: Path, gone: bool) -> None:
    if gone:
        shutil.rmtree(checkout.with_name(NAMES[1]))
    answer = fast(checkout, "--version")
    assert (answer.stdout, answer.stderr) == ("fast 4.5.6\n", "")
    assert "build/user" in fast(checkout, "doctor").stdout


def test_what_it_starts_has_the_users_own_search_path(checkout: Path) -> None:
    (checkout / "scripts/fastlab/cli/__main__.py").write_text(
        "import os; print(os.environ.get('PYTHONPATH'))\n"
    )
    assert fast(checkout).stdout == "None\n"


def test_an_environment_that_was_moved_is_forgotten(tmp_path: Path) -> None:
    old, new = (tmp_path / name / "venv" for name in NAMES)
    environment(old)
    assert forget_moved(old) == "" and old.is_dir()
    old.parent.rename(new.parent)
    said = forget_moved(new)
    assert said == f"{new} was made as {old}: removing it; it will be built again"
    assert not new.exists()


def test_a_short_first_line_is_read_too(tmp_path: Path) -> None:
    environment(tmp_path / "venv")
    (tmp_path / "venv/bin/pip").write_text("#!/somewhere/venv/bin/python3.11\n")
    assert "was made as /somewhere/venv" in forget_moved(tmp_path / "venv")


def test_an_environment_of_another_python_is_forgotten(tmp_path: Path) -> None:
    for name in ("upgraded", "removed"):
        environment(tmp_path / name)
    (library,) = (tmp_path / "upgraded/lib").iterdir()
    library.rename(library.with_name("python3.0"))
    (tmp_path / "removed/bin/python").unlink()
    (tmp_path / "removed/bin/python").symlink_to("/no/such/python3.11")
    for name in ("upgraded", "removed"):
        assert "was made for another Python" in forget_moved(tmp_path / name)


def test_of_another_checkouts_environment_only_the_link_could_go(tmp_path: Path) -> None:
    environment(tmp_path / "other")
    (tmp_path / "linked").symlink_to("other")
    assert forget_moved(tmp_path / "linked") == ""
    (tmp_path / "other/bin/pip").write_text("#!/somewhere/bin/python3\n")
    assert forget_moved(tmp_path / "linked")
    assert (tmp_path / "other").is_dir() and not (tmp_path / "linked").is_symlink()


def test_a_sysroot_that_was_moved_is_forgotten(tmp_path: Path) -> None:
    for root in (tmp_path, Path("/somewhere/else")):
        directory = tmp_path / "sysroot"
        directory.mkdir(exist_ok=True)
        (directory / "meson.ini").write_text(f"[constants]\nroot = '{root}/sysroot'\n")
        assert bool(forget_moved(directory)) == (root != tmp_path)


@pytest.mark.parametrize("content", ["", "{", '{"directories": []}'])
def test_what_does_not_say_where_it_was_made_is_left(content: str, tmp_path: Path) -> None:
    (tmp_path / "meson-info").mkdir()
    (tmp_path / "meson-info/meson-info.json").write_text(content)
    assert forget_moved(tmp_path) == "" and tmp_path.is_dir()
    assert forget_moved(tmp_path / "nothing") == ""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that Meson builds in a moment: one file with the place of its source."""
    project = tmp_path / NAMES[0]
    project.mkdir()
    (project / "meson.build").write_text(
        "project('small')\n"
        "custom_target('place', output: 'place', build_by_default: true, capture: true,\n"
        "  command: ['echo', meson.current_source_dir()])\n"
    )
    return project


def build(project: Path) -> tuple[str, str]:
    heard = io.StringIO()
    directory = meson.build_programs(project, PlainReporter(heard))
    return (directory / "place").read_text().strip(), heard.getvalue()


@pytest.mark.parametrize("copied", [False, True])
def test_programs_are_built_where_the_checkout_is_now(copied: bool, project: Path) -> None:
    assert build(project)[0] == str(project)
    new = project.with_name(NAMES[1])
    if copied:
        shutil.copytree(project, new, symlinks=True)
    else:
        project.rename(new)
    place, heard = build(new)
    assert place == str(new)
    assert f"{new}/build/user was made as {project}/build/user" in heard
    assert "was made as" not in build(new)[1]


def test_programs_of_another_checkout_are_not_taken(project: Path, tmp_path: Path) -> None:
    build(project)
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(project / "meson.build", own)
    (own / "build").symlink_to(project / "build")
    with pytest.raises(FastError) as error:
        build(own)
    assert f"build/user has the programs of {project}, not of {own}" in str(error.value)
    assert source_of(project / "build/user") == project


def test_make_sets_up_anew_what_was_moved(project: Path) -> None:
    build(project)
    environment(project / "build/venv")
    (project / "build/venv/complete").touch()
    for name in ("Makefile", "scripts"):
        (project / name).symlink_to(PROJECT / name)
    (project / "pyproject.toml").touch()
    os.utime(project / "pyproject.toml", (1, 1))

    def wanted(checkout: Path) -> str:
        words = ["make", "-n", "-C", checkout, "programs"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    before = wanted(project)
    assert "make-venv" not in before and "meson setup" not in before
    new = project.with_name(NAMES[1])
    project.rename(new)
    after = wanted(new)
    assert "make-venv pyproject.toml build/venv dev" in after
    assert "meson setup build/user" in after
