# SPDX-License-Identifier: GPL-2.0
"""What is in the cache: sizes, ages and damage; and removing entries."""

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

# The directories of the cache, and what is in each. Trees have hard links to their sources' files;
# each file counts for the first directory in this order.
KINDS: Mapping[str, str] = {
    "builds": "kernels",
    "machines": "saved machines",
    "try": "saved machines of programs",
    "schedulers": "sched_ext schedulers",
    "downloads": "downloads",
    "sources": "kernel sources",
    "trees": "kernels under construction",
    "work": "programs of an installed fast",
    "venv": "Python packages of an installed fast",
}
# Kinds whose entries have checksums. Files of the other kinds are replaced as a whole.
SEALED = ("builds", "machines", "try", "schedulers")
DAY = 24 * 3600
# Bytes in a block of stat().
BLOCK = 512
_GONE = ".gone"
# Suffixes of an entry whose build or removal is under way, or was interrupted.
_HALF = (".partial", ".new", _GONE)


@dataclass(frozen=True)
class CacheEntry:
    """`size` is the bytes on the disk that no earlier entry has. `used` is the time of the last
    use, in seconds since the epoch."""

    kind: str
    path: Path
    size: int
    used: float

    @property
    def is_half(self) -> bool:
        """Is the entry incomplete: its build or its removal did not finish?"""
        return self.path.suffix in _HALF


def entries(cache: Path, kinds: Iterable[str] = KINDS) -> Iterator[CacheEntry]:
    """The entries of these kinds, the longest unused first."""
    seen: set[tuple[int, int]] = set()
    for kind in kinds:
        for used, path in sorted(_last_used(cache.glob(f"{kind}/*"))):
            yield CacheEntry(kind, path, _size(path, seen), used)


def _last_used(paths: Iterable[Path]) -> Iterator[tuple[float, Path]]:
    for path in paths:
        # Another process may replace an entry at the same time.
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
    """The status of the path and of everything below it, once for each name."""
    below = (
        Path(directory, name)
        for directory, names, files in os.walk(path)
        for name in (*names, *files)
    )
    for name_below in (path, *below):
        with suppress(FileNotFoundError):
            yield name_below.lstat()


def damaged(entry: CacheEntry) -> str | None:
    """What is wrong with the entry, or "". None: it has no checksums."""
    if entry.kind not in SEALED or not checksums.is_sealed(entry.path):
        return None
    return checksums.damage(entry.path)


def remove(entry: CacheEntry) -> int | None:
    """Remove the entry and return the number of bytes freed. None: the entry is being built or
    written, and stays."""
    with _idle(entry) as idle:
        if not idle:
            return None
        path = entry.path
        gone = path if entry.is_half else path.with_name(f"{path.name}{_GONE}")
        freed = _erase(gone)
        if path.exists():
            # If the removal is interrupted, the name shows that the rest is incomplete.
            path.rename(gone)
            freed += _erase(gone)
        return freed


def _erase(path: Path) -> int:
    """Remove the path if it exists; return the number of bytes freed."""
    freed = _freed_with(path)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return freed


def _freed_with(path: Path) -> int:
    """The bytes that removing the path frees: a file with a name elsewhere stays on the disk."""
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
    """Hold every lock of the entry, or yield False if a process has one. The lock beside the entry
    stays, since a process may be waiting for it. An entry with several builders has locks
    inside."""
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
    """Does the running Python take its packages from this entry?"""
    return entry.path.resolve() == Path(sys.prefix).resolve()


def unused_for(entry: CacheEntry, days: int) -> bool:
    """Was the entry last used at least this many days ago?"""
    return time.time() - entry.used >= days * DAY
