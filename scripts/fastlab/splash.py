# SPDX-License-Identifier: GPL-2.0
"""Driving an original SPLASH-2 or Splash-3 tree: every program built, run and judged."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from fastlab import splash_tree
from fastlab.cache import locked
from fastlab.model import SCHEMA_VERSION, FastError
from fastlab.process import ending, last_words, run_group
from fastlab.reporter import Reporter
from fastlab.splash_judge import Said, differences
from fastlab.splash_programs import Program, Size, select
from fastlab.splash_tree import Tree
from fastlab.tables import Cell, Table, Tone

# "failed": it gave no result. "skipped": it was not tried, and `detail` says why.
Verdict = Literal["ok", "wrong", "failed", "hung", "skipped"]

THREADS = (1, 2, 4)
TIMEOUT = 600.0
# What a program printed, in the directory of its run.
OUTPUT = "output"


@dataclass(frozen=True)
class Row:
    """One run, or a program that could not be built: 0 threads. `seconds` are of the whole process,
    `parallel_ns` of its parallel phase."""

    program: str
    size: str
    threads: int
    command: str
    seconds: float | None
    parallel_ns: int | None
    exit_status: int | None
    verdict: Verdict
    detail: str
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What to do with a tree. No programs: all that it has."""

    root: Path
    project: Path
    programs: tuple[str, ...] = ()
    threads: tuple[int, ...] = THREADS
    size: Size = "small"
    timeout: float = TIMEOUT
    output: Path | None = None


@dataclass(frozen=True)
class Built:
    """A program of the tree: what was built, or why it was not."""

    program: Program
    path: Path | None
    failure: str = ""


@dataclass(frozen=True)
class Job:
    """One run of what was built. `sources` are the program's own in the tree; `directory` is made
    anew, and keeps what the program says."""

    program: Program
    path: Path
    sources: Path
    size: str
    threads: int
    directory: Path
    timeout: float


def output_directory(request: Request) -> Path:
    """Where a tree is built: a directory of its own under build/, unless one is given."""
    if request.output:
        return request.output.absolute()
    root = request.root.resolve()
    digest = hashlib.sha256(str(root).encode()).hexdigest()[:8]
    return request.project / "build/splash" / f"{root.name}-{digest}"


def build(request: Request, reporter: Reporter) -> list[Built]:
    """Build every program that is asked for. One that cannot be built does not stop the others."""
    with prepared(request, reporter) as (_, built):
        return built


@contextmanager
def prepared(request: Request, reporter: Reporter) -> Iterator[tuple[Tree, list[Built]]]:
    """The tree, and the programs that are asked for, built. Nobody else builds or runs them until
    this is left."""
    tree = splash_tree.find_tree(request.root)
    output = output_directory(request)
    splash_tree.check(tree, output)
    with locked(output / "lock", reporter):
        yield tree, _build(request, tree, reporter)


def run(request: Request, reporter: Reporter) -> list[Row]:
    """Build, run at every number of threads, and judge.

    What a program says of itself counts, and that it says the same at every number of threads: the
    fewest are the reference.
    """
    with prepared(request, reporter) as (tree, built):
        rows = [
            Row(one.program.name, "", 0, "", None, None, None, "failed", one.failure)
            for one in built
            if one.path is None
        ]
        ready = [(one.program, one.path) for one in built if one.path]
        task = f"running {tree.root}"
        done = 0
        reporter.start(task, len(ready) * len(request.threads))
        for program, path in ready:
            reference: Row | None = None
            for threads in sorted(request.threads):
                job = Job(
                    program,
                    path,
                    tree.codes / program.directory,
                    program.sizes[request.size],
                    threads,
                    output_directory(request) / "runs" / f"{program.name}-{threads}",
                    request.timeout,
                )
                row = attempt(job)
                if reference:
                    row = compared(row, reference, program)
                elif row.verdict == "ok":
                    reference = row
                rows.append(row)
                done += 1
                reporter.advance(task, done, f"{row.program} {row.threads} threads")
        reporter.finish(task)
        return rows


def _build(request: Request, tree: Tree, reporter: Reporter) -> list[Built]:
    wanted = splash_tree.choose(tree, select(request.programs), bool(request.programs))
    macros = splash_tree.find_macros(request.project)
    task = f"building {tree.root}"
    built = []
    reporter.start(task, len(wanted))
    for number, program in enumerate(wanted, 1):
        try:
            path = splash_tree.build(tree, program, macros, output_directory(request))
            built.append(Built(program, path))
        except FastError as error:
            built.append(Built(program, None, str(error)))
        reporter.advance(task, number, program.name)
    reporter.finish(task)
    return built


