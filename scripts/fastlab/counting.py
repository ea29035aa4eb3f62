# SPDX-License-Identifier: GPL-2.0
"""A program on the running kernel under fast-stat, and what went on around it."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastlab import environment
from fastlab.model import FastError
from fastlab.process import run_group
from fastlab.results import Counter
from fastlab.running import difference, mechanism

# What fast-stat is asked for.
EVENTS: Mapping[str, str] = {"perf": "all", "soft": "software"}
# In Meson's build directory.
FAST_STAT = "userspace/counters/fast-stat"


def check_counters(backend: str, fast_stat: Path) -> None:
    """Count nothing once: what fast-stat complains of is said before the first run."""
    program, events = str(fast_stat), EVENTS[backend]
    with tempfile.NamedTemporaryFile() as counts:
        command = [program, "--events", events, "--json", counts.name, "true"]
        answer = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
    if answer.returncode:
        said = answer.stderr.strip() or f"fast-stat ended with status {answer.returncode}"
        raise FastError(f"backend {backend} is not available here: {said}")


@dataclass(frozen=True)
class Call:
    """A program to be counted. `roi`: only between its markers. What it prints and its counts are
    left in the directory `scratch`."""

    argv: Sequence[str]
    seconds: float
    roi: bool
    directory: Path
    scratch: Path

    @property
    def output(self) -> Path:
        """Its standard output."""
        return self.scratch / "output"

    @property
    def errors(self) -> Path:
        """Its standard error, and fast-stat's."""
        return self.scratch / "errors"


@dataclass(frozen=True)
class Counted:
    """How it ended, None if it was killed since it took too long; `counts` is fast-stat's document.
    `mechanism` and the circumstances are of the whole machine meanwhile."""

    status: int | None
    counts: Mapping[str, Any] | None
    mechanism: Mapping[str, int] | None
    duration: float
    circumstances: environment.Circumstances


def count_run(call: Call, fast_stat: Path, backend: str, root: Path) -> Counted:
    """Run the program under fast-stat, and look at the machine before and after."""
    counts = call.scratch.absolute() / "counts.json"
    counts.unlink(missing_ok=True)
    options = ["--events", EVENTS[backend], "--json", str(counts)]
    if call.roi:
        options.append("--roi")
    command = [str(fast_stat.absolute()), *options, "--", *call.argv]
    surroundings = environment.capture(root)
    fired = mechanism(root)
    before = environment.activity(root)
    begun = time.monotonic()
    with call.output.open("wb") as out, call.errors.open("wb") as err:
        try:
            status = run_group(command, call.seconds, cwd=call.directory, stdout=out, stderr=err)
        except subprocess.TimeoutExpired:
            status = None
    duration = time.monotonic() - begun
    after = environment.activity(root)
    return Counted(
        status,
        _document(counts),
        difference(fired, mechanism(root)),
        duration,
        environment.Circumstances(surroundings, before, after),
    )


def _document(path: Path) -> Mapping[str, Any] | None:
    """fast-stat's; it leaves nothing where it failed or was killed."""
    try:
        found: Mapping[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found


def counters_of(counts: Mapping[str, Any] | None) -> dict[str, Counter]:
    """What has a value; the rest is not available."""
    given = counts["counters"] if counts else {}
    return {
        name: Counter(unit=one["unit"], total=one["value"], share=one["share"])
        for name, one in given.items()
        if one["value"] is not None
    }
