# SPDX-License-Identifier: GPL-2.0
"""The commands that this package adds to `fast bench`."""

from __future__ import annotations

from fastlab.cli.common import Commands
from intervals_bench.cli.openmp import add_openmp
from intervals_bench.cli.peers import add_peers
from intervals_bench.cli.spin import add_spin
from intervals_bench.cli.stealing import add_stealing
from intervals_bench.cli.testsuite import add_testsuite
from intervals_bench.cli.theses import add_theses


def add(what: Commands) -> None:
    """The plug-in of fastlab.cli.plugins."""
    add_peers(what)
    add_stealing(what)
    add_spin(what)
    add_theses(what)
    add_openmp(what)
    add_testsuite(what)
