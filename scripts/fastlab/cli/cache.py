# SPDX-License-Identifier: GPL-2.0
"""`fast cache`: list, verify and remove the results of earlier work."""

from __future__ import annotations

import argparse
import time

from fastlab.base import cache_list
from fastlab.base.cache import cache_dir
from fastlab.base.cache_list import DAY, KINDS, CacheEntry
from fastlab.base.progress import Reporter, steps
from fastlab.cli.commands import HELP
from fastlab.cli.common import ERROR, OK, Commands, complain, show
from fastlab.cli.options import number
from fastlab.report.tables import Cell, Table

HOUR = 3600
KB, MB = 1 << 10, 1 << 20


def add(commands: Commands) -> None:
    parser = commands.add_parser("cache", help=HELP["cache"])
    what = parser.add_subparsers(metavar="COMMAND", required=True)
    listing = what.add_parser("list", help="list the entries with size and age")
    listing.set_defaults(command=_list)
    verify = what.add_parser("verify", help="compare the entries with their checksums")
    verify.set_defaults(command=_verify)
    clean = what.add_parser(
        "clean",
        help="remove entries",
        description="Remove entries of these kinds, except those that are being built and those "
        "that this command itself uses. They are built again when needed. No experiment should "
        "be running.",
    )
    clean.set_defaults(command=_clean)
    clean.add_argument(
        "kinds",
        nargs="+",
        choices=KINDS,
        metavar="KIND",
        help="; ".join(f"{name}: {words}" for name, words in KINDS.items()),
    )
    says = "remove only entries that were not used for this many days"
    number(clean, "--unused-for", says, metavar="DAYS")


def _list(arguments: argparse.Namespace, reporter: Reporter) -> int:
    entries = list(cache_list.entries(cache_dir()))
    rows = [
        [Cell(entry.kind), Cell(entry.path.name), Cell(_size(entry.size)), Cell(_age(entry))]
        for entry in entries
    ]
    print(f"{cache_dir()}: {_size(sum(entry.size for entry in entries))}")
    for kind in KINDS:
        sizes = [entry.size for entry in entries if entry.kind == kind]
        if sizes:
            print(f"  {kind}: {len(sizes)} ({KINDS[kind]}), {_size(sum(sizes))}")
    if rows:
        print()
        show([Table("", ["kind", "name", "size", "last used"], rows, labels=2)])
    return OK


def _verify(arguments: argparse.Namespace, reporter: Reporter) -> int:
    sealed = cache_list.entries(cache_dir(), cache_list.SEALED)
    entries = [entry for entry in sealed if not entry.is_half]
    whole, bad, unknown = 0, [], 0
    for entry in steps(reporter, "verifying", entries, lambda entry: entry.path.name):
        why = cache_list.damaged(entry)
        if why is None:
            unknown += 1
        elif why:
            bad.append(f"{entry.path}: {why}")
        else:
            whole += 1
    older = f", {unknown} without checksums (added on the next use)" if unknown else ""
    print(f"{whole} whole, {len(bad)} damaged{older}")
    lines = ["damaged (each is built again when needed):", *bad]
    return complain("\n  ".join(lines), ERROR) if bad else OK


def _clean(arguments: argparse.Namespace, reporter: Reporter) -> int:
    freed, busy = 0, []
    for entry in cache_list.entries(cache_dir(), arguments.kinds):
        if arguments.unused_for and not cache_list.unused_for(entry, arguments.unused_for):
            continue
        if cache_list.runs_this(entry):
            continue
        room = cache_list.remove(entry)
        if room is None:
            busy.append(str(entry.path))
        else:
            freed += room
            print(f"removed {entry.path}")
    print(f"freed {_size(freed)}")
    lines = ["these are being built, and were kept:", *busy]
    return complain("\n  ".join(lines), ERROR) if busy else OK


def _size(size: int) -> str:
    return f"{size / MB:,.1f} MiB" if size >= MB else f"{size / KB:.0f} KiB"


def _age(entry: CacheEntry) -> str:
    age = max(0.0, time.time() - entry.used)
    if age < HOUR:
        return f"{age / 60:.0f} min ago"
    return f"{age / HOUR:.0f} h ago" if age < 2 * DAY else f"{age / DAY:.0f} days ago"
