# SPDX-License-Identifier: GPL-2.0
"""The terms of the laboratory as types, which every stage reads and passes on.

This module does no I/O and imports no other module of the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SCHEMA_VERSION = 3


class FastError(Exception):
    """What went wrong, where, and what to do next: printed as it is, without a traceback."""


class UsageError(FastError):
    """The command line is wrong."""


@dataclass(frozen=True)
class Machine:
    """The simulated machine: guest CPUs, memory and cache preset. The CPUs take turns of `quantum`
    cycles; the model does not see interactions within a turn.

    `preset` is a name or a file's path, as presets.load() takes it.
    """

    cpus: int = 4
    memory_mb: int = 512
    preset: str = "rx4640"
    quantum: int = 2000

    @property
    def preset_name(self) -> str:
        """The preset's name, also of a file."""
        return Path(self.preset).name.removesuffix(".toml")


@dataclass(frozen=True)
class Variant:
    """An arm of an experiment: a kernel, a policy or a control. `kernel` names a kernel variant
    ("baseline", "fast", "wakecpu"). `knobs` are FAST's knobs besides the policy. `features` are
    scheduler features, spelt as in debugfs. `cpus` confines the workload to this number of CPUs;
    None: to all."""

    name: str
    kernel: str
    policy: str = "off"
    knobs: Mapping[str, int] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    cpus: int | None = None

    @property
    def settings(self) -> dict[str, str]:
        """The values of the files of sched/fast, in the order to write them: the policy, which acts
        at once, comes last. Only a kernel with FAST has these files."""
        if self.kernel != "fast":
            return {}
        return {**{name: str(value) for name, value in self.knobs.items()}, "policy": self.policy}


@dataclass(frozen=True)
class Workload:
    """One benchmark at one thread count. `options` are further `--name=value` words."""

    benchmark: str
    threads: int
    options: tuple[str, ...] = ()


# Names and values that distinguish the cases of a benchmark and thread count.
Axes = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True)
class Place:
    """A row of a comparison: a workload and its values on the axes of a matrix."""

    benchmark: str
    threads: int
    axes: Axes

    @property
    def key(self) -> tuple[int | str, ...]:
        """Benchmark, threads, and the values of the axes: unique for each row."""
        return self.benchmark, self.threads, *(value for _, value in self.axes)

    @property
    def label(self) -> str:
        """The benchmark and the values of the axes."""
        return ",".join([self.benchmark, *(f"{name}={value}" for name, value in self.axes)])

    @property
    def workload(self) -> str:
        """The label and the number of threads."""
        return f"{self.label}-{self.threads}"


@dataclass(frozen=True)
class Case:
    """What the arms are compared in: a workload on a machine."""

    machine: Machine
    workload: Workload
    axes: Axes = ()

    @property
    def place(self) -> tuple[str, int, Axes]:
        """The fields of the case's Place."""
        return self.workload.benchmark, self.workload.threads, self.axes


@dataclass(frozen=True)
class Watchdogs:
    """How long a guest may take, in host seconds, before it counts as hung."""

    boot: float = 120.0
    run: float = 600.0
    total: float = 24 * 3600.0


@dataclass(frozen=True)
class Experiment:
    """What an experiment file asks for. `baseline` names the variant that every other variant is
    compared with. `primary` is the metric that decides. `oracle` names the variants that the oracle
    chooses from; empty: no oracle. `latencies`: a real machine measures latencies too, as the
    simulation always does. `attribute`: the simulation counts by instruction too. `matrix` has the
    cases if machine or options vary, and is empty otherwise."""

    name: str
    series: str
    machine: Machine
    variants: tuple[Variant, ...]
    baseline: str
    workloads: tuple[Workload, ...]
    seeds: tuple[int, ...]
    watchdogs: Watchdogs = Watchdogs()
    primary: str = "elapsed_ns"
    latencies: bool = False
    attribute: bool = False
    oracle: tuple[str, ...] = ()
    matrix: tuple[Case, ...] = ()

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases that every variant runs: the matrix, or each workload on the machine."""
        return self.matrix or tuple(Case(self.machine, workload) for workload in self.workloads)

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The names of its benchmarks, each once."""
        return tuple(dict.fromkeys(workload.benchmark for workload in self.workloads))

    @property
    def machines(self) -> tuple[Machine, ...]:
        """The machines of the cases, each once."""
        return tuple(dict.fromkeys(case.machine for case in self.cases))


@dataclass(frozen=True)
class Kernel:
    """A built kernel. `id` changes when source, patches, configuration or compiler do."""

    series: str
    variant: str
    id: str
    vmlinux: str
    system_map: str


@dataclass(frozen=True)
class Run:
    """One boot of one variant in one case with one seed: the unit that is resumed."""

    variant: Variant
    case: Case
    seed: int

    @property
    def workload(self) -> Workload:
        return self.case.workload

    @property
    def machine(self) -> Machine:
        return self.case.machine
