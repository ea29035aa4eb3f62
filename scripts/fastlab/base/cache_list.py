# SPDX-License-Identifier: GPL-2.0
"""What is in the cache: sizes, ages, damage; and making room."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import checksums

# The directories of the cache, in an order in which none counts what an earlier one has (trees have
# their sources' files by hard links), and what is in each.
KINDS: Mapping[str, str] = {
    "builds": "kernels",
    "machines": "saved machines",
    "try": "saved machines of programs",
    "downloads": "downloads",
    "sources": "kernel sources",
    "trees": "kernels under construction",
}
# Others than these are made of files that are replaced whole.
SEALED = ("builds", "machines", "try")
DAY = 24 * 3600
_BESIDE = (".lock", ".new")


@dataclass(frozen=True)
class CacheEntry:
    """`size` is bytes on the disk that no entry before it has, `used` when it was last used or
    made, in seconds since the epoch."""

    kind: str
    path: Path
    size: int
    used: float


def entries(cache: Path, kinds: Iterable[str] = KINDS) -> Iterator[CacheEntry]:
    """What there is of these kinds, the longest unused first."""
    seen: set[tuple[int, int]] = set()
    for kind in kinds:
        found = [path for path in cache.glob(f"{kind}/*") if path.suffix not in _BESIDE]
        for path in sorted(found, key=lambda path: path.stat().st_mtime):
            yield CacheEntry(kind, path, _size(path, seen), path.stat().st_mtime)


def _size(path: Path, seen: set[tuple[int, int]]) -> int:
    total = 0
    for directory, names, files in os.walk(path):
        for name in (*names, *files):
            total += _blocks(Path(directory, name), seen)
    return total + _blocks(path, seen)


def _blocks(path: Path, seen: set[tuple[int, int]]) -> int:
    try:
        status = path.lstat()
    except FileNotFoundError:
        # Who uses the cache meanwhile may replace what is in it.
        return 0
    if (status.st_dev, status.st_ino) in seen:
        return 0
    seen.add((status.st_dev, status.st_ino))
    return status.st_blocks * 512


def damaged(entry: CacheEntry) -> str | None:
    """What is wrong with it, or ""; None: nobody knows what it should be."""
    if entry.kind not in SEALED or not checksums.is_sealed(entry.path):
        return None
    return checksums.damage(entry.path)


def remove(entry: CacheEntry) -> bool:
    """Give its room back, unless it is being made or written to now."""
    with _idle(entry) as idle:
        if idle and entry.path.is_dir():
            shutil.rmtree(entry.path)
        elif idle:
            entry.path.unlink(missing_ok=True)
    return idle


@contextmanager
def _idle(entry: CacheEntry) -> Iterator[bool]:
    """Nobody holds its lock meanwhile. The lock's file stays: somebody may be waiting with it."""
    own = entry.path / "lock"
    lock = own if own.is_file() else entry.path.with_name(f"{entry.path.name}.lock")
    if not lock.is_file():
        yield True
        return
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def unused_for(entry: CacheEntry, days: int) -> bool:
    """Has nobody used it for so long?"""
    return time.time() - entry.used >= days * DAY
