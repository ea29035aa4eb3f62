# SPDX-License-Identifier: GPL-2.0
"""The events of a trace.dat, as trace-cmd tells them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import tools
from fastlab.base.model import FastError


@dataclass(frozen=True)
class Event:
    """A tracepoint that `cpu` passed, executing thread `tid`. `says` is the kernel's text of it."""

    ns: int
    cpu: int
    tid: int
    comm: str
    name: str
    says: str

    def text(self, field: str) -> str:
        """The value of `field=value`. Of the values only names of threads have spaces."""
        match = re.search(rf"(?:^| ){field}=(.*?)(?= \S+=| ==> |$)", self.says)
        if not match:
            raise FastError(f"the trace's event {self.name} has no {field}: {self.says!r}")
        return match[1]

    def number(self, field: str) -> int:
        return int(self.text(field))


_LINE = re.compile(
    # trace-cmd names the instance that it was recorded in
    r"(?:\S+: )?\s*"
    r"(?P<comm>.*)-(?P<tid>\d+)\s+\[(?P<cpu>\d+)\]\s+"
    # newer ones have flags such as d..2.
    r"(?:[^\s:]{4,6}\s+)?(?P<seconds>\d+)\.(?P<ns>\d{9}):\s+"
    r"(?P<name>\w+):\s*(?P<says>.*)"
)


def parse_events(lines: Iterable[str]) -> list[Event]:
    """Of the lines of `trace-cmd report -t -N`; those that are no events are headings."""
    events = []
    for line in lines:
        fields = _LINE.fullmatch(line.rstrip())
        if fields:
            ns = int(fields["seconds"]) * 1_000_000_000 + int(fields["ns"])
            cpu, tid = int(fields["cpu"]), int(fields["tid"])
            events.append(Event(ns, cpu, tid, fields["comm"], fields["name"], fields["says"]))
    return events


def read_events(path: Path) -> list[Event]:
    """The events of a trace.dat in their order. Raises FastError if it is none."""
    # -N: what the kernel's own formats say, not what plugins make of it.
    command: list[str | Path] = [tools.require("trace-cmd"), "report", "-t", "-N", "-i", path]
    answer = subprocess.run(command, capture_output=True, text=True, errors="replace")
    events = parse_events(answer.stdout.splitlines())
    if answer.returncode or not events:
        errors = answer.stderr.strip().splitlines()[-1:] or ["it has no events"]
        raise FastError(f"{path}: trace-cmd cannot read it: {errors[0].strip()}")
    return events
