# SPDX-License-Identifier: GPL-2.0
"""`fast bench runtime` and `fast bench splash`: ours beside others."""

from __future__ import annotations

import argparse

from fastlab.base.model import FastError
from fastlab.base.progress import Reporter
from fastlab.bench import peers
from fastlab.cli.common import Commands, check_writable, complain_of, keep, project, show
from fastlab.cli.options import counts, number, only, path, threads
from fastlab.cli.rounds import compare, measure, own_command
from fastlab.cli.splash import add_tree
from fastlab.guest import meson
from fastlab.splash import driver, programs, side_by_side


def add_peers(what: Commands) -> None:
    """Those that measure what is ours beside what is not."""
    runtime = what.add_parser(
        "runtime",
        help="measure the intervals runtime beside its peers",
        description="Measure the intervals runtime beside those of its peers that are installed, "
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

    original = what.add_parser(
        "splash",
        help="measure the SPLASH-2 programs beside those of an original tree",
        description="Measure the SPLASH-2 programs beside those of an original tree with the same "
        "work, in turn, and compare them.",
    )
    original.set_defaults(command=_bench_splash)
    add_tree(original)
    only(original, programs.NAMES, default=())
    threads(original, side_by_side.THREADS)

    for one, rounds in ((runtime, peers.ROUNDS), (original, side_by_side.ROUNDS)):
        number(one, "--rounds", "how often each program is run (default: %(default)s)", rounds)
        path(one, "--json", "write the rows to FILE too")


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
    build = meson.build_benchmarks(project(), options, reporter)
    session = peers.PeerSession(request, peers.find_programs(build))
    return compare(session, peers.table, peers.record, peers.failures, arguments.json, reporter)


def _bench_splash(arguments: argparse.Namespace, reporter: Reporter) -> int:
    check_writable(arguments.json)
    request = driver.TreeRequest(
        root=arguments.tree,
        project=project(),
        programs=arguments.only,
        threads=arguments.threads,
        timeout=side_by_side.TIMEOUT,
    )
    with driver.prepared(request, reporter) as (tree, built):
        build = meson.build_programs(request.project, reporter)
        session = side_by_side.SplashSession(request, arguments.rounds, tree, built, build)

        def tell() -> None:
            rows = session.rows()
            show([side_by_side.table(rows)])
            document = side_by_side.document(rows, own_command(), request, arguments.rounds)
            keep(arguments.json, document)

        measure(session, tell, reporter)
    where = f"these have no ratio (what was said is in {driver.output_directory(request)}):"
    return complain_of(where, side_by_side.failures(session.rows()))
