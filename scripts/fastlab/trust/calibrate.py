# SPDX-License-Identifier: GPL-2.0
"""A preset of the running machine for the cache model, from measurements of its caches, memory and
hand-offs.

fast-calibrate measures. A figure is the median over the repetitions; its spread is the
interquartile range divided by the median. A figure with too large a spread is reported as noisy,
and is used nevertheless: there is no better one until the machine is idle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from fastlab.base.model import FastError
from fastlab.base.process import ask, ending
from fastlab.guest.initramfs import check_built
from fastlab.plan import presets
from fastlab.report.tables import NOT_AVAILABLE, Cell, Table
from fastlab.statistics.estimates import estimate

# In Meson's build directory.
PROGRAM = "userspace/calibrate/fast-calibrate"
REPEAT = 11
# Half a second each, and a margin for a busy machine.
SECONDS_A_REPETITION = 20.0

LEVELS = ("l1i", "l1d", "l2", "l3")
CHASES = (1, 2, 4, 8, 16)

# Lines that a CPU takes from another at once.
TRANSFERS = 16

# For a cache whose associativity is unknown.
COMMON_WAYS = 8
# Not measured: the reorder buffers of current cores hold 200 to 500 instructions.
ASSUMED_WINDOW = 256
# Of a FUTEX_WAIT whose word is not the expected, with the few of its caller: on this laboratory's
# kernel, counted in the simulation (tests/test_calibration_guest.py counts again). What another
# kernel does more or less counts as its CPI.
WAIT_INSTRUCTIONS = 630
# Of a hand-off on one CPU, from the call of FUTEX_WAKE to its waiter's return, counted in the same
# way: the kernel's instructions, and the cycles of their misses and of the program.
HANDOFF_INSTRUCTIONS = 3065
HANDOFF_CYCLES = 700
# Of the time in which a line goes to another CPU and that one writes it: gaining the right to write
# moves no data.
UPGRADE_PART = 1 / 3
# Where a load takes the line, the wait for its next value takes it back and forth once more.
MIGRATIONS = 2

_NAME = re.compile(r"[a-z0-9_.-]{1,31}")


@dataclass(frozen=True)
class Quantity:
    """The values of each repetition; None for `why_not`. Times are also in `cycles`."""

    unit: str
    values: tuple[float, ...] | None
    cycles: tuple[float, ...] | None
    why_not: str


@dataclass(frozen=True)
class Measurements:
    """The output of fast-calibrate. A cache that the machine does not report is None."""

    cpu: str
    cpus: int
    caches: Mapping[str, Mapping[str, int] | None]
    quantities: Mapping[str, Quantity]

    def cycles(self, name: str) -> float | None:
        """The median in cycles, or None."""
        cycles = self.quantities[name].cycles
        return median(cycles) if cycles else None

    def noisy(self) -> list[str]:
        """The names of the quantities that are."""
        return [
            name
            for name, quantity in self.quantities.items()
            if quantity.values and estimate(quantity.values).noisy
        ]


def measure(build: Path, repeat: int) -> Measurements:
    """Run fast-calibrate of Meson's build directory. Raises FastError with its error output."""
    program = build / PROGRAM
    check_built(build, [program])
    try:
        answer = ask([str(program), "--repeat", str(repeat)], SECONDS_A_REPETITION * repeat)
    except FastError as error:
        raise FastError(f"{program} {error}") from error
    if answer.status:
        raise FastError(f"{program} {ending(answer.status, answer.errors)}")
    try:
        return _calibration(json.loads(answer.output))
    except (ValueError, KeyError, TypeError) as error:
        raise FastError(
            f"{program} printed no calibration ({error!r}); build it again: ninja -C {build}"
        ) from error


def _calibration(document: Mapping[str, Any]) -> Measurements:
    mhz = document["quantities"]["frequency"]["values"]
    return Measurements(
        cpu=document["cpu"],
        cpus=document["cpus"],
        caches={level: document["caches"][level] for level in LEVELS},
        quantities={
            name: Quantity(
                unit=record["unit"],
                values=tuple(record["values"]) if record["values"] else None,
                cycles=_cycles(record, mhz),
                why_not=record["why_not"] or "",
            )
            for name, record in document["quantities"].items()
        },
    )


def _cycles(record: Mapping[str, Any], mhz: Sequence[float]) -> tuple[float, ...] | None:
    """By the frequency of the same repetition."""
    if not record["values"] or not record["unit"].startswith("ns"):
        return None
    return tuple(ns * rate / 1e3 for ns, rate in zip(record["values"], mhz, strict=True))


