# SPDX-License-Identifier: GPL-2.0
"""Two doors: the laboratory and the houses whose commands `fast bench` finds as plug-ins."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastlab.base.project import PROJECT
from fastlab.cli import plugins

HOUSES = {path.stem: path.parent for path in PROJECT.glob(plugins.BESIDE)}
# The Python packages that the laboratory installs and a house may use.
STATISTICS = {"numpy", "scipy"}


def imported(package: Path) -> Iterator[tuple[str, str]]:
    """Each file of a package, and the first name of each module that it imports."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            yield from ((path.name, module.partition(".")[0]) for module in modules)


def test_the_laboratory_imports_nothing_of_a_house() -> None:
    assert "intervals_bench" in HOUSES
    wrong = [pair for pair in imported(PROJECT / "scripts") if pair[1] in HOUSES]
    assert wrong == []


@pytest.mark.parametrize("name", HOUSES)
def test_a_house_imports_the_laboratorys_package_alone(name: str) -> None:
    known = {name, "fastlab", *STATISTICS, *sys.stdlib_module_names}
    assert [pair for pair in imported(HOUSES[name] / name) if pair[1] not in known] == []


def bench_help(checkout: Path) -> subprocess.CompletedProcess[str]:
    """What `fast bench --help` says in a checkout."""
    return subprocess.run(
        [sys.executable, "-B", checkout / "scripts", "bench", "--help"],
        env={},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The laboratory without a house."""
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    left_out = shutil.ignore_patterns("__pycache__", "tests")
    shutil.copytree(PROJECT / "scripts", tmp_path / "scripts", ignore=left_out)
    return tmp_path


def house(checkout: Path, code: str) -> None:
    """A house whose plug-in is this code."""
    folder = checkout / "userspace/other/bench"
    (folder / "other.dist-info").mkdir(parents=True)
    entry = f"[{plugins.GROUP}]\nother = other:add\n"
    (folder / "other.dist-info/entry_points.txt").write_text(entry)
    (folder / "other.py").write_text(code)


def test_the_runtimes_commands_are_the_houses(checkout: Path) -> None:
    assert "gomp-testsuite" in bench_help(PROJECT).stdout
    alone = bench_help(checkout)
    assert "overhead" in alone.stdout and "gomp-testsuite" not in alone.stdout
    assert alone.returncode == 0 and alone.stderr == ""


def test_a_plugin_adds_its_commands(checkout: Path) -> None:
    house(checkout, 'def add(what):\n    what.add_parser("mine", help="measure mine")\n')
    assert "measure mine" in bench_help(checkout).stdout


@pytest.mark.parametrize("code", ["import nothing_of_this_name\n", "added = None\n"])
def test_a_broken_plugin_is_named_and_nothing_else_is_lost(checkout: Path, code: str) -> None:
    house(checkout, code)
    answer = bench_help(checkout)
    assert "overhead" in answer.stdout and answer.returncode == 0
    assert "fast: the plug-in other (other:add) cannot be loaded" in answer.stderr
    assert "Traceback" not in answer.stderr
