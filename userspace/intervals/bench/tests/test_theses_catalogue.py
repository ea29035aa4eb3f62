# SPDX-License-Identifier: GPL-2.0
"""The sources' data: what the files say, and that bad ones are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from theses_sample import PROJECT, QUEUES

from fastlab.base.model import FastError
from intervals_bench import theses_catalogue
from intervals_bench.theses import TITLES, Contender, Published, ThesisEvaluation
from intervals_bench.theses_claims import Fails, Ratio, RatioSide

BENCH = PROJECT / "userspace/intervals/bench"


def kernels() -> set[str]:
    """The names of all benchmarks in C."""
    sources = "".join(path.read_text() for path in BENCH.glob("kernels/*.c"))
    header = "".join(path.read_text() for path in BENCH.glob("theses/*.h"))
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
    text = (PROJECT / "userspace/intervals/Documentation/design.rst").read_text()
    assert set(QUEUES) == set(re.findall(r"^``([\w-]+)`` +(?:last|first) ", text, re.MULTILINE))


def test_the_only_ones_are_beside_all_others() -> None:
    """A claim about "the only" two benchmarks is denied for the rest."""
    threads = theses_catalogue.find("jgf-threads")
    (claims,) = [one.claims for one in threads.conclusions if "The only benchmarks" in one.words]
    found = {one.above[0].program: (one.low, one.high) for one in claims if isinstance(one, Ratio)}
    slower = ("lufact", "moldyn")
    assert set(found) == set(threads.programs)
    assert all((one in slower) == (found[one] == (1.1, float("inf"))) for one in found)
    assert all((one in slower) != (found[one] == (0.0, 1.1)) for one in found)


def test_the_document_tells_of_every_evaluation() -> None:
    text = (PROJECT / "userspace/intervals/Documentation/theses.rst").read_text()
    first_words = {line.split(" ")[0] for line in text.splitlines()}
    assert {one.name for one in theses_catalogue.EVALUATIONS} <= first_words


GOOD = """\
[programs.all]
fib = 20
sor-100 = 0

[contenders]
serial = { runtime = "serial" }

[[evaluation]]
name = "sample"
source = "Author, Tables 1 and 2"
title = "What was not measured"
programs = "all"
variable = "INTERVALS_QUEUE"
contenders = ["serial", "lazy"]
environment = { INTERVALS_PIN = "on" }
metrics = ["time", "steals", "steal_failures", "steal_miss_ratio"]

[[evaluation.published]]
table = "Table 1, page 7"
where = "Niagara"
program = "fib"
unit = "s"
columns = { time = ["serial", "lazy"] }
rows = { 1 = [4, 5.5], 64 = [3, 0.5] }

[[evaluation.published]]
table = "Table 2"
where = "Niagara"
columns = { steals = ["lazy"], successes = ["lazy"] }
rows = { sor-100 = [100, 25] }

[[evaluation.conclusion]]
source = "section 1"
words = "lazy is alike"
claims = [
    "lazy / serial within 1.25",
    "steals, fib, lazy, 1 worker, 2 workers: <= 9.0",
    "fib, lazy: each with 1 * each / sor-100 * serial >= 2.0",
    "sor-100, lazy: fails",
]

[[evaluation.conclusion]]
source = "section 2"
words = "It is red."
cannot = "has no colour"
"""


def load(tmp_path: Path, text: str) -> tuple[ThesisEvaluation, ...]:
    path = tmp_path / "sample.toml"
    path.write_text(text)
    return theses_catalogue.load(path)


def test_what_a_file_means(tmp_path: Path) -> None:
    (one,) = load(tmp_path, GOOD)
    assert (one.programs, one.simulated) == (("fib", "sor-100"), {"fib": 20})
    assert one.contenders == (
        Contender("serial", "serial"),
        Contender("lazy", environment={"INTERVALS_QUEUE": "lazy", "INTERVALS_PIN": "on"}),
    )
    assert one.published == (
        Published("Niagara", "fib", "time", "s", {"serial": 4, "lazy": 5.5}, 1),
        Published("Niagara", "fib", "time", "s", {"serial": 3, "lazy": 0.5}, 64),
        Published("Niagara", "sor-100", "steals", "", {"lazy": 100}),
        Published("Niagara", "sor-100", "steal_failures", "", {"lazy": 75}),
        Published("Niagara", "sor-100", "steal_miss_ratio", "", {"lazy": 0.75}),
    )
    first, second = one.conclusions
    lazy, serial = (RatioSide("fib", name) for name in ("lazy", "serial"))
    other = RatioSide("sor-100", "lazy")
    assert first.claims == (
        Ratio("time", (lazy,), (serial,), 0.8, 1.25),
        Ratio("time", (other,), (RatioSide("sor-100", "serial"),), 0.8, 1.25),
        Ratio("steals", (RatioSide("fib", "lazy", 1),), (), 0.0, 9.0),
        Ratio("steals", (RatioSide("fib", "lazy", 2),), (), 0.0, 9.0),
        Ratio("time", (RatioSide("fib", "lazy", 1), lazy), (other, serial), 2.0),
        Fails(other),
    )
    assert second.cannot == "has no colour"


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ('"all"', '"bots"', '[[evaluation]] 1: programs = "bots" is not allowed; allowed: all'),
        ("fib = 20", "fib = -1", "programs all: fib = -1 is not allowed"),
        ("variable", "values", "[[evaluation]] 1: unknown key values"),
        ('variable = "INTERVALS_QUEUE"\n', "", 'contenders = "lazy" is not allowed'),
        ('"steals", "steal_f', '"steels", "steal_f', 'metrics = "steels" is not allowed'),
        ('table = "Table 2"\n', "", "[[evaluation]] 1 [[published]] 2: table is missing"),
        ('time = ["serial", "lazy"]', 'time = ["lazy"]', "1 = [4, 5.5] is not allowed; allowed: a"),
        ("time = [", "peak_kib = [", 'peak_kib = "peak_kib" is not allowed; allowed: time, steals'),
        ("64 = [3, 0.5]", "many = [3, 0.5]", 'many = "many" is not allowed; allowed: a number of'),
        ("64 = [3, 0.5]", "64 = [3, nan]", "64 = NaN is not allowed; allowed: numbers"),
        ("{ sor-100 = [", "{ fob = [", 'program = "fob" is not allowed; allowed: fib, sor-100'),
        ("serial >= 2.0", "busy >= 2.0", '[[conclusion]] 1: claims = "busy" is not allowed; allo'),
        ("serial >= 2.0", "steals >= 2.0", 'claims = "steals" is not allowed; allowed: a program'),
        ("each with 1 *", "each with 0 *", 'claims = "each with 0" is not allowed; allowed: a pr'),
        ("lazy, 1 worker, ", "1 worker, ", 'claims = "each" is not allowed; allowed: a program or'),
        ("<= 9.0", "< 9.0", 'lazy, 1 worker, 2 workers: < 9.0" is not allowed; allowed: claims su'),
        ('cannot = "has no colour"', "", "[[conclusion]] 2: cannot is missing; allowed: either"),
    ],
)
def test_bad_data_is_refused_by_name(tmp_path: Path, good: str, bad: str, said: str) -> None:
    assert good in GOOD
    with pytest.raises(FastError) as error:
        load(tmp_path, GOOD.replace(good, bad, 1))
    assert said in str(error.value)
