# SPDX-License-Identifier: GPL-2.0
"""Recordings of a program on the running kernel, by its tracefs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastlab.backend.host import SchedFast, only_user, what_runs
from fastlab.base import tools
from fastlab.base.model import FastError
from fastlab.base.process import run_along
from fastlab.base.progress import Reporter
from fastlab.guest import initramfs
from fastlab.guest.meson import build_programs
from fastlab.kernel.kernels import Places
from fastlab.trace.events import read_events
from fastlab.trace.record_simulated import FAST_TRACE, buffer_words
from fastlab.trace.recording import Recording, recording_of
from fastlab.trial.runs import ARMS, BASELINE
from fastlab.trial.subject import find_program, is_marked

# Of a kernel with FAST; one without has nothing to set.
POLICIES = (BASELINE, "strict")
WITHOUT_FAST = "kernel"
# What fast-trace ends with when it could not do its part.
_OURS = 125


@dataclass(frozen=True)
class ProgramRequest:
    """A command line, the directory for what it leaves, and the size of each CPU's buffer in KiB
    (None: fast-trace's default)."""

    argv: Sequence[str]
    directory: Path
    buffer_kb: int | None = None


def record_program(
    request: ProgramRequest, reporter: Reporter, root: Path = Path("/")
) -> list[Recording]:
    """Run the program under each policy that there is, and keep of each its POLICY.dat. `root` has
    the /proc and /sys of the machine. FAST's policy and knobs are put back in any case."""
    path = find_program(request.argv[0], Path.cwd())
    tools.require("trace-cmd")
    build = build_programs(Places().project, reporter)
    fast_trace = build / FAST_TRACE
    initramfs.check_built(build, [fast_trace])
    try:
        request.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FastError(
            f"{request.directory}: cannot be made: {error.strerror}; name another with --output"
        ) from error
    if not what_runs(root).fast:
        return [_record(request, path, fast_trace, WITHOUT_FAST)]
    recordings = []
    with only_user(root), SchedFast(root) as sched_fast:
        for arm in (policy_arm for policy_arm in ARMS if policy_arm.name in POLICIES):
            sched_fast.set(arm.settings)
            recordings.append(_record(request, path, fast_trace, arm.name))
    return recordings


def _record(request: ProgramRequest, path: Path, fast_trace: Path, title: str) -> Recording:
    trace, document = (request.directory / f"{title}{end}" for end in (".dat", ".json"))
    command = [str(fast_trace), "--output", str(trace), "--json", str(document)]
    command += buffer_words(request.buffer_kb)
    command += ["--roi"] if is_marked(path) else []
    # Interrupted, fast-trace ends the program, and leaves nothing in tracefs.
    status = run_along([*command, "--", *request.argv])
    text = document.read_text() if document.is_file() else ""
    if status == _OURS or not text:
        raise FastError("nothing was recorded: fast-trace has said why, above")
    if status:
        raise FastError(f"{path} ended with status {status}; what was recorded is {trace}")
    document_read, events = json.loads(text), read_events(trace)
    return recording_of(title, events, document_read, path)
