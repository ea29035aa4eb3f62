# SPDX-License-Identifier: GPL-2.0
"""Words of memory that threads wait for, and whether such a word is a lock.

The kernel is told a word and the value that a waiter expects, not what the word means.
Documentation/trace.rst has the rules, and where they err.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

WordKind = Literal["lock", "condition", "waiter", "unwoken"]

# Of enum waits_form in userspace/look/waits.h.
PLAIN, BITSET, REALTIME, PI = 1, 2, 4, 8
# "Taken, and threads wait", in the three-state locks of glibc, musl, Go and Rust.
_CONTENDED = 2
# The states of glibc's read-write lock.
_RWLOCK = (2, 3)
# FUTEX_WAITERS of a robust mutex.
_WAITERS = 0x80000000
# The two words of glibc's condition variable lie in eight bytes.
PAIR = 8


@dataclass(frozen=True)
class Part:
    """What one thread did with a word; `lived_ns` is its recorded time."""

    tid: int
    waits: int
    wakes: int
    wait_ns: int
    lived_ns: int


@dataclass(frozen=True)
class Word:
    """The counts of userspace/look/waits.h. `probe` is the number of the probe that has told the
    lock's address, None if `address` is that of the word."""

    process: int
    address: int
    probe: int | None
    found_taken: int
    forms: int
    waits: int
    wakes: int
    ones: int
    woken: int
    taken: int
    remote: int
    moved: int
    in_vain: int
    handoff_ns: int
    first: int
    last: int
    changes: int
    falls: int
    threads: tuple[Part, ...]

    @cached_property
    def waiters(self) -> frozenset[int]:
        return frozenset(part.tid for part in self.threads if part.waits or part.wait_ns)

    @property
    def pair(self) -> tuple[int, int]:
        return self.process, self.address // PAIR

    @property
    def is_constant(self) -> bool:
        return self.changes == 0


def read_words(document: Mapping[str, Any]) -> list[Word]:
    """Of fast-look's document."""
    return [
        Word(**{**word, "threads": tuple(Part(*part) for part in word["threads"])})
        for word in document["words"]
    ]


def kinds(words: Sequence[Word]) -> list[WordKind]:
    """Of each word."""
    pairs = _pairs(words)
    return [_kind(word, pairs) for word in words]


def _pairs(words: Iterable[Word]) -> Collection[tuple[int, int]]:
    """Where two words beside each other are waited for as glibc's condition variable does it."""
    seen: dict[tuple[int, int], set[int]] = {}
    for word in words:
        if word.forms & BITSET and word.probe is None:
            seen.setdefault(word.pair, set()).add(word.address)
    return {pair for pair, addresses in seen.items() if len(addresses) > 1}


def _kind(word: Word, pairs: Collection[tuple[int, int]]) -> WordKind:
    if word.probe is not None or word.forms & PI:
        return "lock"
    if not word.woken:
        return "unwoken"
    if _is_lock_by_value(word):
        return "lock"
    if _counts(word) or word.pair in pairs:
        return "condition"
    if len(word.waiters) < 2:
        return "waiter"
    return "lock" if _is_taken_in_turn(word) else "condition"


def _is_lock_by_value(word: Word) -> bool:
    if word.waits and word.is_constant and word.first == _CONTENDED:
        return True
    if word.forms & PLAIN:
        return bool(word.first & word.last & _WAITERS)
    return bool(word.forms & REALTIME) and {word.first, word.last} <= set(_RWLOCK)


def _counts(word: Word) -> bool:
    """A counter: each notification makes it greater. A lock's states come again."""
    return word.changes > 1 and word.falls * 8 <= word.changes


def _is_taken_in_turn(word: Word) -> bool:
    """The threads that wait for a lock release it, too."""
    wakes = sum(part.wakes for part in word.threads)
    own = sum(part.wakes for part in word.threads if part.tid in word.waiters)
    return own * 2 >= wakes
