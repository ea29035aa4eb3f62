# SPDX-License-Identifier: GPL-2.0
"""The guest's console, read while it grows: the words that end a run at once."""

from __future__ import annotations

import re
from pathlib import Path

EXCERPT_LINES = 15

# What Linux prints when it, and not the workload, is in trouble. Every WARNING is trouble: lockdep
# alone has a dozen kinds of them.
ALARM = re.compile(
    r"Kernel panic"
    r"|\bOops\b"
    r"|\bBUG:"
    r"|\bBUG \S+ \("  # the slab allocator's, with the name of the cache
    r"|\bWARNING: "
    r"|\bUBSAN:"
    r"|\bKASAN:"
    r"|\bKCSAN:"
    r"|kernel BUG at"
    r"|INFO: task .* blocked for more than"
    r"|INFO: .*\bstall"
    r"|INFO: trying to register non-static key"
    r"|INFO: lockdep is turned off"
    r"|soft lockup"
    r"|hard LOCKUP"
    r"|Unable to handle"
    r"|general protection fault"
)


class Tail:
    """The lines of a file that another process appends to. Used by one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._rest = b""

    def lines(self) -> list[str]:
        """Those that were completed since the last call; none while there is no file."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                new = file.read()
        except FileNotFoundError:
            return []
        self._offset += len(new)
        *complete, self._rest = (self._rest + new).split(b"\n")
        return [line.decode(errors="replace").rstrip() for line in complete]


class Console:
    """A serial log: what in it says that the kernel is in trouble. Used by one thread."""

    def __init__(self, path: Path) -> None:
        self._tail = Tail(path)
        self._alarmed = False
        self._lines: list[str] = []

    def alarmed(self) -> bool:
        """Does anything in the log, as it is now, say that the kernel is in trouble?"""
        self._read()
        return self._alarmed

    def excerpt(self) -> str:
        """The lines from the first alarm on; without an alarm the log's last lines."""
        self._read()
        return "\n".join(self._lines)

    def _read(self) -> None:
        for line in self._tail.lines():
            if self._alarmed:
                self._lines = [*self._lines, line][:EXCERPT_LINES]
            elif ALARM.search(line):
                self._alarmed = True
                self._lines = [line]
            else:
                self._lines = [*self._lines, line][-EXCERPT_LINES:]
