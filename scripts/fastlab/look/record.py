# SPDX-License-Identifier: GPL-2.0
"""A program, or a process that runs already, under fast-look."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fastlab.base.model import FastError
from fastlab.base.process import run_along
from fastlab.base.progress import Reporter
from fastlab.base.project import work_dir
from fastlab.guest.meson import build_programs
from fastlab.kernel.kernels import Places
from fastlab.look.runtimes import files_of, files_of_process, probes_of
from fastlab.look.waits import Look, look_of
from fastlab.trial.subject import find_program

FAST_LOOK = Path("userspace/look/fast-look")
# For how long to look at a process that runs, without a program that says so.
SECONDS = 5
# What fast-look ends with when it could not do its part.
_OURS = 125


@dataclass(frozen=True)
class LookRequest:
    """A program with its arguments; or a process, looked at while the program runs."""

    argv: Sequence[str]
    pid: int | None = None


def look(request: LookRequest, reporter: Reporter, root: Path = Path("/")) -> Look:
    """Run it, and count what its threads wait for. `root` has the machine's /proc."""
    argv = list(request.argv)
    if request.pid is None:
        program = find_program(argv[0], Path.cwd())
        probes = probes_of(files_of(program))
        words = []
    else:
        argv = argv or ["sleep", str(SECONDS)]
        program, maps = _process(root / "proc" / str(request.pid))
        probes = probes_of(files_of_process(program, maps))
        words = ["--pid", str(request.pid)]
    fast_look = _fast_look(reporter)
    for probe in probes:
        words += ["--probe", probe.word]
    with TemporaryDirectory() as directory:
        file = Path(directory, "look.json")
        command = [str(fast_look), "--json", str(file), *words, "--", *argv]
        try:
            status = run_along(command)
        except KeyboardInterrupt:
            # A server ends so, and there is an answer.
            if not file.is_file() or not file.stat().st_size:
                raise
            status = 0
        text = file.read_text() if file.is_file() else ""
    if status == _OURS or not text:
        raise FastError(f"nothing was counted: fast-look has said why, above{_advice()}")
    ended = f"ended with status {status}" if status and request.pid is None else ""
    return look_of(json.loads(text), program, probes, ended)


def _fast_look(reporter: Reporter) -> Path:
    """Built only where it is missing, because the answer is to come at once."""
    project = Places().project
    built = work_dir(project) / "user" / FAST_LOOK
    return built if built.is_file() else build_programs(project, reporter) / FAST_LOOK


def _process(directory: Path) -> tuple[Path, str]:
    """Its program, and its memory map."""
    try:
        maps = os.fsdecode((directory / "maps").read_bytes())
        return (directory / "exe").readlink(), maps
    except FileNotFoundError as error:
        why = (
            "it has no program, as threads of the kernel" if directory.is_dir() else "there is none"
        )
        raise FastError(f"process {directory.name}: {why}; `ps` has their ids") from error
    except PermissionError as error:
        # Of a process that a container is not to see not even root may.
        why = "it takes root to look at another user's process" if os.geteuid() else "not permitted"
        raise FastError(f"process {directory.name}: {why}") from error


def _advice() -> str:
    if not os.geteuid():
        return ""
    return (
        ". Trace events take root: run it with sudo. Without root `fast latency` counts the "
        "hand-offs of pthread mutexes, and `fast try` simulates the program"
    )
