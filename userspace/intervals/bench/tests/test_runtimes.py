# SPDX-License-Identifier: GPL-2.0
"""The runtimes side by side, with shell scripts for benchmark programs."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fastlab.base import files
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.guest import meson
from intervals_bench import peers
from intervals_bench.peers import PeerRequest, PeerRow, PeerSession
from intervals_bench.programs import BENCHMARKS
from intervals_bench.rounds import document

LINE = (
    '{"benchmark":"fib","runtime":"x","workers":1,"unit":"%s","value":%s,"check":"%s",'
    '"peak_kib":%d}'
)

Make = Callable[..., Path]


def line(value: float, unit: str = "ns_per_task", check: str = "ok", peak_kib: int = 2048) -> str:
    return LINE % (unit, value, check, peak_kib)


@pytest.fixture
def program(tmp_path: Path) -> Make:
    """Makes a program that notes its arguments, prints lines and ends with a status."""

    def make(name: str, *lines: str, then: str = "exit 0") -> Path:
        path = tmp_path / name
        prints = "".join(f"echo '{one}'\n" for one in lines)
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/log\n{prints}{then}\n')
        path.chmod(0o755)
        return path

    return make


def measure(request: PeerRequest, programs: dict[str, Path]) -> list[PeerRow]:
    session = PeerSession(request, programs)
    session.run(PlainReporter(io.StringIO()))
    return session.rows()


def log(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text().splitlines()


def test_all_programs_run_in_turn_in_every_round(tmp_path: Path, program: Make) -> None:
    programs = {name: program(name, line(1)) for name in ("intervals", "serial", "tbb")}
    request = PeerRequest(("fib", "fj"), ("intervals", "serial", "tbb"), (1, 2), rounds=2)
    measure(request, programs)
    one_round = [
        f"{runtime} --workers={workers} {benchmark}"
        for benchmark in ("fib", "fj")
        for workers, names in ((1, ("intervals", "serial", "tbb")), (2, ("intervals", "tbb")))
        for runtime in names
    ]
    assert log(tmp_path) == one_round * 2


def test_medians_spread_ratio_and_speed_up(tmp_path: Path, program: Make) -> None:
    two = program(
        "intervals",
        then=f"[ \"$1\" = --workers=2 ] && echo '{line(5)}' || echo '{line(10)}'",
    )
    tbb = program("tbb", line(20), line(40, peak_kib=4096), line(30))
    request = PeerRequest(("fib",), ("intervals", "tbb"), (1, 2), rounds=2)
    rows = {
        (row.point.runtime, row.point.workers): row
        for row in measure(request, {"intervals": two, "tbb": tbb})
    }
    row = rows["tbb", 1]
    assert (row.value, row.runs, row.peak_kib, row.unit) == (30, 6, 4096, "ns_per_task")
    assert row.best == 20
    assert row.spread == pytest.approx(15 / 30)
    assert row.ratio == 3.0
    assert rows["tbb", 2].ratio == 6.0
    assert rows["tbb", 2].speedup == 1.0
    assert rows["intervals", 2].speedup == 2.0
    assert rows["intervals", 2].ratio == 1.0


def test_one_sample_has_no_spread_and_idle_no_speed_up(program: Make) -> None:
    programs = {"intervals": program("intervals", line(0.25, "cpu_share"))}
    (row,) = measure(PeerRequest(("idle",), ("intervals",), (1,), rounds=1), programs)
    assert (row.value, row.spread, row.speedup, row.ratio) == (0.25, None, None, None)
    assert [cell.text for cell in peers.table([row]).rows[0]][3:5] == ["25.0000", "% of a CPU"]


@pytest.mark.parametrize(
    ("lines", "then", "status", "reason"),
    [
        ((), "echo 'no: not written' >&2; exit 3", "not available", "not written for this runtime"),
        ((line(1, check="failed"),), "exit 0", "failed", "wrong result"),
        ((line(1), LINE % ("s", "null", "failed", 9)), "exit 0", "failed", "wrong result"),
        ((line(1), line(1, "s")), "exit 0", "failed", "printed results of several units"),
        ((), "exit 0", "failed", "printed no result"),
        (("nonsense",), "exit 0", "failed", "printed no result: nonsense"),
        (('{"check":"ok"}',), "exit 0", "failed", 'printed no result: {"check":"ok"}'),
        ((), "echo first >&2; echo last >&2; exit 1", "failed", "ended with status 1: last"),
        ((line(1),), "kill -SEGV $$", "failed", "killed by SIGSEGV"),
        ((), "sleep 60", "failed", "did not end within 0.5 s"),
    ],
)
def test_what_cannot_be_measured_is_a_row_with_its_reason(
    tmp_path: Path, program: Make, lines: tuple[str, ...], then: str, status: str, reason: str
) -> None:
    then = then.replace("sleep", "exec sleep")
    programs = {"tbb": program("tbb", *lines, then=then)}
    timeout = 0.5 if "sleep" in then else 60.0
    (row,) = measure(PeerRequest(("fib",), ("tbb",), (1,), rounds=3, timeout=timeout), programs)
    assert (row.status, row.reason, row.value) == (status, reason, None)
    # It is not tried again.
    assert len(log(tmp_path)) == 1
    table = peers.table([row])
    assert f"{status}: {reason}" in [cell.text for cell in table.rows[0]]


def test_a_program_that_cannot_be_started_is_a_row(tmp_path: Path) -> None:
    programs = {"tbb": tmp_path / "missing"}
    (row,) = measure(PeerRequest(("fib",), ("tbb",), (1,)), programs)
    assert (row.status, row.reason) == ("failed", "cannot be run: No such file or directory")


def test_a_peer_that_is_not_built_is_a_row_that_says_what_to_do(program: Make) -> None:
    rows = measure(PeerRequest(("fib",), ("tbb", "lace"), (1,)), {})
    assert [(row.status, row.reason) for row in rows] == [
        ("not available", "install the Debian packages g++ and libtbb-dev"),
        ("not available", "name a checkout with --lace"),
    ]


def test_what_failed_later_is_no_result_although_it_was_measured_before(
    tmp_path: Path, program: Make
) -> None:
    flag = tmp_path / "second"
    program_of_two_minds = program(
        "intervals", line(1), then=f"[ -e {flag} ] && exit 1; touch {flag}"
    )
    (row,) = measure(
        PeerRequest(("fib",), ("intervals",), (1,)), {"intervals": program_of_two_minds}
    )
    assert (row.status, row.value, row.peak_kib, row.ratio) == ("failed", None, None, None)
    assert peers.failures([row]) == ["fib, 1 workers: ended with status 1"]


def test_only_our_own_failures_are_errors(program: Make) -> None:
    rows = measure(PeerRequest(("fib",), ("tbb",), (1,)), {"tbb": program("tbb", then="exit 1")})
    assert rows[0].status == "failed"
    assert peers.failures(rows) == []


def test_stacks_are_deep_unless_the_user_says_otherwise(
    tmp_path: Path, program: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program("libgomp", line(1), then=f"echo $OMP_STACKSIZE >> {tmp_path}/stack")
    monkeypatch.delenv("OMP_STACKSIZE", raising=False)
    measure(PeerRequest(("fib",), ("libgomp",), (1,), rounds=1), {"libgomp": path})
    monkeypatch.setenv("OMP_STACKSIZE", "1M")
    measure(PeerRequest(("fib",), ("libgomp",), (1,), rounds=1), {"libgomp": path})
    assert (tmp_path / "stack").read_text().split() == ["64M", "1M"]


@pytest.mark.parametrize(
    ("cpus", "workers"),
    [({0}, (1,)), ({0, 1}, (1, 2)), ({4, 5, 6}, (1, 2, 3)), (set(range(12)), (1, 2, 4, 8, 12))],
)
def test_workers_double_up_to_the_cpus(
    cpus: set[int], workers: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cpus)
    assert peers.default_workers() == workers


def test_programs_are_found_where_meson_puts_them(tmp_path: Path) -> None:
    bench = tmp_path / "subprojects/intervals/bench"
    (bench / "runtimes").mkdir(parents=True)
    ours, tbb = bench / "bench-intervals", bench / "runtimes/bench-tbb"
    ours.touch()
    tbb.touch()
    (bench / "bench-serial.p").mkdir()
    assert peers.find_programs(tmp_path) == {"intervals": ours, "tbb": tbb}


def test_the_json_file(tmp_path: Path, program: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERVALS_QUEUE", "lazy")
    request = PeerRequest(("fib",), ("intervals", "tbb"), (1,), rounds=1)
    rows = measure(request, {"intervals": program("intervals", line(10))})
    path = tmp_path / "rows.json"
    files.write_json(path, document(map(peers.record, rows), "fast bench runtime", request.rounds))
    content = json.loads(path.read_text())
    assert content["command"] == "fast bench runtime"
    assert content["environment"]["INTERVALS_QUEUE"] == "lazy"
    assert content["machine"]["cpus"] >= 1
    assert content["rows"] == [
        {
            "benchmark": "fib",
            "runtime": "intervals",
            "workers": 1,
            "ns_per_task": 10.0,
            "best": 10.0,
            "spread": None,
            "runs": 1,
            "peak_kib": 2048,
            "ratio": 1.0,
            "speedup": 1.0,
            "status": "ok",
            "reason": "",
        },
        {
            "benchmark": "fib",
            "runtime": "tbb",
            "workers": 1,
            "best": None,
            "spread": None,
            "runs": 0,
            "peak_kib": None,
            "ratio": None,
            "speedup": None,
            "status": "not available",
            "reason": "install the Debian packages g++ and libtbb-dev",
        },
    ]


def test_the_table_colours_who_is_slower(program: Make) -> None:
    request = PeerRequest(("fib",), ("intervals", "tbb", "rayon"), (1,), rounds=1)
    values = {"intervals": 10, "tbb": 25, "rayon": 5}
    rows = measure(request, {name: program(name, line(value)) for name, value in values.items()})
    cells = {row[2].text: row[7] for row in peers.table(rows).rows}
    assert (cells["tbb"].text, cells["tbb"].tone) == ("2.50", "gain")
    assert (cells["rayon"].text, cells["rayon"].tone) == ("0.50", "loss")
    assert cells["intervals"].text == ""


@pytest.mark.parametrize(
    ("ratio", "tones"),
    [(1.0, ("", "")), (0.996, ("", "")), (1.004, ("", "")), (1.01, ("gain", "loss"))],
)
def test_what_is_shown_as_equal_has_no_colour(ratio: float, tones: tuple[str, str]) -> None:
    cells = (peers.ratio_cell(ratio, "higher"), peers.ratio_cell(ratio, "lower"))
    assert tuple(cell.tone for cell in cells) == tones
    assert cells[0].text == f"{ratio:.2f}"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The command line with stand-ins for the build; what it was asked, and the programs."""
    state: dict[str, Any] = {"programs": {}}

    def build(project: Path, options: list[str], *_: object) -> Path:
        state["options"] = options
        return tmp_path

    monkeypatch.setattr(meson, "build_benchmarks", build)
    monkeypatch.setattr(peers, "find_programs", lambda _: state["programs"])
    before = signal.getsignal(signal.SIGTERM)
    yield state
    signal.signal(signal.SIGTERM, before)


