# SPDX-License-Identifier: GPL-2.0
"""BOTS and EPCC's microbenchmarks on each library: checkouts whose programs are shell scripts."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
from pathlib import Path

import pytest
from fake_programs import write

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.guest import meson
from intervals_bench import openmp_suites
from intervals_bench.cli import openmp as cli_openmp
from intervals_bench.openmp import OpenmpPoint, OpenmpRow
from intervals_bench.openmp_suites import BOTS, SuitesRequest, SuitesSession

CONFIGURE = "mkdir -p config; echo LABEL=$2 > config/make.config\n"
# Each program records how it is run; ours takes 1 s, the peers 2.
BOTS_MAKEFILE = """\
include ../../{up}config/make.config
NAME = ../../{up}bin/{begin}.$(LABEL).{end}omp-tasks-tied
all:
\t@cp ../../{up}program $(NAME)
"""
PROGRAM = """\
#!/bin/sh
echo "$0 $OMP_NUM_THREADS $LD_PRELOAD $*" >> {log}
echo "Verification        = {verified}"
[ "$LD_PRELOAD" ] && echo "Time Program        = 1.0 seconds" \
|| echo "Time Program        = 2.0 seconds"
"""
EPCC_MAKEFILE = "syncbench schedbench:\n\t@cp program $@; echo '# $(CC) $(CFLAGS)' >> $@\n"
OVERHEADS = """\
#!/bin/sh
echo "$0 $OMP_NUM_THREADS $LD_PRELOAD $*" >> {log}
echo "PARALLEL time     = 2.5 microseconds +/- 0.1"
echo "PARALLEL overhead = 1.5 microseconds +/- 0.1"
echo "PARALLEL FOR overhead = -0.25 microseconds +/- 0.1"
echo "DYNAMIC 8 overhead = 3 microseconds +/- 0.1"
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def bots(tmp_path: Path, log: Path) -> Path:
    checkout = tmp_path / "bots"
    write(checkout / "configure", CONFIGURE)
    write(checkout / "program", PROGRAM.format(log=log, verified="successful"))
    write(checkout / ".git/HEAD", "")
    for folder, begin, end, _ in BOTS.values():
        up = "../" * folder.count("/")
        text = BOTS_MAKEFILE.format(up=up, begin=begin, end=end)
        write(checkout / "omp-tasks" / folder / "Makefile", text)
    write(checkout / "omp-tasks/fib/fib.c", "")
    return checkout


@pytest.fixture
def epcc(tmp_path: Path, log: Path) -> Path:
    checkout = tmp_path / "epcc"
    write(checkout / "program", OVERHEADS.format(log=log))
    write(checkout / "Makefile", EPCC_MAKEFILE)
    write(checkout / "syncbench.c", "")
    return checkout


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both compilers are installed; the loader says of our library that it is none."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    write(tmp_path / "build/subprojects/intervals/openmp/libgomp.so.1", "intervals_gomp")
    return tmp_path / "build"


def measure(request: SuitesRequest, build: Path) -> dict[OpenmpPoint, OpenmpRow]:
    session = SuitesSession(request, build, build / "suites")
    session.run(PlainReporter(io.StringIO()))
    return {row.point: row for row in session.rows()}


def test_bots_is_built_for_each_compiler_and_checked(bots: Path, build: Path, log: Path) -> None:
    rows = measure(SuitesRequest(bots, None, (2,), rounds=2), build)
    assert {row.status for row in rows.values()} == {"ok"}
    ours = rows[OpenmpPoint("fib", "libintervals-gomp", 2)]
    assert (ours.unit, ours.value, ours.ratio, ours.runs) == ("seconds", 1.0, 0.5, 2)
    lines = log.read_text().splitlines()
    assert lines[0] == "bin/fib.gcc.omp-tasks-tied 2  -n 30 -c"
    assert lines[1] == "bin/fib.clang.omp-tasks-tied 2  -n 30 -c"
    assert lines[2].startswith("bin/fib.gcc.omp-tasks-tied 2 /")
    assert "bin/sparselu.gcc.for-omp-tasks-tied 2  -n 25 -m 50 -c" in lines
    half = len(lines) // 2
    assert lines[half:] == lines[:half][::-1]
    # The checkout is the user's.
    assert not (bots / "config").exists() and not (build / "suites/bots-gcc/.git").exists()


