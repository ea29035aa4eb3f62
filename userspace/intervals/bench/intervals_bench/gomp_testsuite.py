# SPDX-License-Identifier: GPL-2.0
"""GCC's own tests of its OpenMP library, run on ours: the C, C++ and Fortran run tests of
libgomp/testsuite.

They come from the source package of the compiler, are extracted to a temporary directory and
compiled there as anybody's programs, against GCC's library; then ours is preloaded. A test that
fails with GCC's library too, or is not for this machine, says nothing about ours and is not
applicable. Nothing of them is kept.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

from fastlab.base.model import SCHEMA_VERSION, FastError
from fastlab.base.process import Answer, ask
from fastlab.base.progress import Reporter, steps
from fastlab.base.tools import require_all
from fastlab.report.tables import Cell, Table

SuiteStatus = Literal["passed", "failed", "not applicable"]
STATUSES: tuple[SuiteStatus, ...] = ("passed", "failed", "not applicable")

PACKAGE = "gcc-12-source"
SOURCES = Path("/usr/src/gcc-12")
FOLDERS = ("libgomp.c", "libgomp.c-c++-common", "libgomp.c++", "libgomp.fortran")
# By how the name of a test ends.
COMPILERS = {
    ".c": "gcc",
    ".C": "g++",
    ".cc": "g++",
    **dict.fromkeys((".f", ".F", ".f90", ".F90", ".f95", ".f03"), "gfortran"),
}
MAP_SYMBOL = b"intervals_gomp"

# A test takes a second or two; on a busy machine with more threads than CPUs it may take more.
RUN_SECONDS = 120.0
COMPILE_SECONDS = 600.0
EXTRACT_SECONDS = 600.0

DIRECTIVE = re.compile(r"\{ *dg-([a-z-]+)((?:[^{}]|\{[^{}]*\})*)\}")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Headers of the library's inside, which is not ours.
INSIDE = re.compile(r'#\s*include\s+"(?:\.\./|libgomp|config|priority_queue)')
# What other machines have.
ELSEWHERE = re.compile(r"offload|powerpc|aarch64|nvptx|amdgcn|gcn|avx|nonshared|int128|omp_usm")


@dataclass(frozen=True)
class SuiteRequest:
    """Which library runs them; `only`: shell patterns of their names."""

    library: Path
    archive: Path
    only: tuple[str, ...] = ()


@dataclass
class SuiteCase:
    """A test as its directives describe it. `kind` is what to do with it: run, compile, link."""

    kind: str = "run"
    options: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    output: str = ""
    should_fail: bool = False
    not_here: str = ""


@dataclass(frozen=True)
class SuiteResult:
    """How a test ended; `why`, where it did not pass."""

    name: str
    status: SuiteStatus
    why: str = ""


def find_archive() -> Path:
    """The compiler's sources, as their package brings them."""
    found = sorted(SOURCES.glob("gcc-*.tar.xz"))
    if not found:
        raise FastError(
            f"no GCC sources in {SOURCES}: install the Debian package {PACKAGE} "
            f"(apt-get install {PACKAGE}), or name an archive with --archive"
        )
    return found[0]


def check_library(library: Path) -> None:
    """Is it ours? Otherwise every test would tell of GCC's library."""
    try:
        ours = MAP_SYMBOL in library.read_bytes()
    except OSError as error:
        raise FastError(f"{library}: {error.strerror}; without --library it is built") from error
    if not ours:
        raise FastError(
            f"{library} is not libintervals-gomp: it has no intervals_gomp(); without --library "
            "it is built"
        )


def read_case(text: str) -> SuiteCase:
    """What a test's comments tell DejaGnu."""
    case = SuiteCase()
    for name, rest in DIRECTIVE.findall(text):
        _take(case, name, rest)
    if INSIDE.search(text):
        case.not_here = "tests the inside of GCC's library"
    elif case.kind != "run":
        case.not_here = f"is not run: {case.kind}"
    return case


def _take(case: SuiteCase, name: str, rest: str) -> None:
    texts = TEXT.findall(rest)
    if name == "do":
        case.kind = rest.split()[0]
        if ELSEWHERE.search(rest):
            case.not_here = f"is for another machine: {rest.strip()}"
    elif name.startswith("require-effective-target") and ELSEWHERE.search(rest):
        case.not_here = f"is for another machine: {rest.strip()}"
    elif name in ("options", "additional-options") and not ELSEWHERE.search(rest):
        case.options += texts[0].split() if texts else []
    elif name == "additional-sources":
        case.sources += (texts[0] if texts else rest).split()
    elif name == "set-target-env-var" and texts:
        case.environment[rest.split()[0]] = texts[0]
    elif name == "output" and texts:
        # Tcl's and Python's escapes are the same here.
        case.output += texts[0].replace('\\"', '"')
    elif name == "shouldfail":
        case.should_fail = True


def verdict(case: SuiteCase, answer: Answer) -> str:
    """Why a run is no pass; empty: it is one."""
    if (answer.status != 0) != case.should_fail:
        last = (answer.errors.strip().splitlines() or [""])[-1]
        return f"status {answer.status}{': ' if last else ''}{last[:120]}"
    if case.output and not re.search(case.output, answer.output + answer.errors):
        return "its output is not the expected one"
    return ""


