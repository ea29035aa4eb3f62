# SPDX-License-Identifier: GPL-2.0
"""The cost of the series where it does not help: guest instructions of an operation, by policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fastlab.base.metrics import DECIDED
from fastlab.base.model import SCHEMA_VERSION, FastError, Machine
from fastlab.base.progress import Reporter
from fastlab.bench.bench_machine import BenchMachine, counted, instructions, run_each
from fastlab.guest.vm import Outcome
from fastlab.plan.arms import POLICIES
from fastlab.report.tables import Cell, Table

PROGRAM = "overhead"
# With one CPU there is nothing to place. The program runs on the first CPU and keeps the other
# busy.
MACHINE = Machine(cpus=2)
# Where a policy is off, what is left of it is a static key.
FRAGMENTS = ("jump-label",)
UNPATCHED = "unpatched"
# These place each hand-off; adaptive does where it gathers.
PLACING = ("strict", "soft")


@dataclass(frozen=True)
class Operation:
    """One of the program's: `calls` is how many of what the table counts are in one of it."""

    name: str
    words: str
    calls: int = 1
    hands_over: bool = False


OPERATIONS = (
    Operation("wake", "futex_wake, no waiter"),
    Operation("wait", "futex_wait, another value"),
    Operation("handoff", "futex_wake, a hand-off", calls=2, hands_over=True),
    Operation("wakeup", "wake-up by a pipe", calls=2),
    Operation("switch", "context switch", calls=2),
)

# Operations. Timer ticks and the decay of load are a small part of each. With ten times as many
# operations the balancer moves a thread to the busy CPU.
COUNT = 2000

# Instructions of one call, by operation and arm.
Costs = Mapping[tuple[str, str], float]


def measure(reporter: Reporter, count: int = COUNT, fragments: Sequence[str] = FRAGMENTS) -> Costs:
    """Boot the unpatched kernel and the patched one, and count each operation with each policy.

    The same sources and tools give the same counts.
    """
    machines = {
        variant: BenchMachine(
            f"bench-overhead/{variant}",
            MACHINE,
            reporter,
            (PROGRAM,),
            variant=variant,
            fragments=fragments,
        )
        for variant in ("baseline", "fast")
    }

    operations = {entry.name: entry for entry in OPERATIONS}

    def cost(point: tuple[str, str]) -> float:
        operation, arm = operations[point[0]], point[1]
        machine = machines["baseline" if arm == UNPATCHED else "fast"]
        fast = {} if arm == UNPATCHED else {"policy": arm}
        name = f"{operation.name}-{arm}"
        outcome = machine.run(argv(operation, count), machine.toolbox.plugin, name, fast)
        if operation.hands_over and arm in PLACING:
            _check_placement(outcome, count * operation.calls)
        return _instructions(outcome) / count / operation.calls

    points = [(entry.name, arm) for entry in OPERATIONS for arm in (UNPATCHED, *POLICIES)]
    costs: dict[tuple[str, str], float] = {}
    task = "counting instructions"
    run_each(machines.values(), reporter, task, points, cost, costs.__setitem__, " ".join)
    return costs


def _check_placement(outcome: Outcome, calls: int) -> None:
    """Else the cost of placing is not in what was counted."""
    placed = sum((outcome.mechanism or {}).get(name, 0) for name in DECIDED)
    if placed < calls:
        raise FastError(f"of {calls} hand-offs {placed} were placed: {outcome.mechanism}")


def _instructions(outcome: Outcome) -> int:
    """Of the first CPU in the region of interest."""
    first = counted(outcome)["per_cpu"][0]
    if outcome.output is None or outcome.output["cpu"] != 0:
        raise FastError(f"the program has left the CPU that is counted: {outcome.output}")
    return instructions(first)


def argv(operation: Operation, count: int) -> list[str]:
    """The program's command line inside the guest."""
    return [f"/bin/{PROGRAM}", operation.name, str(count)]


def document(costs: Costs) -> dict[str, Any]:
    """For programs."""
    return {
        "schema": SCHEMA_VERSION,
        "machine": asdict(MACHINE),
        "rows": [
            {"operation": operation, "arm": arm, "instructions": cost}
            for (operation, arm), cost in costs.items()
        ],
    }


def tables(costs: Costs) -> list[Table]:
    """For people."""
    return [
        Table(
            "What the series costs",
            ["operation", UNPATCHED, *POLICIES],
            [_row(operation, costs) for operation in OPERATIONS],
            "Guest instructions of one, of program and kernel, timer ticks among them, on a CPU "
            "beside a busy one; and how many more than unpatched.",
            labels=1,
        )
    ]


def _row(operation: Operation, costs: Costs) -> Sequence[Cell]:
    unpatched = costs[operation.name, UNPATCHED]
    more = [costs[operation.name, policy] - unpatched for policy in POLICIES]
    return [
        Cell(operation.words),
        Cell(f"{unpatched:,.2f}"),
        *(Cell(f"{difference:+,.2f}") for difference in more),
    ]
