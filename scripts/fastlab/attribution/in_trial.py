# SPDX-License-Identifier: GPL-2.0
"""A trial's runs, by function and line."""

from __future__ import annotations

from pathlib import Path

from fastlab.attribution.names import KernelNames, ProgramNames
from fastlab.attribution.profile import ProfiledVariant, profile
from fastlab.guest.symbols import Symbols, parse_maps
from fastlab.statistics.attributed import Attributed
from fastlab.trial.runs import Trial


def profile_trial(trial: Trial, directory: Path) -> list[Attributed]:
    """Write ARM.callgrind for each arm into the directory; returns the summary."""
    kernels = {kernel.id: KernelNames(kernel) for kernel in trial.kernels.values()}
    # The program's memory has the same layout in all runs.
    symbols = Symbols(parse_maps(trial.attributed[0].maps), trial.path)
    runs = {
        arm.name: [run.costs for run in trial.attributed if run.arm == arm.name]
        for arm in trial.request.question.arms
    }
    variants = [
        ProfiledVariant(arm, kernels[trial.kernels[arm].id], costs)
        for arm, costs in runs.items()
        if costs
    ]
    argv = trial.request.argv
    return profile(trial.path.name, argv, ProgramNames(symbols), variants, directory)
