# SPDX-License-Identifier: GPL-2.0
"""The kernel's own futex selftests: the patched kernel passes what the baseline passes.

The same binaries, built from the patched source, run in the baseline and in the patched
kernel under each of its policies, off among them. These guests do not poll when idle: then sleeping
takes no host time, and nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from lab import Lab, compile_guest, kernel

from fastlab.base.model import Machine, Watchdogs
from fastlab.guest import hardware
from fastlab.plan.arms import POLICIES

PATIENT = Watchdogs(run=1800)
OF_THE_SERIES = "futex_handoff"
# The cases of it that need a machine of their own: an isolated CPU, a cache that CPUs share; and
# one that needs CONFIG_CFS_BANDWIDTH (test_debug_kernels.py).
ISOLATED = "isolated_cpu"
SHARED_CACHE = "soft_leaves_no_hint_where_it_did_not_go"
THROTTLED = "throttled_on_the_hot_cpu"
Result = tuple[int, list[str]]


class Tried(Lab):
    """What it does is looked at, not how long it takes."""

    measures = False


@pytest.fixture(scope="module")
def guests(
    functional: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, tuple[Lab, Mapping[str, str]]]:
    path = tmp_path_factory.mktemp("futex")
    every = commands(functional)
    tests = {f"/bin/{command[0]}": functional / command[0] for command in every}
    lines = [f"/bin/{' '.join(command)}" for command in every if command[0] != OF_THE_SERIES]
    tests["/bin/in_turn"] = compile_guest("in_turn", path, f'-DCOMMANDS="{";".join(lines)}"')
    baseline = Tried(path / "baseline", kernel("baseline"), tests)
    fast = Tried(path / "fast", kernel("fast"), tests)
    return {
        "baseline": (baseline, {}),
        **{policy: (fast, {"policy": policy}) for policy in POLICIES},
    }


def commands(functional: Path) -> list[list[str]]:
    """What run.sh runs."""
    lines = (functional / "run.sh").read_text().splitlines()
    return [line[2:].replace("$COLOR", "").split() for line in lines if line.startswith("./")]


def result(lab: Lab, name: str, command: list[str], fast: Mapping[str, str]) -> Result:
    """The exit status and the TAP lines of a test's results."""
    program, *arguments = command
    outcome = lab.run(name, [f"/bin/{program}", *arguments], PATIENT, fast=fast)
    said = (lab.path / name / "host").read_text().splitlines()
    lines = [line.removeprefix("FAST out ") for line in said]
    return outcome.exit_status, [line for line in lines if line.startswith(("ok ", "not ok "))]


def results(lab: Lab, name: str, fast: Mapping[str, str]) -> list[Result]:
    """Those of the kernel's own tests, one after the other in one run."""
    outcome = lab.run(name, ["/bin/in_turn"], PATIENT, fast=fast)
    assert outcome.exit_status == 0, outcome.errors
    found: list[Result] = []
    lines: list[str] = []
    for line in (lab.path / name / "host").read_text().splitlines():
        said = line.removeprefix("FAST out ")
        if said.startswith("status "):
            found.append((int(said.split()[1]), lines))
            lines = []
        elif said.startswith(("ok ", "not ok ")):
            lines.append(said)
    return found


def test_the_selftests_pass_as_in_the_baseline(
    guests: Mapping[str, tuple[Lab, Mapping[str, str]]],
) -> None:
    found = {name: results(lab, name, fast) for name, (lab, fast) in guests.items()}
    assert len(found["baseline"]) == 29
    for status, lines in found["baseline"]:
        assert status == 0 and lines, found["baseline"]
        assert not [line for line in lines if line.startswith("not ok")]
    for name, one in found.items():
        assert one == found["baseline"], name


def test_the_series_own_selftest_passes_where_there_is_a_policy(
    guests: Mapping[str, tuple[Lab, Mapping[str, str]]],
) -> None:
    baseline, _ = guests["baseline"]
    _, skipped = result(baseline, "handoff", [OF_THE_SERIES], {})
    assert skipped and all("# SKIP" in line for line in skipped)
    fast, _ = guests["off"]
    status, lines = result(fast, "handoff", [OF_THE_SERIES], {})
    assert status == 0
    assert len(lines) == len(skipped)
    assert all(line.startswith("ok ") for line in lines), lines
    left = {line.split("handoff.")[1].split(" # SKIP")[0] for line in lines if "# SKIP" in line}
    assert left == {ISOLATED, SHARED_CACHE, THROTTLED}


def test_the_series_own_selftest_passes_where_cpus_share_a_cache(
    functional: Path, tmp_path: Path
) -> None:
    program = {f"/bin/{OF_THE_SERIES}": functional / OF_THE_SERIES}
    lab = Tried(tmp_path / "shared", kernel("fast"), program, Machine(preset="epyc-milan-vm"))
    status, lines = result(lab, "handoff", [OF_THE_SERIES, "-t", SHARED_CACHE], {})
    assert (status, lines) == (0, [f"ok 1 handoff.{SHARED_CACHE}"])


def test_the_series_own_selftest_passes_beside_an_isolated_cpu(
    functional: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = f"{hardware.EMULATED.command_line} isolcpus=3"
    monkeypatch.setattr(hardware, "EMULATED", replace(hardware.EMULATED, command_line=words))
    program = {f"/bin/{OF_THE_SERIES}": functional / OF_THE_SERIES}
    lab = Tried(tmp_path / "isolated", kernel("fast"), program)
    status, lines = result(lab, "handoff", [OF_THE_SERIES, "-t", ISOLATED], {})
    assert (status, lines) == (0, [f"ok 1 handoff.{ISOLATED}"])
