# SPDX-License-Identifier: GPL-2.0
"""The result of an experiment: on the screen, and as a report."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fastlab.base.fast_command import fast_command
from fastlab.base.progress import Reporter
from fastlab.cli.common import INCOMPLETE, complain, complain_of, show
from fastlab.report import answers, forms, tables
from fastlab.statistics.findings import Findings, LeftOut

# Missing runs of an arm that are listed one by one.
NAMED = 3


def say(sentence: str) -> None:
    """Print a sentence to stdout. On a terminal no word is broken."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        sentence = textwrap.fill(sentence, width, break_long_words=False, break_on_hyphens=False)
    print(sentence)


def finish(directory: Path, reporter: Reporter, next_step: str = "") -> int:
    """Show the results, write the report, and print the next step, if any."""
    from fastlab.statistics import analysis

    findings = analysis.analyse(directory, reporter)
    show_findings(findings)
    return write_report(findings, directory, next_step)


def show_findings(findings: Findings) -> None:
    """Print the result, the tables, and the notes on them."""
    from fastlab.report import contents

    for sentence in answers.answers(findings):
        say(sentence)
    print()
    show(contents.shown(findings))
    # The runs left out are in a table.
    for line in tables.notes(replace(findings, left_out=())):
        print(f"- {line}")


def write_report(findings: Findings, directory: Path, next_step: str = "") -> int:
    from fastlab.report import contents

    paths = contents.write_report(findings, directory)
    print(f"wrote {directory}: {', '.join(path.name for path in paths)}", flush=True)
    status = name_left_out(findings)
    if next_step:
        complain(next_step, status)
    show_answer(findings, directory)
    return status


def show_answer(findings: Findings, directory: Path) -> None:
    """Print the result again, last: a reader need not scroll up past the tables."""
    say(answers.lead(findings))
    report = directory / forms.NAMES["html"]
    where = f"`{fast_command('report', str(directory))}` writes it"
    print(f"report: {report if report.exists() else where}")


def name_left_out(findings: Findings) -> int:
    """List the runs that are in no comparison. With such runs the comparison is incomplete."""
    lines = [*_sentences(findings.left_out)]
    return complain_of("runs that are in no comparison:", lines, INCOMPLETE)


def _sentences(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """A sentence for each run, but no more than NAMED for the missing runs of an arm: an
    interrupted experiment has hundreds."""
    missing: Counter[str] = Counter()
    for run in left_out:
        missing[run.variant_name] += run.status == "missing"
        if run.status != "missing" or missing[run.variant_name] <= NAMED:
            yield run.sentence
    for arm, count in missing.items():
        if count > NAMED:
            yield f"{arm}: missing: {count} runs in all; the report lists them"
