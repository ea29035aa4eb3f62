# SPDX-License-Identifier: GPL-2.0
"""All evaluations that can be measured again: what each source published and concludes is data, in
evaluations/*.toml, one file for each source.

There, `programs` are the evaluation's, each with its size in the simulated machine, where 0
is not run, or the name of such a table in [programs]. A contender is what [contenders] has under
its name, or else intervals with its name as the value of `variable`; the evaluation's `environment`
is that of all its contenders that are intervals.

Of a published table a row is what `rows` has under the program or, with `program`, under the
number of workers; `columns` are the contenders of each metric, one after the other.

A claim is a line: "l3_misses, lu, lazy, 2 workers: each / serial >= 1.1". Before the colon stand,
in any order, its metric (default: the evaluation's first), programs (default: all), contender, and
numbers of workers. It is a claim about each program and number. A side of a ratio names what
replaces one of these, or `each` for none, maybe "with 1" worker; "fj * lu" is a product. Without a
ratio the claim is about the metric itself. Its range is ">= 1.1", "<= 2", "0.3 to 0.5", or "within
1.1" for 1/1.1 to 1.1; or it "fails". An evaluation's `cpus` and `nodes` are those of its
conclusions.
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
CLAIM = 'claims such as "steals, fib: lazy / serial >= 1.5"'

_NAME = re.compile(r"[\w -]+")
_WORDS = re.compile(r"\S.*", re.DOTALL)
_NUMBER = r"\d+(?:\.\d+)?"
_CLAIM = re.compile(
    r"(?:(?P<shared>[^:/]+): )?(?:(?P<above>[^:/]+) / (?P<below>[^:/]+) )?"
    rf"(?:>= (?P<least>{_NUMBER})|<= (?P<most>{_NUMBER})|within (?P<within>[1-9]\d*(?:\.\d+)?)|"
    rf"(?P<low>{_NUMBER}) to (?P<high>{_NUMBER})|(?P<fails>fails))"
)


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
        *("metrics", "sweep", "published", "conclusion", "note", "simulated_mib", "cpus", "nodes"),
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
    needs = {key: table.integer(key, 1, MOST, 1) for key in ("cpus", "nodes")}
    return replace(
        bare,
        published=tuple(row for one in tables for row in _published(one, bare)),
        conclusions=tuple(_conclusion(one, bare, needs) for one in table.tables("conclusion")),
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


def _conclusion(
    table: TomlTable, evaluation: ThesisEvaluation, needs: Mapping[str, int]
) -> Conclusion:
    table.only("source", "words", "claims", "asks", "cpus", "nodes", "cannot")
    claims = table.texts("claims", _CLAIM, CLAIM)
    cannot = table.text("cannot", _WORDS, "why nothing here can test it", "")
    if bool(claims) == bool(cannot):
        table.fail("cannot", cannot or None, "either claims, or why there are none")
    cpus, nodes = (table.integer(key, 1, MOST, least) for key, least in needs.items())
    return Conclusion(
        table.text("source", _WORDS, "where the source says it"),
        table.text("words", _WORDS, "what the source says"),
        tuple(claim for one in claims for claim in _claims(one, table, evaluation)),
        table.choice("asks", QUANTIFIERS, "all"),
        cpus,
        nodes,
        cannot,
    )


def _claims(text: str, table: TomlTable, evaluation: ThesisEvaluation) -> Iterator[ThesisClaim]:
    found = _CLAIM.fullmatch(text)
    assert found
    shared: dict[str, list[str]] = {"metric": [], "program": [], "contender": [], "workers": []}
    for word in found["shared"].split(", ") if found["shared"] else ():
        shared[_kind(word, table, evaluation)].append(word)
    low, high = float(found["least"] or found["low"] or 0), found["most"] or found["high"]
    if found["within"]:
        low, high = 1 / float(found["within"]), found["within"]
    for program in shared["program"] or evaluation.programs:
        for count in shared["workers"] or (None,):
            workers = int(count.partition(" ")[0]) if count else None
            each = RatioSide(program, (shared["contender"] or [""])[0], workers)
            above, below = (
                tuple(_side(one, each, table, evaluation) for one in side.split(" * "))
                for side in (found["above"] or "each", found["below"] or "each")
            )
            if found["fails"]:
                yield Fails(each)
                continue
            metric = (shared["metric"] or evaluation.metrics)[0]
            below = below if found["below"] else ()
            yield Ratio(metric, above, below, low, float(high or INFINITY))


def _kind(word: str, table: TomlTable, evaluation: ThesisEvaluation) -> str:
    """What a word of a claim is."""
    kinds = {
        "metric": evaluation.metrics,
        "program": evaluation.programs,
        "contender": tuple(one.name for one in evaluation.contenders),
    }
    if re.fullmatch(r"[1-9]\d{0,8} workers?", word):
        return "workers"
    found = [kind for kind, names in kinds.items() if word in names]
    if not found:
        table.fail("claims", word, ", ".join(name for names in kinds.values() for name in names))
    return found[0]


def _side(text: str, each: RatioSide, table: TomlTable, evaluation: ThesisEvaluation) -> RatioSide:
    name, _, workers = text.partition(" with ")
    kind = "" if name == "each" else _kind(name, table, evaluation)
    side = RatioSide(
        name if kind == "program" else each.program,
        name if kind == "contender" else each.contender,
        int(workers) if workers.isdecimal() else each.workers,
    )
    if kind in ("metric", "workers") or not side.contender or (workers and not side.workers):
        table.fail("claims", text, "a program or contender, one of them before the colon, or each")
    return side


def _known(table: TomlTable, key: str, names: Iterable[str], known: Iterable[str]) -> None:
    there = tuple(known)
    for name in names:
        if name not in there:
            table.fail(key, name, ", ".join(there))


EVALUATIONS = tuple(one for name in SOURCES for one in load(DIRECTORY / f"{name}.toml"))
