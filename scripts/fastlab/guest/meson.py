# SPDX-License-Identifier: GPL-2.0
"""The programs and the plugin that a simulation takes: built when they are out of date."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fastlab.base import tools
from fastlab.base.cache import locked, mark_used
from fastlab.base.model import FastError
from fastlab.base.moved import forget_moved, source_of
from fastlab.base.progress import Reporter
from fastlab.base.project import build_dir, work_dir


def build_programs(project: Path, reporter: Reporter) -> Path:
    """Let meson and ninja bring the project's programs up to date; the directory that they are in.

    A failure is a FastError with what ninja said.
    """
    directory = build_dir(project)
    with _only_builder(directory, reporter):
        _check_place(directory, project, reporter)
        if not (directory / "build.ninja").is_file():
            reporter.say(f"setting up {directory}")
            _run(["meson", "setup", str(directory), str(project)])
        _run(["ninja", "-C", str(directory)])
    return directory


def build_benchmarks(
    project: Path, options: Sequence[str], reporter: Reporter, targets: Sequence[str]
) -> Path:
    """As build_programs(), but an optimized build, of the `targets` of ninja alone.

    `options` are words for meson. What has been installed meanwhile is found.
    """
    directory = work_dir(project) / "bench-runtime"
    setup = ["meson", "setup", str(directory), str(project), "-Dbuildtype=release", *options]
    with _only_builder(directory, reporter):
        _check_place(directory, project, reporter)
        if (directory / "build.ninja").is_file():
            setup.append("--reconfigure")
        reporter.say(f"building the benchmarks in {directory}")
        _run(setup)
        _run(["ninja", "-C", str(directory), *targets])
    return directory


@contextmanager
def _only_builder(directory: Path, reporter: Reporter) -> Iterator[None]:
    """Neither meson nor ninja looks whether another one is at work in the directory."""
    with locked(directory.with_name(f"{directory.name}.lock"), reporter):
        # `fast cache` tells when it was last used.
        mark_used(directory.parent)
        yield


def _check_place(directory: Path, project: Path, reporter: Reporter) -> None:
    """What a moved checkout has built is thrown away; what is another checkout's is an error."""
    if why := forget_moved(directory):
        reporter.say(why)
    source = source_of(directory)
    if source and source.resolve() != project.resolve():
        raise FastError(
            f"{directory} has the programs of {source}, not of {project}: remove the link that "
            "leads there, then run the same command again"
        )


def _run(command: list[str]) -> None:
    tools.require(command[0])
    answer = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # It gets the directory's lock: a ninja that outlives us is still at work there.
        close_fds=False,
    )
    if answer.returncode:
        raise FastError(
            f"the programs cannot be built: {' '.join(command)} ended with status "
            f"{answer.returncode}:\n{answer.stdout.strip()}"
        )
