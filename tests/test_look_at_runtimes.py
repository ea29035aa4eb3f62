# SPDX-License-Identifier: GPL-2.0
"""`fast look` on this machine: of programs that wait for each other in one way only it names the
contended lock, or says that there is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from lab import PROJECT

RUNTIMES = PROJECT / "tests/runtimes"
FAST = PROJECT / "scripts/fast"
GCC = ("-O2", "-Wall", "-Wextra", "-Werror", "-pthread")
# So long that it is contended for a part of a second at least.
ROUNDS = {"go": "1000"}
USUAL_ROUNDS = "3000"

# The words that start a program, or why it cannot be built here.
Built = Sequence[str | Path] | str


def compiled(words: Sequence[str | Path], program: Sequence[str | Path], **more: Any) -> Built:
    """A toolchain that is not there is no fault of ours."""
    if not shutil.which(str(words[0])):
        return f"{words[0]} is not installed"
    done = subprocess.run(words, capture_output=True, text=True, **more)
    return f"it cannot be built: {done.stderr.strip()}" if done.returncode else program


def build_c(directory: Path) -> Built:
    path = directory / "waits"
    return compiled(["gcc", *GCC, "-o", path, RUNTIMES / "waits.c"], [path])


def build_cpp(directory: Path) -> Built:
    path = directory / "semaphore"
    words = ["g++", "-std=c++20", *GCC, "-o", str(path), str(RUNTIMES / "semaphore.cpp")]
    return compiled(words, [path])


def build_go(directory: Path) -> Built:
    # Neither a newer toolchain nor a module is fetched.
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0"}
    path = directory / "mutex"
    return compiled(["go", "build", "-o", path, RUNTIMES / "mutex.go"], [path], env=environment)


def build_java(directory: Path) -> Built:
    words = ["javac", "-d", str(directory), str(RUNTIMES / "Monitor.java")]
    return compiled(words, ["java", "-cp", directory, "Monitor"])


def build_rust(directory: Path) -> Built:
    source = directory / "source"
    shutil.copytree(RUNTIMES / "parking", source)
    words = ["cargo", "build", "--release", "--quiet"]
    return compiled(words, [source / "target/release/parking"], cwd=source)


BUILDERS: Mapping[str, Callable[[Path], Built]] = {
    "c": build_c,
    "cpp": build_cpp,
    "go": build_go,
    "java": build_java,
    "rust": build_rust,
}


def look(directory: Path, *words: str | Path) -> tuple[str, dict[str, Any]]:
    """What it says, and its data."""
    file = directory / "look.json"
    done = subprocess.run([FAST, "look", "--json", file, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_text())


@pytest.fixture(scope="module", autouse=True)
def tracefs() -> None:
    done = subprocess.run([FAST, "look", "--", "true"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(done.stderr.strip())


def built(language: str, directory: Path) -> Sequence[str | Path]:
    program = BUILDERS[language](directory)
    if isinstance(program, str):
        pytest.skip(program)
    return program


@pytest.mark.parametrize(
    ("language", "arguments", "what", "name"),
    [
        ("c", ["mutex"], "lock", "mutex"),
        ("c", ["semaphore"], "lock", "semaphore"),
        ("c", ["rwlock"], "lock", "rwlock+"),
        # Their threads wait for a tenth of the time only, or less beside other tests.
        pytest.param("cpp", [], "lock", "place", marks=pytest.mark.full),
        pytest.param("go", [], "mutex of Go", "main.mutex+0x4", marks=pytest.mark.full),
        pytest.param("java", [], "monitor of Java", "", marks=pytest.mark.full),
        # Asks crates.io.
        pytest.param("rust", [], "mutex of parking_lot", "parking::SHARED", marks=pytest.mark.full),
    ],
)
def test_the_contended_lock_is_named(
    language: str, arguments: Sequence[str], what: str, name: str, tmp_path: Path
) -> None:
    rounds = ROUNDS.get(language, USUAL_ROUNDS)
    said, data = look(tmp_path, "--", *built(language, tmp_path), *arguments, rounds)
    contended = [lock for lock in data["contended"] if lock["what"] == what]
    assert contended, said
    assert contended[0]["name"].startswith(name)
    assert name in said.splitlines()[0]


@pytest.mark.parametrize("way", ["condition", "signals", "barrier"])
def test_conditions_are_no_lock(way: str, tmp_path: Path) -> None:
    said, data = look(tmp_path, "--", *built("c", tmp_path), way, USUAL_ROUNDS)
    assert data["contended"] == []
    assert said.startswith("No contended lock: threads wait for conditions"), said


def test_a_process_that_runs_already(tmp_path: Path) -> None:
    with subprocess.Popen([*built("c", tmp_path), "mutex", "1000000000"]) as process:
        try:
            said, data = look(tmp_path, "--pid", str(process.pid), "--", "sleep", "1")
        finally:
            process.kill()
    assert [lock["name"] for lock in data["contended"]] == ["mutex"], said
