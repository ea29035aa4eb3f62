# SPDX-License-Identifier: GPL-2.0
"""What is in the cache: sizes, ages, damage; and making room."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
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
    "work": "programs of an installed fast",
    "venv": "Python packages of an installed fast",
}
# Others than these are made of files that are replaced whole.
SEALED = ("builds", "machines", "try")
DAY = 24 * 3600
# What stat() counts in.
BLOCK = 512
_GONE = ".gone"
# Half of something: it is being made, or removed, or whoever did that was stopped.
_HALF = (".partial", ".new", _GONE)


@dataclass(frozen=True)
class CacheEntry:
    """`size` is bytes on the disk that no entry before it has, `used` when it was last used or
    made, in seconds since the epoch."""

    kind: str
    path: Path
    size: int
    used: float

    @property
    def is_half(self) -> bool:
        """Was it never finished, or removed but in part?"""
        return self.path.suffix in _HALF


def entries(cache: Path, kinds: Iterable[str] = KINDS) -> Iterator[CacheEntry]:
    """What there is of these kinds, the longest unused first."""
    seen: set[tuple[int, int]] = set()
    for kind in kinds:
        for used, path in sorted(_last_used(cache.glob(f"{kind}/*"))):
            yield CacheEntry(kind, path, _size(path, seen), used)


def _last_used(paths: Iterable[Path]) -> Iterator[tuple[float, Path]]:
    for path in paths:
        # Who uses the cache meanwhile may replace what is in it.
        with suppress(FileNotFoundError):
            if path.suffix != ".lock":
                yield path.stat().st_mtime, path


def _size(path: Path, seen: set[tuple[int, int]]) -> int:
    total = 0
    for status in _all_of(path):
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            total += status.st_blocks * BLOCK
    return total


def _all_of(path: Path) -> Iterator[os.stat_result]:
    """Of the path and all below it, once for each name."""
    below = (
        Path(directory, name)
        for directory, names, files in os.walk(path)
        for name in (*names, *files)
    )
    for name_below in (path, *below):
        with suppress(FileNotFoundError):
            yield name_below.lstat()


def damaged(entry: CacheEntry) -> str | None:
    """What is wrong with it, or ""; None: nobody knows what it should be."""
    if entry.kind not in SEALED or not checksums.is_sealed(entry.path):
        return None
    return checksums.damage(entry.path)


def remove(entry: CacheEntry) -> int | None:
    """Give its room back: so many bytes. None: it is being made or written to now, and stays."""
    with _idle(entry) as idle:
        if not idle:
            return None
        path = entry.path
        gone = path if entry.is_half else path.with_name(f"{path.name}{_GONE}")
        freed = _erase(gone)
        if path.exists():
            # A half of it, if this is stopped on the way, must not be taken for the whole.
            path.rename(gone)
            freed += _erase(gone)
        return freed


def _erase(path: Path) -> int:
    """Remove it, if it is there; the bytes that this gives back."""
    freed = _freed_with(path)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return freed


def _freed_with(path: Path) -> int:
    """Files that have another name elsewhere stay on the disk."""
    everything = list(_all_of(path))
    by_inode = {(status.st_dev, status.st_ino): status for status in everything}
    names = Counter((status.st_dev, status.st_ino) for status in everything)
    return BLOCK * sum(
        status.st_blocks
        for inode, status in by_inode.items()
        if stat.S_ISDIR(status.st_mode) or names[inode] == status.st_nlink
    )


@contextmanager
def _idle(entry: CacheEntry) -> Iterator[bool]:
    """Nobody holds a lock of it meanwhile: one beside it, whose file stays, for somebody may be
    waiting with it; or, of what has several builders, one of those inside."""
    path = entry.path
    beside = path.with_name(f"{path.stem if entry.is_half else path.name}.lock")
    with ExitStack() as held:
        for lock in (beside, *path.rglob("*.lock")):
            if not lock.is_file():
                continue
            try:
                file = held.enter_context(lock.open())
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
        yield True


def runs_this(entry: CacheEntry) -> bool:
    """Does the Python that executes this take its packages from there?"""
    return entry.path.resolve() == Path(sys.prefix).resolve()


def unused_for(entry: CacheEntry, days: int) -> bool:
    """Has nobody used it for so long?"""
    return time.time() - entry.used >= days * DAY
