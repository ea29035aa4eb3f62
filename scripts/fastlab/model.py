# SPDX-License-Identifier: GPL-2.0
"""The words of the laboratory as types: what every stage reads and hands on.

Nothing here does I/O and nothing here imports another module of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

SCHEMA_VERSION = 2

Better = Literal["lower", "higher"]


class FastError(Exception):
    """What went wrong, where, and what to do next: printed as it is, without a traceback."""


@dataclass(frozen=True)
class Metric:
    """A column of the comparison. `unit` is what one of its values counts."""

    name: str
    unit: str
    better: Better


# handoff: from the release of a mutex to the moment when another thread, which was waiting for it
# then, has it; wakeup: from the kernel's decision to wake a thread to its switch onto a CPU.
# Documentation/latency.rst has what exactly. A real machine's runs may have histograms of them.
LATENCIES: tuple[str, ...] = ("handoff", "wakeup")
# In thousandths, so that comparing them with counts is exact.
PERCENTILES: Mapping[str, int] = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999, "max": 1000}
# The simulation has every single one.
LATENCY_METRICS: tuple[Metric, ...] = tuple(
    Metric(f"{latency}_{name}", "ns of modelled time", "lower")
    for latency in LATENCIES
    for name in ("mean", *PERCENTILES)
)

# The simulation's. A second is one of the guest's clock, which is the modelled time; `cycles` are
# those in which a CPU is not idle, of all CPUs together.
METRICS: tuple[Metric, ...] = (
    Metric("elapsed_ns", "ns of modelled time", "lower"),
    Metric("cycles", "modelled cycles", "lower"),
    Metric("instructions", "instructions", "lower"),
    Metric("l2_references", "references", "lower"),
    Metric("l2_misses", "misses", "lower"),
    Metric("l2_miss_ratio", "misses per reference", "lower"),
    Metric("l3_references", "references", "lower"),
    Metric("l3_misses", "misses", "lower"),
    Metric("l3_miss_ratio", "misses per reference", "lower"),
    Metric("bus_requests", "requests", "lower"),
    Metric("throughput", "iterations per second of modelled time", "higher"),
    Metric("context_switches", "switches", "lower"),
    Metric("migrations", "migrations", "lower"),
    Metric("fairness", "Jain's index over the threads' throughput", "higher"),
    *LATENCY_METRICS,
)

# What the other backends measure, on a real machine.
REAL_METRICS: tuple[Metric, ...] = (
    Metric("elapsed_ns", "ns of wall time", "lower"),
    Metric("task_clock", "ns on a CPU, all threads together", "lower"),
    Metric("cycles", "CPU cycles", "lower"),
    Metric("instructions", "instructions", "lower"),
    Metric("l2_references", "references", "lower"),
    Metric("l2_misses", "misses", "lower"),
    Metric("l2_miss_ratio", "misses per reference", "lower"),
    Metric("l3_references", "references", "lower"),
    Metric("l3_misses", "misses", "lower"),
    Metric("l3_miss_ratio", "misses per reference", "lower"),
    Metric("bus_requests", "requests", "lower"),
    Metric("cache_to_cache", "transfers", "lower"),
    Metric("throughput", "iterations per second", "higher"),
    Metric("context_switches", "switches", "lower"),
    Metric("migrations", "migrations", "lower"),
    Metric("fairness", "Jain's index over the threads' throughput", "higher"),
    Metric("fairness_min_max", "slowest thread's throughput by the fastest's", "higher"),
    *(Metric(f"{latency}_{name}", "ns", "lower") for latency in LATENCIES for name in PERCENTILES),
)

# The paper's seven, in its order (section 3.2.1).
BENCHMARKS: tuple[str, ...] = (
    "single_ctr",
    "multiple_ctr",
    "doubly_list",
    "prod_cons",
    "affinity",
    "mlt_ctr_mlt_lock",
    "multiple_fifo",
)

# The runtime's, in the same harness (microbench/intervals).
INTERVALS_BENCHMARKS: tuple[str, ...] = ("intervals_mutex", "intervals_guards", "intervals_idle")

# SPLASH-2's, in the order of the paper's Table 4 (splash2-harness).
SPLASH_PROGRAMS: tuple[str, ...] = (
    "barnes",
    "cholesky",
    "fft",
    "fmm",
    "lu_contiguous",
    "lu_noncontiguous",
    "radix",
    "water_nsquared",
    "water_spatial",
)


@dataclass(frozen=True)
class Machine:
    """The simulated machine: guest CPUs, memory, cache preset. The CPUs take turns of `quantum`
    cycles; what they do to each other within one is not seen.

    `preset` is what presets.load() takes: a name, or a file's path.
    """

    cpus: int = 4
    memory_mb: int = 512
    preset: str = "rx4640"
    quantum: int = 2000

    @property
    def preset_name(self) -> str:
        """The preset's name: a file is called by it."""
        return Path(self.preset).name.removesuffix(".toml")


@dataclass(frozen=True)
class Variant:
    """An arm of an experiment: a kernel, a policy, or a control. `kernel` names a kernel variant
    ("baseline", "fast", "wakecpu"). `features` are of the scheduler, as its debugfs file has them;
    `cpus` confines the workload to that many CPUs of the machine, None to all of them."""

    name: str
    kernel: str
    policy: str = "off"
    sysctls: Mapping[str, int] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    cpus: int | None = None


@dataclass(frozen=True)
class Workload:
    """One benchmark at one thread count. `options` are further `--name=value` words."""

    benchmark: str
    threads: int
    options: tuple[str, ...] = ()


# Names and values by which a case stands apart from others of its benchmark and thread count.
Axes = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True)
class Place:
    """A row of a comparison."""

    benchmark: str
    threads: int
    axes: Axes

    @property
    def key(self) -> tuple[int | str, ...]:
        """Benchmark, threads, and the values of the axes: no two rows have the same."""
        return self.benchmark, self.threads, *(value for _, value in self.axes)


@dataclass(frozen=True)
class Case:
    """What the arms are compared in: a workload in a machine."""

    machine: Machine
    workload: Workload
    axes: Axes = ()

    @property
    def place(self) -> tuple[str, int, Axes]:
        """The fields of its Place."""
        return self.workload.benchmark, self.workload.threads, self.axes


@dataclass(frozen=True)
class Watchdogs:
    """How long a guest may take, in host seconds, before it counts as hung."""

    boot: float = 120.0
    run: float = 600.0
    total: float = 24 * 3600.0


@dataclass(frozen=True)
class Experiment:
    """What an experiment file asks for; `baseline` names the variant the others stand against,
    `primary` the metric that decides, `oracle` the variants of which it is the best in each
    workload (none: there is no oracle). `latencies`: a real machine measures them, too, as
    the simulation always does. `matrix` has the cases of an experiment whose machine or options
    vary, else it is empty."""

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
    oracle: tuple[str, ...] = ()
    matrix: tuple[Case, ...] = ()

    @property
    def cases(self) -> tuple[Case, ...]:
        """What every variant runs: the matrix, or else each workload in the machine."""
        return self.matrix or tuple(Case(self.machine, one) for one in self.workloads)

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Those of its cases, each once."""
        return tuple(dict.fromkeys(case.machine for case in self.cases))


@dataclass(frozen=True)
class Kernel:
    """A built kernel. `id` changes when source, patches, config or compiler do."""

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
