# SPDX-License-Identifier: GPL-2.0
"""The locks of a simulated run, by what the plugin says of futexes: with names that are the same in
the next run, where addresses may be others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from fastlab.guest.call_chain import Stopped, call_site, caller_line
from fastlab.guest.symbols import MemoryMapping, Symbols
from fastlab.plan.rows import RunLock, Spans

# Of a run, those of most hand-offs.
KEPT = 16
# What lies above a heap is mapped: stacks, and large objects.
_HEAP_END = 1 << 46
_COUNTS = ("wakes", "handoffs", "left", "local", "remote", "moved")
_SPANS = ("handoff", "hold_local", "hold_remote", "outside")


def heap_maps(begin: int | None) -> list[MemoryMapping]:
    """The mapping of a heap of which the plugin says where it begins, if it does."""
    return [] if begin is None else [MemoryMapping(begin, _HEAP_END, "rw-p", 0, "[heap]")]


def locks_of(document: Mapping[str, Any], symbols: Symbols) -> list[RunLock]:
    """The program's, those of most hand-offs first. What has no place by which it could be known
    again is one lock together with all else there that the same functions take."""
    calls = document.get("call_sites", [])
    sites = _sites(calls, symbols)
    allocated = _allocations(calls, symbols)
    found: dict[str, RunLock] = {}
    for one in document.get("futexes", []):
        if not one["program"] or not one["handoffs"]:
            continue
        taken, released = (sites.get((one["address"], releases), []) for releases in (False, True))
        name = symbols.describe(one["address"])
        functions = [] if symbols.is_lasting(one["address"]) else sorted({*taken, *released})
        name = ", ".join([name, *functions])
        lock = found.setdefault(name, _new(name))
        _add(lock, one, taken, released)
        if places := allocated.get(one["address"]):
            lock["allocated_in"] = sorted({*lock.get("allocated_in", ()), *places})
    return sorted(found.values(), key=lambda one: -one["handoffs"])[:KEPT]


def _sites(
    calls: Iterable[Mapping[str, Any]], symbols: Symbols
) -> dict[tuple[int, bool], list[str]]:
    """Functions by futex, and whether they release it; sorted, for the order of calls is another in
    each run."""
    found: dict[tuple[int, bool], set[str]] = {}
    for one in calls:
        name = call_site(symbols, _stopped(one))
        if name:
            found.setdefault((one["address"], one["releases"]), set()).add(name)
    return {key: sorted(names) for key, names in found.items()}


def _allocations(calls: Iterable[Mapping[str, Any]], symbols: Symbols) -> dict[int, set[str]]:
    """By futex, from where the memory was allocated that it lay in."""
    found: dict[int, set[str]] = {}
    for one in calls:
        name = caller_line(symbols, _stopped(one["allocation"])) if "allocation" in one else ""
        if name:
            found.setdefault(one["address"], set()).add(name)
    return found


def _stopped(one: Mapping[str, Any]) -> Stopped:
    return Stopped(one["pc"], one["sp"], one["bp"], one["stack"])


def _new(name: str) -> RunLock:
    nothing: dict[str, Any] = {one: 0 for one in _COUNTS}
    nothing |= {one: Spans(count=0, ns=0) for one in _SPANS}
    return cast(RunLock, {"name": name, "taken_in": [], "released_in": [], **nothing})


def _add(lock: Any, one: Mapping[str, Any], taken: list[str], released: list[str]) -> None:
    lock["taken_in"] = sorted({*lock["taken_in"], *taken})
    lock["released_in"] = sorted({*lock["released_in"], *released})
    for name in _COUNTS:
        lock[name] += one[name]
    for name in _SPANS:
        for figure in ("count", "ns"):
            lock[name][figure] += one[name][figure]
