# SPDX-License-Identifier: GPL-2.0
"""`fast bench runtime`: the runtime beside its peers."""

from __future__ import annotations

import argparse

from fastlab.base.model import FastError
from fastlab.base.progress import Reporter
from fastlab.cli.common import Commands, check_writable, project
from fastlab.cli.options import counts, number, only, path
from fastlab.guest import meson
from intervals_bench import peers
from intervals_bench.cli.rounds import compare
from intervals_bench.programs import BENCHMARKS


def add_peers(what: Commands) -> None:
    runtime = what.add_parser(
        "runtime",
        help="measure the intervals runtime beside its peers",
        description="Measure the intervals runtime and its installed peers, "
        "in turn, and compare them.",
    )
    runtime.set_defaults(command=_bench_runtime)
    for option, known in (("--only", peers.BENCHMARKS), ("--runtimes", peers.RUNTIMES)):
        only(runtime, known, option)
    runtime.add_argument(
        "--workers",
        type=counts,
        metavar="N,...",
        default=(),
        help="numbers of workers (default: 1, 2, 4, ... up to the CPUs of this machine)",
    )
    for peer in ("lace", "libfork"):
        path(runtime, f"--{peer}", f"a checkout of {peer}, to be a peer", "PATH")

    number(
        runtime, "--rounds", "how often each program is run (default: %(default)s)", peers.ROUNDS
    )
    path(runtime, "--json", "write the rows to FILE too")


def _bench_runtime(arguments: argparse.Namespace, reporter: Reporter) -> int:
    request = peers.PeerRequest(
        arguments.only, arguments.runtimes, arguments.workers, arguments.rounds
    )
    check_writable(arguments.json)
    for peer, given in (("lace", arguments.lace), ("libfork", arguments.libfork)):
        if given and not given.is_dir():
            raise FastError(f"--{peer} {given}: no such directory; name a checkout of {peer}")
    options = [
        f"-Dintervals:{peer}={given.resolve() if given else ''}"
        for peer, given in (("lace", arguments.lace), ("libfork", arguments.libfork))
    ]
    build = meson.build_benchmarks(project(), options, reporter, BENCHMARKS)
    session = peers.PeerSession(request, peers.find_programs(build))
    return compare(session, peers.table, peers.record, peers.failures, arguments.json, reporter)
