# SPDX-License-Identifier: GPL-2.0
"""Locks over an arm's runs, compared with the baseline's.

The figures cover what goes through the kernel. Uncontended acquisitions make no system call and are
not counted: numbers and times are those of hand-offs, not of all critical sections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fastlab.base.demangle import demangle, demangle_all
from fastlab.base.metrics import improvement
from fastlab.base.model import Place
from fastlab.plan.rows import Row, RunLock, Spans

# Locks of a workload that are listed: those with most hand-offs under any arm.
MOST = 6


@dataclass(frozen=True)
class LockUse(Place):
    """A lock under an arm, over its runs. `allocated_in` is empty if unknown. `handoffs` is the
    mean of a run, `left` the mean number of waiters that a hand-off leaves. `same_cpu_share` is the
    share of hand-offs to a thread on the releasing CPU; `moved_share` that of hand-offs to a thread
    that began to wait on another CPU. Times are means in ns: from a release until a waiter has the
    lock; of a hold after a hand-off on the releasing CPU (local), on another CPU (remote), and of
    both; and from a thread's release to its next wait. `gain_pct` is the improvement of `hold_ns`.
    None: no such event."""

    variant_name: str
    name: str
    taken_in: tuple[str, ...]
    released_in: tuple[str, ...]
    allocated_in: tuple[str, ...]
    handoffs: float
    left: float | None
    same_cpu_share: float | None
    moved_share: float | None
    handoff_ns: float | None
    hold_local_ns: float | None
    hold_remote_ns: float | None
    hold_ns: float | None
    outside_ns: float | None
    gain_pct: float | None


def lock_uses(place: Place, baseline: str, arms: Mapping[str, Sequence[Row]]) -> Iterator[LockUse]:
    """The locks with most hand-offs first, and the arms of each lock in their order. Runs of
    versions that did not record locks are skipped."""
    known = {arm: [row["locks"] for row in rows if "locks" in row] for arm, rows in arms.items()}
    known = {arm: runs for arm, runs in known.items() if runs}
    by_name = {arm: _by_name(runs) for arm, runs in known.items()}
    for name in _names(by_name, known):
        before = _mean_hold(by_name.get(baseline, {}).get(name, []))
        for arm, runs in known.items():
            of = by_name[arm].get(name, [])
            gain = None if arm == baseline else _gain(before, _mean_hold(of))
            yield _use(place, arm, name, of, len(runs), gain)


def _by_name(runs: Iterable[Iterable[RunLock]]) -> dict[str, list[RunLock]]:
    by_name: dict[str, list[RunLock]] = {}
    for run in runs:
        for lock in run:
            by_name.setdefault(lock["name"], []).append(lock)
    return by_name


def _names(
    by_name: Mapping[str, Mapping[str, Sequence[RunLock]]], runs: Mapping[str, Sequence[object]]
) -> list[str]:
    """The locks to list."""
    most: dict[str, float] = {}
    for arm, locks in by_name.items():
        for name, of in locks.items():
            mean = sum(lock["handoffs"] for lock in of) / len(runs[arm])
            most[name] = max(most.get(name, 0.0), mean)
    return sorted(most, key=lambda name: (-most[name], name))[:MOST]


def _use(
    place: Place, arm: str, name: str, of: Sequence[RunLock], runs: int, gain: float | None
) -> LockUse:
    handoffs = sum(lock["handoffs"] for lock in of)
    taken = sum(lock["local"] + lock["remote"] for lock in of)
    return LockUse(
        *(place.benchmark, place.threads, place.axes),
        variant_name=arm,
        name=demangle(name),
        taken_in=_union(lock["taken_in"] for lock in of),
        released_in=_union(lock["released_in"] for lock in of),
        allocated_in=_union(lock.get("allocated_in", []) for lock in of),
        handoffs=handoffs / runs,
        left=_share(sum(lock["left"] for lock in of), handoffs),
        same_cpu_share=_share(sum(lock["local"] for lock in of), taken),
        moved_share=_share(sum(lock["moved"] for lock in of), taken),
        handoff_ns=_mean(lock["handoff"] for lock in of),
        hold_local_ns=_mean(lock["hold_local"] for lock in of),
        hold_remote_ns=_mean(lock["hold_remote"] for lock in of),
        hold_ns=_mean_hold(of),
        outside_ns=_mean(lock["outside"] for lock in of),
        gain_pct=gain,
    )


def _union(names: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(sorted(set(demangle_all({name for some in names for name in some}))))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(spans: Iterable[Spans]) -> float | None:
    every = list(spans)
    return _share(sum(span["ns"] for span in every), sum(span["count"] for span in every))


def _mean_hold(of: Sequence[RunLock]) -> float | None:
    return _mean(span for lock in of for span in (lock["hold_local"], lock["hold_remote"]))


def _gain(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else improvement(before, after, "lower")
