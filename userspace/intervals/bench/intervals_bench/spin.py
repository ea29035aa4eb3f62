# SPDX-License-Identifier: GPL-2.0
"""How long a worker of the intervals runtime should search before it sleeps: parallel regions with
a serial gap between them, on simulated machines and on this one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from fastlab.base.model import SCHEMA_VERSION, FastError, Machine
from fastlab.base.progress import Reporter
from fastlab.base.project import PROJECT
from fastlab.bench.bench_machine import BenchMachine, run_each
from fastlab.guest.meson import build_programs
from fastlab.report.tables import Cell, Table
from intervals_bench.programs import HOUSE

PROGRAM = "intervals_search"
HERE = "this machine"
# Booting takes the longer the more CPUs take their turns.
BOOT_SECONDS = 3600.0


@dataclass(frozen=True)
class SpinRequest:
    """What to measure; the defaults are all of it. Times are in microseconds."""

    cpus: Sequence[int] = (4, 16, 64)
    preset: str = "epyc-milan"
    searches: Sequence[int] = (0, 5, 10, 20, 50)
    gaps: Sequence[int] = (2, 10, 30, 100)
    regions: int = 6
    # Of this machine, whose times vary.
    regions_here: int = 500


EVERYTHING = SpinRequest()


@dataclass(frozen=True)
class SpinRow:
    """Regions of one machine: the median time of one, and the mean CPU time of all threads for one
    and its gap."""

    machine: str
    workers: int
    search_us: int
    gap_us: int
    region_ns: int
    cpu_ns: int


def measure(reporter: Reporter, request: SpinRequest) -> list[SpinRow]:
    """The simulated machines' rows are the same for the same sources and tools."""
    rows = []
    for cpus in request.cpus:
        rows += _simulated(reporter, request, cpus)
    return rows + _here(reporter, request)


def _simulated(reporter: Reporter, request: SpinRequest, cpus: int) -> list[SpinRow]:
    place = Machine(cpus=cpus, preset=request.preset)
    machine = BenchMachine(f"bench-spin-{cpus}", place, reporter, (PROGRAM,), BOOT_SECONDS)
    rows: list[SpinRow] = []

    def count(search: int) -> list[SpinRow]:
        argv = [f"/bin/{PROGRAM}", *words(request, cpus, request.regions, [search])]
        outcome = machine.run(argv, machine.toolbox.plugin, str(search))
        return parse(f"{request.preset}, {cpus} CPUs", outcome.output or {})

    run_each(
        (machine,),
        reporter,
        f"regions on {cpus} CPUs",
        request.searches,
        count,
        lambda _, some: rows.extend(some),
    )
    return rows


def _here(reporter: Reporter, request: SpinRequest) -> list[SpinRow]:
    reporter.say("regions on this machine")
    program = build_programs(PROJECT, reporter) / HOUSE / "guest" / PROGRAM
    command = [str(program), *words(request, cpus_here(), request.regions_here, request.searches)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise FastError(f"{program}: status {done.returncode}: {done.stderr.strip()}")
    return parse(HERE, json.loads(done.stdout))


def cpus_here() -> int:
    return len(os.sched_getaffinity(0))


def words(request: SpinRequest, workers: int, regions: int, searches: Sequence[int]) -> list[str]:
    """The program's arguments."""
    lists = (",".join(map(str, some)) for some in (searches, request.gaps))
    return [str(workers), str(regions), *lists]


def parse(machine: str, output: Mapping[str, Any]) -> list[SpinRow]:
    """The rows of the program's JSON line."""
    workers = int(output["workers"])
    names = [one.name for one in fields(SpinRow) if one.name not in ("machine", "workers")]
    return [
        SpinRow(machine, workers, **{name: int(row[name]) for name in names})
        for row in output["rows"]
    ]


def document(rows: Sequence[SpinRow], request: SpinRequest) -> dict[str, Any]:
    """For programs."""
    return {
        "schema": SCHEMA_VERSION,
        "regions": request.regions,
        "regions_here": request.regions_here,
        "rows": [asdict(row) for row in rows],
    }


def tables(rows: Sequence[SpinRow]) -> list[Table]:
    """For people: a column for each time of searching."""
    searches = list(dict.fromkeys(row.search_us for row in rows))
    by_point = {(row.machine, row.gap_us, row.search_us): row for row in rows}
    lines = []
    for machine, gap in dict.fromkeys((row.machine, row.gap_us) for row in rows):
        cells = (by_point[machine, gap, search] for search in searches)
        lines.append(
            [
                Cell(machine),
                Cell(str(gap)),
                *(Cell(shown(row.region_ns, row.cpu_ns)) for row in cells),
            ]
        )
    columns = ["machine", "gap, µs", *(f"search {search} µs" for search in searches)]
    note = (
        "The median time of a region, and the mean CPU time of all threads for one region and its "
        "gap, in microseconds. Each worker has 10 µs of work in a region."
    )
    return [Table("How long a worker searches before it sleeps", columns, lines, note, labels=2)]


def shown(region_ns: int, cpu_ns: int) -> str:
    """Both in microseconds."""
    return f"{region_ns / 1000:.0f} / {cpu_ns / 1000:.0f}"