def failures(rows: Iterable[Row]) -> list[str]:
    """What is not right, in words."""
    return [
        f"{row.program}, {row.threads} threads: {row.verdict}: {_first(row.detail)}"
        if row.threads
        else row.detail
        for row in rows
        if row.verdict not in ("ok", "skipped")
    ]


def table(rows: Sequence[Row]) -> Table:
    """For people."""
    tones: dict[Verdict, Tone] = {"ok": "gain", "skipped": "aside"}
    return Table(
        "Programs of the tree",
        ["program", "size", "verdict", "because", "threads", "parallel phase, ms", "process, s"],
        [
            [
                Cell(row.program),
                Cell(row.size),
                Cell(row.verdict, tone=tones.get(row.verdict, "loss")),
                Cell(_first(row.detail)),
                Cell(str(row.threads or "-")),
                Cell("-" if row.parallel_ns is None else f"{row.parallel_ns / 1e6:.1f}"),
                Cell("-" if row.seconds is None else f"{row.seconds:.2f}"),
            ]
            for row in rows
        ],
        "The parallel phase is from CREATE to WAIT_FOR_END, with what a self-test adds to it (FFT: "
        "the inverse transform).",
        labels=4,
    )


def document(rows: Sequence[Row], request: Request) -> dict[str, Any]:
    """For programs."""
    return {
        "schema": SCHEMA_VERSION,
        "tree": str(request.root),
        "size": request.size,
        "rows": [asdict(row) for row in rows],
    }


def attempt(job: Job) -> Row:
    """Run a program once, and judge what it says."""
    program, threads, directory = job.program, job.threads, job.directory

    def row(verdict: Verdict, detail: str, **more: Any) -> Row:
        given = {"command": "", "seconds": None, "parallel_ns": None, "exit_status": None}
        return Row(
            program.name, job.size, threads, verdict=verdict, detail=detail, **(given | more)
        )

    if refusal := program.refusal(threads):
        return row("skipped", refusal)
    try:
        call = program.call(job.sources, job.size, threads)
    except FastError as error:
        return row("failed", str(error))

    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for name, content in {**call.files, "input": call.input}.items():
        (directory / name).write_text(content)
    command = [str(job.path), *call.arguments]
    report = directory / "report"
    environment = {**os.environ, "FAST_SPLASH_REPORT": str(report)}
    begun = time.monotonic()
    status = None
    with (directory / "input").open("rb") as given, (directory / OUTPUT).open("wb") as output:
        try:
            status = run_group(
                command, job.timeout, cwd=directory, stdin=given, stdout=output, env=environment
            )
        except subprocess.TimeoutExpired:
            pass
        except OSError as error:
            return row("failed", f"{job.path}: cannot be started: {error.strerror}")
    more = {
        "command": " ".join(command) + (f" < {directory / 'input'}" if call.input else ""),
        "seconds": time.monotonic() - begun,
        "exit_status": status,
    }
    said = Said(
        (directory / OUTPUT).read_text(errors="replace"),
        report.read_text(errors="replace").splitlines() if report.is_file() else [],
    )
    words = last_words(said.output) or "it said nothing"
    if status is None:
        return row("hung", f"no end after {job.timeout:g} s: {words}", **more)
    if status:
        return row("failed", ending(status, words), **more)
    facts = _facts(said)
    more["parallel_ns"] = facts.get("parallel_ns")
    judgement = program.judge(said)
    if not judgement.right:
        return row("wrong", judgement.detail, **more)
    if facts.get("threads") != threads:
        return row("wrong", f"it ran with {facts.get('threads', 'no')} threads", **more)
    return row("ok", judgement.detail, values=dict(judgement.values), **more)


def compared(row: Row, reference: Row, program: Program) -> Row:
    """The row, wrong if its values are not those of the reference."""
    if row.verdict != "ok":
        return row
    different = differences(row.values, reference.values, program.tolerance)
    if not different:
        return row
    detail = f"{'; '.join(different)} ({reference.threads} threads)"
    return Row(**(asdict(row) | {"verdict": "wrong", "detail": detail}))


def _facts(said: Said) -> dict[str, int]:
    """The numbers that the macros report: how many threads, how long."""
    matches = (re.fullmatch(r"(threads|parallel_ns) (\d+)", line) for line in said.report)
    return {match[1]: int(match[2]) for match in matches if match}


def _first(text: str) -> str:
    return text.partition("\n")[0]
