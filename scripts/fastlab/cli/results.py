# SPDX-License-Identifier: GPL-2.0
"""`fast compare` and `fast report`: the results of an experiment."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fastlab.base.progress import Reporter
from fastlab.cli.answer import name_left_out, show_answer, show_findings, write_report
from fastlab.cli.commands import HELP
from fastlab.cli.common import BELOW, INCOMPLETE, OK, Commands, complain, complain_of
from fastlab.cli.options import percent
from fastlab.report import answers, forms
from fastlab.statistics.findings import Findings


def add(commands: Commands) -> None:
    for name, command in (("compare", _compare), ("report", _report)):
        what = HELP[name]
        parser = commands.add_parser(name, help=what, description=f"{what.capitalize()}.")
        parser.set_defaults(command=command)
        parser.add_argument("results", type=Path, metavar="RESULTS_DIR")
        if command == _compare:
            parser.add_argument(
                "--format",
                choices=forms.NAMES,
                help="print it in this form (default: tables for a terminal)",
            )
            parser.add_argument(
                "--fail-below",
                type=percent,
                metavar="PERCENT",
                help="fail if the primary metric's improvement is below this anywhere; an "
                "insignificant one counts as 0, so that -5 allows losses of 5 %%",
            )


def _compare(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.report import contents
    from fastlab.statistics import analysis

    findings = analysis.analyse(arguments.results, reporter)
    cases = forms.judged_cases(findings, arguments.fail_below)
    if arguments.format:
        sys.stdout.write(contents.FORMATS[arguments.format](findings, arguments.fail_below))
    else:
        show_findings(findings)
        sys.stdout.flush()
    status = _gate(findings, cases, arguments.fail_below) or name_left_out(findings)
    if not arguments.format:
        show_answer(findings, arguments.results)
    return status


def _gate(findings: Findings, cases: Sequence[forms.Judged], fail_below: float | None) -> int:
    """List the comparisons below the threshold, and those without an answer."""
    if fail_below is None:
        return OK
    if not findings.variants:
        message = f"--fail-below {fail_below:g}: {answers.lead(findings)}"
        cure = "Add a [[variant]] to the experiment file, and run it"
        return complain(f"{message} {cure}", INCOMPLETE)
    bad = [case for case in cases if case.outcome != "passed"]
    lines = [
        f"{case.finding.variant_name}: {case.finding.workload}: {case.message}" for case in bad
    ]
    below = any(case.outcome == "failed" for case in bad)
    return complain_of(f"not at least {fail_below:+g} %:", lines, BELOW if below else INCOMPLETE)


def _report(arguments: argparse.Namespace, reporter: Reporter) -> int:
    from fastlab.statistics import analysis

    return write_report(analysis.analyse(arguments.results, reporter), arguments.results)
