# SPDX-License-Identifier: GPL-2.0
"""The backends `perf` and `soft`: an experiment's blocks on the running kernel.

results/NAME-BACKEND/ gets last-run/, what the last run and the last latency run wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fastlab.backend.block_rows import (
    LAST_LATENCY_RUN,
    LAST_RUN,
    RealToolbox,
    Surroundings,
    check_not_rebuilt,
    paired_row,
    requests,
    wants_latencies,
    with_latencies,
)
from fastlab.backend.boots import Agenda, agenda
from fastlab.backend.contract import Request
from fastlab.backend.counting import (
    Call,
    Observed,
    check_latencies,
    count_run,
    find_groups,
    my_cpus,
    time_run,
)
from fastlab.backend.host import (
    COARSE_CLOCK,
    Running,
    SchedFast,
    counts_ticks,
    only_user,
    what_runs,
)
from fastlab.base.cache import check_room
from fastlab.base.fast_command import fast_command
from fastlab.base.metrics import NAMED
from fastlab.base.model import Experiment, FastError, Run, Variant
from fastlab.base.progress import Reporter
from fastlab.plan import plan_file
from fastlab.plan.invocation import benchmark_result, workload_argv
from fastlab.plan.paired_plan import PairedRow, make_dataset, make_plan, with_groups
from fastlab.plan.rows import Row

LACKS = {
    "fast": "one with FAST: it was built without CONFIG_SCHED_FAST",
    "baseline": "one without FAST: it was built with CONFIG_SCHED_FAST",
}
NEEDED = {
    "fast": f"a kernel with FAST (`{fast_command('kernel', 'deb')}` packs one)",
    "baseline": "a kernel without FAST",
}


class RunningKernel:
    """Makes one run at a time, on the running kernel. `root` has the machine's /proc and /sys.
    FAST's policy and knobs are restored in any case."""

    def __init__(
        self,
        experiment: Experiment,
        backend: str,
        toolbox: RealToolbox,
        directory: Path,
        reporter: Reporter,
        root: Path = Path("/"),
    ) -> None:
        self._cpus = my_cpus()
        self.plan = replace(make_plan(experiment, backend), cpu_list=self._cpus)
        self._experiment = experiment
        self._toolbox = toolbox
        self._directory = directory
        self._reporter = reporter
        self._root = root
        self._running = what_runs(root)
        self._sched_fast = SchedFast(root)
        self._others: dict[str, int] = {}

    def check(self) -> None:
        """With one kernel for all variants, it must be the running one. All events must be
        countable."""
        needed = self._experiment.variants[0].kernel
        if not self.plan.boots and needed != self._running.variant:
            raise FastError(
                f"every variant of this experiment runs on kernel {needed}, and the running "
                f"kernel, {self._running.release}, is not {LACKS[needed]}; boot {NEEDED[needed]} "
                "and run this again"
            )
        groups = find_groups(self.plan.backend, self._toolbox.fast_stat)
        self.plan = with_groups(self.plan, groups)
        if self.plan.latencies:
            self._check_latencies()

    def _check_latencies(self) -> None:
        """Report unavailable latencies before the first run."""
        for name, why in check_latencies(self._toolbox.fast_latency).items():
            if NAMED[self.plan.primary].latency == name:
                raise FastError(
                    f"primary = {self.plan.primary} cannot be measured here: {why}; change that, "
                    "or choose another one in the experiment file, such as elapsed_ns"
                )
            self._reporter.say(f"{name} latency is not available: {why}")

    @contextmanager
    def opened(self, rows: Sequence[Row]) -> Iterator[None]:
        with only_user(self._root), self._sched_fast:
            self._reporter.hold_still()
            tools = self._toolbox.id
            plan_file.keep(self._directory, self.plan, self._experiment, tools, bool(rows))
            _check_pins(make_dataset(self.plan, rows).rows, self._running)
            # Knobs that a variant does not set keep the values of the first runs.
            self._others = self._sched_fast.knobs
            variants = {variant.name: variant for variant in self._experiment.variants}
            adaptive = any(variant.policy == "adaptive" for variant in variants.values())
            if adaptive and counts_ticks(self._root):
                self._reporter.say(f"remark: {COARSE_CLOCK}")
            for row in rows:
                named = variants[row["variant"]].knobs
                self._others |= {
                    key: number for key, number in row["knobs"].items() if key not in named
                }
            for variant in variants.values():
                self._switch(variant)
            yield

    def pending(self, rows: Sequence[Row]) -> list[Request]:
        """The runs of the agenda that this boot can make."""
        slots = self._agenda(rows).here(self._running)
        return requests(self._experiment, self.plan, slots)

    def next_boot(self, rows: Sequence[Row]) -> str:
        """What to boot next, or ""."""
        left, running = self._agenda(rows), self._running
        kernel = left.next_kernel()
        if not kernel or left.here(running):
            return ""
        known = {row["kernel"]["variant"]: row["kernel"]["id"] for row in left.dataset.rows}
        name = f"{known[kernel]}, as before" if kernel in known else NEEDED[kernel]
        if kernel == running.variant:
            name = f"the running kernel again ({running.release})"
        return (
            "this boot has made all its runs: with two kernels each side of a block is a separate "
            f"boot. Now boot {name}. At least {left.boots_left()} more boots are needed"
        )

    def _agenda(self, rows: Sequence[Row]) -> Agenda:
        kernels = {variant.name: variant.kernel for variant in self._experiment.variants}
        return agenda(make_dataset(self.plan, rows), kernels)

    def measure(self, requests: Sequence[Request], deadline: float) -> Iterator[Row]:
        for request in requests:
            row = self._measure(request)
            check_not_rebuilt(self._toolbox)
            yield row

    def _measure(self, request: Request) -> PairedRow:
        assert request.slot
        run = replace(request.run, variant=self._switch(request.run.variant))
        argv = self._argv(run)
        call = self._call(argv, LAST_RUN)
        counted = count_run(call, self._toolbox.fast_stat, request.slot.events, self._root)
        where = Surroundings(self._running.kernel, self._running.boot, self._toolbox.id)
        told = self._told(call, run, counted)
        row = paired_row(self.plan, request.slot, run, argv, where, told)
        if not wants_latencies(self.plan, row):
            return row
        call = self._call(argv, LAST_LATENCY_RUN)
        timed = time_run(call, self._toolbox.fast_latency, self._root)
        return with_latencies(row, run, self._told(call, run, timed))

    def _argv(self, run: Run) -> Sequence[str]:
        program = self._toolbox.programs[run.workload.benchmark]
        return workload_argv(run.workload, run.seed, program.absolute())

    def _call(self, argv: Sequence[str], scratch: str) -> Call:
        directory = (self._directory / scratch).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        seconds = self._experiment.watchdogs.run
        return Call(argv, seconds, True, self._cpus, directory, directory)

    def _told(self, call: Call, run: Run, observed: Observed) -> Observed:
        """The observation with the benchmark's output and errors."""
        failure = ""
        errors = call.errors.read_text(errors="replace").strip()
        if observed.exit_status is None:
            failure = f"watchdog: no end after {call.seconds:g} s; it was killed"
        elif observed.exit_status and errors:
            failure = f"it ended with status {observed.exit_status}: {errors}"
        if failure:
            check_room(self._directory)
        lines = call.output.read_text(errors="replace").splitlines()
        return replace(observed, output=benchmark_result(lines), failure=failure)

    def _switch(self, variant: Variant) -> Variant:
        """Set the variant's policy and knobs; returns the variant with all knobs."""
        if variant.kernel != self._running.variant:
            return variant
        whole = replace(variant, knobs={**self._others, **variant.knobs})
        # A kernel without FAST has no files for them.
        if variant.settings:
            self._sched_fast.set(whole.settings)
        return whole


def _check_pins(rows: Sequence[PairedRow], running: Running) -> None:
    """A side keeps its kernel from the first run on, and both kernels are of one series."""
    now = running.kernel
    for row in rows:
        then = row["kernel"]
        if then["variant"] == now.variant and then["id"] != now.id:
            raise FastError(
                f"the first runs with kernel {now.variant} were made by {then['id']}, and {now.id} "
                "is running; boot the first one, or give --output another directory to begin anew"
            )
        if then["series"] != now.series:
            raise FastError(
                f"{then['id']} and {now.id} are of different series: their difference would be "
                "more than FAST; boot a kernel of the same series, or give --output another "
                "directory to begin anew"
            )
