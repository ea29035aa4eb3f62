# SPDX-License-Identifier: GPL-2.0
"""A guest that has balanced, in a real machine: woken threads find its idle CPUs."""

from __future__ import annotations

import pytest
from lab import Lab, built, compile_guest, kernel

from fastlab.backend import sim
from fastlab.base.model import Machine
from fastlab.guest import initramfs

CPUS = 8


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    directory = tmp_path_factory.mktemp("balanced")
    machine = Machine(cpus=CPUS, preset="epyc-milan")
    further = sim.balancer(built().plugin.parents[2], [machine])
    further["/bin/spread"] = compile_guest("spread", directory)
    return Lab(directory / "lab", kernel("baseline"), further, machine)


def test_woken_threads_find_idle_cpus(lab: Lab) -> None:
    argv = sim.guest_argv(lab.simulation.machine, ["/bin/spread", str(CPUS - 1)])
    outcome = lab.run("spread", argv)
    assert outcome.exit_status == 0, outcome.errors
    assert outcome.output == {"cpus": CPUS - 1}


def test_without_that_they_share_cpus(lab: Lab) -> None:
    """Else there would be no need of it."""
    assert lab.run("young", ["/bin/spread", str(CPUS - 1)]).output == {"cpus": 5}


def test_it_is_said_what_cannot_be_run(lab: Lab) -> None:
    path = initramfs.BALANCED_PATH
    outcome = lab.run("no-program", [path, "/bin/none"])
    assert outcome.exit_status == 127
    assert outcome.errors == ("balanced: /bin/none: No such file or directory",)
    assert lab.run("no-words", [path]).errors == ("usage: balanced PATH WORD...",)
