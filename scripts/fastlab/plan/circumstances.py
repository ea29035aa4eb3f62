# SPDX-License-Identifier: GPL-2.0
"""The state of a real machine during a run, as the run's row holds it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from fastlab.base.text import shown

_CPU_LIST = re.compile(r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*")


def list_cpus(cpus: Iterable[int]) -> str:
    """A set of CPUs in the kernel's notation, such as 0-3,8."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][-1] == cpu - 1:
            ranges[-1][1:] = [cpu]
        else:
            ranges.append([cpu])
    return ",".join("-".join(map(str, bounds)) for bounds in ranges)


def listed_cpus(text: str) -> set[int]:
    """The set of CPUs in such a list. Raises ValueError."""
    if not _CPU_LIST.fullmatch(text):
        raise ValueError(f"{shown(text)} is not a list of CPUs such as 0-3,8")
    ends = [part.partition("-") for part in text.split(",")]
    return {cpu for low, _, high in ends for cpu in range(int(low), int(high or low) + 1)}


@dataclass(frozen=True)
class IdleState:
    """A C-state that the CPUs may enter, and the time to leave it."""

    name: str
    exit_us: int


@dataclass(frozen=True)
class Environment:
    """What stays the same during a run. `governors` and `idle_states` are of all CPUs, each once.
    `cpus` is the number of online CPUs. `cpu_list` has the CPUs to which the run was confined; None
    in older results. None: not available."""

    kernel: str | None
    command_line: str | None
    cpu: str | None
    cpus: int
    microcode: str | None
    governors: tuple[str, ...] | None
    turbo: bool | None
    smt: str | None
    idle_states: tuple[IdleState, ...] | None
    numa_nodes: int | None
    numa_balancing: bool | None
    huge_pages: str | None
    mitigations: Mapping[str, str]
    virtual: bool | None
    vendor: str | None
    cpu_list: str | None = None

    @property
    def own_cpus(self) -> int:
        """The number of CPUs that the run had."""
        return self.cpus if self.cpu_list is None else len(listed_cpus(self.cpu_list))


@dataclass(frozen=True)
class Activity:
    """What changes all the time. `ticks` and `steal` are ticks since boot of the run's CPUs, all of
    them and the stolen ones. `load` is the machine's load of the last minute, `others` the runnable
    tasks besides the reader, `throttled` how often heat has slowed a core."""

    ticks: int
    steal: int
    load: float
    others: int
    throttled: int | None


@dataclass(frozen=True)
class Circumstances:
    """A run's environment, and the machine's activity just before and just after it."""

    environment: Environment
    before: Activity
    after: Activity


def from_record(data: Mapping[str, Any]) -> Circumstances:
    """The circumstances in a row of runs.jsonl, written by asdict(). Raises ValueError."""
    # `fast doctor` needs no package.
    import msgspec

    circumstances = msgspec.convert(data, Circumstances)
    further = sorted(_further(data))
    if further:
        raise ValueError(f"circumstances have further fields: {', '.join(further)}")
    if circumstances.environment.cpu_list is not None:
        listed_cpus(circumstances.environment.cpu_list)
    return circumstances


def _further(data: Mapping[str, Any]) -> Iterator[str]:
    """Field names that are misspelt, or belong to another version."""
    yield from data.keys() - {field.name for field in fields(Circumstances)}
    for name, kind in (("environment", Environment), ("before", Activity), ("after", Activity)):
        yield from data[name].keys() - {field.name for field in fields(kind)}
