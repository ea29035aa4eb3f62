# SPDX-License-Identifier: GPL-2.0
"""OpenMP's libraries side by side, with shell scripts for programs."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from fake_programs import write

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from intervals_bench import openmp
from intervals_bench.one_run import BenchRun
from intervals_bench.openmp import OpenmpRequest, OpenmpRow, OpenmpSession
from intervals_bench.rounds import Turn

KERNELS = "subprojects/intervals/bench/runtimes/bench-{}"
OVERHEADS = "subprojects/intervals/openmp/bench/openmp-overheads-{}"
LIBRARY = "subprojects/intervals/openmp/libgomp.so.1"


def line(value: str, check: str = "ok") -> str:
    return f'{{"unit":"ns","value":{value},"check":"{check}","peak_kib":0}}'


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """Programs that record how they are run; ours takes 10 ns, the peers 40."""
    # The loader says that it is no library, and runs the program without it.
    write(tmp_path / LIBRARY, "intervals_gomp")
    for program in (KERNELS, OVERHEADS):
        for compiler in ("libgomp", "libomp"):
            write(
                tmp_path / program.format(compiler),
                f'#!/bin/sh\necho "{compiler} $LD_PRELOAD $*" >> {tmp_path}/log\n'
                f"[ \"$LD_PRELOAD\" ] && echo '{line('10')}' || echo '{line('40')}'\n",
            )
    return tmp_path


def measure(build: Path, request: OpenmpRequest) -> list[OpenmpRow]:
    session = OpenmpSession(request, build)
    session.run(PlainReporter(io.StringIO()))
    return session.rows()


def test_every_other_round_is_in_the_opposite_order(build: Path) -> None:
    measure(build, OpenmpRequest(("fib", "static-8"), (1, 2), rounds=2))
    lines = [one.replace(str(build), "") for one in (build / "log").read_text().splitlines()]
    of_kernel = [
        f"{library} {kernel}"
        for kernel in (
            "--workers=1 --repeats=3 --size=25 fib",
            "--workers=2 --repeats=3 --size=25 fib",
        )
        for library in ("libgomp ", "libomp ", f"libgomp /{LIBRARY}")
    ]
    assert lines[:6] == of_kernel
    assert lines[6] == "libgomp  --workers=1 static-8"
    assert lines[12:] == lines[:12][::-1]


def test_ours_is_a_multiple_of_libgomps(build: Path) -> None:
    rows = measure(build, OpenmpRequest(("barrier",), (2,), rounds=3))
    assert [row.point.library for row in rows] == ["libgomp", "libomp", "libintervals-gomp"]
    assert [(row.value, row.ratio, row.runs) for row in rows] == [
        (40, 1, 3),
        (40, 1, 3),
        (10, 0.25, 3),
    ]
    table = openmp.table(rows)
    assert [cell.text for cell in table.rows[0]] == [
        *("barrier", "2", "ns"),
        *("40 ± 0 %", "40 ± 0 %", "10 ± 0 %"),
        "0.25",
    ]
    record = openmp.record(rows[2])
    assert record["ratio"] == 0.25 and record["library"] == openmp.OURS


def test_a_round_is_one_value(build: Path) -> None:
    samples = "\\n".join(line(value) for value in ("3", "1", "8"))
    write(build / OVERHEADS.format("libgomp"), f"#!/bin/sh\nprintf '{samples}\\n'\n")
    rows = measure(build, OpenmpRequest(("atomic",), (1,), rounds=1))
    assert (rows[0].value, rows[0].runs, rows[0].ratio, rows[2].ratio) == (3, 1, 1, 1)


# By library: what its rounds gave.
Given = dict[str, tuple[float, ...]]


def given(build: Path, values: Given) -> OpenmpSession:
    session = OpenmpSession(OpenmpRequest(("barrier",), (1,)), build)
    for point in session.samples:
        for number, value in enumerate(values.get(point.library, ())):
            session.add(Turn(number, point), BenchRun("ok", "", "ns", (value,)))
    return session


def test_half_the_distance_of_the_quartiles_is_shown(build: Path) -> None:
    session = given(build, {openmp.REFERENCE: (8.0, 12.0, 10.0), openmp.OURS: (4.0, 5.0, 6.0)})
    libgomp, _, ours = session.rows()
    assert (libgomp.value, libgomp.best, ours.ratio) == (10, 8, 0.5)
    assert libgomp.spread == pytest.approx(0.1)
    assert openmp.table(session.rows()).rows[0][3].text == "10 ± 10 %"


@pytest.mark.parametrize(
    "scattered",
    [(-7270.0, -7000.0, -7500.0), (-30.0, 1.0, 40.0), (0.0, 0.0, 0.0)],
    ids=["below", "around", "nothing"],
)
@pytest.mark.parametrize("library", [openmp.REFERENCE, openmp.OURS])
def test_a_cost_that_cannot_be_told_from_nothing_is_none(
    scattered: tuple[float, ...], library: str, build: Path
) -> None:
    values = {openmp.REFERENCE: (10.0, 10.0, 10.0), openmp.OURS: (5.0, 5.0, 5.0)}
    session = given(build, {**values, library: scattered})
    rows = {row.point.library: row for row in session.rows()}
    row = rows[library]
    assert (row.value, row.best, row.spread, row.runs) == (None, None, None, 3)
    assert row.status == "not available"
    assert row.reason == f"cannot be told from 0: the median is {sorted(scattered)[1]:.4g} ns"
    assert rows[openmp.OURS].ratio is None
    table = openmp.table(session.rows())
    cells = dict(zip(table.columns, (cell.text for cell in table.rows[0]), strict=True))
    assert cells[library] == "n/a" and cells["/ libgomp"] == "n/a"
    assert "n/a where that difference cannot be told from 0" in table.note
    assert not openmp.failures(session.rows())


def test_what_fails_and_what_is_missing(build: Path) -> None:
    write(build / OVERHEADS.format("libgomp"), f"#!/bin/sh\necho '{line('null', 'failed')}'\n")
    (build / OVERHEADS.format("libomp")).unlink()
    rows = measure(build, OpenmpRequest(("lock",), (1,), rounds=2))
    assert [row.status for row in rows] == ["failed", "not available", "failed"]
    assert "libomp-dev" in rows[1].reason
    assert openmp.failures(rows) == ["lock, libintervals-gomp, 1 threads: wrong result"]
    texts = [cell.text for cell in openmp.table(rows).rows[0]]
    assert texts[3] == "failed: wrong result" and texts[4] == "n/a" and texts[6] == "n/a"


def test_bad_requests(build: Path) -> None:
    with pytest.raises(FastError, match="no such benchmark: none; there are fib"):
        OpenmpRequest(("none",))
    write(build / LIBRARY, "GCC's")
    with pytest.raises(FastError, match=r"is not libintervals-gomp"):
        OpenmpSession(OpenmpRequest(("fib",)), build)
