# SPDX-License-Identifier: GPL-2.0
"""Does a server listen? As userspace/guest/server.c asks in the guest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# In /proc/net/tcp, the state TCP_LISTEN; in /proc/net/unix, the flag SO_ACCEPTCON.
LISTENS = "0A"
ACCEPTS = "00010000"


def listens(session: int) -> bool:
    """Does a process of the session listen at a port or socket?"""
    return not _listening().isdisjoint(_sockets(session))


def _listening() -> set[str]:
    """The inodes of all listening sockets."""
    found = set()
    for name in ("tcp", "tcp6"):
        for words in _rows(name):
            if words[3] == LISTENS:
                found.add(words[9])
    for words in _rows("unix"):
        if words[3] == ACCEPTS:
            found.add(words[6])
    return found


def _rows(name: str) -> Iterator[list[str]]:
    try:
        lines = Path("/proc/net", name).read_text(errors="replace").splitlines()
    except OSError:
        return
    yield from (line.split() for line in lines[1:])


def _sockets(session: int) -> Iterator[str]:
    """The inodes of the session's sockets. A process may end meanwhile."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(process.name)) != session:
                continue
            targets = [str(link.readlink()) for link in (process / "fd").iterdir()]
        except OSError:
            continue
        for target in targets:
            if target.startswith("socket:["):
                yield target[len("socket:[") : -1]
