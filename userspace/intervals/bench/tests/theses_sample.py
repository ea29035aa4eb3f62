# SPDX-License-Identifier: GPL-2.0
"""An evaluation of no published source, and possible results."""

from __future__ import annotations

from pathlib import Path

from intervals_bench import theses, theses_catalogue
from intervals_bench.theses import Contender, Published, ThesisEvaluation, ThesisRequest
from intervals_bench.theses_claims import (
    Conclusion,
    Fails,
    Ratio,
    RatioSide,
    ThesisMachine,
    ThesisPoint,
    ThesisRow,
    ThesisVerdict,
)

PROJECT = Path(__file__).resolve().parents[4]
MACHINE = ThesisMachine(cpus=2, nodes=1)
SLOW = (RatioSide("fib", "slow"),)
QUICK = (RatioSide("fib", "quick"),)

TWICE = Conclusion(
    "section 1",
    "slow is slower",
    (Ratio("time", SLOW, QUICK, 1.5),),
)
QUEUES = [one.name for one in theses_catalogue.find("jgf-queues").contenders]
SAMPLE = ThesisEvaluation(
    "sample",
    "Author, Table 1",
    "What was not measured",
    ("fib", "sor-100"),
    (
        Contender("serial", "serial"),
        Contender("slow", environment={"INTERVALS_QUEUE": "shared", "INTERVALS_STATISTICS": "on"}),
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
    contender: str,
    *times: float,
    status: str = "ok",
    reason: str = "",
    crashed: bool = False,
    **counts: float,
) -> ThesisRow:
    workers = 1 if contender == "serial" else 2
    rounds = tuple({"time": one, "peak_kib": 10.0, **counts} for one in times)
    point = ThesisPoint("fib", contender, workers)
    return ThesisRow(point, "seconds", rounds, status, reason, crashed)  # type: ignore[arg-type]


def sample_rows() -> list[ThesisRow]:
    sor = ThesisPoint("sor-100", "slow", 2)
    return [
        row("serial", 4.0, 4.0, 4.4),
        row("slow", 2.0, 2.1, 1.9, steals=0),
        row("quick", 1.0, 1.0, 1.0),
        ThesisRow(ThesisPoint("sor-100", "serial", 1), "seconds", ({"time": 1234.5},), "ok", ""),
        ThesisRow(sor, "", (), "failed", "killed by SIGSEGV", crashed=True),
        ThesisRow(ThesisPoint("sor-100", "quick", 2), "", (), "ok", ""),
    ]


def sample_verdicts(request: ThesisRequest) -> list[ThesisVerdict]:
    return theses.verdicts(request, sample_rows(), MACHINE)
