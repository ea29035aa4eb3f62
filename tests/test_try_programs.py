# SPDX-License-Identifier: GPL-2.0
"""Programs of other projects in a guest of `fast try`, by the commands of its page, and
what a program is given there."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from lab import PROJECT

from fastlab.base.model import FastError, Machine
from fastlab.base.progress import PlainReporter
from fastlab.trial import in_simulation, runs, verdict
from fastlab.trial.given import NOTHING, Given
from fastlab.trial.in_simulation import QUANTA
from fastlab.trial.runs import Trial

PROGRAMS = PROJECT / "tests/programs"
AUTO = replace(NOTHING, auto=True)
# A JVM's files fill half of it.
MACHINE = Machine(memory_mb=1024, preset="epyc-milan")


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each arm runs once: the answer is not what is looked at."""
    monkeypatch.setattr(in_simulation, "QUANTA", QUANTA[:1])


def run(
    directory: Path, argv: Sequence[str], given: Given = NOTHING, more: Sequence[str] = ()
) -> Trial:
    files = tuple(map(Path, more))
    request = runs.TrialRequest(
        tuple(argv), directory, 600.0, machine=MACHINE, given=given, more=files
    )
    return in_simulation.run(request, PlainReporter(io.StringIO()))


def locks(found: Trial) -> set[str]:
    """The names of locks that were handed over."""
    return {lock.name for timed in found.timed for lock in timed.locks if lock.handoffs}


def needs(*programs: str) -> None:
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


def test_what_a_program_is_given(tmp_path: Path) -> None:
    """Sockets, a server, an input, a variable, a date, names, and what the kernel has for it."""
    command = ["gcc", "-O2", "-o", "given", PROJECT / "tests/given.c", "-pthread"]
    subprocess.run(command, cwd=tmp_path, check=True)
    (tmp_path / "input").write_text("a line\n")
    server = ("./given", "serve", "/tmp/socket")
    given = Given(tmp_path / "input", (("GIVEN", "two words"),), date=1_800_000_000, server=server)
    found = run(tmp_path, ["./given", "/tmp/socket", "input"], given)
    assert all(row["status"] == "ok" for row in found.rows)
    assert "given: served_lock" in locks(found)
    # The server has to be there.
    with pytest.raises(FastError, match="/tmp/socket: No such file"):
        run(tmp_path, ["./given", "/tmp/socket", "input"], replace(given, server=()))


@pytest.mark.full
def test_redis(tmp_path: Path) -> None:
    needs("redis-server", "redis-benchmark")
    given = Given(server=("redis-server", "--save", "", "--io-threads", "2"))
    found = run(tmp_path, ["redis-benchmark", "-n", "200", "-c", "8", "-t", "set"], given)
    assert len(verdict.judge(found)) == 2


@pytest.mark.full
def test_memcached(tmp_path: Path) -> None:
    needs("memcached", "memcslap")
    given = Given(server=("memcached", "-u", "nobody", "-l", "127.0.0.1"))
    words = ["memcslap", "--servers=127.0.0.1", "--concurrency=4", "--execute-number=50"]
    found = run(tmp_path, words, given)
    assert len(verdict.judge(found)) == 2


@pytest.mark.full
def test_a_jvm(tmp_path: Path) -> None:
    needs("javac", "java")
    subprocess.run(["javac", "-d", tmp_path, PROGRAMS / "Monitor.java"], check=True)
    words = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "Monitor"]
    assert locks(run(tmp_path, words, AUTO))


@pytest.mark.full
@pytest.mark.parametrize("name", ["locks.py", "sqlite_threads.py"])
def test_cpython(tmp_path: Path, name: str) -> None:
    shutil.copy(PROGRAMS / name, tmp_path)
    assert locks(run(tmp_path, ["python3", name], AUTO))


@pytest.mark.full
def test_go(tmp_path: Path) -> None:
    needs("go")
    subprocess.run(["go", "build", "-o", tmp_path / "mutex", PROGRAMS / "mutex.go"], check=True)
    assert locks(run(tmp_path, ["./mutex"]))


@pytest.mark.full
def test_rust(tmp_path: Path) -> None:
    needs("rustc")
    subprocess.run(["rustc", "-O", "-o", tmp_path / "mutex", PROGRAMS / "mutex.rs"], check=True)
    assert locks(run(tmp_path, ["./mutex"]))


@pytest.mark.full
def test_node(tmp_path: Path) -> None:
    needs("node")
    found = run(tmp_path, ["node", "--jitless", "-e", "0"], AUTO)
    assert len(verdict.judge(found)) == 2


# What a program that traces another one needs in the guest, besides its libraries.
TRACERS = {
    "strace": (("strace", "-f", "-o", "/dev/null", "true"), ("/bin/true",)),
    "gdb": (("gdb", "-batch", "-ex", "run", "true"), ("/bin/true", "/bin/sh", "/usr/share/gdb")),
}


def python_of_gdb() -> str:
    """The directory of its modules, without which gdb does not start."""
    words = ["gdb", "-batch", "-ex", "python import os; print(os.path.dirname(os.__file__))"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.full
@pytest.mark.parametrize("name", TRACERS)
def test_a_tracer_ends(tmp_path: Path, name: str) -> None:
    needs(name)
    words, files = TRACERS[name]
    more = (*files, python_of_gdb()) if name == "gdb" else files
    assert len(verdict.judge(run(tmp_path, words, more=more))) == 2


@pytest.mark.parametrize("name", TRACERS)
def test_a_tracer_cannot_be_observed(tmp_path: Path, name: str) -> None:
    needs(name, "strace")
    words, _ = TRACERS[name]
    with pytest.raises(FastError, match="traces another one cannot be observed: name its files"):
        run(tmp_path, words, AUTO)
