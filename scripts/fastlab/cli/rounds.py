# SPDX-License-Identifier: GPL-2.0
"""Measurements that are made round by round, and shown also when they are interrupted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import Any, Protocol

from fastlab.base.progress import Reporter


class Rounds(Protocol):
    """Measurements, round by round."""

    def run(self, reporter: Reporter) -> None:
        """All rounds."""

    def rows(self) -> Any:
        """What there is so far."""


def measure(session: Rounds, tell: Callable[[], None], reporter: Reporter) -> None:
    """All rounds, and show what they gave; of an interrupted measurement what there is."""
    try:
        session.run(reporter)
    except KeyboardInterrupt:
        # An older file with results is better than a new one without.
        if any(row.runs for row in session.rows()):
            tell()
        raise
    tell()


def own_command() -> str:
    return shlex.join(["fast", *sys.argv[1:]])
