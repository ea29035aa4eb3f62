#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Fill the measured tables of the runtime's pages: python Documentation/tables.py [RESULTS]

`fastlab.report.measured_pages`, of the installed package fastlab, describes the form of a table in
a page. Its kind is a function of kinds.py; its experiment a directory of RESULTS (default: results)
with the theses.json of `fast bench theses`, the stealing.json, runtime.json or openmp.json that
`fast bench stealing|runtime|openmp --json` writes, or the summary.json of `fast run`. A table
without complete results is left as it is, and named. Read the sentences around a table again when
it has changed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import kinds

from fastlab.base.model import FastError
from fastlab.report import measured_pages
from fastlab.report.measured_pages import Results

PAGES = Path(__file__).resolve().parent
DOCUMENTS = (
    *("summary.json", "theses.json", "stealing.json", "runtime.json", "openmp.json", "spin.json"),
)
KINDS = measured_pages.named(
    kinds.runtimes,
    kinds.openmp,
    kinds.spin,
    kinds.steal_misses,
    kinds.steal_nodes,
    measured_pages.improvements,
    kinds.contenders,
    kinds.transposed,
    kinds.metrics,
    kinds.published,
    kinds.verdicts,
)


def main() -> int:
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results")

    def load(experiment: str) -> Results | None:
        return measured_pages.first_of(results / experiment, DOCUMENTS)

    try:
        print("\n".join(measured_pages.fill(PAGES, KINDS, load)))
    except FastError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
