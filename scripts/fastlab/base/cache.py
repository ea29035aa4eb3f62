# SPDX-License-Identifier: GPL-2.0
"""The cache of kernels: where it is, who may write to it now, and what a full disk means."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastlab.base import checksums
from fastlab.base.model import FastError
from fastlab.base.progress import Reporter


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
    killed one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
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
        if not checksums.is_sealed(final):
            checksums.seal(final)
        # When it was last used.
        os.utime(final)
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
def explained_full_disk(cache: Path) -> Iterator[None]:
    """Turn "no space left on device" of this process into a FastError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full_disk(cache) from error
        raise
