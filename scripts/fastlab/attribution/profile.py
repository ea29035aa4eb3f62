# SPDX-License-Identifier: GPL-2.0
"""The runs of a workload under each variant, by function and line: files for callgrind's readers,
and the summary of a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastlab.attribution.callgrind import callgrind_text, sum_costs
from fastlab.attribution.names import (
    UNKNOWN,
    CodePlace,
    KernelNames,
    Names,
    ProgramNames,
    is_object,
)
from fastlab.backend.costs import EventCounts, LineUser, MovedLine, RunCosts, Site
from fastlab.base.files import readable, write_files
from fastlab.base.metrics import EVENTS
from fastlab.statistics.attributed import Attributed, FalseSharing, FunctionCost

TOP = 10
# The least share of the stall cycles of a falsely shared line that is reported.
LEAST_STALL_PCT = 1.0
# CPUs that are listed for a line, and ranges of bytes for each CPU.
MOST_USERS = 8
MOST_RANGES = 4
_STALL = list(EVENTS).index("stall_cycles")


@dataclass(frozen=True)
class ProfiledVariant:
    """Runs of a workload under a variant, and their kernel."""

    variant_name: str
    kernel: KernelNames
    runs: Sequence[RunCosts]


def profile(
    workload: str,
    command: Sequence[str],
    program: ProgramNames,
    variants: Sequence[ProfiledVariant],
    directory: Path,
) -> list[Attributed]:
    """Write VARIANT.callgrind for each variant into the directory; returns the summary."""
    _learn(program, variants)
    attributed = []
    for variant in variants:
        names = Names(variant.kernel, program)
        costs = _by_place(names, variant.runs)
        title = f"{workload}: {variant.variant_name}, the sum of {len(variant.runs)} runs"
        text = callgrind_text(title, shlex.join(command), costs)
        write_files(directory, [(f"{variant.variant_name}.callgrind", text)])
        attributed.append(_summary(workload, variant, names, costs))
    return attributed


def _learn(program: ProgramNames, variants: Sequence[ProfiledVariant]) -> None:
    """Look up the source lines of everything that was executed, the costliest first."""
    of_program: dict[int, int] = {}
    of_kernel: dict[int, tuple[KernelNames, dict[int, int]]] = {}
    for variant in variants:
        _, known = of_kernel.setdefault(id(variant.kernel), (variant.kernel, {}))
        for run in variant.runs:
            for site, costs in run.instructions.items():
                if site.kernel or site.program:
                    weights = known if site.kernel else of_program
                    weights[site.address] = weights.get(site.address, 0) + costs[0]
    program.learn(of_program)
    for kernel, weights in of_kernel.values():
        kernel.learn(weights)


def _by_place(names: Names, runs: Iterable[RunCosts]) -> dict[CodePlace, EventCounts]:
    places: dict[Site, CodePlace] = {}
    gathered: dict[CodePlace, list[EventCounts]] = {}
    for run in runs:
        for site, costs in run.instructions.items():
            place = places.get(site) or places.setdefault(site, names.code(site))
            gathered.setdefault(place, []).append(costs)
    return {place: sum_costs(costs) for place, costs in gathered.items()}


def _summary(
    workload: str, variant: ProfiledVariant, names: Names, costs: Mapping[CodePlace, EventCounts]
) -> Attributed:
    totals = sum_costs(costs.values())
    return Attributed(
        variant.variant_name,
        workload,
        len(variant.runs),
        dict(zip(EVENTS, totals, strict=True)),
        _functions(costs),
        _false_sharing(names, variant.runs, totals[_STALL]),
    )


def _functions(costs: Mapping[CodePlace, EventCounts]) -> tuple[FunctionCost, ...]:
    """The functions with most stall cycles."""
    of: dict[tuple[str, str], list[CodePlace]] = {}
    for place in costs:
        of.setdefault(place[:2], []).append(place)
    function_costs = []
    for (binary, function), places in of.items():
        worst = max(places, key=lambda place: (costs[place][_STALL], place))
        file = readable(Path(worst.file).name)
        source = f"{file}:{worst.line}" if worst.file != UNKNOWN else ""
        sums = sum_costs(costs[place] for place in places)
        name = readable(Path(binary).name)
        function_costs.append(
            FunctionCost(function, name, source, dict(zip(EVENTS, sums, strict=True)))
        )
    function_costs.sort(
        key=lambda function_cost: (
            -function_cost.costs["stall_cycles"],
            function_cost.binary,
            function_cost.function,
        )
    )
    return tuple(function_costs[:TOP])


def _false_sharing(names: Names, runs: Sequence[RunCosts], stalls: int) -> tuple[FalseSharing, ...]:
    """Lines that mostly move in vain and cause a relevant share of the stall cycles."""
    of: dict[str, list[tuple[MovedLine, FalseSharing]]] = {}
    for run in runs:
        for line in run.lines:
            told = _told(names, line, run.per_cpu)
            of.setdefault(told.name, []).append((line, told))
    sharings = []
    for name, lines in of.items():
        moves, in_vain, stall = (
            sum(getattr(line, what) for line, _ in lines)
            for what in ("moves", "in_vain", "stall_cycles")
        )
        if 2 * in_vain > moves and stall * 100 >= LEAST_STALL_PCT * stalls:
            # Show the bytes of the worst run.
            _, worst = max(lines, key=lambda pair: pair[0].in_vain)
            sharings.append(FalseSharing(name, moves, in_vain, stall, worst.touched, worst.by))
    sharings.sort(key=lambda sharing: (-sharing.stall_cycles, sharing.name))
    return tuple(sharings[:TOP])


def _told(names: Names, line: MovedLine, per_cpu: Sequence[int]) -> FalseSharing:
    """The line, named by its first used byte: another object may lie before that."""
    used = [bounds for user in line.users for bounds in (*user.stores, *user.loads)]
    name = _data(names, line, min(first for first, _ in used) if used else 0, per_cpu)
    touched = [part for user in line.users for part in _parts(names, line, user, per_cpu)]
    fetching = [
        names.code(line.site._replace(kernel=user.instruction >> 63 != 0, address=user.instruction))
        for user in line.users
        if user.in_vain
    ]
    by = dict.fromkeys(place.function for place in fetching)
    more = len(touched) - MOST_USERS
    shown = [*touched[:MOST_USERS], *([f"and {more} more"] if more > 0 else [])]
    return FalseSharing(name, line.moves, line.in_vain, line.stall_cycles, tuple(shown), tuple(by))


def _parts(names: Names, line: MovedLine, user: LineUser, per_cpu: Sequence[int]) -> Iterable[str]:
    """What a CPU does with which bytes of the line, and the object there."""
    for does, ranges in (("writes", user.stores), ("reads", user.loads)):
        only = [bounds for bounds in ranges if does == "writes" or bounds not in user.stores]
        if only:
            what = _data(names, line, only[0][0], per_cpu)
            told = [str(first) if first == last else f"{first}-{last}" for first, last in only]
            told[MOST_RANGES:] = ["more"] if told[MOST_RANGES:] else []
            named = f" ({what})" if is_object(what) else ""
            yield f"CPU {user.cpu} {does} {', '.join(told)}{named}"


def _data(names: Names, line: MovedLine, offset: int, per_cpu: Sequence[int]) -> str:
    site = line.site._replace(address=line.site.address + offset)
    return names.data(site, per_cpu)
