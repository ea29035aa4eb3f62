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

from fastlab.base.cache import locked
from fastlab.base.model import SCHEMA_VERSION, FastError
from fastlab.base.process import ending, last_words, run_group
from fastlab.base.progress import Reporter, steps
from fastlab.base.project import work_dir
from fastlab.report.tables import Cell, Table, Tone
from fastlab.splash import source_tree
from fastlab.splash.checks import ProgramOutput, differences
from fastlab.splash.programs import PROGRAMS, Program, Size, select
from fastlab.splash.source_tree import SourceTree

# "failed": it gave no result. "skipped": it was not tried, and `detail` says why.
TreeVerdict = Literal["ok", "wrong", "failed", "hung", "skipped"]

THREADS = (1, 2, 4)
TIMEOUT = 600.0
# What a program printed, in the directory of its run.
OUTPUT = "output"


@dataclass(frozen=True)
class TreeRow:
    """One run, or a program that could not be built: 0 threads. `seconds` are of the whole process,
    `parallel_ns` of its parallel phase."""

    program: str
    size: str
    threads: int
    command: str
    seconds: float | None
    parallel_ns: int | None
    exit_status: int | None
    verdict: TreeVerdict
    detail: str
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class TreeRequest:
    """What to do with a tree. No programs: all that it has."""

    root: Path
    project: Path
    programs: tuple[str, ...] = ()
    threads: tuple[int, ...] = THREADS
    size: Size = "small"
    timeout: float = TIMEOUT
    output: Path | None = None


@dataclass(frozen=True)
class BuiltProgram:
    """A program of the tree: what was built, or why it was not."""

    program: Program
    path: Path | None
    failure: str = ""


@dataclass(frozen=True)
class TreeJob:
    """One run of what was built. `sources` are the program's own in the tree; `directory` is made
    anew, and keeps what the program says."""

    program: Program
    path: Path
    sources: Path
    size: str
    threads: int
    directory: Path
    timeout: float

    def __str__(self) -> str:
        return f"{self.program.name} {self.threads} threads"


def output_directory(request: TreeRequest) -> Path:
    """Where a tree is built: a directory of its own, unless one is given."""
    if request.output:
        return request.output.absolute()
    root = request.root.resolve()
    digest = hashlib.sha256(str(root).encode()).hexdigest()[:8]
    return work_dir(request.project) / "splash" / f"{root.name}-{digest}"


def build(request: TreeRequest, reporter: Reporter) -> list[BuiltProgram]:
    """Build every requested program. A program that cannot be built does not stop the rest."""
    with prepared(request, reporter) as (_, built):
        return built


@contextmanager
def prepared(
    request: TreeRequest, reporter: Reporter
) -> Iterator[tuple[SourceTree, list[BuiltProgram]]]:
    """The tree and its requested programs, built. No other process builds or runs them
    meanwhile."""
    tree = source_tree.find_tree(request.root)
    output = output_directory(request)
    source_tree.check(tree, output)
    with locked(output / "lock", reporter):
        yield tree, _build(request, tree, reporter)


def run(request: TreeRequest, reporter: Reporter) -> Iterator[TreeRow]:
    """Build, run at every number of threads, and judge: each row as soon as it is known.

    The program's own check decides, and that its values are equal at every number of threads: the
    run with the fewest threads is the reference.
    """
    with prepared(request, reporter) as (tree, built):
        for built_program in built:
            if built_program.path is None:
                name, failure = built_program.program.name, built_program.failure
                yield TreeRow(name, "", 0, "", None, None, None, "failed", failure)
        ready = [
            (built_program.program, built_program.path)
            for built_program in built
            if built_program.path
        ]
        jobs = [
            TreeJob(
                program,
                path,
                tree.codes / program.directory,
                program.sizes[request.size],
                threads,
                output_directory(request) / "runs" / f"{program.name}-{threads}",
                request.timeout,
            )
            for program, path in ready
            for threads in sorted(request.threads)
        ]
        references: dict[str, TreeRow] = {}
        for job in steps(reporter, f"running {tree.root}", jobs, str):
            row = attempt(job)
            if reference := references.get(row.program):
                row = compared(row, reference, job.program)
            elif row.verdict == "ok":
                references[row.program] = row
            yield row


