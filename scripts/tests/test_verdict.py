# SPDX-License-Identifier: GPL-2.0
"""Does FAST help this program? Verdicts on made-up runs, and what is shown of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from fastlab.base.metrics import MODEL_UNITS, SIMULATED
from fastlab.base.model import Kernel
from fastlab.plan.rows import Row
from fastlab.report.tables import Table
from fastlab.trial.in_simulation import QUANTA
from fastlab.trial.runs import Lock, Timed, Trial, TrialRequest
from fastlab.trial.verdict import changes, judge, remarks
from fastlab.trial.verdict_tables import SHOWN, document, tables

FIRED = {"hint_set": 50, "used": 40, "same_cpu": 5, "rejected_depth": 5, "moot": 0}
OFF = dict.fromkeys(FIRED, 0)
MUTEX = Lock("mutex", 0x404040, True, wakes=40, handoffs=30, pi_unlocks=0)
QUEUE = Lock("queue+0x28", 0x404080, True, wakes=10, handoffs=10, pi_unlocks=0)


@dataclass(frozen=True)
class Shot:
    """A run and its figures."""

    arm: str
    quantum: int
    figures: Mapping[str, float | None]
    mechanism: Mapping[str, int]
    locks: tuple[Lock, ...]

    @property
    def row(self) -> Row:
        given: dict[str, Any] = {
            "variant": self.arm,
            "machine": {"quantum": self.quantum},
            "mechanism": self.mechanism,
            "counters": {
                name: {"unit": unit, "total": self.figures.get(name)}
                for name, unit in MODEL_UNITS.items()
            },
        }
        return cast(Row, {**given, **self.figures})

    @property
    def timed(self) -> Timed:
        return Timed(self.arm, self.figures, {}, self.locks)


def shots(arm: str, numbers: Sequence[int | None], **more: Any) -> list[Shot]:
    """Runs whose every metric is the number, but for those named; no hand-off, and wake-ups that
    take `wakeup` ns, the slowest ten times as many."""
    mechanism = more.pop("mechanism", FIRED if arm == "strict" else OFF)
    locks = more.pop("locks", (MUTEX, QUEUE))
    wakeup = more.pop("wakeup", 2000)
    times = {"wakeup_p50": wakeup, "wakeup_p99": wakeup and 10 * wakeup}
    names = [one.name for one in SIMULATED if one.words]
    return [
        Shot(arm, quantum, dict.fromkeys(names, number) | more | times, mechanism, locks)
        for quantum, number in zip(QUANTA, numbers, strict=True)
    ]


SLOW = shots("onecpu", [10000] * 4)


def trial(
    off: list[Shot],
    strict: list[Shot],
    one_cpu: Sequence[Shot] = SLOW,
    adaptive: Sequence[Shot] = (),
) -> Trial:
    """Adaptive's runs are as strict's, if they are not given."""
    request = TrialRequest(("./program", "two words"), Path("/"), 600.0)
    # As runs end: in any order.
    adaptive = adaptive or [replace(one, arm="adaptive") for one in strict]
    every = (*strict, *adaptive, *one_cpu, *reversed(off))
    rows = tuple(one.row for one in every)
    timed = tuple(one.timed for one in every)
    return Trial(request, Kernel("6.12", "fast", "abc", "", ""), False, rows, timed)


def sentence(found: Trial, kind: str) -> str:
    strict, adaptive = judge(found)
    assert (strict.policy, adaptive.policy) == ("strict", "adaptive")
    assert strict.kind == kind
    return strict.sentence


def test_all_runs_better_is_help() -> None:
    said = sentence(
        trial(shots("off", [1000, 1010, 1020, 1030]), shots("strict", [900, 909, 816, 999])),
        "helps",
    )
    assert said == "Policy strict helps this program: it takes 3.0 to 20.0 % off its time."


def test_all_runs_worse_is_harm() -> None:
    said = sentence(
        trial(shots("off", [1000, 1000, 1000, 1000]), shots("strict", [1100, 1200, 1150, 1100])),
        "hurts",
    )
    assert said == "Policy strict hurts this program: it adds 10.0 to 20.0 % to its time."


@pytest.mark.parametrize(
    ("off", "strict"),
    [
        # The signs differ.
        ([1000, 1000, 1000, 1000], [900, 900, 900, 1001]),
        # Better with each quantum, but by less than the quantum makes.
        ([1000, 1100, 1200, 1300], [990, 1090, 1190, 1290]),
        ([1000, 1000, 1000, 1000], [1000, 1000, 1000, 1000]),
        # One run of one side is as slow as the fastest of the other.
        ([1000, 1000, 1000, 1000], [900, 900, 900, 1000]),
    ],
)
def test_anything_else_is_no_difference(off: list[int], strict: list[int]) -> None:
    said = sentence(trial(shots("off", off), shots("strict", strict)), "no difference")
    assert "no measurable effect on this program's time" in said


def test_ranges_are_said_where_there_is_no_difference() -> None:
    found = trial(shots("off", [1000] * 4), shots("strict", [990, 1005, 1000, 1000]))
    assert "(-0.5 to +1.0 %, within run-to-run variation)." in sentence(found, "no difference")
    same = trial(shots("off", [1000] * 4), shots("strict", [1000] * 4))
    assert "(+0.0 %, within run-to-run variation)." in sentence(same, "no difference")


def test_less_time_may_be_more_work_and_the_reverse() -> None:
    off = shots("off", [1000] * 4)
    more_work = shots("strict", [900] * 4, cycles=1100)
    assert "do more work, though (10.0 % more cycles)." in sentence(trial(off, more_work), "helps")
    less_work = shots("strict", [1000] * 4, cycles=800)
    assert "do less work, though (20.0 % fewer cycles)." in sentence(
        trial(off, less_work), "no difference"
    )


def test_no_hint_is_nothing_to_act_on_whatever_the_numbers_are() -> None:
    strict = shots("strict", [500] * 4, mechanism=OFF)
    said = sentence(trial(shots("off", [1000] * 4), strict), "nothing to act on")
    assert "no thread was woken by a lock's hand-off (hint_set = 0)" in said


def test_adaptive_that_gathers_nothing_is_judged_by_its_price() -> None:
    off, strict = shots("off", [1000] * 4), shots("strict", [900] * 4)
    slower = shots("adaptive", [1100] * 4)
    assert judge(trial(off, strict, adaptive=slower))[1].sentence == (
        "Policy adaptive hurts this program: it adds 10.0 % to its time. It moved no thread."
    )


def test_hints_that_were_never_used_are_told_with_their_reasons() -> None:
    mechanism = OFF | {"hint_set": 7, "rejected_depth": 4, "moot": 3}
    strict = shots("strict", [500] * 4, mechanism=mechanism)
    said = sentence(trial(shots("off", [1000] * 4), strict), "nothing to act on")
    assert "none of 28 hints was used (rejected_depth 16, moot 12)" in said


def test_hand_offs_that_set_no_hint_are_not_denied() -> None:
    strict = shots("strict", [500] * 4, mechanism=OFF | {"hint_class": 146})
    said = sentence(trial(shots("off", [1000] * 4), strict), "nothing to act on")
    assert "none of its hand-offs (hint_class 584: threads with a real-time or deadline" in said


def test_one_decision_in_one_run_is_not_nothing() -> None:
    strict = shots("strict", [1000] * 4, mechanism=OFF | {"hint_set": 1})
    strict[2] = replace(strict[2], mechanism=OFF | {"hint_set": 1, "same_cpu": 1})
    sentence(trial(shots("off", [1000] * 4), strict), "no difference")


def test_priority_inheritance_is_said_to_be_left_alone() -> None:
    pi = Lock("pi", 0x404100, True, 0, 0, 12)
    strict = shots("strict", [1000] * 4, mechanism=OFF)
    found = trial(shots("off", [1000] * 4, locks=(pi,)), strict)
    sentence(found, "nothing to act on")
    assert remarks(found, judge(found)) == [
        "FAST does not act on locks with priority inheritance, which the kernel unlocked 12 "
        "times a "
        "run."
    ]
    (table,) = [one for one in tables(found) if one.columns[0] == "hand-offs come from"]
    assert texts(table) == [["pi", "0x404100", "priority inheritance, 12 unlocks"]]


OFF_TIMES = shots("off", [1000, 1010, 1020, 1030])


def test_one_cpu_that_beats_both_is_said_beside_the_gain() -> None:
    strict = shots("strict", [900] * 4)
    found = trial(OFF_TIMES, strict, shots("onecpu", [800] * 4))
    sentence(found, "helps")
    assert remarks(found, judge(found)) == [
        "On one CPU the program takes 20.0 to 22.3 % less time than on all of them without FAST, "
        "and less than with strict and adaptive: FAST gains here by gathering the threads, and one "
        "CPU does that better."
    ]
    found = trial(OFF_TIMES, strict, shots("onecpu", [800] * 4), shots("adaptive", [700] * 4))
    (remark,) = remarks(found, judge(found))
    assert "and less than with strict: " in remark


@pytest.mark.parametrize(
    ("strict", "kind"),
    [
        (shots("strict", [1000] * 4), "no difference"),
        (shots("strict", [1200] * 4), "hurts"),
        (shots("strict", [900] * 4, mechanism=OFF), "nothing to act on"),
    ],
)
def test_where_fast_gains_nothing_one_cpu_explains_no_gain(strict: list[Shot], kind: str) -> None:
    off = [replace(one, arm="adaptive") for one in OFF_TIMES]
    found = trial(OFF_TIMES, strict, shots("onecpu", [800] * 4), off)
    sentence(found, kind)
    assert remarks(found, judge(found)) == [
        "On one CPU the program takes 20.0 to 22.3 % less time than on all of them without FAST, "
        "and less than with strict and adaptive."
    ]


@pytest.mark.parametrize(
    ("strict", "one_cpu"),
    [
        # Better than off, but not than strict; the reverse; better than strict in three of four.
        ([700] * 4, [800] * 4),
        ([1200] * 4, [1100] * 4),
        ([900] * 4, [800, 800, 800, 900]),
        # Better than both, by what does not matter: than off; than strict.
        ([1200] * 4, [999, 999, 999, 999]),
        ([810] * 4, [800] * 4),
    ],
)
def test_one_cpu_that_does_not_beat_both_is_not_said(strict: list[int], one_cpu: list[int]) -> None:
    found = trial(OFF_TIMES, shots("strict", strict), shots("onecpu", one_cpu))
    assert not remarks(found, judge(found))


def test_one_cpu_has_a_column_that_is_coloured_beside_off() -> None:
    found = trial(
        OFF_TIMES, shots("strict", [900] * 4), shots("onecpu", [800] * 4, migrations=1010)
    )
    table = tables(found)[0]
    assert list(table.columns) == [
        "",
        "off",
        "strict",
        "improvement",
        "adaptive",
        "improvement",
        "onecpu",
    ]
    rows = {row[0].text: row[-1] for row in table.rows}
    assert (rows["cycles, all CPUs together"].text, rows["cycles, all CPUs together"].tone) == (
        "800",
        "gain",
    )
    assert (rows["migrations"].text, rows["migrations"].tone) == ("1,010", "")


def test_without_a_control_its_column_says_why() -> None:
    found = replace(
        trial(OFF_TIMES, shots("strict", [900] * 4), ()), uncontrolled="it hangs\nfor ever"
    )
    shown = tables(found)
    assert {row[-1].text for row in shown[0].rows} == {"n/a"}
    assert shown[0].note.endswith("n/a, not available: it hangs.")
    assert texts(shown[2])[-1] == ["onecpu", *["n/a"] * 4]
    sentence(found, "helps")
    assert document(found, judge(found))["uncontrolled"] == "it hangs\nfor ever"


def test_latencies_are_shown_in_microseconds() -> None:
    found = trial(
        shots("off", [1000] * 4, wakeup=2000),
        shots("strict", [900] * 4, wakeup=3500),
        shots("onecpu", [900] * 4, wakeup=None),
    )
    (table,) = [one for one in tables(found) if one.columns[0] == "latency, us"]
    assert list(table.columns[3:]) == ["wake-up, median", "wake-up, 99 %"]
    assert texts(table) == [
        ["off", "none", "none", "2", "20"],
        ["strict", "none", "none", "3.5", "35"],
        ["adaptive", "none", "none", "3.5", "35"],
        ["onecpu", *["none"] * 4],
    ]


def test_what_was_not_counted_is_not_available() -> None:
    found = trial(
        shots("off", [1000] * 4, migrations=None, context_switches=0),
        shots("strict", [900] * 4, migrations=None, context_switches=5),
    )
    rows = {row[0]: row[1:] for row in texts(tables(found)[0])}
    assert rows["migrations"] == ["n/a", *["n/a", "n/a"] * 2, "10,000"]
    # Of nothing there is no percentage.
    assert rows["context switches"] == ["0", *["5", "-"] * 2, "10,000"]
    assert rows["cycles, all CPUs together"] == ["1,000", *["900", "10.0 %"] * 2, "10,000"]
    assert rows["time, ms"] == ["0.001", *["0.0009", "10.0 %"] * 2, "0.01"]


def test_a_partly_known_metric_is_not_available() -> None:
    off = shots("off", [1000] * 4)
    off[0] = replace(off[0], figures={**off[0].figures, "migrations": None})
    change = changes(trial(off, shots("strict", [1] * 4)), "strict")["migrations"]
    assert (change.off, change.middle, change.side) == (None, None, "")


def test_a_difference_that_is_small_does_not_matter() -> None:
    found = trial(shots("off", [1000] * 4), shots("strict", [985] * 4))
    assert sentence(found, "no difference") == (
        "Policy strict has no relevant effect on this program: it takes 1.5 % off its "
        "time, less than 2 % in the median."
    )
    slower = sentence(trial(shots("off", [1000] * 4), shots("strict", [1010] * 4)), "no difference")
    assert "it adds 1.0 % to its time, less than 2 % in the median." in slower


@pytest.mark.parametrize(
    ("relevant", "kind", "words"),
    [
        (0.0, "helps", "takes 1.5 % off its time."),
        (1.5, "helps", "takes 1.5 % off its time."),
        (3.5, "no difference", "less than 3.5 % in the median."),
    ],
)
def test_what_matters_is_what_the_reader_says(relevant: float, kind: str, words: str) -> None:
    found = trial(shots("off", [1000] * 4), shots("strict", [985] * 4))
    found = replace(found, request=replace(found.request, relevant_pct=relevant))
    assert sentence(found, kind).endswith(words)
    assert document(found, judge(found))["relevant_pct"] == relevant


def test_one_run_that_is_far_off_makes_no_difference_matter() -> None:
    found = trial(shots("off", [1000] * 4), shots("strict", [1001, 1002, 1003, 10000]))
    assert "it adds 0.1 to 900.0 % to its time" in sentence(found, "no difference")
    assert "adds 0.1 to 900.0 %" in sentence(
        trial(shots("off", [1000] * 4), shots("strict", [1001, 1030, 1040, 10000])), "hurts"
    )


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_the_locks_of_the_most_hand_offs_come_first() -> None:
    others = [
        Lock("", 0x1000, False, wakes=5, handoffs=4, pi_unlocks=0),
        Lock("", 0x2000, False, wakes=5, handoffs=4, pi_unlocks=0),
    ]
    small = [Lock(f"small{i}", 0x10 + i, True, 2, 2, 0) for i in range(6)]
    never = Lock("never", 0x9000, True, 3, 0, 0)
    found = trial(
        shots("off", [1000] * 4, locks=(*small, QUEUE, never, MUTEX, *others)),
        shots("strict", [900] * 4, locks=()),
    )
    table = tables(found)[-1]
    assert texts(table)[:4] == [
        ["mutex", "0x404040", "30", "50.0 %"],
        ["queue+0x28", "0x404080", "10", "16.7 %"],
        ["other programs that the program started", "", "8", "13.3 %"],
        ["small0", "0x10", "2", "3.3 %"],
    ]
    assert len(table.rows) == SHOWN
    assert table.note == "And 6 more of 3 other futexes."


def test_without_hand_offs_there_is_no_table_of_them() -> None:
    found = trial(shots("off", [1000] * 4, locks=()), shots("strict", [1000] * 4, locks=()))
    assert [table.columns[0] for table in tables(found)] == [
        "",
        "mean of a run",
        "latency, us",
    ]


def test_the_mechanism_is_shown_with_what_happened() -> None:
    found = trial(
        shots("off", [1000] * 4),
        shots("strict", [900] * 4, mechanism={**FIRED, "hint_mm": 0}),
        adaptive=shots("adaptive", [900] * 4, mechanism={**OFF, "moot": 3}),
    )
    table = tables(found)[1]
    assert list(table.columns) == [
        "mean of a run",
        "hint_set",
        "used",
        "same_cpu",
        "moot",
        "rejected_depth",
    ]
    assert texts(table) == [
        ["strict", "50", "40", "5", "0", "5"],
        ["adaptive", "0", "0", "0", "3", "0"],
    ]


def test_the_document_has_everything() -> None:
    found = trial(shots("off", [1000] * 4), shots("strict", [900] * 4))
    made = json.loads(json.dumps(document(found, judge(found))))
    assert made["verdicts"][0]["kind"] == "helps"
    assert made["verdicts"][0]["changes"]["l3_misses"]["middle"] == 10.0
    assert len(made["runs"]) == len(made["latencies"]) == 16
    assert made["runs"][0]["variant"] == made["latencies"][0]["arm"] == "strict"
    assert made["latencies"][0]["figures"]["wakeup_p50"] == 2000
    assert made["latencies"][0]["locks"][0]["name"] == "mutex"
    assert made["kernel"] == {"series": "6.12", "variant": "fast", "id": "abc"}