def test_the_command(
    tmp_path: Path, program: Make, built: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    built["programs"] = {
        "intervals": program("intervals", line(10)),
        "tbb": program("tbb", line(25)),
    }
    path = tmp_path / "rows.json"
    words = ["bench", "runtime", "--only=fib,fj", "--runtimes", "intervals,tbb,rayon"]
    words += ["--workers=2,1", "--rounds=1", "--json", str(path), "--lace", str(tmp_path)]
    assert main.main(words) == 0
    assert built["options"] == [f"-Dintervals:lace={tmp_path}", "-Dintervals:libfork="]
    out = capsys.readouterr().out
    assert "2.50" in out
    assert "not available: install the Debian packages cargo and librust-rayon-dev" in out
    assert f"wrote {path}" in out
    rows = json.loads(path.read_text())["rows"]
    assert [(row["benchmark"], row["workers"], row["runtime"]) for row in rows] == [
        (benchmark, workers, runtime)
        for benchmark in ("fib", "fj")
        for workers in (1, 2)
        for runtime in ("intervals", "tbb", "rayon")
    ]


def test_a_wrong_result_of_ours_is_an_error(
    program: Make, built: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    built["programs"] = {"intervals": program("intervals", line(1, check="failed"))}
    assert main.main(["bench", "runtime", "--only=fib", "--workers=1"]) == 1
    assert "fib, 1 workers: wrong result" in capsys.readouterr().err


def test_an_interrupt_keeps_what_is_measured(
    tmp_path: Path,
    program: Make,
    built: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    # A terminal interrupts the whole group: the program and us.
    interrupts = program("tbb", then=f"kill -INT {os.getpid()}; exec sleep 60")
    built["programs"] = {"intervals": program("intervals", line(10)), "tbb": interrupts}
    path = tmp_path / "rows.json"
    words = ["bench", "runtime", "--only=fib", "--workers=1", "--json", str(path)]
    assert main.main([*words, "--runtimes=intervals,tbb"]) == 130
    assert "interrupted" in capsys.readouterr().err
    ours, peer = json.loads(path.read_text())["rows"]
    assert (ours["ns_per_task"], ours["status"]) == (10.0, "ok")
    assert (peer["status"], peer["reason"]) == ("not available", "not measured")


def test_an_interrupt_before_all_results_keeps_the_older_file(
    tmp_path: Path, program: Make, built: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    built["programs"] = {
        "intervals": program("intervals", then=f"kill -INT {os.getpid()}; exec sleep 60")
    }
    path = tmp_path / "rows.json"
    path.write_text("older")
    words = ["bench", "runtime", "--only=fib", "--workers=1", "--json", str(path)]
    assert main.main(words) == 130
    assert path.read_text() == "older"
    assert capsys.readouterr().out == ""


BENCH = Path(__file__).resolve().parents[1]


def test_every_kernel_is_a_benchmark() -> None:
    sources = "".join(path.read_text() for path in BENCH.glob("kernels/*.c"))
    kernels = set(re.findall(r'\.name = "(\w+)"', sources))
    assert kernels | {"idle", "wake", "enter", "loop", "restart"} == set(peers.BENCHMARKS)


def test_rust_and_c_agree_on_the_sizes() -> None:
    header = (BENCH / "kernels/kernels.h").read_text()
    rust = (BENCH / "runtimes/rayon/lib.rs").read_text()
    defined = re.findall(r"#define (\w+) (\d+)$", header, re.MULTILINE)
    used = dict(re.findall(r"^const (\w+): \w+ = (\d+);", rust, re.MULTILINE))
    assert len(defined) >= 6
    for name, value in defined:
        assert name not in used or used[name] == value, name


def test_the_document_tells_of_every_runtime_and_benchmark() -> None:
    text = (BENCH.parent / "Documentation/results.rst").read_text()
    first_words = {line.split(" ")[0] for line in text.splitlines()}
    assert {*peers.RUNTIMES, *peers.BENCHMARKS} <= first_words


def test_the_benchmarks_have_the_name_that_is_asked_for() -> None:
    built = BENCH.parents[2] / "build/user"
    command = ["ninja", "-C", built, "-t", "query", *BENCHMARKS]
    said = subprocess.run(command, capture_output=True, text=True)
    assert "bench-intervals" in said.stdout, said.stderr
