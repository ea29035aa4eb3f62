# SPDX-License-Identifier: GPL-2.0
"""The theses' evaluations: what is run, what is written, and one real run.

`python userspace/intervals/bench/tests/test_theses.py` writes the golden file anew.
"""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from theses_sample import PROJECT, QUEUES, SAMPLE, sample_rows, sample_verdicts

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.cli import main
from fastlab.guest import meson
from intervals_bench import theses_catalogue, theses_report
from intervals_bench.theses import ThesisRequest, ThesisSession

GOLDEN = Path(__file__).parent / "golden" / "theses.md"
# Where `make` puts the programs.
BUILT = PROJECT / "build/user"


def test_golden() -> None:
    request = ThesisRequest(SAMPLE)
    said = theses_report.markdown(request, sample_rows(), sample_verdicts(request))
    assert said == GOLDEN.read_text()


def csv_lines(request: ThesisRequest) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(theses_report.csv_text(request, sample_rows())))]


def test_csv_has_each_value_and_the_published_ones() -> None:
    lines = csv_lines(ThesisRequest(SAMPLE))
    times = [one for one in lines if one["metric"] == "time" and one["program"] == "fib"]
    assert [(one["where"], one["contender"], one["median"]) for one in times] == [
        ("here", "serial", "4.0"),
        ("here", "slow", "2.0"),
        ("here", "quick", "1.0"),
        ("Niagara", "serial", "334.14"),
        ("Niagara", "slow", "3"),
        ("Niagara", "quick", "2"),
        ("Niagara", "slow", "0.5"),
    ]
    assert {one["metric"] for one in lines} == {"time", "steals"}


def test_misses_are_beside_the_published_ones_in_the_simulation() -> None:
    lines = csv_lines(ThesisRequest(SAMPLE, simulate=8))
    assert {one["median"] for one in lines if one["metric"] == "l3_misses"} == {"", "1005"}


Make = Callable[..., None]


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "build/subprojects/intervals/bench").mkdir(parents=True)
    return tmp_path / "build"


@pytest.fixture
def program(tmp_path: Path, build: Path) -> Make:
    """Makes a benchmark program that notes how it was called."""

    def make(runtime: str, value: float, then: str = "exit 0", counts: str = "") -> None:
        path = build / "subprojects/intervals/bench" / f"bench-{runtime}"
        line = f'{{"unit":"seconds","value":{value},"check":"ok","peak_kib":9{counts}}}'
        path.write_text(
            f'#!/bin/sh\necho "{runtime} $INTERVALS_QUEUE $*" >> {tmp_path}/log\n'
            f"echo '{line}'\n{then}\n"
        )
        path.chmod(0o755)

    return make


