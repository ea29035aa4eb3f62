# SPDX-License-Identifier: GPL-2.0
"""What `fast try` and `fast ab` share: the options, the runs and how their results are shown."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastlab.base.model import SCHEMA_VERSION, UsageError, Watchdogs
from fastlab.base.progress import Reporter
from fastlab.cli import annotation, program_options, simulated_machine
from fastlab.cli.common import INCOMPLETE, OK, check_directory, check_writable, keep, show
from fastlab.cli.options import number, path, share
from fastlab.trial.machines_compared import opposite_signs
from fastlab.trial.runs import RELEVANT_PCT, Question, Trial, TrialRequest
from fastlab.trial.subject import find_program

if TYPE_CHECKING:
    from fastlab.trial.verdict import TrialVerdict


def add_options(parser: argparse.ArgumentParser) -> None:
    """What is said of the program and the machine, whatever is compared."""
    program_options.add_options(parser)
    simulated_machine.add_options(parser)
    what = "fail if a run takes longer (default: %(default)s)"
    number(parser, "--timeout", what, int(Watchdogs.run), "SECONDS")
    parser.add_argument(
        "--relevant",
        type=share,
        metavar="PERCENT",
        default=RELEVANT_PCT,
        help="report a smaller change of the time as not relevant (default: %(default)g)",
    )
    parser.add_argument(
        "--annotate",
        action="store_true",
        help="also count by function and source line, in the simulation: tables, and files for "
        "KCachegrind in results/try-PROGRAM",
    )
    path(parser, "--json", "write all data to FILE too")


def run_arms(
    arguments: argparse.Namespace, question: Question, usage: str, reporter: Reporter
) -> tuple[list[Trial], int]:
    """Run the program in the arms of the question on each machine, and print the answers; the exit
    status too."""
    from fastlab.trial import in_simulation

    request = request_of(arguments, usage)
    machines = simulated_machine.asked_for(arguments)
    if arguments.annotate and len(machines) > 1:
        raise UsageError("--annotate counts on one machine; leave it out, or give one --preset")
    if arguments.annotate:
        check_directory(annotation.directory_of(find_program(arguments.argv[0], Path.cwd())))
    more = program_options.more_files(arguments)
    request = replace(request, more=more, attribute=arguments.annotate, question=question)
    trials = [
        in_simulation.run(replace(request, machine=machine), reporter) for machine in machines
    ]
    return trials, show_trials(trials, arguments.json)


def request_of(arguments: argparse.Namespace, usage: str) -> TrialRequest:
    if not arguments.argv:
        raise UsageError(f"no program given: {usage}")
    check_writable(arguments.json)
    find_program(arguments.argv[0], Path.cwd())
    return TrialRequest(
        arguments.argv,
        Path.cwd(),
        arguments.timeout,
        vars(arguments).get("backend", "sim"),
        relevant_pct=arguments.relevant,
        given=program_options.given(arguments),
    )


def show_trials(trials: Sequence[Trial], file: Path | None) -> int:
    """Print the results, and write the file of --json. The status is INCOMPLETE if an arm has no
    answer on some machine."""
    from fastlab.trial import verdict

    verdicts = [verdict.judge(trial) for trial in trials]
    presets = [trial.request.machine.preset_name for trial in trials]
    opposite = opposite_signs(dict(zip(presets, verdicts, strict=True)))
    if opposite:
        print(*opposite, "", sep="\n")
    documents = []
    for preset, trial, answers in zip(presets, trials, verdicts, strict=True):
        if len(trials) > 1:
            print(f"On {preset}:")
        documents.append(_show_trial(trial, answers))
    if len(trials) > 1:
        keep(file, {"schema": SCHEMA_VERSION, "opposite": opposite, "trials": documents})
    else:
        keep(file, documents[0])
    missing = any(answer.kind == "not available" for answers in verdicts for answer in answers)
    return INCOMPLETE if missing else OK


def _show_trial(trial: Trial, verdicts: Sequence[TrialVerdict]) -> dict[str, Any]:
    """Print the result, the tables and the doubts. Returns the document of --json."""
    from fastlab.trial import verdict, verdict_tables

    print(
        *(answer.sentence for answer in verdicts), *verdict.remarks(trial, verdicts), "", sep="\n"
    )
    show(verdict_tables.tables(trial))
    for doubt in verdict_tables.doubts(trial):
        print(f"- {doubt}")
    document = verdict_tables.document(trial, verdicts)
    if trial.attributed:
        document["attribution"] = [
            asdict(attributed) for attributed in annotation.show_attribution(trial)
        ]
    return document
