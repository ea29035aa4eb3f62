# SPDX-License-Identifier: GPL-2.0
"""The locks of a simulated run from the plugin's futexes, with names that are equal in the next
run, where addresses may differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from fastlab.guest.call_chain import Stopped, call_site, caller_line
from fastlab.guest.symbols import MemoryMapping, Symbols
from fastlab.plan.rows import RunLock, Spans

# Locks of a run that are kept: those with most hand-offs.
KEPT = 16
# What lies above a heap is mapped: stacks, and large objects.
_HEAP_END = 1 << 46
_COUNTS = ("wakes", "handoffs", "left", "local", "remote", "moved")
_SPANS = ("handoff", "hold_local", "hold_remote", "outside")


def heap_maps(begin: int | None) -> list[MemoryMapping]:
    """The mapping of the heap, if the plugin reports its beginning."""
    return [] if begin is None else [MemoryMapping(begin, _HEAP_END, "rw-p", 0, "[heap]")]


def locks_of(document: Mapping[str, Any], symbols: Symbols) -> list[RunLock]:
    """The program's locks, those with most hand-offs first. Futexes without a lasting place are one
    lock if the same functions take them."""
    calls = document.get("call_sites", [])
    sites = _sites(calls, symbols)
    allocated = _allocations(calls, symbols)
    locks: dict[str, RunLock] = {}
    for futex in document.get("futexes", []):
        if not futex["program"] or not futex["handoffs"]:
            continue
        taken, released = (
            sites.get((futex["address"], releases), []) for releases in (False, True)
        )
        name = symbols.describe(futex["address"])
        functions = [] if symbols.is_lasting(futex["address"]) else sorted({*taken, *released})
        name = ", ".join([name, *functions])
        lock = locks.setdefault(name, _new(name))
        _add(lock, futex, taken, released)
        if places := allocated.get(futex["address"]):
            lock["allocated_in"] = sorted({*lock.get("allocated_in", ()), *places})
    return sorted(locks.values(), key=lambda run_lock: -run_lock["handoffs"])[:KEPT]


def _sites(
    calls: Iterable[Mapping[str, Any]], symbols: Symbols
) -> dict[tuple[int, bool], list[str]]:
    """The functions by futex, and whether they release it; sorted, since the order of calls varies
    between runs."""
    functions: dict[tuple[int, bool], set[str]] = {}
    for call in calls:
        name = call_site(symbols, _stopped(call))
        if name:
            functions.setdefault((call["address"], call["releases"]), set()).add(name)
    return {key: sorted(names) for key, names in functions.items()}


def _allocations(calls: Iterable[Mapping[str, Any]], symbols: Symbols) -> dict[int, set[str]]:
    """By futex, where its memory was allocated."""
    places: dict[int, set[str]] = {}
    for call in calls:
        name = caller_line(symbols, _stopped(call["allocation"])) if "allocation" in call else ""
        if name:
            places.setdefault(call["address"], set()).add(name)
    return places


def _stopped(call: Mapping[str, Any]) -> Stopped:
    return Stopped(call["pc"], call["sp"], call["bp"], call["stack"])


def _new(name: str) -> RunLock:
    nothing: dict[str, Any] = {name_of_count: 0 for name_of_count in _COUNTS}
    nothing |= {name_of_span: Spans(count=0, ns=0) for name_of_span in _SPANS}
    return cast(RunLock, {"name": name, "taken_in": [], "released_in": [], **nothing})


def _add(lock: Any, futex: Mapping[str, Any], taken: list[str], released: list[str]) -> None:
    lock["taken_in"] = sorted({*lock["taken_in"], *taken})
    lock["released_in"] = sorted({*lock["released_in"], *released})
    for name in _COUNTS:
        lock[name] += futex[name]
    for name in _SPANS:
        for figure in ("count", "ns"):
            lock[name][figure] += futex[name][figure]
