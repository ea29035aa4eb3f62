# SPDX-License-Identifier: GPL-2.0
"""What is said of made-up results: conclusions, and their claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from theses_sample import MACHINE, QUICK, SAMPLE, SLOW, TWICE, row, sample_rows, sample_verdicts

from intervals_bench import theses
from intervals_bench.theses import ThesisRequest
from intervals_bench.theses_claims import (
    Conclusion,
    Fails,
    Ratio,
    RatioSide,
    ThesisMachine,
    ThesisPoint,
    ThesisRow,
    conclude,
)


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


@pytest.mark.parametrize("bounds", [{"low": 2.0}, {"high": 2.0}, {"low": 2.0, "high": 2.0}])
def test_an_interval_that_only_touches_the_edge_does_not_say(bounds: Mapping[str, float]) -> None:
    """What is as fast to the last bit is not faster, nor slower."""
    asked = Conclusion("s", "w", (Ratio("time", SLOW, QUICK, **bounds),))
    outcome, reason = judge(asked, row("slow", 2.0, 2.0, 2.0), NO_NOISE)
    assert outcome == "not testable here"
    assert "is 2 (2 to 2)" in reason
    assert reason.endswith(": the rounds do not decide")


def test_nothing_is_below_a_share_of_0() -> None:
    """The interval's end may be, for what is added before its logarithm."""
    little = Conclusion("s", "w", (Ratio("remote_share", SLOW, (), high=0.05),))
    rounds = [0.0, 0.001, 0.0]
    found = tuple({"remote_share": one} for one in rounds)
    shares = ThesisRow(ThesisPoint("fib", "slow", 2), "", found, "ok", "")
    outcome, reason = judge(little, shares)
    assert outcome == "upheld"
    assert "(-0.00" in reason


@pytest.mark.filterwarnings("error")
def test_a_time_of_0_has_no_ratio() -> None:
    outcome, reason = judge(TWICE, row("slow", 2.0, 2.0), row("quick", 1.0, 0.0))
    assert (outcome, reason) == (
        "not testable here",
        "time of fib quick is 0 in a round: no ratio",
    )


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


def test_half_are_not_most() -> None:
    rows = (row("slow", 2.0, 2.0, 2.0), NO_NOISE)
    good, wrong = TWICE.claims[0], Ratio("time", SLOW, QUICK, 3.0)
    for claims in ((good, wrong, wrong), (good, good, wrong, wrong)):
        asked = Conclusion("s", "w", claims, asks="most")
        assert judge(asked, *rows)[0] == "not upheld"


def test_with_none_below_a_share_is_judged_itself() -> None:
    half = Conclusion("s", "w", (Ratio("remote_share", SLOW, (), 0.45, 0.55),))
    outcome, said = judge(half, row("slow", 1, 1, 1, remote_share=0.5))
    assert (outcome, said) == (
        "upheld",
        "remote_share of fib slow is 0.5 (0.5 to 0.5), asked: 0.45 to 0.55",
    )
    assert judge(half, row("slow", 1, 1, 1, remote_share=0.56))[0] == "not upheld"


def test_speed_ups_are_products() -> None:
    scales = Conclusion("s", "w", (Ratio("time", (*SLOW, *SLOW), (*QUICK, *QUICK), 3.9, 4.1),))
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
    failed = row("slow", status="failed", reason="killed by SIGSEGV", crashed=True)
    assert judge(asked, failed) == ("upheld", "fib slow: killed by SIGSEGV")
    assert judge(asked, row("slow", 1.0)) == ("not upheld", "fib slow: comes through in 1 rounds")
    assert judge(asked, row("slow")) == ("not testable here", "fib slow: not measured")
    assert theses.failures(ThesisRequest(SAMPLE), [failed]) == [
        "fib, slow, 2 workers: killed by SIGSEGV"
    ]
    point = ThesisPoint("sor-100", "slow", 2)
    excused = ThesisRow(point, "", (), "failed", "as it should", crashed=True)
    assert theses.failures(ThesisRequest(SAMPLE), [excused]) == []


def test_only_a_crash_is_the_failure_that_a_source_means() -> None:
    asked = Conclusion("s", "w", (Fails(RatioSide("sor-100", "slow")),))
    point = ThesisPoint("sor-100", "slow", 2)
    late = ThesisRow(point, "", (), "failed", "did not end within 1800 s")
    why = "sor-100 slow: did not end within 1800 s"
    assert judge(asked, late) == ("not testable here", why)
    assert theses.failures(ThesisRequest(SAMPLE), [late]) == [
        "sor-100, slow, 2 workers: did not end within 1800 s"
    ]


def test_what_overflows_may_be_too_small_in_the_simulation() -> None:
    def outcome(request: ThesisRequest) -> str:
        return theses.verdicts(request, sample_rows(), MACHINE)[-1].outcome

    simulated = ThesisRequest(SAMPLE, simulate=8)
    assert outcome(ThesisRequest(SAMPLE)) == "upheld"
    assert outcome(simulated) == "not testable here"
    bounded = replace(SAMPLE, simulated_mib=160)
    assert outcome(replace(simulated, evaluation=bounded)) != "not testable here"


def test_tests_sizes_prove_nothing() -> None:
    outcomes = {one.outcome for one in sample_verdicts(ThesisRequest(SAMPLE, quick=True))}
    assert outcomes == {"not testable here"}
