# SPDX-License-Identifier: GPL-2.0
"""The theses' evaluations: what is run, what is said of made-up results, and one real run.

`python scripts/tests/test_theses.py` writes the golden file anew.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fastlab.base.model import FastError
from fastlab.base.progress import PlainReporter
from fastlab.bench import theses, theses_catalogue, theses_report
from fastlab.bench.theses import (
    COUNTING,
    TITLES,
    Contender,
    Published,
    ThesisEvaluation,
    ThesisRequest,
    ThesisSession,
)
from fastlab.bench.theses_claims import (
    Conclusion,
    Fails,
    Ratio,
    RatioSide,
    ThesisMachine,
    ThesisPoint,
    ThesisRow,
    ThesisVerdict,
    conclude,
)
from fastlab.bench.theses_intervals import QUEUES
from fastlab.cli import main
from fastlab.guest import meson

PROJECT = Path(__file__).resolve().parents[2]
BENCH = PROJECT / "userspace/intervals/bench"
GOLDEN = Path(__file__).parent / "golden" / "theses.md"
# Where `make` puts the programs.
BUILT = PROJECT / "build/user"

MACHINE = ThesisMachine(cpus=2, nodes=1)
SLOW = (RatioSide("fib", "slow"),)
QUICK = (RatioSide("fib", "quick"),)

TWICE = Conclusion(
    "section 1",
    "slow is slower",
    (Ratio("time", SLOW, QUICK, 1.5),),
)
SAMPLE = ThesisEvaluation(
    "sample",
    "Nobody, Table 1",
    "What nobody measured",
    ("fib", "sor-100"),
    (
        Contender("serial", "serial"),
        Contender("slow", environment={"INTERVALS_QUEUE": "shared", **COUNTING}),
        Contender("quick"),
    ),
    ("time", "steals", "l3_misses"),
    simulated={"fib": 20},
    published=(
        Published("Niagara", "fib", "time", "s", {"serial": 334.14, "slow": 3, "quick": 2}),
        Published("Niagara", "fib", "l3_misses", "million", {"slow": 1005}),
        Published("Niagara", "fib", "time", "s", {"slow": 0.5}, workers=64),
    ),
    conclusions=(
        TWICE,
        Conclusion("section 2", "slow is | quicker", (Ratio("time", SLOW, QUICK, high=0.9),)),
        Conclusion("section 3", "it scales", (Ratio("time", QUICK, SLOW),), cpus=64),
        Conclusion("section 4", "it misses less", cannot="misses are not counted"),
        Conclusion("section 5", "sor fails", (Fails(RatioSide("sor-100", "slow")),)),
    ),
    note="A note of its own.",
)


def row(
    contender: str, *times: float, status: str = "ok", reason: str = "", **counts: float
) -> ThesisRow:
    workers = 1 if contender == "serial" else 2
    rounds = tuple({"time": one, "peak_kib": 10.0, **counts} for one in times)
    point = ThesisPoint("fib", contender, workers)
    return ThesisRow(point, "seconds", rounds, status, reason)  # type: ignore[arg-type]


def judge(
    conclusion: Conclusion, *rows: ThesisRow, machine: ThesisMachine = MACHINE
) -> tuple[str, str]:
    def find(program: str, contender: str, workers: int | None) -> ThesisRow:
        for one in rows:
            if (one.point.program, one.point.contender) == (program, contender):
                return one
        raise AssertionError(f"{program} {contender}")

    verdict = conclude(conclusion, find, machine)
    return verdict.outcome, verdict.reason


NO_NOISE = row("quick", 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("slow", "outcome"),
    [
        ((2.0, 2.1, 1.9), "upheld"),
        ((1.2, 1.21, 1.19), "not upheld"),
        # Across the edge, and with noise around it.
        ((1.5, 1.51, 1.49), "not testable here"),
        ((1.1, 2.0, 3.0), "not testable here"),
    ],
)
def test_a_ratio_is_judged_by_its_interval(slow: tuple[float, ...], outcome: str) -> None:
    said, reason = judge(TWICE, row("slow", *slow), NO_NOISE)
    assert said == outcome
    assert reason.startswith("time of fib slow / fib quick is ")
    undecided = ": the rounds do not decide" if outcome == "not testable here" else ""
    assert reason.endswith(f"asked: at least 1.5{undecided}")


def test_an_interval_is_students_in_logarithms() -> None:
    _, reason = judge(TWICE, row("slow", 2.0, 4.0), row("quick", 1.0, 1.0))
    # exp(mean +- 12.706 * sd / sqrt 2) of log 2 and log 4.
    assert "2.83 (0.0346 to 231)" in reason


def test_claims_share_the_error() -> None:
    several = Conclusion("s", "w", TWICE.claims * 5)
    values = row("slow", 2.0, 1.9, 1.7)
    assert judge(TWICE, values, NO_NOISE)[0] == "upheld"
    assert judge(several, values, NO_NOISE)[0] == "not testable here"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ((row("slow", 2.0), row("quick", 1.0)), "in one round, which has no interval"),
        ((row("slow"), NO_NOISE), "time of fib slow is not available"),
        ((row("slow", status="failed", reason="lost"), NO_NOISE), "fib slow: failed: lost"),
    ],
)
def test_what_was_not_measured_is_not_testable(rows: tuple[ThesisRow, ...], reason: str) -> None:
    outcome, said = judge(TWICE, *rows)
    assert outcome == "not testable here"
    assert said.endswith(reason)


def test_counts_of_nothing_have_a_ratio() -> None:
    more = Conclusion("s", "w", (Ratio("steals", SLOW, QUICK, 10.0),))
    rows = (row("slow", 1, 1, 1, steals=99), row("quick", 1, 1, 1, steals=0))
    assert judge(more, *rows)[0] == "upheld"


def test_values_are_paired_by_round() -> None:
    """Of a round without steals there is no ratio of misses."""
    asked = Conclusion("s", "w", (Ratio("misses", SLOW, QUICK, 1.9, 2.1),))

    def rounds(contender: str, *values: float | None) -> ThesisRow:
        found = tuple({} if one is None else {"misses": one} for one in values)
        return ThesisRow(ThesisPoint("fib", contender, 2), "seconds", found, "ok", "")

    slow, quick = rounds("slow", None, 19, 39, 59), rounds("quick", 99, 9, 19, None)
    outcome, said = judge(asked, slow, quick)
    assert (outcome, said[:40]) == ("upheld", "misses of fib slow / fib quick is 2 (2 t")
    assert "is not available in a round of all" in judge(asked, slow, rounds("quick", 9))[1]


@pytest.mark.parametrize(
    ("asks", "outcomes"),
    [
        ("all", {"": "not testable here", "no": "not upheld", "yes": "upheld"}),
        ("most", {"": "upheld", "no": "upheld", "yes": "upheld"}),
        ("any", {"": "upheld", "no": "upheld", "yes": "upheld"}),
    ],
)
def test_one_claim_of_three_may_be_unsaid_or_wrong(asks: str, outcomes: Mapping[str, str]) -> None:
    rows = (row("slow", 2.0, 2.0, 2.0), NO_NOISE)
    good = TWICE.claims[0]
    third = {
        "yes": good,
        "no": Ratio("time", SLOW, QUICK, 3.0),
        "": Ratio("absent", SLOW, QUICK, 3.0),
    }
    for name, outcome in outcomes.items():
        asked = Conclusion("s", "w", (good, good, third[name]), asks=asks)  # type: ignore[arg-type]
        assert judge(asked, *rows)[0] == outcome


def test_none_of_three_is_not_upheld_by_most_or_any() -> None:
    rows = (row("slow", 2.0, 2.0, 2.0), NO_NOISE)
    wrong = (Ratio("time", SLOW, QUICK, 3.0),) * 3
    for asks in ("most", "any"):
        assert judge(Conclusion("s", "w", wrong, asks=asks), *rows)[0] == "not upheld"


def test_with_none_below_a_share_is_judged_itself() -> None:
    half = Conclusion("s", "w", (Ratio("remote_share", SLOW, (), 0.45, 0.55),))
    outcome, said = judge(half, row("slow", 1, 1, 1, remote_share=0.5))
    assert (outcome, said) == (
        "upheld",
        "remote_share of fib slow is 0.5 (0.5 to 0.5), asked: 0.45 to 0.55",
    )
    assert judge(half, row("slow", 1, 1, 1, remote_share=0.56))[0] == "not upheld"


def test_speed_ups_are_products() -> None:
    scales = Conclusion("s", "w", (Ratio("time", (*SLOW, *SLOW), (*QUICK, *QUICK), 4.0, 4.0),))
    outcome, said = judge(scales, row("slow", 2.0, 2.0), row("quick", 1.0, 1.0))
    assert outcome == "upheld"
    assert "time of fib slow * fib slow / fib quick * fib quick is 4" in said


def test_a_machine_may_be_too_small() -> None:
    rows = (row("slow", 2.0, 2.0), row("quick", 1.0, 1.0))
    for asked, reason in (
        (Conclusion("s", "w", TWICE.claims, cpus=16), "needs 16 CPUs, and there are 2"),
        (Conclusion("s", "w", TWICE.claims, nodes=2), "needs 2 NUMA nodes, and there are 1"),
    ):
        assert judge(asked, *rows) == ("not testable here", reason)
        assert judge(asked, *rows, machine=ThesisMachine(16, 2))[0] == "upheld"


def test_a_failure_may_be_the_conclusion() -> None:
    asked = Conclusion("s", "w", (Fails(RatioSide("fib", "slow")),))
    failed = row("slow", status="failed", reason="killed by SIGSEGV")
    assert judge(asked, failed) == ("upheld", "fib slow: killed by SIGSEGV")
    assert judge(asked, row("slow", 1.0)) == ("not upheld", "fib slow: comes through in 1 rounds")
    assert judge(asked, row("slow")) == ("not testable here", "fib slow: not measured")
    assert theses.failures(ThesisRequest(SAMPLE), [failed]) == [
        "fib, slow, 2 workers: killed by SIGSEGV"
    ]
    excused = ThesisRow(ThesisPoint("sor-100", "slow", 2), "", (), "failed", "as it should")
    assert theses.failures(ThesisRequest(SAMPLE), [excused]) == []


def test_what_overflows_may_be_too_small_in_the_simulation() -> None:
    def outcome(request: ThesisRequest) -> str:
        return theses.verdicts(request, sample_rows(), MACHINE)[-1].outcome

    simulated = ThesisRequest(SAMPLE, simulate=8)
    assert outcome(ThesisRequest(SAMPLE)) == "upheld"
    assert outcome(simulated) == "not testable here"
    bounded = replace(SAMPLE, simulated_mib=160)
    assert outcome(replace(simulated, evaluation=bounded)) != "not testable here"


def sample_rows() -> list[ThesisRow]:
    sor = ThesisPoint("sor-100", "slow", 2)
    return [
        row("serial", 4.0, 4.0, 4.4),
        row("slow", 2.0, 2.1, 1.9, steals=0),
        row("quick", 1.0, 1.0, 1.0),
        ThesisRow(ThesisPoint("sor-100", "serial", 1), "seconds", ({"time": 1234.5},), "ok", ""),
        ThesisRow(sor, "", (), "failed", "killed by SIGSEGV"),
        ThesisRow(ThesisPoint("sor-100", "quick", 2), "", (), "ok", ""),
    ]


def sample_verdicts(request: ThesisRequest) -> list[ThesisVerdict]:
    return theses.verdicts(request, sample_rows(), MACHINE)


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


def test_tests_sizes_prove_nothing() -> None:
    outcomes = {one.outcome for one in sample_verdicts(ThesisRequest(SAMPLE, quick=True))}
    assert outcomes == {"not testable here"}


def kernels() -> set[str]:
    """The names of all benchmarks in C."""
    sources = "".join(path.read_text() for path in BENCH.glob("kernels/*.c"))
    header = (BENCH / "theses/theses.h").read_text()
    return {
        *re.findall(r'\.name = "(\w+)"', sources),
        *re.findall(r"of\((\w+), \w+\)", header),
    }


@pytest.mark.parametrize("one", theses_catalogue.EVALUATIONS, ids=lambda one: one.name)
def test_an_evaluation_names_what_there_is(one: ThesisEvaluation) -> None:
    names = {contender.name for contender in one.contenders}
    assert {program.partition("-")[0] for program in one.programs} <= kernels()
    assert set(one.metrics) <= set(TITLES)
    for published in one.published:
        assert published.program in one.programs
        assert published.metric in one.metrics
        assert set(published.values) <= names
    assert one.conclusions
    for conclusion in one.conclusions:
        assert bool(conclusion.claims) != bool(conclusion.cannot)
        for claim in conclusion.claims:
            sides = (claim.side,) if isinstance(claim, Fails) else (*claim.above, *claim.below)
            assert {side.program for side in sides} <= set(one.programs)
            assert {side.contender for side in sides} <= names
            if isinstance(claim, Ratio):
                assert claim.metric in one.metrics


def test_evaluations_have_names_of_their_own_and_all_queues() -> None:
    names = [one.name for one in theses_catalogue.EVALUATIONS]
    assert len(set(names)) == len(names)
    text = (PROJECT / "Documentation/intervals-queues.rst").read_text()
    assert set(QUEUES) == set(re.findall(r"^``([\w-]+)`` +(?:last|first) ", text, re.MULTILINE))


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
    assert len(log(tmp_path)) == 3 + 2


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
    assert "| sample | Nobody, Table 1 | What nobody measured |" in capsys.readouterr().out
    assert main.main(["bench", "theses", "simple"]) == 1
    assert "no such evaluation: simple; there are sample" in capsys.readouterr().err
    assert main.main(["bench", "theses", "sample", "--only", "sor"]) == 1
    assert "sample has no program sor; it has fib, sor-100" in capsys.readouterr().err
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
    program("intervals", 2, then="exit 1")
    words = ["bench", "theses", "sample", "--rounds=1", "--output", str(tmp_path / "results")]
    assert main.main(words) == 1
    said = capsys.readouterr()
    assert "fib, slow, 2 workers: ended with status 1" in said.err
    assert "sor-100, slow" not in said.err
    assert "| fib, slow, 2 workers | failed | ended with status 1 |" in said.out


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


@pytest.mark.usefixtures("command")
def test_a_directory_that_is_none_is_said_before_the_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    words = ["bench", "theses", "sample", "--output", str(tmp_path / "file")]
    assert main.main(words) == 1
    assert "is a file; name a directory" in capsys.readouterr().err


def test_the_document_tells_of_every_evaluation() -> None:
    text = (PROJECT / "Documentation/theses.rst").read_text()
    first_words = {line.split(" ")[0] for line in text.splitlines()}
    assert {one.name for one in theses_catalogue.EVALUATIONS} <= first_words


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


if __name__ == "__main__":
    sample = ThesisRequest(SAMPLE)
    GOLDEN.write_text(theses_report.markdown(sample, sample_rows(), sample_verdicts(sample)))
