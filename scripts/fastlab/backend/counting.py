# SPDX-License-Identifier: GPL-2.0
"""A program on the running kernel under fast-stat or fast-latency, and the machine's state around
it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fastlab.backend.host import difference, mechanism
from fastlab.base.metrics import LATENCIES
from fastlab.base.model import FastError
from fastlab.base.process import ask, run_group
from fastlab.base.tools import require
from fastlab.plan.circumstances import Circumstances, list_cpus
from fastlab.plan.paired_plan import SOFTWARE
from fastlab.plan.row_making import Ending
from fastlab.plan.rows import Counter
from fastlab.statistics import environment

# In Meson's build directory. fast-latency loads the library into the program.
FAST_STAT = "userspace/counters/fast-stat"
FAST_LATENCY = "userspace/latency/fast-latency"
HANDOFF_LIBRARY = "userspace/latency/libfast-handoff.so"

# Backends on the running kernel.
BACKENDS = ("perf", "soft")
# Options of fast-stat that list the groups of events, one per line.
GROUPS = ("--groups", "--events", "hardware")

# Seconds for a measurement of `true`.
TRY_SECONDS = 60.0

Histogram = list[list[int]]


def find_groups(backend: str, fast_stat: Path) -> tuple[str, ...]:
    """The lists of events that fit into one run each. An error of fast-stat is a FastError before
    the first run."""
    groups: tuple[str, ...] = (SOFTWARE,)
    if backend != "soft":
        try:
            answer = ask([str(fast_stat), *GROUPS], TRY_SECONDS)
        except FastError as error:
            raise _not_available(backend, f"{fast_stat.name} {error}") from error
        if answer.status:
            raise _not_available(backend, answer.errors.strip())
        groups = (*answer.output.split(), SOFTWARE)
    # Counting a program may be forbidden even if listing the events is allowed.
    for events in groups:
        _, message = _try_out(fast_stat, "--events", events)
        if message:
            raise _not_available(backend, message)
    return groups


def _not_available(backend: str, why: str) -> FastError:
    return FastError(f"backend {backend} is not available here: {why}")


def my_cpus() -> str:
    """The CPUs of this process, as fast-stat takes them. Call it before the first run: later
    fast-stat reserves CPUs for a program."""
    return list_cpus(os.sched_getaffinity(0))


def check_latencies(fast_latency: Path) -> dict[str, str]:
    """Measure `true` once: which latencies are not available here, and why."""
    document, message = _try_out(fast_latency)
    if not document:
        raise FastError(
            f"latencies cannot be measured here: {message or 'nothing was written'}; leave "
            "latencies = true out of the experiment file"
        )
    # `true` uses no mutex, which says nothing about other programs.
    why_not = {name: document["latencies"][name]["why_not"] for name in LATENCIES}
    return {name: why for name, why in why_not.items() if why}


def _try_out(program: Path, *options: str) -> tuple[Mapping[str, Any] | None, str]:
    """The measurement of `true` by fast-stat or fast-latency, and its error output if it fails."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "document")
        try:
            answer = ask([str(program), *options, "--json", str(path), "true"], TRY_SECONDS)
        except FastError as error:
            return None, f"{program.name} {error}"
        if answer.status == 0:
            return _document(path), ""
    return None, answer.errors.strip() or f"{program.name} ended with status {answer.status}"


@dataclass(frozen=True)
class Call:
    """A program to measure, on these `cpus`. `roi`: only between its markers. Its output and the
    measurement are files in the directory `scratch`. `stdin` is its input; `environment` is added
    to ours."""

    argv: Sequence[str]
    seconds: float
    roi: bool
    cpus: str
    directory: Path
    scratch: Path
    stdin: Path = Path(os.devnull)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def output(self) -> Path:
        """The program's standard output."""
        return self.scratch / "output"

    @property
    def errors(self) -> Path:
        """The standard error of the program and of fast-stat or fast-latency."""
        return self.scratch / "errors"


@dataclass(frozen=True, kw_only=True)
class Observed(Ending):
    """A run's ending; `exit_status` is None if it was killed. `document` is the output of fast-stat
    or fast-latency. `mechanism` and the circumstances cover the whole machine during the run."""

    document: Mapping[str, Any] | None
    circumstances: Circumstances


def count_run(call: Call, fast_stat: Path, events: str, root: Path) -> Observed:
    """Run the program under fast-stat, and record the machine's state before and after."""
    options = ["--events", events, "--cpus", call.cpus]
    return _measure(call, [str(fast_stat.absolute()), *options], root)


def time_run(call: Call, fast_latency: Path, root: Path, fixed: bool = False) -> Observed:
    """Run the program under fast-latency in the same way. `fixed`: every run has the same memory
    layout."""
    still = [str(require("setarch")), "--addr-no-randomize"] if fixed else []
    return _measure(call, [*still, str(fast_latency.absolute())], root)


def _measure(call: Call, program: Sequence[str], root: Path) -> Observed:
    path = call.scratch.absolute() / "measured.json"
    path.unlink(missing_ok=True)
    options = ["--json", str(path), *(["--roi"] if call.roi else [])]
    command = [*program, *options, "--", *call.argv]
    # fast-stat fails if the program cannot be confined to exactly these CPUs.
    surroundings = replace(environment.capture(root), cpu_list=call.cpus)
    fired = mechanism(root)
    before = environment.activity(root, call.cpus)
    begun = time.monotonic()
    with (
        call.stdin.open("rb") as stdin,
        call.output.open("wb") as out,
        call.errors.open("wb") as err,
    ):
        try:
            status = run_group(
                command,
                call.seconds,
                cwd=call.directory,
                stdin=stdin,
                stdout=out,
                stderr=err,
                env={**os.environ, **call.environment},
            )
        except subprocess.TimeoutExpired:
            status = None
    duration = time.monotonic() - begun
    after = environment.activity(root, call.cpus)
    return Observed(
        None,
        difference(fired, mechanism(root)),
        status,
        duration,
        document=_document(path),
        circumstances=Circumstances(surroundings, before, after),
    )


def _document(path: Path) -> Mapping[str, Any] | None:
    """The measurement; None if it failed or was killed."""
    try:
        document: Mapping[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return document


def counters_of(counts: Mapping[str, Any] | None) -> dict[str, Counter]:
    """The counters with a value."""
    given = counts["counters"] if counts else {}
    return {
        name: Counter(unit=counter["unit"], total=counter["value"])
        for name, counter in given.items()
        if counter["value"] is not None
    }


def latencies_of(document: Mapping[str, Any]) -> tuple[dict[str, Histogram], dict[str, str]]:
    """The histograms of fast-latency's document, and the reasons for missing ones: a latency that
    cannot be measured, or that did not occur."""
    histograms: dict[str, Histogram] = {}
    missing: dict[str, str] = {}
    for name in LATENCIES:
        latency = document["latencies"][name]
        why = latency["why_not"] or latency["unseen"]
        if why:
            missing[name] = why
        else:
            histograms[name] = latency["buckets"]
    return histograms, missing
