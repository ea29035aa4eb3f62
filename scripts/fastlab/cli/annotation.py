# SPDX-License-Identifier: GPL-2.0
"""The output of `fast try --annotate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastlab.cli.common import show

if TYPE_CHECKING:
    from fastlab.statistics.attributed import Attributed
    from fastlab.trial.runs import Trial


def directory_of(program: Path) -> Path:
    """The results directory of a program."""
    return Path("results", f"try-{program.name}")


def show_attribution(trial: Trial) -> list[Attributed]:
    """Write the files of an attributed trial, and show its tables."""
    from fastlab.attribution.in_trial import profile_trial
    from fastlab.report.attribution_tables import attribution_tables

    directory = directory_of(trial.path)
    attributed = profile_trial(trial, directory)
    show(attribution_tables(attributed))
    files = ", ".join(f"{variant.variant_name}.callgrind" for variant in attributed)
    print(f"wrote {directory}: {files}; open them in KCachegrind or with callgrind_annotate")
    return attributed
