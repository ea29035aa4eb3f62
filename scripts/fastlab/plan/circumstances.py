# SPDX-License-Identifier: GPL-2.0
"""What a real machine was like during a run, as the run's row keeps it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from fastlab.base.text import shown

_CPU_LIST = re.compile(r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*")


def list_cpus(cpus: Iterable[int]) -> str:
    """The set as the kernel writes it, such as 0-3,8."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][-1] == cpu - 1:
            ranges[-1][1:] = [cpu]
        else:
            ranges.append([cpu])
    return ",".join("-".join(map(str, bounds)) for bounds in ranges)


def listed_cpus(text: str) -> set[int]:
    """The set that is written so. Raises ValueError."""
    if not _CPU_LIST.fullmatch(text):
        raise ValueError(f"{shown(text)} is no list of CPUs such as 0-3,8")
    ends = [part.partition("-") for part in text.split(",")]
    return {cpu for low, _, high in ends for cpu in range(int(low), int(high or low) + 1)}


@dataclass(frozen=True)
class IdleState:
    """A C-state that the CPUs may enter, and how long they take to leave it."""

    name: str
    exit_us: int


@dataclass(frozen=True)
class Environment:
    """What stays the same for a whole run. `governors` and `idle_states` are those of any CPU, each
    once; None says "not available". `cpus` are online; `cpu_list` has those that the run was kept
    to, None in results of before that was looked at."""

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
        """How many CPUs the run had."""
        return self.cpus if self.cpu_list is None else len(listed_cpus(self.cpu_list))


@dataclass(frozen=True)
class Activity:
    """What changes all the time: ticks since boot of the CPUs that the run has, and of these the
    stolen ones; and of the whole machine the load of the last minute, tasks that run or want to
    (without the reader), and how often heat has slowed a core."""

    ticks: int
    steal: int
    load: float
    others: int
    throttled: int | None


@dataclass(frozen=True)
class Circumstances:
    """A run's environment, and what the machine was doing just before it and just after it."""

    environment: Environment
    before: Activity
    after: Activity


def from_record(data: Mapping[str, Any]) -> Circumstances:
    """As a row of runs.jsonl holds them, by asdict(). Raises ValueError for what is not so."""
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
    """Names that a misspelt field has, or one of another version."""
    yield from data.keys() - {field.name for field in fields(Circumstances)}
    for name, kind in (("environment", Environment), ("before", Activity), ("after", Activity)):
        yield from data[name].keys() - {field.name for field in fields(kind)}
