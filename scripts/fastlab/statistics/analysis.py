# SPDX-License-Identifier: GPL-2.0
"""The findings of a results directory of any backend. Needs no kernel and no VM."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fastlab.base.fast_command import fast_command
from fastlab.base.model import FastError
from fastlab.base.progress import Reporter
from fastlab.plan import plan_file
from fastlab.plan.experiment import load_experiment
from fastlab.plan.paired_plan import Plan, make_dataset
from fastlab.plan.run_log import read_rows
from fastlab.statistics import attributed, paired
from fastlab.statistics.findings import Findings
from fastlab.statistics.simulated import summarise


def analyse(directory: Path, reporter: Reporter) -> Findings:
    """Judge the results by the plan that was kept with them."""
    file = directory / "experiment.toml"
    if not file.is_file():
        raise FastError(
            f"{directory}: not a results directory (it has no {file.name}); "
            f"name one that `{fast_command('run')}` made, such as results/demo"
        )
    rows, warning = read_rows(directory / "runs.jsonl")
    if warning:
        reporter.say(warning)
    plan = plan_file.load(directory)
    if isinstance(plan, Plan):
        return paired.analyse(make_dataset(plan, rows))
    if rows and rows[-1]["backend"] != "sim":
        raise FastError(
            f"{directory / plan_file.NAME}: missing, and without the plan these runs cannot be "
            "judged; "
            "restore it, or make them again in another directory"
        )
    made = plan or plan_file.simulations(load_experiment(file))
    findings = summarise(made, rows)
    if not made.experiment.attribute:
        # An existing attribution belongs to an older experiment.
        return findings
    return replace(findings, attributed=attributed.load(directory, made.builds))
