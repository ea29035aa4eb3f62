# SPDX-License-Identifier: GPL-2.0
"""The cache of kernels: where it is, its lock, and what a disk that is full, or may
not be written to, means.

What is in the cache can be used where it cannot be written to: a kernel that an administrator has
built for all, or the file system of an image. Only what must be made is an error there.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from fastlab.base import checksums
from fastlab.base.model import FastError
from fastlab.base.progress import Reporter

# What a write fails with where it is not allowed.
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def cache_dir() -> Path:
    """$FAST_CACHE, or `fast` in the user's cache directory. It need not exist yet."""
    if given := os.environ.get("FAST_CACHE"):
        return Path(given).absolute()
    # A relative one is to be ignored (XDG Base Directory Specification).
    if (given := os.environ.get("XDG_CACHE_HOME")) and Path(given).is_absolute():
        return Path(given) / "fast"
    try:
        return Path.home() / ".cache" / "fast"
    except RuntimeError as error:
        raise FastError("no home directory: set FAST_CACHE to a directory for the cache") from error


@contextmanager
def locked(path: Path, reporter: Reporter) -> Iterator[None]:
    """Hold the lock file `path`, across processes; waits, and says so, while another holds it.

    The kernel drops the lock with the process that held it, however that ends; and what that had
    started so that it inherits descriptors, as make and run_group()'s programs: they may outlive a
    killed one. Where the file is not there and cannot be made, nothing is being made either: there
    is no lock to be had, and none is needed.
    """
    with _lock_file(path) as file:
        if file is None:
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            reporter.say(f"somebody is at work here, waiting for the end of it ({path})")
            fcntl.flock(file, fcntl.LOCK_EX)
        os.set_inheritable(file.fileno(), True)
        try:
            yield
        finally:
            # Whoever still has it is not at work here.
            fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def _lock_file(path: Path) -> Iterator[TextIO | None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise
        try:
            # It can be locked all the same.
            file = path.open()
        except OSError:
            yield None
            return
    with file:
        yield file


def mark_used(path: Path, now: int | None = None) -> None:
    """Let the path's time say when it was last used: now, or at `now` nanoseconds since the epoch.
    A cache that cannot be written to does without."""
    try:
        now = time.time_ns() if now is None else now
        os.utime(path, ns=(now, now))
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise


def publish(staging: Path, final: Path) -> None:
    """Make the finished directory `staging` appear as `final`, whole or not at all."""
    checksums.seal(staging)
    for file in staging.iterdir():
        with file.open("rb") as content:
            os.fsync(content.fileno())
    if final.exists():
        shutil.rmtree(final)
    staging.rename(final)


def is_whole(final: Path, named: str) -> bool:
    """Is there what publish() made, as it was made? It is told by its file of this name, where it
    has no checksums: an older version has made it."""
    return (final / named).is_file() and not (
        checksums.is_sealed(final) and checksums.damage(final)
    )


def reusable(final: Path, named: str, reporter: Reporter) -> bool:
    """is_whole(), and take it for use. What is damaged is named and thrown away. To be called by
    who holds the lock under which it is made."""
    if not final.is_dir():
        return False
    if is_whole(final, named):
        if not checksums.is_sealed(final) and os.access(final, os.W_OK):
            checksums.seal(final)
        mark_used(final)
        return True
    why = checksums.damage(final)
    reporter.say(f"{final}: {why}: damaged; it is thrown away and made again")
    shutil.rmtree(final)
    return False


# Less than this many bytes free, and a failure is the disk's.
FULL = 1 << 20


def is_full(directory: Path) -> bool:
    """Has the disk under the directory no room left?"""
    return shutil.disk_usage(directory).free < FULL


def check_room(results: Path) -> None:
    """After a run failed: raise FastError if that is because the results' disk is full."""
    if is_full(results):
        raise FastError(
            f"the disk is full under {results}; the rows written are safe. "
            "Make room and run the same command again to go on"
        )


def full_disk(cache: Path) -> FastError:
    """The error that a full disk under the cache is."""
    usage = shutil.disk_usage(cache)
    return FastError(
        f"the disk is full: {usage.free >> 20} MiB are free under {cache}. Free some space there "
        "and run this again (the build goes on where it stopped), or set FAST_CACHE to a "
        "directory on a larger disk"
    )


@contextmanager
def explained_full_disk(directory: Path) -> Iterator[None]:
    """Turn "no space left on device" of this process into a FastError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full_disk(directory) from error
        raise


@contextmanager
def making_in(cache: Path) -> Iterator[None]:
    """As explained_full_disk(), and a cache that cannot be written to is a FastError, too."""
    try:
        with explained_full_disk(cache):
            yield
    except OSError as error:
        if error.errno in READ_ONLY and Path(str(error.filename)).is_relative_to(cache):
            raise FastError(
                f"{error.filename}: {error.strerror}: something must be made that is not in the "
                f"cache {cache}, and the cache cannot be written to. Set FAST_CACHE to a directory "
                "of your own, or have it made by a user who may write there"
            ) from error
        raise
