#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Fill the measured tables of the laboratory's pages: Documentation/tables.py [RESULTS]

`fastlab.report.measured_pages` describes the form of a table in a page. Its kind is a function of
measured/; its experiment a directory of RESULTS (default: results) with the summary.json of
`fast run`, the trust.json of `fast trust`, the costs.json of `fast bench overhead` or all
try-*.json of `fast try --json`. A table without complete results is left as it is, and named. Read
the sentences around a table again when it has changed. README's picture, images/demo.svg, is the
one in the report of the experiment demo.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

PAGES = Path(__file__).resolve().parent
sys.path.insert(0, str(PAGES.parent / "scripts"))  # where fastlab is not installed

from measured import commands, experiments  # noqa: E402

from fastlab.base.model import FastError  # noqa: E402
from fastlab.report import measured_pages  # noqa: E402
from fastlab.report.measured_pages import Results  # noqa: E402

DOCUMENTS = ("summary.json", "trust.json", "costs.json")
KINDS = measured_pages.named(
    experiments.times,
    experiments.gains,
    measured_pages.improvements,
    experiments.regrets,
    experiments.standings,
    experiments.latencies,
    experiments.depths,
    experiments.depth_losses,
    experiments.cost_of_off,
    experiments.along,
    experiments.mean_regret_by_axis,
    experiments.splash,
    commands.costs,
    commands.trials,
    commands.predictions,
)


def load(results: Path, experiment: str) -> Results | None:
    """The results of an experiment or a command; a trial has the name of its file."""
    directory = results / experiment
    trials = [
        {"name": path.stem.removeprefix("try-"), **measured_pages.read(path)}
        for path in sorted(directory.glob("try-*.json"))
    ]
    if trials:
        return Results({"trials": trials})
    return measured_pages.first_of(directory, DOCUMENTS)


def main() -> int:
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    try:
        print("\n".join(measured_pages.fill(PAGES, KINDS, partial(load, results))))
    except FastError as error:
        print(error, file=sys.stderr)
        return 2
    picture = results / "demo/regret.svg"
    if picture.exists():
        # README's: of the same results as the tables.
        shutil.copyfile(picture, PAGES / "images/demo.svg")
        print("wrote images/demo.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