def table(calibration: Measurements) -> Table:
    """For people: a line for each quantity."""
    name = calibration.cpu or "this machine"
    note = (
        "Spread: interquartile range by median, over the repetitions. refused_wait: a FUTEX_WAIT "
        "that returns at once. chases_N: N independent loads at the same time. transfer: a line "
        "that another CPU has written, half a round trip, under the same last-level cache (near) "
        "or another (far). transfers_N: N such lines at the same time. interrupt: until a busy "
        "CPU's answer. handoff: from FUTEX_WAKE to the waiter's return; the other CPU was idle for "
        "2 us, the idle one for 1 ms."
    )
    return Table(
        f"{name}, {calibration.cpus} CPUs",
        ("quantity", "unit", "verdict", "median", "cycles", "spread"),
        [_line(name, quantity, calibration) for name, quantity in calibration.quantities.items()],
        note,
        labels=3,
    )


def _line(name: str, quantity: Quantity, calibration: Measurements) -> list[Cell]:
    if not quantity.values:
        reason = Cell(quantity.why_not, tone="aside")
        return [Cell(name), Cell(quantity.unit), reason, *[Cell(NOT_AVAILABLE, tone="aside")] * 3]
    measured, cycles = estimate(quantity.values), calibration.cycles(name)
    return [
        Cell(name),
        Cell(quantity.unit),
        Cell("too noisy", tone="loss") if measured.noisy else Cell("ok"),
        Cell(_number(measured.median)),
        Cell("" if cycles is None else _number(cycles)),
        Cell(f"{100 * measured.spread:.0f} %", tone="loss" if measured.noisy else ""),
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def preset_name(path: Path) -> str:
    """The name of a preset in this file. Raises FastError where a preset cannot be called so."""
    if path.suffix != ".toml" or not _NAME.fullmatch(path.stem):
        raise FastError(
            f"{path}: a preset's file is its name and .toml; allowed: up to 31 small letters, "
            "digits, '-', '_' and '.', such as my-machine.toml"
        )
    if path.stem in presets.names():
        raise FastError(f"{path}: {path.stem} is a built-in preset's name: use another")
    return path.stem


def preset_text(calibration: Measurements, name: str, date: str) -> str:
    """The preset's file. Raises FastError where the model needs what the machine does not tell."""
    lines = [
        "# SPDX-License-Identifier: GPL-2.0",
        f"# {calibration.cpu or 'This machine'}, {calibration.cpus} CPUs, measured on {date}",
        "# by `fast calibrate`. Medians, and the interquartile range by the median:",
        *_remarks(calibration),
        f'name = "{name}"',
        *_values(_core(calibration)),
        "",
        *_geometry(calibration),
        "",
        *_values(_latencies(calibration)),
    ]
    return "\n".join(lines) + "\n"


def _remarks(calibration: Measurements) -> list[str]:
    """What was measured, in comments."""
    remarks = []
    for name, quantity in calibration.quantities.items():
        if not quantity.values:
            remarks.append(f"#   {name}: not available: {quantity.why_not}")
            continue
        measured, cycles = estimate(quantity.values), calibration.cycles(name)
        remark = f"#   {name}: {_number(measured.median)} {quantity.unit}"
        remark += "" if cycles is None else f", {_number(cycles)} cycles"
        remarks.append(f"{remark}, {100 * measured.spread:.0f} %{' (too noisy)' * measured.noisy}")
    return remarks


# A value, and where it is from.
_Values = Mapping[str, tuple[int, str]]


def _values(values: _Values) -> list[str]:
    width = max(len(f"{key} = {value}") for key, (value, _) in values.items())
    return [f"{f'{key} = {value}':{width}}  # {why}" for key, (value, why) in values.items()]


def _core(calibration: Measurements) -> _Values:
    mhz, cpi = (_needed(calibration, name, False) for name in ("frequency", "cpi"))
    chases = [calibration.cycles(f"chases_{count}") for count in CHASES]
    alone, known = chases[0], [cycles for cycles in chases if cycles]
    l3 = calibration.caches["l3"] or {}
    return {
        "mhz": (_whole(mhz, 1), "frequency"),
        "cpi": (_whole(100 * cpi, 1), "hundredths of a cycle"),
        "kernel_cpi": (
            _whole(100 * _kernel_cpi(calibration), 1),
            f"refused_wait / {WAIT_INSTRUCTIONS} instructions",
        ),
        "pause": (_whole(_needed(calibration, "pause"), presets.LEAST_PAUSE), "pause"),
        "overlap": (
            (_whole(alone / min(known), 1), "chases_1 by the best")
            if alone
            else (1, "not available")
        ),
        "overlap_window": (ASSUMED_WINDOW, "assumed: the reorder buffer of a current core"),
        "clusters": (0, "its L3s have"),
        "cluster_cpus": (min(max(l3.get("cpus", 1), 1), presets.MAX_CPUS), "CPUs each"),
    }


def _kernel_cpi(calibration: Measurements) -> float:
    measured = _needed(calibration, "refused_wait") / WAIT_INSTRUCTIONS
    return max(measured, _needed(calibration, "cpi", in_cycles=False))


def _latencies(calibration: Measurements) -> _Values:
    """The cycles that an event adds to the levels before it."""
    l1, l2, memory = (_needed(calibration, f"latency_{level}") for level in ("l1", "l2", "memory"))
    # Without one of its own, an L3 that is hardly larger than the L2 answers as that does.
    l3 = calibration.cycles("latency_l3") or l2
    far, same = calibration.cycles("transfer_far"), calibration.cycles("handoff_same_cpu")
    other = calibration.cycles("handoff_other_cpu")
    interrupt, near = calibration.cycles("interrupt"), calibration.cycles("transfer_near")
    one, many = calibration.cycles("transfers_1"), calibration.cycles(f"transfers_{TRANSFERS}")
    answer = near or far or 0
    migratory = _is_migratory(calibration)
    part = 1 / MIGRATIONS if migratory else 1 - UPGRADE_PART
    words = "half" if migratory else "two thirds"
    return {
        "latency.l2": (_whole(l2 - l1), "latency_l2 - latency_l1"),
        "latency.l3": (_whole(l3 - l2), "latency_l3 - latency_l2"),
        "latency.transfer": (
            (_whole(near * part - l3), f"{words} of transfer_near, - latency_l3")
            if near
            else (0, "not available")
        ),
        "latency.next_transfer": (
            (_whole((many - one) / (TRANSFERS - 1)), "(transfers_16 - transfers_1) / 15")
            if one and many
            else (0, "not available")
        ),
        "latency.memory": (_whole(memory - l3), "latency_memory - latency_l3"),
        "latency.remote_memory": (_whole(memory - l3), "as memory: one node is measured"),
        "latency.cache_to_cache": (
            (_whole(far * part - l3), f"{words} of transfer_far, - latency_l3")
            if far
            else (_whole(memory - l3), "as memory: all CPUs have one L3")
        ),
        "latency.upgrade": (
            (_whole(far * UPGRADE_PART), "a third of transfer_far")
            if far
            else (_whole(memory - l3), "as memory: all CPUs have one L3")
        ),
        "bus": (0, "not measured: lines do not wait for each other"),
        "context_switch": (
            (
                _whole(same - HANDOFF_INSTRUCTIONS * _kernel_cpi(calibration) - HANDOFF_CYCLES),
                f"handoff_same_cpu, without {HANDOFF_INSTRUCTIONS:,} instructions of the kernel",
            )
            if same
            else (0, "not available")
        ),
        "wakeup": (
            (_whole(other - same), "handoff_other_cpu - handoff_same_cpu")
            if other and same
            else (0, "not available")
        ),
        "interrupt": (
            (_whole(interrupt - answer), "interrupt, without its answer's transfer")
            if interrupt
            else (0, "not available")
        ),
    }


def _geometry(calibration: Measurements) -> list[str]:
    lines = []
    for level in LEVELS:
        cache = calibration.caches[level]
        if not cache:
            raise FastError(
                f"no preset can be written: this machine does not report its {level}, "
                "which the cache model needs; look with lstopo, or on the host of a virtual machine"
            )
        ways, line, size = _sets(cache)
        lines += [f"{level}.size = {size}", f"{level}.ways = {ways}", f"{level}.line = {line}"]
        lines += [f'{level}.replacement = "lru"']
        lines += ['l1d.write = "back"'] if level == "l1d" else []
    return [*lines, "l3.shared = true", _migration(calibration)]


def _is_migratory(calibration: Measurements) -> bool:
    """Does a load take a line from the CPU that has written it? Then that one has no copy left."""
    reload, l2 = calibration.cycles("reload"), _needed(calibration, "latency_l2")
    return reload is not None and reload > l2


def _migration(calibration: Measurements) -> str:
    if calibration.cycles("reload") is None:
        return "migratory = false  # not available"
    if _is_migratory(calibration):
        return "migratory = true  # reload is longer than latency_l2"
    return "migratory = false  # reload is no longer than latency_l2"


def _sets(cache: Mapping[str, int]) -> tuple[int, int, int]:
    """Ways, line and size for the model, whose number of sets is a power of two; the ways make up
    the rest. A cache that is fully associative or of unknown associativity gets the common
    number."""
    line = cache["line"] or 64
    ways = cache["ways"] if cache["ways"] > 0 else COMMON_WAYS
    sets = 1 << max((cache["size"] // (ways * line)).bit_length() - 1, 0)
    ways = cache["size"] // (sets * line)
    return ways, line, sets * ways * line


def _needed(calibration: Measurements, name: str, in_cycles: bool = True) -> float:
    quantity = calibration.quantities[name]
    values = quantity.cycles if in_cycles else quantity.values
    if not values:
        raise FastError(f"no preset can be written: {name} is not available: {quantity.why_not}")
    return median(values)


def _whole(value: float, least: int = 0) -> int:
    return max(round(value), least)
