# SPDX-License-Identifier: GPL-2.0
"""The answer of an experiment: on the screen, and as a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fastlab.base.progress import Reporter
from fastlab.cli.common import INCOMPLETE, OK, complain, show
from fastlab.report import forms, tables
from fastlab.statistics.findings import Findings


def finish(directory: Path, reporter: Reporter) -> int:
    """Show what is there, and write the report; the answer is the last thing on the screen."""
    from fastlab.statistics import analysis

    found = analysis.analyse(directory, reporter)
    show_findings(found)
    return write_report(found, directory)


def show_findings(found: Findings) -> None:
    """The answer, the tables, and what belongs beside them."""
    from fastlab.report import contents

    print("\n".join(tables.answers(found)), end="\n\n")
    show(contents.shown(found))
    # What is left out is a table there.
    for line in tables.notes(replace(found, left_out=())):
        print(f"- {line}")


def write_report(found: Findings, directory: Path) -> int:
    from fastlab.report import contents

    paths = contents.write_report(found, directory)
    print(f"wrote {directory}: {', '.join(path.name for path in paths)}")
    print("\n".join(tables.answers(found)))
    print(f"report: {directory / forms.NAMES['html']}")
    return name_left_out(found)


def name_left_out(found: Findings) -> int:
    """Name the runs that say nothing; a comparison without them is not the one asked for."""
    if not found.left_out:
        return OK
    lines = [one.sentence for one in found.left_out]
    return complain("\n  ".join(["runs that are in no comparison:", *lines]), INCOMPLETE)
