# SPDX-License-Identifier: GPL-2.0
"""All evaluations that can be measured again: what each source published and concludes is data, in
evaluations/*.toml, one file for each source.

There, `programs` are the evaluation's, each with its size in the simulated machine, where 0
is not run, or the name of such a table in [programs]. A contender is what [contenders] has under
its name, or else intervals with its name as the value of `variable`; the evaluation's `environment`
is that of all its contenders that are intervals.

Of a published table a row is what `rows` has under the program or, with `program`, under the
number of workers; `columns` are the contenders of each metric, one after the other.

A claim's own program, contender and workers hold for both sides of a ratio, except for what
`above` or `below` say otherwise; without both, the claim is about the metric itself. Of several
programs, which without any are all, or numbers of workers it is a claim about each. `within` 1.1 is
from 1/1.1 to 1.1. Without a `metric` it is about the first of the evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from fastlab.base import toml_table
from fastlab.base.model import UsageError
from fastlab.base.toml_table import INFINITY, TomlTable
from intervals_bench.peers import SERIAL
from intervals_bench.theses import TITLES, Contender, Published, ThesisEvaluation
from intervals_bench.theses_claims import (
    QUANTIFIERS,
    Conclusion,
    Fails,
    Ratio,
    RatioSide,
    ThesisClaim,
)

DIRECTORY = Path(__file__).parent / "evaluations"
SOURCES = ("weibel", "slaw", "vikranth")
RUNTIMES = ("intervals", SERIAL, "pthreads", "locks", "numa_locks")
MOST = 1 << 30
# Of a ratio, where nothing is said of it.
RANGE = {"low": 0.0, "high": INFINITY}

_NAME = re.compile(r"[\w -]+")
_WORDS = re.compile(r"\S.*", re.DOTALL)


def load(path: Path) -> tuple[ThesisEvaluation, ...]:
    """The evaluations of a file. Raises FastError for an invalid file."""
    file = TomlTable(path, "", toml_table.read(path, "a file of evaluations"))
    file.only("programs", "contenders", "evaluation")
    return tuple(_evaluation(one, file) for one in file.tables("evaluation"))


def find(name: str) -> ThesisEvaluation:
    """The evaluation of that name."""
    for one in EVALUATIONS:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in EVALUATIONS)
    raise UsageError(f"no such evaluation: {name}; there are {known}")


def _evaluation(table: TomlTable, file: TomlTable) -> ThesisEvaluation:
    table.only(
        *("name", "source", "title", "programs", "contenders", "variable", "environment"),
        *("metrics", "sweep", "published", "conclusion", "note", "simulated_mib"),
    )
    sizes = _programs(table, file)
    metrics = table.texts("metrics", _NAME, "names of metrics") or ("time",)
    _known(table, "metrics", metrics, TITLES)
    bare = ThesisEvaluation(
        table.text("name", _NAME, "a name"),
        table.text("source", _WORDS, "the source, and which of its tables or figures"),
        table.text("title", _WORDS, "what it measures"),
        tuple(sizes),
        tuple(_contenders(table, file)),
        metrics,
        table.boolean("sweep", False),
        note=table.text("note", _WORDS, "words", ""),
        simulated={program: size for program, size in sizes.items() if size},
        simulated_mib=table.integer("simulated_mib", 0, MOST, 0),
    )
    tables = table.tables("published", least=0)
    return replace(
        bare,
        published=tuple(row for one in tables for row in _published(one, bare)),
        conclusions=tuple(_conclusion(one, bare) for one in table.tables("conclusion")),
    )


def _programs(table: TomlTable, file: TomlTable) -> dict[str, int]:
    named = table.data.get("programs")
    if isinstance(named, str):
        groups = file.table("programs")
        _known(table, "programs", (named,), groups.data)
        sizes = groups.table(named)
    else:
        sizes = table.table("programs")
    return {program: sizes.integer(program, 0, MOST) for program in sizes.data}


def _contenders(table: TomlTable, file: TomlTable) -> Iterator[Contender]:
    further = _environment(table)
    others = file.table("contenders")
    variable = table.text("variable", _NAME, "an environment variable", "")
    for name in table.texts("contenders", _NAME, "names of contenders"):
        if name not in others.data and variable:
            yield Contender(name, environment={variable: name, **further})
            continue
        _known(table, "contenders", (name,), others.data)
        one = others.table(name)
        one.only("runtime", "environment")
        runtime = one.choice("runtime", RUNTIMES, RUNTIMES[0])
        common = further if runtime == RUNTIMES[0] else {}
        yield Contender(name, runtime, _environment(one) | common)


def _environment(table: TomlTable) -> dict[str, str]:
    given = table.table("environment")
    return {name: given.text(name, _NAME, "its value, a text") for name in given.data}


def _published(table: TomlTable, evaluation: ThesisEvaluation) -> Iterator[Published]:
    table.only("table", "where", "program", "unit", "columns", "rows")
    # Only for readers of the file.
    table.text("table", _WORDS, "which of the source's tables, and its page or section")
    where = table.text("where", _WORDS, "the source's machine")
    unit = table.text("unit", _WORDS, "the values' unit", "")
    columns, rows = table.table("columns"), table.table("rows")
    contenders = {name: columns.texts(name, _NAME, "contenders") for name in columns.data}
    for name in contenders:
        _known(columns, name, contenders[name], [one.name for one in evaluation.contenders])
    count = sum(map(len, contenders.values()))
    for key in rows.data:
        program, workers = key, None
        if "program" in table.data:
            program = table.text("program", _NAME, "a program")
            workers = int(key) if key.isdecimal() else rows.fail(key, key, "a number of workers")
        _known(table, "program", (program,), evaluation.programs)
        left = iter(rows.numbers(key, count))
        # By the contenders first: then none of the numbers is lost.
        row = {name: dict(zip(contenders[name], left, strict=False)) for name in contenders}
        for metric, values in _with_failures(row).items():
            _known(columns, metric, (metric,), evaluation.metrics)
            yield Published(where, program, metric, unit, values, workers)


def _with_failures(row: dict[str, dict[str, float]]) -> Mapping[str, Mapping[str, float]]:
    """A source with successful steals and attempts: the remaining attempts failed."""
    good = row.pop("successes", {})
    if good:
        steals = row["steals"]
        row["steal_failures"] = {name: steals[name] - good[name] for name in good}
        row["steal_miss_ratio"] = {name: 1 - good[name] / steals[name] for name in good}
    return row


def _conclusion(table: TomlTable, evaluation: ThesisEvaluation) -> Conclusion:
    table.only("source", "words", "claim", "asks", "cpus", "nodes", "cannot")
    claims = table.tables("claim", least=0)
    cannot = table.text("cannot", _WORDS, "why nothing here can test it", "")
    if bool(claims) == bool(cannot):
        table.fail("cannot", cannot or None, "either claims, or why there are none")
    return Conclusion(
        table.text("source", _WORDS, "where the source says it"),
        table.text("words", _WORDS, "what the source says"),
        tuple(claim for one in claims for claim in _claims(one, evaluation)),
        table.choice("asks", QUANTIFIERS, "all"),
        table.integer("cpus", 1, MOST, 1),
        table.integer("nodes", 1, MOST, 1),
        cannot,
    )


def _claims(table: TomlTable, evaluation: ThesisEvaluation) -> Iterator[ThesisClaim]:
    table.only(
        *("program", "contender", "workers", "above", "below"),
        *("metric", "low", "high", "within", "fails"),
    )
    metric = table.choice("metric", evaluation.metrics, evaluation.metrics[0])
    low, high = (table.number(key, 0, INFINITY, one) for key, one in RANGE.items())
    if "within" in table.data:
        within = table.number("within", 1, INFINITY)
        low, high = 1 / within, within
    program = table.data.get("program")
    programs = (program,) if isinstance(program, str) else table.texts("program", _NAME, "programs")
    counts = table.integers("workers", 1, MOST) if "workers" in table.data else (None,)
    contender = table.text("contender", _NAME, "a contender", "")
    for one in programs or evaluation.programs:
        for workers in counts:
            both = RatioSide(one, contender, workers)
            above, below = (_sides(table, side, both, evaluation) for side in ("above", "below"))
            if table.boolean("fails", False):
                yield from (Fails(side) for side in above)
            elif "above" in table.data or "below" in table.data:
                yield Ratio(metric, above, below, low, high)
            else:
                yield Ratio(metric, above, (), low, high)


def _sides(
    table: TomlTable, key: str, both: RatioSide, evaluation: ThesisEvaluation
) -> tuple[RatioSide, ...]:
    several = isinstance(table.data.get(key), list)
    return tuple(
        _side(one, both, evaluation)
        for one in (table.tables(key) if several else [table.table(key)])
    )


def _side(table: TomlTable, both: RatioSide, evaluation: ThesisEvaluation) -> RatioSide:
    table.only("program", "contender", "workers")
    program = table.choice("program", evaluation.programs, both.program)
    names = [one.name for one in evaluation.contenders]
    contender = table.choice("contender", names, both.contender)
    if "workers" not in table.data:
        return RatioSide(program, contender, both.workers)
    return RatioSide(program, contender, table.integer("workers", 1, MOST))


def _known(table: TomlTable, key: str, names: Iterable[str], known: Iterable[str]) -> None:
    there = tuple(known)
    for name in names:
        if name not in there:
            table.fail(key, name, ", ".join(there))


EVALUATIONS = tuple(one for name in SOURCES for one in load(DIRECTORY / f"{name}.toml"))
