# SPDX-License-Identifier: GPL-2.0
"""Measurements of benchmark programs, shown and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fastlab.base.progress import Reporter
from fastlab.cli.common import complain_of, keep, show
from fastlab.cli.rounds import measure, own_command
from fastlab.report.tables import Table
from intervals_bench.rounds import RoundSession, document


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
