# SPDX-License-Identifier: GPL-2.0
"""Attribution of runs in real guests: its sums, and false sharing where it is and where not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from lab import PROJECT, Lab, kernel

from fastlab.attribution.names import KernelNames, ProgramNames
from fastlab.attribution.profile import ProfiledVariant, profile
from fastlab.backend.costs import read_costs
from fastlab.base.model import Watchdogs
from fastlab.guest import vm
from fastlab.guest.symbols import Symbols, static_maps
from fastlab.kernel import debug_info
from fastlab.statistics.attributed import Attributed

PATIENT = Watchdogs(boot=300, run=900)
PROGRAMS = {"shared": [], "padded": ["-DPADDED"]}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The one whose threads share a line, and its twin, whose threads do not."""
    directory = tmp_path_factory.mktemp("attribution")
    words = ["-g", "-O2", "-static", "-no-pie", f"-I{PROJECT}/userspace/roi"]
    paths = {name: directory / name for name in PROGRAMS}
    for name, path in paths.items():
        source = PROJECT / "tests/shared_line.c"
        command = ["gcc", *words, *PROGRAMS[name], "-o", path, source, "-pthread"]
        subprocess.run(command, check=True)
    return paths


@pytest.fixture(scope="module")
def lab(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Lab:
    further = {f"/bin/{name}": path for name, path in programs.items()}
    return Lab(tmp_path_factory.mktemp("lab") / "lab", kernel("baseline"), further)


def attributed(lab: Lab, program: Path) -> tuple[Attributed, vm.Outcome]:
    outcome = lab.run(program.name, [f"/bin/{program.name}"], PATIENT, attribute=True)
    assert outcome.exit_status == 0, outcome.errors
    costs = read_costs(lab.path / program.name / vm.ATTRIBUTION)
    variant = ProfiledVariant("baseline", KernelNames(lab.simulation.kernel), [costs])
    names = ProgramNames(Symbols(static_maps(program), program))
    (found,) = profile(program.name, [program.name], names, [variant], lab.path / "profile")
    return found, outcome


def test_false_sharing_is_found_where_it_is(lab: Lab, programs: dict[str, Path]) -> None:
    found, outcome = attributed(lab, programs["shared"])
    assert outcome.document is not None
    total = outcome.document["total"]
    assert found.totals == {
        name: total["user"][name] + total["kernel"][name] for name in found.totals
    }
    (ours,) = [one for one in found.false_sharing if one.name == "counters"]
    # The CPUs take turns, and in each the line moves.
    assert ours.in_vain > 100
    assert ours.in_vain >= 0.95 * ours.moves
    assert list(ours.touched) == ["CPU 0 writes 0-7 (counters)", "CPU 1 writes 8-15 (counters+0x8)"]
    assert list(ours.by) == ["count"]
    first = found.functions[0]
    assert (first.function, first.binary) == ("count", "shared")
    assert first.source.startswith("shared_line.c:")
    annotate = shutil.which("callgrind_annotate")
    assert annotate, "install Debian's package valgrind"
    command = [annotate, lab.path / "profile/baseline.callgrind"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"{found.totals['cycles']:,} (100.0%)" in said


def test_the_padded_twin_has_none(lab: Lab, programs: dict[str, Path]) -> None:
    found, _ = attributed(lab, programs["padded"])
    assert [one for one in found.false_sharing if "counters" in one.name] == []


@pytest.mark.full
def test_the_kernels_lines_are_those_of_its_build_with_debug_information(
    lab: Lab, programs: dict[str, Path]
) -> None:
    kernel("baseline", debug_info.FRAGMENT)
    found, _ = attributed(lab, programs["shared"])
    ours = [one for one in found.functions if one.binary == "kernel"]
    assert ours
    assert [one.function for one in ours if not one.source] == []
