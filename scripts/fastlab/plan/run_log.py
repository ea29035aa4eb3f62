# SPDX-License-Identifier: GPL-2.0
"""runs.jsonl, the raw results: one row per run, appended. A crash loses no finished run."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any, Self, cast

from fastlab.base.fast_command import fast_command
from fastlab.base.model import SCHEMA_VERSION, FastError
from fastlab.plan.row_check import impossible
from fastlab.plan.rows import Row

# What to do about a line that is not a row.
_CURE = "delete the line (its run is then made again) or restore the file"


def read_rows(path: Path) -> tuple[list[Row], str]:
    """The rows of a runs.jsonl, oldest first, and a warning about a dropped last line, or "".

    A last line without a newline was being written when its writer was killed. Any other line that
    is not a row is an error. May be called while another process appends.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FastError(
            f"{path}: cannot be read: {error.strerror}; `{fast_command('run')}` makes it"
        ) from error
    rows, _, warning = _parse(path, data)
    return rows, warning


def _parse(path: Path, data: bytes) -> tuple[list[Row], int, str]:
    """The rows in `data`, the number of bytes of complete rows, and a warning or ""."""
    rows: list[Row] = []
    good = 0
    # The text behind the last newline is empty unless the last row was cut short.
    *lines, torn = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        # RecursionError: thousands of nested brackets.
        except (ValueError, RecursionError) as error:
            raise FastError(f"{path}:{number}: not a row: {error}; {_CURE}") from error
        rows.append(_checked(path, number, row))
        good += len(line) + 1
    dropped = f"{path}:{len(lines) + 1}: the last row was cut short and is dropped; "
    return rows, good, f"{dropped}its run will be made again" if torn else ""


def _checked(path: Path, number: int, row: Any) -> Row:
    if not isinstance(row, dict) or "schema" not in row:
        raise FastError(f"{path}:{number}: not a row: no schema version; {_CURE}")
    if row["schema"] != SCHEMA_VERSION:
        raise FastError(
            f"{path}:{number}: schema version {row['schema']}, this program knows "
            f"{SCHEMA_VERSION}: use the release that wrote it, or another results directory"
        )
    missing = Row.__required_keys__ - row.keys()
    if missing:
        lacks = ", ".join(sorted(missing))
        raise FastError(f"{path}:{number}: not a row: lacks {lacks}; {_CURE}")
    why = impossible(row)
    if why:
        raise FastError(f"{path}:{number}: impossible: {why}; {_CURE}")
    return cast(Row, row)


class RunLog:
    """runs.jsonl, open for appending by one process at a time (a context manager).

    `rows` are the existing rows; `warning` is about a torn last line, which is cut off. Not
    thread-safe.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise FastError(f"{path}: cannot be opened: {error.strerror}") from error
        try:
            self._lock()
            data = path.read_bytes()
            self.rows, good, self.warning = _parse(path, data)
            if good < len(data):
                os.ftruncate(self._fd, good)
        except BaseException:
            os.close(self._fd)
            raise

    @staticmethod
    def begin_anew(directory: Path) -> None:
        """Remove the existing runs."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "runs.jsonl").unlink(missing_ok=True)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FastError(
                f"{self.path}: another `{fast_command('run')}` is writing to it; wait for it or "
                "stop it first"
            ) from error

    def append(self, row: Row) -> None:
        """Append a row and sync it to the disk. After an error the file is unchanged."""
        line = json.dumps(row, sort_keys=True, allow_nan=False).encode() + b"\n"
        before = os.fstat(self._fd).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._fd, line[written:])
            os.fsync(self._fd)
        except BaseException as error:
            os.ftruncate(self._fd, before)
            if isinstance(error, OSError):
                raise FastError(
                    f"{self.path}: cannot be written: {error.strerror}; the {len(self.rows)} rows "
                    "before are safe. Make room and run the same command again to go on"
                ) from error
            raise
        self.rows.append(row)

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
