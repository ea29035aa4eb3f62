# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command intervals-openmp, and the wheel: what they run, what they refuse, what they say."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from fastlab.base.progress import PlainReporter
from fastlab.guest import meson
from intervals_bench.programs import HOUSE
from intervals_openmp import copies

PROJECT = Path(__file__).parents[4]
SOURCES = PROJECT / "userspace/intervals/openmp/python"
COPY = "libgomp-a.so"

PROGRAM = r"""
#include <dlfcn.h>
#include <stdio.h>
int program(void)
{
	const char *(*name)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "intervals_gomp");
	int sum = 0;

#pragma omp parallel num_threads(3) reduction(+ : sum)
	sum++;
	printf("%d on %s\n", sum, name ? name() : "another library");
	fflush(stdout);
	return 7;
}
#ifndef LIBRARY
int main(void) { return program(); }
#endif
"""


@pytest.fixture(scope="module")
def build() -> Path:
    return meson.build_programs(PROJECT, PlainReporter(io.StringIO())) / HOUSE


@pytest.fixture(scope="module")
def package(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is installed."""
    place = tmp_path_factory.mktemp("python")
    shutil.copytree(SOURCES / "intervals_openmp", place / "intervals_openmp")
    shutil.copy(build / "openmp/python/empty.so", place / "intervals_openmp")
    shutil.copy(build / "openmp/libgomp.so.1", place / "intervals_openmp")
    return place


class Command:
    def __init__(self, package: Path, cache: Path) -> None:
        self.environment = {**os.environ, "PYTHONPATH": str(package), "XDG_CACHE_HOME": str(cache)}

    def __call__(self, *words: object, python: bool = False) -> subprocess.CompletedProcess[str]:
        call = "import sys; from intervals_openmp.command import command; sys.exit(command())"
        how = ["-m", "intervals_openmp"] if python else ["-c", call]
        return subprocess.run(
            [sys.executable, *how, *map(str, words)],
            env=self.environment,
            capture_output=True,
            text=True,
        )


@pytest.fixture
def command(package: Path, tmp_path: Path) -> Command:
    return Command(package, tmp_path / "cache")


def compile_program(directory: Path, *words: str, name: str = "program") -> Path:
    source = directory / f"{name}.c"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-fopenmp", "-o", directory / name, source, *words], check=True)
    return directory / name


def test_runs_with_the_library_and_the_programs_status(command: Command, tmp_path: Path) -> None:
    done = command(compile_program(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (7, "3 on libintervals-gomp\n", "")


def test_a_path_that_is_relative(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_program(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert command("./program").stdout == "3 on libintervals-gomp\n"


def test_check_says_what_would_happen_and_runs_nothing(
    command: Command, package: Path, tmp_path: Path
) -> None:
    done = command("--check", compile_program(tmp_path))
    library = package / "intervals_openmp/libgomp.so.1"
    assert done.stdout == (
        f"{tmp_path}/program links libgomp.so.1: its OpenMP runs on {library}.\n"
        f"LD_PRELOAD={library}\n"
    )
    assert done.returncode == 0
    assert "links no OpenMP library" in command("--check", "true").stdout


def test_what_is_preloaded_already_stays_first(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int nothing;")
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", tmp_path / "first.so", tmp_path / "a.c"], check=True
    )
    command.environment["LD_PRELOAD"] = str(tmp_path / "first.so")
    assert f"LD_PRELOAD={tmp_path}/first.so:/" in command("--check", "true").stdout


def other_library(directory: Path, soname: str) -> Path:
    """An empty library that a program needs."""
    (directory / "other.c").write_text("int other;")
    words = ["-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", directory / soname]
    subprocess.run(["gcc", *words, directory / "other.c"], check=True)
    return directory / soname


@pytest.mark.parametrize("soname", ["libomp.so.5", "libiomp5.so"])
def test_warns_of_a_second_library(command: Command, tmp_path: Path, soname: str) -> None:
    second = other_library(tmp_path, soname)
    words = ("-Wl,--no-as-needed", str(second), f"-Wl,-rpath,{tmp_path}")
    program = compile_program(tmp_path, *words)
    done = command(program)
    assert (done.returncode, done.stdout) == (7, "3 on libintervals-gomp\n")
    assert done.stderr.startswith(f"intervals-openmp: {program} links {soname}, ")
    checked = command("--check", program)
    assert checked.returncode == 1
    assert f"links {soname}" in checked.stdout and "links libgomp.so.1" in checked.stdout


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """What a wheel installs: an extension, and a copy of GCC's library in a name of its own."""
    directory = tmp_path / "site"
    (directory / "thing.libs").mkdir(parents=True)
    theirs = subprocess.check_output(["gcc", "-print-file-name=libgomp.so.1"], text=True).strip()
    content = Path(theirs).read_bytes().replace(b"libgomp.so.1\0", COPY.encode() + b"\0")
    (directory / "thing.libs" / COPY).write_bytes(content)
    source = directory / "thing.c"
    source.write_text(PROGRAM)
    words = ["-fopenmp", "-fPIC", "-DLIBRARY", "-c", "-o", directory / "thing.o", source]
    subprocess.run(["gcc", *words], check=True)
    words = ["-shared", "-o", directory / "libthing.so", directory / "thing.o"]
    words += [directory / "thing.libs" / COPY, "-Wl,-rpath,$ORIGIN/thing.libs"]
    subprocess.run(["gcc", *words], check=True)
    (directory / "thing.py").write_text(
        "import ctypes, pathlib\n"
        "ctypes.CDLL(str(pathlib.Path(__file__).with_name('libthing.so'))).program()\n"
        "print([line for line in open('/proc/self/maps') if '/site/thing.libs/' in line])\n"
    )
    return directory


def test_a_wheels_copy_is_not_loaded(command: Command, site: Path, tmp_path: Path) -> None:
    command.environment["PYTHONPATH"] += f":{site}"
    done = command("-m", "thing", python=True)
    assert (done.stdout, done.stderr) == ("3 on libintervals-gomp\n[]\n", "")
    done = command("--check", "-m", "thing", python=True)
    assert f"{site}/thing.libs/{COPY}: not loaded" in done.stdout
    assert done.returncode == 0
    # The same by the program's name, and by that of a script.
    script = tmp_path / "script"
    script.write_text(f"#!{sys.executable}\nimport thing\n")
    script.chmod(0o755)
    for words in ([sys.executable, "-c", "import thing"], [script]):
        assert command(*words).stdout == "3 on libintervals-gomp\n[]\n"


def test_a_damaged_stand_in_is_made_again(command: Command, site: Path, tmp_path: Path) -> None:
    command.environment["PYTHONPATH"] += f":{site}"
    kept = tmp_path / "cache/intervals-openmp" / COPY
    kept.parent.mkdir(parents=True)
    kept.write_text("no library")
    assert command("-m", "thing", python=True).stdout == "3 on libintervals-gomp\n[]\n"
    assert kept.read_bytes().startswith(b"\x7fELF")


def test_a_cache_that_cannot_be_written(command: Command, site: Path, tmp_path: Path) -> None:
    command.environment["PYTHONPATH"] += f":{site}"
    (tmp_path / "cache").write_text("a file")
    done = command("-m", "thing", python=True)
    assert done.returncode == 126
    assert "Not a directory; set XDG_CACHE_HOME to a directory" in done.stderr
    command.environment["XDG_CACHE_HOME"] = str(tmp_path / "with a space")
    assert "takes no path with a space" in command("-m", "thing", python=True).stderr


def test_a_library_of_clangs_in_a_package(command: Command, site: Path, tmp_path: Path) -> None:
    command.environment["PYTHONPATH"] += f":{site}"
    (site / "other/lib").mkdir(parents=True)
    (site / "other/lib/libomp.so").touch()
    done = command("--check", "-m", "thing", python=True)
    assert f"{site}/other/lib/libomp.so: not replaced" in done.stdout
    assert done.returncode == 1


def changed(program: Path, before: bytes, after: bytes) -> Path:
    copy = program.with_name("changed")
    shutil.copy(program, copy)
    content = copy.read_bytes()
    assert before in content and len(before) == len(after)
    copy.write_bytes(content.replace(before, after, 1))
    return copy


def test_refuses_what_cannot_be_preloaded(command: Command, tmp_path: Path) -> None:
    def refused(program: object, words: str, status: int = 126) -> None:
        done = command(program)
        assert (done.returncode, done.stdout) == (status, ""), done
        assert words in done.stderr and done.stderr.startswith("intervals-openmp: ")
        assert done.stderr.count("\n") == 1, done.stderr
        assert command("--check", program).returncode == 1

    program = compile_program(tmp_path)
    refused(compile_program(tmp_path, "-static", name="static"), "is linked statically")
    head = program.read_bytes()[:20]
    refused(changed(program, head, head[:18] + b"\xf3\0"), "is for another machine")
    musl = (b"/ld-linux-x86-64.so.2\0", b"/ld-musl-x86_64.so.1\0\0")
    refused(changed(program, *musl), "needs glibc's loader")
    refused(tmp_path / "nowhere", "no such file", 127)
    refused("no-such-program", "no such program in PATH", 127)
    refused(tmp_path, "is no program")
    refused(SOURCES / "pyproject.toml", "is no program that may be executed")
    text = tmp_path / "text"
    for content, words in (
        ("words\n", "neither an ELF program nor a script"),
        ("#!\n", "no interpreter"),
        ("#!/nowhere/python\n", "/nowhere/python: no such file"),
        ("#!/usr/bin/env -i true\n", "is not known"),
        (f"#!{text}\n", "scripts without end"),
    ):
        text.write_text(content)
        text.chmod(0o755)
        refused(text, words, 127 if "no such" in words else 126)
    needs = other_library(tmp_path, "libgone.so")
    linked = compile_program(tmp_path, "-Wl,--no-as-needed", str(needs), name="linked")
    refused(linked, "no libgone.so")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_refuses_a_program_with_more_rights(command: Command, tmp_path: Path) -> None:
    program = compile_program(tmp_path)
    os.chown(program, 1, -1)
    program.chmod(0o4755)
    assert "more rights than you have" in command(program).stderr


def test_bad_words(command: Command) -> None:
    for words, said in (
        ((), "what is to be run? usage: intervals-openmp [--check] PROGRAM"),
        (("--check",), "what is to be run?"),
        (("--chek", "true"), "unknown option --chek; usage: "),
    ):
        done = command(*words)
        assert done.returncode == 2 and said in done.stderr
    assert command("--help").stdout.startswith("usage: ")
    assert "what is to be run? usage: python -m" in command(python=True).stderr


def test_a_missing_library(package: Path, tmp_path: Path) -> None:
    shutil.copytree(package / "intervals_openmp", tmp_path / "intervals_openmp")
    (tmp_path / "intervals_openmp/libgomp.so.1").unlink()
    done = Command(tmp_path, tmp_path)("true")
    assert done.returncode == 126
    assert "libgomp.so.1: is missing; install libintervals-gomp again" in done.stderr


def test_names_of_libraries() -> None:
    for name in ("libgomp.so.1", "libgomp-e985bcbb.so.1.0.0", "libgomp.so"):
        assert copies.GCC.fullmatch(name)
    for name in ("libomp.so.5", "libomp-14.so.5", "libiomp5.so", "libomp-0a1b.so"):
        assert copies.OTHERS.fullmatch(name) and not copies.GCC.fullmatch(name)
    for name in ("libompd.so", "libgomp.spec", "libcomp.so"):
        assert not copies.GCC.fullmatch(name) and not copies.OTHERS.fullmatch(name)


# Python starts processes by fork: each child has regions of its own, and so has the parent after.
FORKS = """
import ctypes, multiprocessing, sys
library = ctypes.CDLL(sys.argv[1])
def job(number):
    return library.program()
if __name__ == "__main__":
    assert job(0) == 7
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(job, range(6)) == [7] * 6
    child = multiprocessing.get_context("fork").Process(target=job, args=(0,))
    child.start()
    child.join()
    assert job(0) == 7 and child.exitcode == 0
"""


def test_regions_in_processes_of_multiprocessing(command: Command, tmp_path: Path) -> None:
    library = compile_program(tmp_path, "-shared", "-fPIC", "-DLIBRARY", name="library.so")
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    done = command(script, library, python=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["3 on libintervals-gomp"] * 9


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, SOURCES / "make-wheel", directory]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(path) for path in directory.glob("*.whl")]
    (path,) = directory.glob("*.whl")
    return path


