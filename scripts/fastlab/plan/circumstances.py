# SPDX-License-Identifier: GPL-2.0
"""What a real machine was like during a run, as the run's row keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class IdleState:
    """A C-state that the CPUs may enter, and how long they take to leave it."""

    name: str
    exit_us: int


@dataclass(frozen=True)
class Environment:
    """What stays the same for a whole run. `governors` and `idle_states` are those of any CPU, each
    once; None says "not available"."""

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


@dataclass(frozen=True)
class Activity:
    """What changes all the time: CPU ticks since boot, the load of the last minute, tasks that run
    or want to (without the reader), and how often heat has slowed a core."""

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

    found = msgspec.convert(data, Circumstances)
    further = sorted(_further(data))
    if further:
        raise ValueError(f"circumstances have further fields: {', '.join(further)}")
    return found


def _further(data: Mapping[str, Any]) -> Iterator[str]:
    """Names that a misspelt field has, or one of another version."""
    yield from data.keys() - {one.name for one in fields(Circumstances)}
    for name, kind in (("environment", Environment), ("before", Activity), ("after", Activity)):
        yield from data[name].keys() - {one.name for one in fields(kind)}
