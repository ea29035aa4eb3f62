# SPDX-License-Identifier: GPL-2.0
"""The terms of the laboratory as types, which every stage reads and passes on.

This module does no I/O and imports no other module of the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 3

# Fields of an arm that not every arm has. Records leave them out where they are empty, so that
# records and keys of other runs stay as they were.
SETTINGS = ("sysctl", "debugfs", "cmdline", "environment", "scheduler")
_SPARSE = (*SETTINGS, "kernels", "command", "files")


def record(item: Any) -> dict[str, Any]:
    """A dataclass as a document, without the sparse fields that are empty."""
    return asdict(
        item,
        dict_factory=lambda pairs: {n: value for n, value in pairs if value or n not in _SPARSE},
    )


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
    """An arm of an experiment: a kernel and its settings. `kernel` names a kernel of the experiment
    or of the laboratory (plan.arms.KERNELS). `knobs` are FAST's knobs besides the policy.
    `features` are scheduler features, spelt as in debugfs. `cpus` confines the workload to this
    number of CPUs; None: to all. `sysctl` and `debugfs` are values by name; `cmdline` is added to
    the kernel's command line. `environment` is the workload's. `scheduler` is the command line of a
    program that loads a sched_ext scheduler; one that ends in "--" also runs the workload."""

    name: str
    kernel: str
    policy: str = "off"
    knobs: Mapping[str, int] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    cpus: int | None = None
    sysctl: Mapping[str, str] = field(default_factory=dict)
    debugfs: Mapping[str, str] = field(default_factory=dict)
    cmdline: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    scheduler: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, str]:
        """The values of the files of sched/fast, in the order to write them: the policy, which acts
        at once, comes last. Only a kernel with FAST has these files."""
        if self.kernel != "fast" and not self.needs_fast:
            return {}
        return {**{name: str(value) for name, value in self.knobs.items()}, "policy": self.policy}

    @property
    def needs_fast(self) -> bool:
        """Does it set what only a kernel with FAST has?"""
        return self.policy != "off" or bool(self.knobs)

    @property
    def further(self) -> dict[str, Any]:
        """Its SETTINGS, as a row holds them."""
        given = record(self)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if name in SETTINGS
        }


@dataclass(frozen=True)
class Recipe:
    """A kernel of an experiment. `source` is a kernel series, a directory, a tarball, or
    `DIRECTORY@REVISION` of a git repository. `patches` are files, directories with a quilt series,
    or names of the laboratory's; `config` has fragments in the same way, and lines of one."""

    name: str
    source: str
    patches: tuple[str, ...] = ()
    config: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workload:
    """One benchmark at one thread count. `options` are further `--name=value` words. A workload
    with a `command` is that program, which needs `files`; its name is `benchmark`, it has no number
    of threads, and seeds are only times at which it begins."""

    benchmark: str
    threads: int
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


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
        return f"{self.label}-{self.threads}" if self.threads else self.label


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
    cases if machine or options vary, and is empty otherwise. `kernels` are its own."""

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
    kernels: tuple[Recipe, ...] = ()

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases that every variant runs: the matrix, or each workload on the machine."""
        return self.matrix or tuple(Case(self.machine, workload) for workload in self.workloads)

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The names of its benchmarks, each once."""
        built_in = (workload for workload in self.workloads if not workload.command)
        return tuple(dict.fromkeys(workload.benchmark for workload in built_in))

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
