# SPDX-License-Identifier: GPL-2.0
"""The cache of kernels: its directory, its locks, and errors of a disk that is full or read-only.

A read-only cache can be used: an administrator may have built a kernel for all users, or the cache
may be part of an image. Only what is missing there is an error.
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

# Errors of a write that is not allowed.
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def cache_dir() -> Path:
    """$FAST_CACHE, or `fast` in the user's cache directory. It need not exist yet."""
    if given := os.environ.get("FAST_CACHE"):
        return Path(given).absolute()
    # The XDG Base Directory Specification says to ignore a relative path.
    if (given := os.environ.get("XDG_CACHE_HOME")) and Path(given).is_absolute():
        return Path(given) / "fast"
    try:
        return Path.home() / ".cache" / "fast"
    except RuntimeError as error:
        raise FastError("no home directory: set FAST_CACHE to a directory for the cache") from error


@contextmanager
def locked(path: Path, reporter: Reporter) -> Iterator[None]:
    """Hold the lock file `path`, across processes. If another process holds it, say which one, and
    wait.

    The kernel drops the lock when the last process that has the descriptor ends. Programs that
    inherit descriptors, such as make and those of run_group(), have it too, and may outlive a
    killed parent. If the file does not exist and cannot be created, nothing can be built there
    either, and no lock is needed.
    """
    with _lock_file(path) as file:
        if file is None:
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            reporter.say(f"another fast{_holder(file)} is at work; waiting ({path})")
            fcntl.flock(file, fcntl.LOCK_EX)
        if file.writable():
            file.truncate(0)
            print(os.getpid(), file=file, flush=True)
        os.set_inheritable(file.fileno(), True)
        try:
            yield
        finally:
            # A process that inherited the descriptor builds nothing any more.
            fcntl.flock(file, fcntl.LOCK_UN)


def _holder(file: TextIO) -> str:
    """The process that holds the lock, as it wrote its number into the file."""
    file.seek(0)
    pid = file.read().strip()
    return f" (pid {pid})" if pid.isdigit() else ""


@contextmanager
def _lock_file(path: Path) -> Iterator[TextIO | None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise
        try:
            # A file that is open for reading can be locked as well.
            file = path.open()
        except OSError:
            yield None
            return
    with file:
        yield file


def mark_used(path: Path, now: int | None = None) -> None:
    """Set the path's time to its last use: now, or `now` in nanoseconds since the epoch. A
    read-only cache keeps the old time."""
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
    """Does `final` have what publish() wrote, unchanged? A directory of an older version has no
    checksums; the file `named` shows that it is complete."""
    return (final / named).is_file() and not (
        checksums.is_sealed(final) and checksums.damage(final)
    )


def reusable(final: Path, named: str, reporter: Reporter) -> bool:
    """is_whole(), and mark the directory as used. A damaged directory is reported and removed. The
    caller holds the lock under which the directory is built."""
    if not final.is_dir():
        return False
    if is_whole(final, named):
        if not checksums.is_sealed(final) and os.access(final, os.W_OK):
            checksums.seal(final)
        mark_used(final)
        return True
    why = checksums.damage(final)
    reporter.say(f"{final} is damaged ({why}); removing and building it again")
    shutil.rmtree(final)
    return False


# Bytes. With less free space a failure is taken for a full disk.
FULL = 1 << 20


def is_full(directory: Path) -> bool:
    """Does the disk under the directory have no space left?"""
    return shutil.disk_usage(directory).free < FULL


def check_room(results: Path) -> None:
    """After a failed run: raise FastError if the results' disk is full."""
    if is_full(results):
        raise FastError(
            f"the disk is full under {results}; the rows written are safe. "
            "Make room and run the same command again to go on"
        )


def full_disk(cache: Path) -> FastError:
    """The error of a full disk under the cache."""
    usage = shutil.disk_usage(cache)
    return FastError(
        f"the disk is full: {usage.free >> 20} MiB are free under {cache}. Free some space there "
        "and run this again (the build goes on where it stopped), or set FAST_CACHE to a "
        "directory on a larger disk"
    )


@contextmanager
def explained_full_disk(directory: Path) -> Iterator[None]:
    """Turn this process's "no space left on device" into a FastError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full_disk(directory) from error
        raise


@contextmanager
def making_in(cache: Path) -> Iterator[None]:
    """As explained_full_disk(); a write to a read-only cache is a FastError too."""
    try:
        with explained_full_disk(cache):
            yield
    except OSError as error:
        if error.errno in READ_ONLY and Path(str(error.filename)).is_relative_to(cache):
            raise FastError(
                f"{error.filename}: {error.strerror}: a file is missing from the cache {cache}, "
                "and the cache cannot be written. Set FAST_CACHE to a directory of your own, or "
                "run the command once as a user with write access"
            ) from error
        raise