def _compile(case: SuiteCase, source: Path, program: Path) -> str:
    """Empty, or why there is no program."""
    words = [COMPILERS[source.suffix], "-w", "-fopenmp", "-O2", f"-I{source.parent}"]
    # Of Fortran's modules each has a file.
    words += ["-J", str(program.parent)] if words[0] == "gfortran" else []
    words += [*case.options, str(source), *(str(source.parent / name) for name in case.sources)]
    answer = ask([*words, "-o", str(program), "-lm"], COMPILE_SECONDS)
    if answer.status == 0:
        return ""
    if re.search("undefined reference to `(main|MAIN__)'", answer.errors):
        return "a part of another test"
    return "does not compile: " + (answer.errors.strip().splitlines() or ["?"])[0][-120:]


def _run(case: SuiteCase, program: Path, library: Path | None) -> str:
    environment = {**os.environ, **case.environment}
    if library:
        environment["LD_PRELOAD"] = str(library.resolve())
    try:
        # Some write files.
        return verdict(case, ask([str(program)], RUN_SECONDS, environment, program.parent))
    except FastError as error:
        return str(error).replace(str(program), program.name)


def judge(source: Path, name: str, library: Path, directory: Path) -> SuiteResult:
    """Compile one test and run it; where it fails, also without ours."""
    case = read_case(source.read_text(errors="replace"))
    if case.not_here:
        return SuiteResult(name, "not applicable", case.not_here)
    program = directory / "program"
    why = _compile(case, source, program)
    if why:
        return SuiteResult(name, "not applicable", why)
    why = _run(case, program, library)
    if not why:
        return SuiteResult(name, "passed")
    if _run(case, program, None):
        return SuiteResult(name, "not applicable", "fails with GCC's own library, too")
    return SuiteResult(name, "failed", why)


def _extract(archive: Path, directory: Path) -> Path:
    pattern = "*/libgomp/testsuite/libgomp.*"
    command = ["tar", "-C", str(directory), "-xf", str(archive), "--wildcards", pattern]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=EXTRACT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FastError(
            f"{archive}: not extracted after {EXTRACT_SECONDS:.0f} s; is it a tarball of GCC's "
            "sources? Run this again when the machine is less busy"
        ) from error
    found = sorted(directory.glob("*/libgomp/testsuite"))
    if answer.returncode or not found:
        said = answer.stderr.strip()[-200:]
        raise FastError(
            f"{archive} has no libgomp/testsuite; name a tarball of GCC's sources with --archive, "
            f"or leave it out: {PACKAGE}'s is taken then{'; tar says: ' if said else ''}{said}"
        )
    return found[0]


def _tests(suite: Path, only: Sequence[str]) -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS:
        for source in sorted((suite / folder).rglob("*.*")):
            name = str(source.relative_to(suite))
            chosen = not only or any(fnmatch(name, pattern) for pattern in only)
            if source.suffix in COMPILERS and chosen:
                yield name, source


def measure(reporter: Reporter, request: SuiteRequest) -> list[SuiteResult]:
    """Run them all, one after the other."""
    check_library(request.library)
    require_all(["tar", "xz"])
    with tempfile.TemporaryDirectory(prefix="fast-gomp-") as temporary:
        directory = Path(temporary)
        reporter.say(f"extracting the tests of {request.archive}")
        tests = list(_tests(_extract(request.archive, directory), request.only))
        if not tests:
            raise FastError(
                f"no test is named {', '.join(request.only)}; names and patterns are such as "
                "libgomp.c/task*"
            )
        require_all(sorted({COMPILERS[source.suffix] for _, source in tests}))
        return [
            judge(source, name, request.library, directory)
            for name, source in steps(reporter, "tests", tests)
        ]


def summary(results: Sequence[SuiteResult]) -> dict[SuiteStatus, int]:
    """How many ended how."""
    return {status: sum(one.status == status for one in results) for status in STATUSES}


def tables(results: Sequence[SuiteResult]) -> list[Table]:
    """The numbers, and each test that did not pass."""
    numbers = summary(results)
    applied = numbers["passed"] + numbers["failed"]
    share = f"{100 * numbers['passed'] / applied:.1f} %" if applied else "n/a"
    return [
        Table(
            "libgomp's run tests on libintervals-gomp",
            (*STATUSES, "passed of those that apply"),
            [[*(Cell(str(numbers[status])) for status in STATUSES), Cell(share)]],
            labels=0,
        ),
        Table(
            "Those that did not pass",
            ("test", "status", "why"),
            [
                [Cell(one.name), Cell(one.status), Cell(one.why)]
                for one in sorted(results, key=lambda one: (one.status, one.why, one.name))
                if one.status != "passed"
            ],
            labels=3,
        ),
    ]


def document(results: Sequence[SuiteResult]) -> dict[str, Any]:
    """For --json."""
    return {
        "schema": SCHEMA_VERSION,
        "summary": summary(results),
        "tests": [asdict(one) for one in results],
    }