def log(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text().splitlines()


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTERVALS_QUEUE", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def run(request: ThesisRequest, build: Path) -> ThesisSession:
    session = ThesisSession(request, build)
    session.run(PlainReporter(io.StringIO()))
    return session


def test_a_round_has_each_point_once_in_an_order_of_its_own(
    tmp_path: Path, build: Path, program: Make
) -> None:
    program("serial", 4)
    program("intervals", 2, counts=',"counts":{"steals":4,"steal_failures":3,"steals_remote":1}')
    rows = run(ThesisRequest(SAMPLE, rounds=8), build).rows()
    said = log(tmp_path)
    rounds = [said[i : i + 6] for i in range(0, len(said), 6)]
    assert len(rounds) == 8
    for one in rounds:
        assert sorted(one) == [
            "intervals  --workers=2 --repeats=1 --size=100 sor",
            "intervals  --workers=2 --repeats=1 fib",
            "intervals shared --workers=2 --repeats=1 --size=100 sor",
            "intervals shared --workers=2 --repeats=1 fib",
            "serial  --workers=1 --repeats=1 --size=100 sor",
            "serial  --workers=1 --repeats=1 fib",
        ]
    assert len({tuple(one) for one in rounds}) > 4
    assert rows[1].values("steal_miss_ratio") == [0.75] * 8
    assert rows[1].values("remote_share") == [0.25] * 8
    assert rows[0].values("steals") == []
    again = run(ThesisRequest(SAMPLE, rounds=8), build)
    assert log(tmp_path) == said * 2
    assert again.rows() == rows


def test_quick_and_only(tmp_path: Path, build: Path, program: Make) -> None:
    program("serial", 4)
    program("intervals", 2)
    run(ThesisRequest(SAMPLE, ("sor-100",), rounds=1, quick=True), build)
    assert sorted(log(tmp_path)) == [
        "intervals  --workers=2 --quick sor",
        "intervals shared --workers=2 --quick sor",
        "serial  --workers=1 --quick sor",
    ]


def test_what_fails_is_not_tried_again(tmp_path: Path, build: Path, program: Make) -> None:
    program("serial", 4)
    program("intervals", 2, then="kill -SEGV $$")
    rows = run(ThesisRequest(SAMPLE, ("fib",), rounds=3), build).rows()
    assert [(one.status, one.reason, one.runs) for one in rows] == [
        ("ok", "", 3),
        ("failed", "killed by SIGSEGV", 0),
        ("failed", "killed by SIGSEGV", 0),
    ]
    assert [one.crashed for one in rows] == [False, True, True]
    assert len(log(tmp_path)) == 3 + 2


@pytest.mark.parametrize("then", ["exit 1", "kill -KILL $$"])
def test_what_ends_otherwise_has_not_crashed(build: Path, program: Make, then: str) -> None:
    program("serial", 4)
    program("intervals", 2, then=then)
    rows = run(ThesisRequest(SAMPLE, ("fib",), rounds=1), build).rows()
    assert [(one.status, one.crashed) for one in rows[1:]] == [("failed", False)] * 2


def test_a_missing_program_is_an_error_that_says_what_to_do(build: Path, program: Make) -> None:
    program("intervals", 2)
    with pytest.raises(FastError, match="no benchmark program of serial; remove the directory"):
        ThesisSession(ThesisRequest(SAMPLE), build)


@pytest.fixture
def command(build: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The command line without a build, of the sample."""
    monkeypatch.setattr(meson, "build_benchmarks", lambda *_: build)
    monkeypatch.setattr(theses_catalogue, "EVALUATIONS", (SAMPLE,))
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("command")
def test_the_command_lists_refuses_and_measures(
    tmp_path: Path, program: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["bench", "theses"]) == 0
    assert "| sample | Author, Table 1 | What was not measured |" in capsys.readouterr().out
    for words in (["--quick"], ["--simulate"], ["--output", "x"], ["--rounds=10"], ["--only=fib"]):
        assert main.main(["bench", "theses", *words]) == 2
        said = capsys.readouterr()
        assert f"{words[0].partition('=')[0]} is about a measurement" in said.err and not said.out
    program("serial", 4)
    program("intervals", 2)
    output = tmp_path / "results"
    words = ["bench", "theses", "sample", "--only=fib", "--rounds=2", "--output", str(output)]
    assert main.main(words) == 0
    out = capsys.readouterr().out
    assert "| fib | 2 | here | s | 4 ± 0.0 % | 2 ± 0.0 % | 2 ± 0.0 % |" in out
    assert out.startswith((output / "theses.md").read_text())
    document = json.loads((output / "theses.json").read_text())
    assert document["evaluation"] == "sample"
    assert document["sizes"] == {}
    assert document["rows"][0]["rounds"] == [{"time": 4.0, "peak_kib": 9}] * 2
    assert document["conclusions"][0]["outcome"] == "not upheld"
    assert document["conclusions"][0]["claims"][0]["holds"] is False
    assert (output / "theses.csv").read_text().startswith("program,contender,workers,where,")


@pytest.mark.usefixtures("command")
def test_what_should_not_fail_is_an_error(
    tmp_path: Path, program: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    program("serial", 4)
    program("intervals", 2, then="kill -SEGV $$")
    words = ["bench", "theses", "sample", "--rounds=1", "--output", str(tmp_path / "results")]
    assert main.main(words) == 1
    said = capsys.readouterr()
    assert "fib, slow, 2 workers: killed by SIGSEGV" in said.err
    assert "sor-100, slow" not in said.err
    assert "| fib, slow, 2 workers | failed | killed by SIGSEGV |" in said.out


@pytest.mark.usefixtures("command")
@pytest.mark.parametrize("measured", [True, False])
def test_an_interrupt_keeps_what_is_measured(
    tmp_path: Path, program: Make, capsys: pytest.CaptureFixture[str], measured: bool
) -> None:
    # A terminal interrupts the whole group: the program and us.
    interrupts = f"kill -INT {os.getpid()}; exec sleep 60"
    program("serial", 4, then="exit 0" if measured else interrupts)
    program("intervals", 2, then=interrupts)
    output = tmp_path / "results"
    output.mkdir()
    (output / "theses.json").write_text("older")
    first = f"[ $(wc -l < {tmp_path}/log) -gt 1 ] || exit 0\n{interrupts}"
    if measured:
        program("serial", 4, then=first)
        program("intervals", 2, then=first)
    words = ["bench", "theses", "sample", "--output", str(output)]
    assert main.main(words) == 130
    assert "interrupted" in capsys.readouterr().err
    kept = (output / "theses.json").read_text()
    if not measured:
        assert kept == "older"
        return
    assert sum(len(one["rounds"]) for one in json.loads(kept)["rows"]) == 1


@pytest.mark.parametrize(
    ("kept", "quick", "stays"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"quick": True}, False, False),
        ({"evaluation": "other"}, False, True),
        ({"evaluation": "other", "quick": True}, False, False),
        ({"simulated": True}, False, True),
    ],
)
def test_results_that_would_not_be_measured_again_stay(
    kept: dict[str, object], quick: bool, stays: bool, tmp_path: Path
) -> None:
    before = {"evaluation": SAMPLE.name, "simulated": False, "quick": False, "command": "fast x"}
    (tmp_path / "theses.json").write_text(json.dumps({**before, **kept}))
    request = ThesisRequest(SAMPLE, quick=quick)
    if not stays:
        theses_report.check_own(tmp_path, request)
        return
    with pytest.raises(FastError, match=r"has what `fast x` measured, and it would be replaced"):
        theses_report.check_own(tmp_path, request)


@pytest.mark.usefixtures("command")
def test_that_is_said_before_the_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = {"evaluation": "other", "simulated": False, "quick": False, "command": "fast x"}
    (tmp_path / "theses.json").write_text(json.dumps(kept))
    assert main.main(["bench", "theses", "sample", "--output", str(tmp_path)]) == 1
    assert "give --output another directory" in capsys.readouterr().err
    assert json.loads((tmp_path / "theses.json").read_text()) == kept


def test_real_programs_count_and_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(meson, "build_benchmarks", lambda *_: BUILT)
    words = ["--quick", "--rounds=1", "--output", str(tmp_path)]
    assert main.main(["bench", "theses", "jgf-counts", "--only=lufact,series-100000", *words]) == 0
    rows = json.loads((tmp_path / "theses.json").read_text())["rows"]
    assert len(rows) == 2 * len(QUEUES)
    assert all(row["rounds"][0]["takes"] > 0 for row in rows)
    assert main.main(["bench", "theses", "cachestress", "--only=cachestress_best", *words]) == 0
    times = json.loads((tmp_path / "theses.json").read_text())["rows"]
    assert [row["contender"] for row in times] == ["serial", "threads", "intervals"]
    assert all(row["rounds"][0]["time"] > 0 for row in times)
    assert "failed" not in capsys.readouterr().out


def test_the_sizes_of_the_simulated_machine_are_taken() -> None:
    sizes = {
        (program.partition("-")[0], size)
        for one in theses_catalogue.EVALUATIONS
        for program, size in one.simulated.items()
    }
    for program, size in sorted(sizes):
        runtime = "locks" if program.startswith(("sync_", "spin_")) else "serial"
        words = [BUILT / f"subprojects/intervals/guest/theses_{runtime}", program, str(size), "1"]
        answer = subprocess.run(words, capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr


if __name__ == "__main__":
    sample = ThesisRequest(SAMPLE)
    GOLDEN.write_text(theses_report.markdown(sample, sample_rows(), sample_verdicts(sample)))
