# SPDX-License-Identifier: GPL-2.0
"""Measurements that are made round by round, and shown also when they are interrupted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from fastlab.base.progress import Reporter
from fastlab.bench.rounds import RoundSession, document
from fastlab.cli.common import complain_of, keep, show
from fastlab.report.tables import Table


class Rounds(Protocol):
    """Measurements, round by round."""

    def run(self, reporter: Reporter) -> None:
        """All rounds."""

    def rows(self) -> Any:
        """What there is so far."""


def compare(
    session: RoundSession[Any],
    table: Callable[[Sequence[Any]], Table],
    record: Callable[[Any], Mapping[str, Any]],
    failures: Callable[[Sequence[Any]], list[str]],
    file: Path | None,
    reporter: Reporter,
) -> int:
    """All rounds, as a table and, where --json names a `file`, as a record of each row."""

    def tell() -> None:
        rows = session.rows()
        show([table(rows)])
        keep(file, document(map(record, rows), own_command(), session.rounds))

    measure(session, tell, reporter)
    return complain_of("these failed:", failures(session.rows()))


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
