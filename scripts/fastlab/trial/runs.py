# SPDX-License-Identifier: GPL-2.0
"""A trial of a user's program under each policy: the request, and the results of its runs. A trial
is an experiment with one workload; only its verdict is different."""

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
    Recipe,
    Variant,
    Watchdogs,
    Workload,
)
from fastlab.base.process import signal_name
from fastlab.base.text import cut, one_line
from fastlab.plan.rows import Row
from fastlab.trial.given import Given

BASELINE = "off"
# The tried policies: the paper's, and the policy that is meant to be left on.
POLICIES = ("strict", "adaptive")
KERNEL = "fast"
# The program does not opt in to FAST: a kernel that requires it applies FAST to all programs during
# the trial.
KNOBS = {"opt_in": 0}
# A control with full locality and no parallelism.
ONE_CPU = "onecpu"
ARMS: tuple[Variant, ...] = (
    *(Variant(name, KERNEL, name, KNOBS) for name in (BASELINE, *POLICIES)),
    Variant(ONE_CPU, KERNEL, BASELINE, KNOBS, cpus=1),
)


@dataclass(frozen=True)
class Question:
    """What is compared: each other arm with the `baseline`, but for the `control`, which is only
    shown. Kernels as an experiment has them. `words` say what the arms are, where their names do
    not."""

    arms: tuple[Variant, ...]
    baseline: str
    control: str = ""
    series: str | None = None
    kernels: tuple[Recipe, ...] = ()
    words: str = ""

    @property
    def compared(self) -> tuple[str, ...]:
        beside = (self.baseline, self.control)
        return tuple(arm.name for arm in self.arms if arm.name not in beside)


# Does FAST help?
FAST = Question(ARMS, BASELINE, ONE_CPU)
# Percent of the time: a smaller difference is not relevant, unless the user says otherwise.
RELEVANT_PCT = 2.0
# A busy host boots slowly.
BOOT_SECONDS = 600.0
# Lines of a program's output in a message, and characters of each line.
LAST_LINES = 10
LINE = 200


@dataclass(frozen=True)
class TrialRequest:
    """A command line, its directory and its time limit, and the arms to run it in. `more`,
    `machine` and `attribute` (count by instruction) apply to the simulation. A change of the time
    below `relevant_pct` is not relevant."""

    argv: tuple[str, ...]
    directory: Path
    seconds: float
    backend: str = "sim"
    more: tuple[Path, ...] = ()
    machine: Machine = field(default_factory=Machine)
    attribute: bool = False
    relevant_pct: float = RELEVANT_PCT
    given: Given = field(default_factory=Given)
    question: Question = FAST


@dataclass(frozen=True)
class Lock:
    """A futex and its counts; None: not available. `program`: the futex belongs to the program and
    has a `name`, as a server's has, too."""

    name: str
    address: int
    program: bool
    wakes: int | None
    handoffs: int
    pi_unlocks: int | None


@dataclass(frozen=True)
class Timed:
    """The hand-offs and wake-ups of a run. `figures` are those of metrics.LATENCIES in ns, None
    without events; `missing` has the reason for each latency that was not measured; `locks` are the
    locks with hand-offs."""

    arm: str
    figures: Mapping[str, float | None]
    missing: Mapping[str, str]
    locks: tuple[Lock, ...]


@dataclass(frozen=True)
class AttributedRun:
    """The costs of a run's instructions, and the program's /proc/PID/maps."""

    arm: str
    costs: RunCosts
    maps: str


@dataclass(frozen=True)
class ErrorOutput:
    """Error output of runs that ended with status 0: `runs` of `every` run wrote some; `lines` are
    the last lines of the first of them."""

    runs: int
    every: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """All runs of a program. `uncontrolled` says why there is no control on one CPU, or is "".
    `path` is the program's. `attributed` are the runs with attribution, if requested. `errors` is
    None without error output. `kernel` is the baseline's, and `kernels` of the simulation are by
    arm."""

    request: TrialRequest
    kernel: Kernel
    marked: bool
    rows: tuple[Row, ...]
    timed: tuple[Timed, ...]
    uncontrolled: str = ""
    path: Path = Path()
    attributed: tuple[AttributedRun, ...] = ()
    errors: ErrorOutput | None = None
    kernels: Mapping[str, Kernel] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        return self.request.backend == "sim"

    def of_arm(self, arm: str) -> list[Row]:
        """The arm's runs, in the simulation ordered by quantum."""
        own = [row for row in self.rows if row["variant"] == arm]
        return sorted(own, key=lambda row: row["machine"].get("quantum", 0))

    def locks(self) -> list[Lock]:
        """The locks of all runs of the baseline."""
        return [lock for timed in self.timed if timed.arm == self.baseline for lock in timed.locks]

    @property
    def baseline(self) -> str:
        return self.request.question.baseline

    @property
    def control(self) -> str:
        return self.request.question.control

    @property
    def compared(self) -> tuple[str, ...]:
        return self.request.question.compared

    def has_policy(self, arm: str) -> bool:
        """Does FAST act in this arm?"""
        return any(one.policy != "off" for one in self.request.question.arms if one.name == arm)


class ProgramError(FastError):
    """The program did not end well."""


def experiment(
    request: TrialRequest,
    path: Path,
    arms: Sequence[Variant],
    machines: Iterable[tuple[Machine, Axes]],
) -> Experiment:
    """The experiment of this program alone. It has no number of threads and no seed."""
    workload = Workload(path.name, 0, command=request.argv)
    return Experiment(
        name=path.name,
        series="",
        machine=request.machine,
        variants=tuple(arms),
        baseline=request.question.baseline,
        workloads=(workload,),
        seeds=(0,),
        watchdogs=Watchdogs(boot=BOOT_SECONDS, run=request.seconds),
        matrix=tuple(Case(machine, workload, axes) for machine, axes in machines),
        attribute=request.attribute,
    )


def too_long(path: Path, seconds: float, arm: Variant) -> str:
    """The message for a run that the watchdog ended."""
    return (
        f"{path} took longer than {seconds:g} s {_words(arm)}; it hangs, or needs a "
        "smaller task or more time (--timeout)"
    )


def how_it_failed(path: Path, status: int, arm: Variant, errors: Sequence[str]) -> list[str]:
    """The message for a run with this status, with its last lines of error output."""
    words = last_lines(errors) or ["(no error output)"]
    return [f"{path} {_ending(status)} {_words(arm)}", *words]


def end_of_output(output: Sequence[str]) -> list[str]:
    """The end of a failed run's output; empty without output."""
    return ["the end of its output:", *last_lines(output)] if output else []


def last_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The last lines that fit on a screen, without control characters."""
    return tuple(cut(one_line(line), LINE) for line in lines[-LAST_LINES:])


def error_output(runs: Sequence[Sequence[str]]) -> ErrorOutput | None:
    """The error output of runs that ended with status 0."""
    wrote = [lines for lines in runs if lines]
    return ErrorOutput(len(wrote), len(runs), last_lines(wrote[0])) if wrote else None


def _words(arm: Variant) -> str:
    within = f"with policy {arm.policy}" if arm.kernel == KERNEL else f"in arm {arm.name}"
    return within + (f" on {arm.cpus} CPU" if arm.cpus else "")


def _ending(status: int) -> str:
    """How a program with this status ended, by a shell's convention."""
    if status - 128 in signal.valid_signals():
        return f"was ended by {signal_name(status - 128)}"
    return f"ended with status {status}"
