# SPDX-License-Identifier: GPL-2.0
"""Which runs the current boot can make, and which kernel to boot next.

With one kernel, one boot can make all runs in the plan's order: the calibration, then the blocks
that it asks for. With two kernels (Plan.boots) each side of a block is a boot that no other block
of the comparison shares: a boot makes one side of one block of each comparison. Comparisons of
different workloads and variants, and the calibration, share boots. The first MIN_BLOCKS blocks do
not wait for the calibration, which always asks for them: that saves boots, and no result influences
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fastlab.backend.host import Running
from fastlab.base.model import Workload
from fastlab.plan.paired_plan import Dataset, Plan, Slot, slots, variant_of
from fastlab.plan.rows import finished_keys
from fastlab.statistics.calibration import calibrate
from fastlab.statistics.significance import MIN_BLOCKS

_Comparison: TypeAlias = tuple[Workload, str]


@dataclass(frozen=True)
class Agenda:
    """The remaining runs of an experiment. `kernels` has each variant's kernel ("baseline",
    "fast")."""

    plan: Plan
    kernels: Mapping[str, str]
    left: tuple[Slot, ...]
    dataset: Dataset

    def kernel(self, slot: Slot) -> str:
        return self.kernels[variant_of(self.plan, slot)]

    def here(self, running: Running) -> list[Slot]:
        """The runs that this boot can make, in order."""
        if not self.plan.boots:
            return [slot for slot in self.left if self.kernel(slot) == running.variant]
        return [slot for own in self._of_each().values() for slot in self._stretch(own, running)]

    def next_kernel(self) -> str:
        """The kernel that the comparisons need next, else the calibration; "" if nothing is left.

        The calibration uses the boots of the comparisons.
        """
        if not self.left:
            return ""
        firsts = [own[0] for own in self._of_each().values()]
        return self.kernel(min(firsts, key=lambda slot: slot.pair == self.plan.baseline))

    def boots_left(self) -> int:
        """The least number of further boots."""
        sides: dict[tuple[str, _Comparison], set[tuple[int, str]]] = defaultdict(set)
        for slot in self.left:
            sides[self.kernel(slot), _comparison(slot)].add((slot.block, slot.side))
        most: dict[str, int] = defaultdict(int)
        for (kernel, _), own_sides in sides.items():
            most[kernel] = max(most[kernel], len(own_sides))
        return sum(most.values())

    def _of_each(self) -> dict[_Comparison, list[Slot]]:
        by_comparison: dict[_Comparison, list[Slot]] = defaultdict(list)
        for slot in self.left:
            by_comparison[_comparison(slot)].append(slot)
        return by_comparison

    def _stretch(self, own: list[Slot], running: Running) -> Iterator[Slot]:
        """The side of the comparison's next block, if this boot may make it."""
        first = own[0]
        side = first.block, first.side
        spent = any(
            row["boot"] == running.boot and (row["block"], row["side"]) != side
            for row in self.dataset.of(first.workload, first.pair)
        )
        if not spent and self.kernel(first) == running.variant:
            yield from (slot for slot in own if (slot.block, slot.side) == side)


def agenda(dataset: Dataset, kernels: Mapping[str, str]) -> Agenda:
    """The remaining runs, given the existing rows."""
    plan = dataset.plan
    made = finished_keys(dataset.rows)

    def unmade(pairs: Iterable[str], blocks: int) -> list[Slot]:
        return [slot for slot in slots(plan, pairs, blocks) if slot.key not in made]

    left = unmade([plan.baseline], plan.calibration_blocks)
    if plan.boots:
        blocks = MIN_BLOCKS if left else calibrate(dataset).blocks
        left = unmade(plan.variants, blocks or 0) + left
    elif not left:
        left = unmade(plan.variants, calibrate(dataset).blocks or 0)
    return Agenda(plan, kernels, tuple(left), dataset)


def _comparison(slot: Slot) -> _Comparison:
    return slot.workload, slot.pair
