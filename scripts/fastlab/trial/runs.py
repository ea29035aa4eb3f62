# SPDX-License-Identifier: GPL-2.0
"""A program of somebody's under each policy of the FAST kernel: what is asked, and what its runs
gave. It is an experiment of one workload; only how it is judged is its own (verdict)."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fastlab.backend.costs import RunCosts
from fastlab.base.model import (
    Axes,
    Case,
    Experiment,
    FastError,
    Kernel,
    Machine,
    Variant,
    Watchdogs,
    Workload,
)
from fastlab.base.process import signal_name
from fastlab.base.text import cut, one_line
from fastlab.plan.rows import Row

BASELINE = "off"
# What is tried: the paper's policy, and the one that is meant to be left on.
POLICIES = ("strict", "adaptive")
KERNEL = "fast"
# The program is nobody who asks for FAST: where only those get it who do, all get it meanwhile.
KNOBS = {"opt_in": 0}
# A control: all the locality there is, and nothing in parallel.
ONE_CPU = "onecpu"
ARMS: tuple[Variant, ...] = (
    *(Variant(name, KERNEL, name, KNOBS) for name in (BASELINE, *POLICIES)),
    Variant(ONE_CPU, KERNEL, BASELINE, KNOBS, cpus=1),
)
# Less of the time, in percent, makes no difference that matters, unless somebody says otherwise.
RELEVANT_PCT = 2.0
# On a host that is busy with other things.
BOOT_SECONDS = 600.0
# Of what a program says, so many lines, and of each so many characters.
LAST_LINES = 10
LINE = 200


@dataclass(frozen=True)
class TrialRequest:
    """A command line, where and for how long at most it runs; what it needs besides, the machine,
    and whether to count by instruction, too, are the simulation's. A change of the time by less
    than `relevant_pct` does not matter."""

    argv: tuple[str, ...]
    directory: Path
    seconds: float
    backend: str = "sim"
    more: tuple[Path, ...] = ()
    machine: Machine = field(default_factory=Machine)
    attribute: bool = False
    relevant_pct: float = RELEVANT_PCT


@dataclass(frozen=True)
class Lock:
    """A futex and what was done with it; None: not available. `program`: it is the program's own,
    and has a `name`."""

    name: str
    address: int
    program: bool
    wakes: int | None
    handoffs: int
    pi_unlocks: int | None


@dataclass(frozen=True)
class Timed:
    """The hand-offs and wake-ups of a run: `figures` of metrics.LATENCIES in ns, None of none; in
    `missing` why there are none of a latency; and the locks that were handed over."""

    arm: str
    figures: Mapping[str, float | None]
    missing: Mapping[str, str]
    locks: tuple[Lock, ...]


@dataclass(frozen=True)
class AttributedRun:
    """What the instructions of a run cost, and the program's memory: its /proc/PID/maps."""

    arm: str
    costs: RunCosts
    maps: str


@dataclass(frozen=True)
class ErrorOutput:
    """What a program wrote on its standard error in runs that ended well: in `runs` of `every` run,
    and the last lines of the first of these."""

    runs: int
    every: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """All runs of a program. `uncontrolled`: why there is none on one CPU, or "". `path` is the
    program's; `attributed` are the runs, if that was asked for; `errors` is None where it wrote
    none."""

    request: TrialRequest
    kernel: Kernel
    marked: bool
    rows: tuple[Row, ...]
    timed: tuple[Timed, ...]
    uncontrolled: str = ""
    path: Path = Path()
    attributed: tuple[AttributedRun, ...] = ()
    errors: ErrorOutput | None = None

    @property
    def simulated(self) -> bool:
        return self.request.backend == "sim"

    def of_arm(self, arm: str) -> list[Row]:
        """The arm's runs; the simulation's by their quanta."""
        own = [row for row in self.rows if row["variant"] == arm]
        return sorted(own, key=lambda row: row["machine"].get("quantum", 0))

    def locks(self) -> list[Lock]:
        """Of all runs without FAST."""
        return [lock for timed in self.timed if timed.arm == BASELINE for lock in timed.locks]


class ProgramError(FastError):
    """The program did not end well."""


def experiment(
    request: TrialRequest,
    path: Path,
    arms: Sequence[Variant],
    machines: Iterable[tuple[Machine, Axes]],
) -> Experiment:
    """Of this program alone. What a program does has no number of threads, and no seed."""
    workload = Workload(path.name, 0)
    return Experiment(
        name=path.name,
        series="",
        machine=request.machine,
        variants=tuple(arms),
        baseline=BASELINE,
        workloads=(workload,),
        seeds=(0,),
        watchdogs=Watchdogs(boot=BOOT_SECONDS, run=request.seconds),
        matrix=tuple(Case(machine, workload, axes) for machine, axes in machines),
        attribute=request.attribute,
    )


def too_long(path: Path, seconds: float, arm: Variant) -> str:
    """Of a run that the watchdog ended."""
    return (
        f"{path} took longer than {seconds:g} s with policy {_words(arm)}; it hangs, or it needs a "
        "smaller task or more time (--timeout)"
    )


def how_it_failed(path: Path, status: int, arm: Variant, errors: Sequence[str]) -> list[str]:
    """Of a run with this status: how it ended, and its last words."""
    words = last_lines(errors) or ["(it said nothing on its standard error)"]
    return [f"{path} {_ending(status)} with policy {_words(arm)}", *words]


def end_of_output(output: Sequence[str]) -> list[str]:
    """Of a run that failed; nothing where it printed nothing."""
    return ["the end of its output:", *last_lines(output)] if output else []


def last_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """As many as a screen has room for, without what a terminal would obey."""
    return tuple(cut(one_line(line), LINE) for line in lines[-LAST_LINES:])


def error_output(runs: Sequence[Sequence[str]]) -> ErrorOutput | None:
    """Of the lines of runs that ended well."""
    wrote = [lines for lines in runs if lines]
    return ErrorOutput(len(wrote), len(runs), last_lines(wrote[0])) if wrote else None


def _words(arm: Variant) -> str:
    return arm.policy + (f" on {arm.cpus} CPU" if arm.cpus else "")


def _ending(status: int) -> str:
    """How a program with this status ended, as a shell has it."""
    if status - 128 in signal.valid_signals():
        return f"was ended by {signal_name(status - 128)}"
    return f"ended with status {status}"
