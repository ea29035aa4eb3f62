# SPDX-License-Identifier: GPL-2.0
"""A control that confines a program does not change it: what it is told of CPUs is the machine's,
and where it runs is not."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from lab import PROJECT, Lab, compile_guest, kernel

from fastlab.guest import vm

RUNTIMES = PROJECT / "tests/runtimes"
CPUS = 4
# What the arms of an experiment confine a workload to; None is the machine.
ARMS = (None, 1, 2)
TAKEN = {None: (0, 1, 2, 3), 1: (0,), 2: (0, 1)}
# The patch is ported from one to the other.
SERIES = ("6.12", pytest.param("7.3", marks=pytest.mark.full))
# Of a series that has this file for cgroups of the first version only, which no guest has.
LACKS = {"7.3": ["/proc/self/cpuset: No such file or directory"]}

# A program, or why it cannot be built here.
Built = Path | str


def build(name: str, path: Path, words: Sequence[str | Path], **more: Any) -> Built:
    """What the words build at the path. A toolchain that is not there is no fault of ours."""
    if not shutil.which(str(words[0])):
        return f"{words[0]} is not installed"
    answer = subprocess.run(words, capture_output=True, text=True, **more)
    return path if answer.returncode == 0 else f"{name} cannot be built: {answer.stderr.strip()}"


def build_openmp(path: Path) -> Built:
    options = ("-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", f"-I{PROJECT}/userspace/roi")
    subprocess.run(["gcc", *options, "-o", path, RUNTIMES / "openmp.c"], check=True)
    return path


def build_tbb(path: Path) -> Built:
    if not Path("/usr/include/tbb/info.h").exists():
        return "the Debian package libtbb-dev is not installed"
    return build("tbb", path, ["g++", "-O2", "-o", path, RUNTIMES / "tbb.cpp", "-ltbb"])


def build_go(path: Path) -> Built:
    # Neither a newer toolchain nor a module is fetched.
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0"}
    words = ["go", "build", "-o", path, RUNTIMES / "procs.go"]
    return build("go", path, words, env=environment)


def build_rayon(path: Path) -> Built:
    directory = path.with_name("rayon-source")
    shutil.copytree(RUNTIMES / "rayon", directory)
    words = ["cargo", "build", "--release", "--quiet"]
    built = build("rayon", directory / "target/release/confined", words, cwd=directory)
    return built if isinstance(built, str) else built.rename(path)


BUILDERS: Mapping[str, Callable[[Path], Built]] = {
    "openmp": build_openmp,
    "tbb": build_tbb,
    "go": build_go,
    "rayon": build_rayon,
}
# Asks crates.io.
FULL = ("rayon",)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("confinement")


@pytest.fixture(scope="module")
def programs(directory: Path, request: pytest.FixtureRequest) -> Mapping[str, Built]:
    """Those that the tests which are run ask for."""
    asked = {item.name for item in request.session.items}
    return {
        name: builder(directory / name)
        for name, builder in BUILDERS.items()
        if any(one.endswith(f"-{name}]") for one in asked)
    }


@pytest.fixture(scope="module", params=SERIES)
def lab(directory: Path, programs: Mapping[str, Built], request: pytest.FixtureRequest) -> Lab:
    further = {f"/bin/{name}": path for name, path in programs.items() if isinstance(path, Path)}
    further["/bin/cpus_told"] = compile_guest("cpus_told", directory)
    further["/bin/nproc"] = Path(shutil.which("nproc") or "nproc")
    saved = directory / f"lab-{request.param}"
    return Lab(saved, kernel("baseline", series=request.param), further)


def say(lab: Lab, what: str, cpus: int | None) -> tuple[list[str], tuple[int, ...]]:
    """What cpus_told prints when it is confined to `cpus` CPUs, and the CPUs that it ran on."""
    outcome = lab.run(f"{what}-{cpus}", ["/bin/cpus_told", what], cpus=cpus)
    assert (outcome.exit_status, outcome.errors) == (0, ())
    *told, ran = outcome.output_lines
    assert ran.startswith("ran ")
    return told, tuple(int(one) for one in ran.removeprefix("ran ").split(","))


def test_a_program_is_told_of_the_machine_in_every_arm(lab: Lab) -> None:
    found = {cpus: say(lab, "told", cpus) for cpus in ARMS}
    told, _ = found[None]
    # It asks, and is answered: no way is one that this kernel does not have.
    assert "sched_getaffinity 0,1,2,3" in told
    assert "/proc/self/status: Cpus_allowed_list:\t0-3" in told
    assert "its system call 8 f" in told
    assert f"_SC_NPROCESSORS_ONLN {CPUS}" in told
    assert f"/proc/cpuinfo: {CPUS} of processor" in told
    assert "/sys/devices/system/cpu/online: 0-3" in told
    assert "/cgroup/group/cpuset.cpus.effective: 2-3" in told
    assert told.count(f"{CPUS}") == 2  # nproc and nproc --all
    lacks = LACKS.get(lab.simulation.kernel.series, [])
    assert [line for line in told if "No such file" in line] == lacks
    for cpus in ARMS:
        assert found[cpus] == (told, TAKEN[cpus])


def test_a_program_that_sets_masks_stays_inside_and_reads_what_it_set(lab: Lab) -> None:
    found = {cpus: say(lab, "own", cpus) for cpus in ARMS}
    told, _ = found[None]
    for cpu in range(CPUS):
        assert f"sets {cpu}: Success, and is {cpu}" in told
    assert "sets 1 and one that is not there: Success, and is 1" in told
    assert "sets one that is not there: Invalid argument, and is 1" in told
    assert "a thread sets 2: Success, and is 2" in told
    assert "which is not of the first thread 1" in told
    assert "sets all: Success, and is 0,1,2,3" in told
    assert "in a group of 2 and 3 2,3" in told
    assert "sets 1 and 2 there: Success, and is 2" in told
    assert "in a group of 1 to 3 1,2" in told
    for cpus in ARMS:
        assert found[cpus] == (told, TAKEN[cpus])


def test_more_cpus_than_there_are_is_an_error(lab: Lab) -> None:
    outcome = lab.run("too-many", ["/bin/cpus_told", "mask"], cpus=CPUS + 1)
    assert outcome.exit_status == 126
    assert outcome.errors == (
        "init: cannot confine the workload to 5 CPUs: Numerical result out of range",
    )


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.full if name in FULL else ()) for name in BUILDERS],
)
def test_a_runtime_starts_as_many_threads_as_ever(
    lab: Lab, programs: Mapping[str, Built], name: str
) -> None:
    program = programs[name]
    if isinstance(program, str):
        pytest.skip(program)
    for cpus in ARMS:
        outcome = lab.run(f"{name}-{cpus}", [f"/bin/{name}"], cpus=cpus)
        assert outcome.exit_status == 0, outcome.errors
        assert outcome.output is not None
        ran = tuple(cpu for cpu in range(CPUS) if outcome.output["ran"] >> cpu & 1)
        assert (outcome.output["threads"], outcome.output["told"]) == (CPUS, CPUS)
        assert set(ran) <= set(TAKEN[cpus])
        # Which of its CPUs take part of the work is the runtime's affair.
        assert cpus == 1 or len(ran) > 1
        check_instructions(outcome, TAKEN[cpus])


def check_instructions(outcome: vm.Outcome, taken: tuple[int, ...]) -> None:
    """Of a program with a region of interest the plugin tells which CPUs executed it."""
    if outcome.document:
        executed = [
            one["cpu"] for one in outcome.document["per_cpu"] if one["user"]["instructions"]
        ]
        assert tuple(executed) == taken
