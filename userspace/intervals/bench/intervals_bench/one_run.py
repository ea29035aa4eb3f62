# SPDX-License-Identifier: GPL-2.0
"""One run of a benchmark program of the intervals runtime or a peer (bench/main.c)."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fastlab.base.model import FastError
from fastlab.base.process import ask, ending

PeerStatus = Literal["ok", "failed", "not available"]

# What a program ends with when the benchmark is not written for its runtime (main.c).
NOT_WRITTEN = 3
# By which a program ends that has used up its stack: the fault, or a runtime's own end.
CRASHES = (signal.SIGSEGV, signal.SIGABRT)


@dataclass(frozen=True)
class BenchRun:
    """A program's measured values. `counts` is what its runtime counted in the last of them, if it
    did; `status` and `reason` say why there is nothing, `crashed` that one of CRASHES ended it."""

    status: PeerStatus = "ok"
    reason: str = ""
    unit: str = ""
    values: tuple[float, ...] = ()
    peak_kib: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    crashed: bool = False


def bench_run(command: Sequence[str], timeout: float, environment: Mapping[str, str]) -> BenchRun:
    """Run the program. One that has not ended after `timeout` seconds is killed."""
    try:
        answer = ask(command, timeout, environment)
    except FastError as error:
        return _failed(str(error))
    if answer.status == NOT_WRITTEN:
        return BenchRun("not available", "not written for this runtime")
    if answer.status:
        crashed = -answer.status in CRASHES
        return BenchRun("failed", ending(answer.status, answer.errors), crashed=crashed)
    return _read(answer.output)


def _failed(reason: str) -> BenchRun:
    return BenchRun("failed", reason)


def _read(output: str) -> BenchRun:
    """The lines of a program that says that all is well."""
    try:
        lines = [json.loads(line) for line in output.splitlines()]
        if any(line["check"] != "ok" for line in lines):
            return _failed("wrong result")
        values = tuple(float(line["value"]) for line in lines)
        peaks = [int(line["peak_kib"]) for line in lines]
        units = {str(line["unit"]) for line in lines}
        counts = {str(name): int(count) for name, count in _counts(lines).items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return _failed(f"printed no result: {output.strip()[:80]}")
    if len(units) != 1:
        return _failed("printed no result" if not lines else "printed results of several units")
    return BenchRun("ok", "", units.pop(), values, max(peaks), counts)


def _counts(lines: Sequence[Mapping[str, Mapping[str, int]]]) -> Mapping[str, int]:
    return lines[-1].get("counts", {}) if lines else {}