def _build(request: TreeRequest, tree: SourceTree, reporter: Reporter) -> list[BuiltProgram]:
    wanted = source_tree.choose(tree, select(request.programs), bool(request.programs))
    macros = source_tree.find_macros(request.project)
    built = []
    for program in steps(reporter, f"building {tree.root}", wanted, lambda item: item.name):
        try:
            path = source_tree.build(tree, program, macros, output_directory(request))
            built.append(BuiltProgram(program, path))
        except FastError as error:
            built.append(BuiltProgram(program, None, str(error)))
    return built


def failures(rows: Iterable[TreeRow]) -> list[str]:
    """What is not right, in words."""
    return [
        f"{row.program}, {row.threads} threads: {row.verdict}: {_first(row.detail)}"
        if row.threads
        else row.detail
        for row in rows
        if row.verdict not in ("ok", "skipped")
    ]


def table(rows: Sequence[TreeRow]) -> Table:
    """For people."""
    tones: dict[TreeVerdict, Tone] = {"ok": "gain", "skipped": "aside"}
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
        _note(rows),
        labels=4,
    )


def _note(rows: Sequence[TreeRow]) -> str:
    """What the columns are, and the figures that stand beside a verdict without deciding it."""
    right = {row.program for row in rows if row.verdict == "ok"}
    remarks = dict.fromkeys(
        program.remark for program in PROGRAMS if program.name in right and program.remark
    )
    phase = (
        "The parallel phase is from CREATE to WAIT_FOR_END, with what a self-test adds to it (FFT: "
        "the inverse transform)"
    )
    return ". ".join((phase, *(f"{remark[0].upper()}{remark[1:]}" for remark in remarks))) + "."


def document(rows: Sequence[TreeRow], request: TreeRequest) -> dict[str, Any]:
    """For programs."""
    return {
        "schema": SCHEMA_VERSION,
        "tree": str(request.root),
        "size": request.size,
        "rows": [asdict(row) for row in rows],
    }


def attempt(job: TreeJob) -> TreeRow:
    """Run a program once, and judge what it says."""
    program, threads, directory = job.program, job.threads, job.directory

    def row(verdict: TreeVerdict, detail: str, **more: Any) -> TreeRow:
        given = {"command": "", "seconds": None, "parallel_ns": None, "exit_status": None}
        return TreeRow(
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
    printed = ProgramOutput(
        (directory / OUTPUT).read_text(errors="replace"),
        report.read_text(errors="replace").splitlines() if report.is_file() else [],
        job.size,
    )
    words = last_words(printed.output) or "it said nothing"
    if status is None:
        return row("hung", f"no end after {job.timeout:g} s: {words}", **more)
    if status:
        return row("failed", ending(status, words), **more)
    facts = _facts(printed)
    more["parallel_ns"] = facts.get("parallel_ns")
    judgement = program.judge(printed)
    if not judgement.right:
        return row("wrong", judgement.detail, **more)
    if facts.get("threads") != threads:
        return row("wrong", f"it ran with {facts.get('threads', 'no')} threads", **more)
    return row("ok", judgement.detail, values=dict(judgement.values), **more)


def compared(row: TreeRow, reference: TreeRow, program: Program) -> TreeRow:
    """The row, marked wrong if its values differ from the reference."""
    if row.verdict != "ok":
        return row
    different = differences(row.values, reference.values, program.tolerance)
    if not different:
        return row
    detail = f"{'; '.join(different)} ({reference.threads} threads)"
    return TreeRow(**(asdict(row) | {"verdict": "wrong", "detail": detail}))


def _facts(run: ProgramOutput) -> dict[str, int]:
    """The numbers that the macros report: how many threads, how long."""
    matches = (re.fullmatch(r"(threads|parallel_ns) (\d+)", line) for line in run.report)
    return {match[1]: int(match[2]) for match in matches if match}


def _first(text: str) -> str:
    return text.partition("\n")[0]
