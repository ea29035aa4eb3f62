# SPDX-License-Identifier: GPL-2.0
"""The theses' evaluations in a simulated machine of two NUMA nodes, whose caches and memory are
counted, and whose time is modelled: the same on every machine.

Its caches are a 64th of those that the theses have, and so are the programs' data; its cores,
latencies and lines are the originals'. A round is a quantum: how long a CPU's turn is, which no
program may depend on.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastlab.base.model import FastError, Machine
from fastlab.base.progress import Reporter
from fastlab.bench.bench_machine import BenchMachine, NoResultError, run_each
from fastlab.guest import vm
from intervals_bench.one_run import CRASHES, BenchRun
from intervals_bench.programs import SIMULATED
from intervals_bench.rounds import Turn
from intervals_bench.theses import ThesisMeasurement, ThesisRequest
from intervals_bench.theses_claims import ThesisMachine, ThesisPoint

MACHINE = Machine(cpus=8, preset="nehalem-2s-64th")
NODES = 2
# Around the default, which is that of the fifth round.
FIRST_QUANTUM, QUANTUM_STEP = 1500, 125
BOOT_SECONDS = 600.0


class SimulatedSession(ThesisMeasurement):
    """As many runs at a time as this machine has CPUs."""

    def __init__(self, request: ThesisRequest, reporter: Reporter) -> None:
        super().__init__(request)
        runtimes = {one.runtime for one in request.evaluation.contenders}
        programs = tuple(sorted(SIMULATED[one] for one in runtimes))
        self._machine = BenchMachine(
            "bench-theses", MACHINE, reporter, programs, BOOT_SECONDS, NODES
        )

    def _take_turns(self, turns: Sequence[Turn[ThesisPoint]], reporter: Reporter) -> None:
        run_each((self._machine,), reporter, "measuring", turns, self._measure, self.add)

    def _measure(self, turn: Turn[ThesisPoint]) -> BenchRun:
        point = turn.point
        quantum = FIRST_QUANTUM + turn.round * QUANTUM_STEP
        name = f"{point.program}-{point.contender}-{point.workers}-{quantum}".replace(" ", "-")
        try:
            outcome = self._machine.run(
                self._argv(point), self._machine.toolbox.plugin, name, quantum=quantum
            )
        except FastError as error:
            crashed = isinstance(error, NoResultError) and error.signal in CRASHES
            return BenchRun("failed", str(error), crashed=crashed)
        return read(outcome)

    def _argv(self, point: ThesisPoint) -> list[str]:
        """The program's command line inside the guest, its environment first."""
        evaluation = self.request.evaluation
        contender = evaluation.contender(point.contender)
        name, _, _ = point.program.partition("-")
        size = evaluation.simulated[point.program]
        environment = [f"{one}={value}" for one, value in contender.environment.items()]
        if evaluation.simulated_mib:
            environment.append(f"MEMORY_MIB={evaluation.simulated_mib}")
        program = f"/bin/{SIMULATED[contender.runtime]}"
        return [program, *environment, name, str(size), str(point.workers)]


def read(outcome: vm.Outcome) -> BenchRun:
    """What the program says, and what the cache model counted of its own instructions."""
    if outcome.output is None or outcome.document is None:
        return BenchRun("failed", "the machine told no result, or no region of interest")
    said, counts = outcome.output, outcome.document["total"]["user"]
    counted = {
        **said.get("counts", {}),
        "l3_hits": counts["l3_references"] - counts["l3_misses"],
        "l3_misses": counts["l3_misses"],
        "remote_memory": counts["remote_memory"],
        "remote_lines": counts["remote_memory"] + counts["cache_to_cache"],
    }
    return BenchRun("ok", "", said["unit"], (said["value"],), said["peak_kib"], counted)


def machine() -> ThesisMachine:
    """What the conclusions may need of it."""
    return ThesisMachine(MACHINE.cpus, NODES)