def test_a_wrong_result_is_a_failure(bots: Path, build: Path, log: Path) -> None:
    write(bots / "program", PROGRAM.format(log=log, verified="UNSUCCESSFUL"))
    rows = measure(SuitesRequest(bots, None, (1,), rounds=1), build)
    assert {(row.status, row.reason) for row in rows.values()} == {("failed", "wrong result")}


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ('echo "Verification = successful"', "printed no time: Verification = successful"),
        ("echo stack >&2; exit 3", "ended with status 3: stack"),
    ],
)
def test_a_program_that_ends_badly(bots: Path, build: Path, program: str, reason: str) -> None:
    write(bots / "program", f"#!/bin/sh\n{program}\n")
    rows = measure(SuitesRequest(bots, None, (1,), rounds=1), build)
    assert rows[OpenmpPoint("uts", "libgomp", 1)].reason == reason


def test_one_run_of_epccs_measures_all_its_constructs(epcc: Path, build: Path, log: Path) -> None:
    rows = measure(SuitesRequest(None, epcc, (1, 2), rounds=1), build)
    row = rows[OpenmpPoint("PARALLEL", "libomp", 2)]
    assert (row.unit, row.value, row.status) == ("ns", 1500.0, "ok")
    below = rows[OpenmpPoint("PARALLEL FOR", "libgomp", 1)]
    assert (below.value, below.status) == (None, "not available")
    assert below.reason == "cannot be told from 0: the median is -250 ns"
    assert rows[OpenmpPoint("DYNAMIC 8", "libgomp", 1)].value == 3000.0
    missing = rows[OpenmpPoint("BARRIER", "libgomp", 1)]
    assert (missing.status, missing.reason) == ("failed", "syncbench printed no overhead of it")
    # Two programs with one and two threads on each library.
    assert len(log.read_text().splitlines()) == 2 * 2 * 3
    built = (build / "suites/epcc-clang/syncbench").read_text()
    assert built.endswith("# clang -O1 -fopenmp\n")


def test_clang_may_be_absent(epcc: Path, build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "gcc" else None)
    rows = measure(SuitesRequest(None, epcc, (1,), rounds=1), build)
    row = rows[OpenmpPoint("PARALLEL", "libomp", 1)]
    assert (row.status, row.reason) == (
        "not available",
        "install the Debian packages clang and libomp-dev",
    )
    assert rows[OpenmpPoint("PARALLEL", "libgomp", 1)].value == 1500.0


def test_a_suite_that_cannot_be_built(bots: Path, build: Path) -> None:
    write(bots / "omp-tasks/uts/Makefile", "all:\n\t@echo no header >&2; false\n")
    with pytest.raises(FastError, match=r"^make -s -C \S+/omp-tasks/uts: ended with status 2"):
        SuitesSession(SuitesRequest(bots, None), build, build / "suites")


def test_a_suite_whose_build_hangs(
    epcc: Path, build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openmp_suites, "BUILD_SECONDS", 0.5)
    write(epcc / "Makefile", "syncbench schedbench:\n\t@sleep 60\n")
    with pytest.raises(FastError, match=r"^make -s -C \S+/epcc-gcc .* did not end within 0\.5 s"):
        SuitesSession(SuitesRequest(None, epcc), build, build / "suites")


def test_a_checkout_may_have_links_that_lead_nowhere(epcc: Path, build: Path) -> None:
    (epcc / "link").symlink_to("nowhere")
    rows = measure(SuitesRequest(None, epcc, (1,), rounds=1), build)
    assert rows[OpenmpPoint("PARALLEL", "libomp", 1)].status == "ok"
    # What cannot be copied is named.
    os.mkfifo(epcc / "pipe")
    with pytest.raises(FastError, match=r"/epcc/pipe: cannot be copied: .* is a named pipe"):
        SuitesSession(SuitesRequest(None, epcc), build, build / "suites")


def test_nobody_else_has_the_copies_meanwhile(
    epcc: Path, build: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def session(request: SuitesRequest, build: Path, work: Path) -> None:
        with work.with_name("suites.lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise FastError("it is ours")

    monkeypatch.setattr(meson, "build_benchmarks", lambda *_: build)
    monkeypatch.setattr(cli_openmp, "project", lambda: build)
    monkeypatch.setattr(openmp_suites, "SuitesSession", session)
    assert main.main(["bench", "openmp-suites", "--epcc", str(epcc)]) == 1
    assert capsys.readouterr().err == "fast: it is ours\n"


def test_what_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"is no checkout of BOTS: it has no omp-tasks/fib/fib\.c"):
        SuitesRequest(tmp_path, None)
    with pytest.raises(
        FastError, match=r"is no checkout of EPCC's microbenchmarks: it has no syncbench\.c"
    ):
        SuitesRequest(None, tmp_path)


def test_every_construct_is_of_one_program() -> None:
    constructs = [*openmp_suites._constructs()]
    assert len(constructs) == len({*constructs, *BOTS}) - len(BOTS)
