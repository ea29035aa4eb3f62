# SPDX-License-Identifier: GPL-2.0
"""What a program's threads wait for: words that belong together, with names and shares of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastlab.base.demangle import demangle
from fastlab.guest.symbols import Symbols, parse_maps
from fastlab.look.runtimes import Probe
from fastlab.look.words import Word, WordKind, kinds, read_words


@dataclass(frozen=True)
class Wait:
    """A lock or a condition, or the words of all waiters of a process. Counts are of the recorded
    time; `found_taken` is what a probe saw, 0 without one. `share` is that of its waiters' time in
    which they wait for it."""

    kind: WordKind
    name: str
    what: str
    process: int
    address: int
    words: int
    waiters: int
    found_taken: int
    handoffs: int
    ones: int
    taken: int
    remote: int
    moved: int
    in_vain: int
    handoff_ns: int
    wait_ns: int
    share: float

    @property
    def remote_share(self) -> float:
        """Of the woken threads that are back: on another CPU than their waker."""
        return self.remote / self.taken if self.taken else 0.0

    @property
    def seen_by_fast(self) -> float:
        """The hand-offs to another CPU that FAST would look at."""
        return self.ones * self.remote_share


@dataclass(frozen=True)
class Look:
    """All of one look. `seconds` were recorded, of `elapsed` that it took; `ended` is how the
    program ended otherwise than well, or ""."""

    waits: Sequence[Wait]
    seconds: float
    elapsed: float
    threads: int
    events: int
    lost: int
    ended: str = ""

    def rate(self, count: float) -> float:
        return count / self.seconds if self.seconds else 0.0


def look_of(
    document: Mapping[str, Any], program: Path, probes: Sequence[Probe], ended: str = ""
) -> Look:
    """Of fast-look's document."""
    words = read_words(document)
    symbols = Symbols(parse_maps(document["maps"] or ""), program)
    groups: dict[tuple[WordKind, int, int], list[Word]] = {}
    for word, kind in zip(words, kinds(words), strict=True):
        if kind != "unwoken":
            groups.setdefault((kind, word.process, _place(word, kind)), []).append(word)
    waits = [
        _wait(kind, group, _names(kind, group, symbols, document["process"]), probes)
        for (kind, _, _), group in groups.items()
    ]
    return Look(
        sorted(waits, key=lambda wait: (-wait.wait_ns, wait.address)),
        document["recorded_ns"] / 1e9,
        document["elapsed_ns"] / 1e9,
        document["threads"],
        document["events"],
        document["lost"],
        ended,
    )


def _place(word: Word, kind: WordKind) -> int:
    """What words of a kind belong together: of a lock one, of a condition two."""
    return {"lock": word.address, "condition": word.pair[1]}.get(kind, 0)


def _names(kind: WordKind, group: Sequence[Word], symbols: Symbols, process: int) -> str:
    first = min(group, key=lambda word: word.address)
    if kind == "waiter":
        waiters = len(_waiters(group))
        return "a word of its waiter" if waiters == 1 else f"words of {waiters} waiters"
    if first.process != process:
        return f"in process {first.process}"
    return demangle(symbols.describe(first.address))


def _waiters(group: Iterable[Word]) -> set[int]:
    return {tid for word in group for tid in word.waiters}


def _wait(kind: WordKind, group: Sequence[Word], name: str, probes: Sequence[Probe]) -> Wait:
    lived = {part.tid: part.lived_ns for word in group for part in word.threads}
    waiters = _waiters(group)
    wait_ns = sum(part.wait_ns for word in group for part in word.threads)
    time = sum(lived[tid] for tid in waiters)
    probe = group[0].probe
    return Wait(
        kind,
        name,
        kind if probe is None else probes[probe].function.what,
        group[0].process,
        min(word.address for word in group),
        len(group),
        len(waiters),
        sum(word.found_taken for word in group),
        sum(word.wakes for word in group),
        sum(word.ones for word in group),
        sum(word.taken for word in group),
        sum(word.remote for word in group),
        sum(word.moved for word in group),
        sum(word.in_vain for word in group),
        sum(word.handoff_ns for word in group),
        wait_ns,
        min(wait_ns / time, 1.0) if time else 0.0,
    )