def test_the_wheel_is_for_old_systems_and_has_all_it_needs(wheel: Path, tmp_path: Path) -> None:
    version = tomllib.loads((SOURCES / "pyproject.toml").read_text())["project"]["version"]
    name = re.fullmatch(
        rf"intervals_openmp-{version}-py3-none-manylinux_2_(\d+)_(x86_64|aarch64)\.whl", wheel.name
    )
    # Debian 12 has glibc 2.36.
    assert name and int(name[1]) <= 36
    assert f"version: '{version}'" in (PROJECT / "userspace/intervals/meson.build").read_text()
    ZipFile(wheel).extractall(tmp_path)
    assert {
        path.name.partition("-")[0] for path in (tmp_path / "intervals_openmp.libs").iterdir()
    } >= {
        "libhwloc",
        "liburcu",
    }
    symbols = subprocess.check_output(
        ["readelf", "--sections", tmp_path / "intervals_openmp/libgomp.so.1"], text=True
    )
    assert ".symtab" not in symbols and ".debug" not in symbols
    (scripts,) = tmp_path.glob("*.dist-info/entry_points.txt")
    assert "intervals-openmp = intervals_openmp.command:command" in scripts.read_text()


def test_the_wheel_installs_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    program = compile_program(tmp_path)
    nothing = {**os.environ, "PATH": str(tmp_path / "venv/bin")}
    install = [tmp_path / "venv/bin/pip", "install", "-q", "--no-index", wheel]
    subprocess.run(install, check=True, env=nothing)
    done = subprocess.run(
        [tmp_path / "venv/bin/intervals-openmp", program],
        env=nothing,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "3 on libintervals-gomp\n", "")


def test_make_wheel_wants_a_directory() -> None:
    done = subprocess.run([SOURCES / "make-wheel"], capture_output=True, text=True)
    assert done.returncode == 2 and "make-wheel DIRECTORY" in done.stderr
