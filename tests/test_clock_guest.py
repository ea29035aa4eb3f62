# SPDX-License-Identifier: GPL-2.0
"""The parallel clock in real guests: their time is modelled time, and they see no burner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from lab import PROJECT, Lab, compile_guest, kernel

from fastlab.base.model import Machine, Watchdogs
from fastlab.guest import vm
from fastlab.guest.running_vm import GuestError
from fastlab.plan import presets

PATIENT = Watchdogs(boot=300, run=900)


@dataclass(frozen=True)
class Told:
    """What the guest said, and the cache model."""

    guest: Mapping[str, Any]
    document: Mapping[str, Any]
    output: bytes


class Clocked(Lab):
    """A machine with the program that looks at its clock."""

    def tell(self, name: str, *words: str) -> Told:
        outcome = self.run(name, ["/bin/clock_subject", *words], PATIENT)
        assert outcome.exit_status == 0, outcome.errors
        assert outcome.output is not None and outcome.document is not None
        files = (self.path / name / file for file in ("host", "plugin.jsonl"))
        output = b"".join(file.read_bytes() for file in files)
        return Told(outcome.output, outcome.document, output)


class Machines(Protocol):
    """Machines by what they are, each booted once."""

    def __call__(self, cpus: int, preset: str, quantum: int = Machine().quantum) -> Clocked: ...


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Machines:
    directory = tmp_path_factory.mktemp("clock")
    program = compile_guest("clock_subject", directory, f"-I{PROJECT}/userspace/roi")
    booted: dict[Machine, Clocked] = {}

    def machine(cpus: int, preset: str, quantum: int = Machine().quantum) -> Clocked:
        one = Machine(cpus=cpus, preset=preset, quantum=quantum)
        if one not in booted:
            booted[one] = Clocked(
                directory / f"{cpus}-{preset}-{quantum}",
                kernel("baseline"),
                {"/bin/clock_subject": program},
                one,
            )
        return booted[one]

    return machine


@pytest.mark.parametrize(
    ("cpus", "preset"),
    [
        (1, "rx4640"),
        (2, "rx4640"),
        (4, "rx4640"),
        (4, "xeon-2s"),
        (8, "epyc-milan"),
        (16, "rx4640"),
        (64, "rx4640"),
    ],
)
def test_guest_time_is_modelled_time_and_the_burner_unseen(
    machines: Machines, cpus: int, preset: str
) -> None:
    told = machines(cpus, preset).tell("region", "region", str(min(cpus, 16)))
    mhz = presets.load(preset).mhz
    modelled = told.document["elapsed_cycles"] * 1000 / mhz
    assert modelled > 1_000_000
    assert abs(told.guest["elapsed_ns"] - modelled) <= Machine().quantum * 1000 / mhz
    listed = "0" if cpus == 1 else f"0-{cpus - 1}"
    assert (told.guest["possible"], told.guest["online"]) == (listed, listed)
    assert (told.guest["configured"], told.guest["allowed"]) == (cpus, cpus)
    assert [one["cpu"] for one in told.document["per_cpu"]] == list(range(cpus))


def test_64_cpus_repeat_to_the_byte(machines: Machines) -> None:
    machine = machines(64, "rx4640")
    first, again = (machine.tell(f"repeat{i}", "region", "8").output for i in range(2))
    assert first == again


@pytest.mark.parametrize(("cpus", "slice_ms"), [(1, 0.75), (4, 2.25), (16, 3.0)])
def test_a_slice_is_as_long_as_on_a_real_machine(
    machines: Machines, cpus: int, slice_ms: float
) -> None:
    """Linux's base slice, 0.75 ms * (1 + log2(CPUs, at most 8)), ends at the next tick of 1 ms."""
    milliseconds = 60
    told = machines(cpus, "rx4640").tell("slices", "slices", str(milliseconds))
    ticks = -(-slice_ms // 1)
    expected = milliseconds / ticks
    assert 0.7 * expected <= told.guest["preempted"] <= 1.4 * expected


WAKING = [("rx4640", 2000), ("xeon-2s", 100), ("epyc-milan-vm", 100), ("epyc-milan-vm", 2000)]


@pytest.mark.parametrize(("name", "quantum"), WAKING)
def test_a_wakeup_takes_what_the_preset_says(machines: Machines, name: str, quantum: int) -> None:
    """Once, whatever the CPU executes on its way into the idle loop and out of it."""
    preset = presets.load(name)
    wakeup = machines(2, name, quantum).tell("wakeups", "wakeups", "50").document["latencies"]
    took = wakeup["wakeup"]["p50_ns"] * preset.mhz / 1000
    assert wakeup["wakeup"]["count"] >= 90
    # Beside it: the kernel's path, and what is left of a quantum.
    assert preset.wakeup <= took <= preset.wakeup + 7000 + 2 * quantum


@pytest.mark.parametrize(("name", "quantum"), WAKING)
def test_an_interrupt_takes_what_the_preset_says(
    machines: Machines, name: str, quantum: int
) -> None:
    preset = presets.load(name)
    told = machines(2, name, quantum).tell("interrupts", "interrupts", "50")
    took = told.guest["each_ns"] * preset.mhz / 1000
    assert preset.interrupt <= took <= preset.interrupt + 20000 + 2 * quantum


SPINNING = [(name, quantum) for name in ("rx4640", "epyc-milan") for quantum in (500, 4000)]
# Of clock_subject's loop, with the PAUSE.
LOOP_INSTRUCTIONS = 6


def loop_cycles(name: str) -> float:
    """What an iteration of clock_subject's loop with PAUSE takes."""
    preset = presets.load(name)
    return preset.pause + LOOP_INSTRUCTIONS * preset.cpi / 100


@pytest.mark.parametrize(("name", "quantum"), SPINNING)
def test_a_pause_takes_what_the_preset_says(machines: Machines, name: str, quantum: int) -> None:
    told = machines(2, name, quantum).tell("pauses", "pauses", "20000")
    took = told.guest["least_ns"] * presets.load(name).mhz / 1000
    assert took / 20000 == pytest.approx(loop_cycles(name), rel=0.05)


@pytest.mark.parametrize(("name", "quantum"), SPINNING)
def test_a_spinning_cpu_sees_in_time_what_ends_it(
    machines: Machines, name: str, quantum: int
) -> None:
    instructions = 1_000_000
    told = machines(2, name, quantum).tell("spin", "spin", str(instructions))
    expected = instructions * presets.load(name).cpi / 100 / loop_cycles(name)
    assert told.guest["pauses"] == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("spins", [0, 20, 100, 1000])
def test_threads_that_spin_for_each_other_know_no_quantum(
    machines: Machines, spins: int, cpus: int
) -> None:
    """On one CPU what the waiter spins for comes from that CPU: each PAUSE is in vain."""
    # Whether a woken thread preempts its waker is a matter of chance; it evens out.
    turns = 10000 if spins < 100 else 2000
    words = ("turns", str(turns), str(spins), str(cpus))
    short, long = (
        machines(2, "epyc-milan", quantum).tell("-".join(words), *words) for quantum in (500, 4000)
    )
    assert short.guest["turn_ns"] == pytest.approx(long.guest["turn_ns"], rel=0.03)


def test_a_burner_that_dies_is_told_of(machines: Machines) -> None:
    with pytest.raises(GuestError, match="the burner does not run, and so the clock stands"):
        machines(1, "rx4640").tell("dead", "stop")


def test_a_plugin_argument_out_of_range_is_told_of(machines: Machines) -> None:
    lab = machines(1, "rx4640")
    quick = Clocked.__new__(Clocked)
    quick.path = lab.path
    quick.simulation = vm.Simulation(
        lab.simulation.qemu,
        lab.simulation.kernel,
        lab.simulation.image,
        Machine(cpus=1, preset="rx4640", quantum=99),
    )
    with pytest.raises(GuestError, match="quantum=99 is not a number of cycles from 100"):
        quick.tell("quick", "region")
