# SPDX-License-Identifier: GPL-2.0
"""A trial on the running kernel: blocks of runs, one at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastlab.backend.block_rows import LAST_LATENCY_RUN, RealToolbox, requests
from fastlab.backend.contract import Request, run_experiment
from fastlab.backend.counting import (
    FAST_LATENCY,
    FAST_STAT,
    HANDOFF_LIBRARY,
    Call,
    Observed,
    find_groups,
    latencies_of,
    time_run,
)
from fastlab.backend.host import only_user, what_runs
from fastlab.backend.running_kernel import LACKS, NEEDED, RunningKernel
from fastlab.base.cache import check_room
from fastlab.base.demangle import demangle
from fastlab.base.metrics import LATENCIES, PERCENTILES
from fastlab.base.model import Experiment, FastError, Run, Variant
from fastlab.base.progress import Reporter
from fastlab.base.project import work_dir
from fastlab.guest import initramfs
from fastlab.guest.meson import build_programs
from fastlab.guest.symbols import Symbols, parse_maps
from fastlab.kernel.kernels import Places
from fastlab.plan.paired_plan import slots
from fastlab.plan.rows import Row, fired, percentile
from fastlab.plan.run_log import RunLog
from fastlab.trial.runs import (
    ARMS,
    BASELINE,
    Lock,
    Timed,
    Trial,
    TrialRequest,
    end_of_output,
    error_output,
    experiment,
    how_it_failed,
    last_lines,
    too_long,
)
from fastlab.trial.subject import find_program, is_marked

# Blocks of each policy against the baseline: as many as an A/A calibration has at first.
BLOCKS = 12
# Latency runs of each policy; latencies are shown without a verdict.
LATENCY_RUNS = 3
# Bytes at the end of a program's output that are read.
END = 1 << 16
# No control on one CPU: the program has all CPUs that this process may use.
OWN_ARMS = tuple(arm for arm in ARMS if not arm.cpus)


def run(request: TrialRequest, reporter: Reporter, root: Path = Path("/")) -> Trial:
    """Make all runs; `root` has the /proc and /sys of the machine.

    Raises FastError if the program fails in a counted run. If it fails under fast-latency, there
    are no latencies. FAST's policy and knobs are restored in any case.
    """
    path = find_program(request.argv[0], request.directory)
    _check_kernel(request.backend, root)
    project = Places().project
    build = build_programs(project, reporter)
    programs = (build / FAST_STAT, build / FAST_LATENCY, build / HANDOFF_LIBRARY)
    initramfs.check_built(build, programs)
    scratch = work_dir(project) / "try" / request.backend
    of = experiment(request, path, OWN_ARMS, ())
    trier = _TrialKernel(of, request, path, RealToolbox("", *programs, {}), scratch, reporter, root)
    RunLog.begin_anew(scratch)
    rows = run_experiment(trier, of, None, scratch, reporter)
    timed = trier.latencies(reporter)
    errors = error_output(trier.errors)
    return Trial(request, trier.kernel, trier.marked, tuple(rows), tuple(timed), errors=errors)


def _check_kernel(backend: str, root: Path) -> None:
    running = what_runs(root)
    if not running.fast:
        raise FastError(
            f"--backend {backend} runs the program on the running kernel, and "
            f"{running.release} is not {LACKS['fast']}; boot {NEEDED['fast']}, or leave "
            "--backend out: the simulation needs no such kernel"
        )


def _end_of(path: Path) -> Sequence[str]:
    """The last lines of a file of any size."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END))
        return last_lines(file.read().decode(errors="replace").splitlines())


class _TrialKernel(RunningKernel):
    """The running kernel, for one program. A failed run ends the trial. `errors` are the last lines
    of each run's standard error."""

    def __init__(
        self,
        of: Experiment,
        request: TrialRequest,
        path: Path,
        toolbox: RealToolbox,
        scratch: Path,
        reporter: Reporter,
        root: Path,
    ) -> None:
        super().__init__(of, request.backend, toolbox, scratch, reporter, root)
        self.kernel = self._running.kernel
        self.marked = is_marked(path)
        self._request = request
        self._path = path
        self.errors: list[Sequence[str]] = []

    def check(self) -> None:
        groups = find_groups(self._request.backend, self._toolbox.fast_stat)
        # One run counts the time and the first hardware events: a trial should be short.
        events = ",".join(dict.fromkeys((groups[0], groups[-1])))
        self.plan = replace(self.plan, groups=(events,))

    @contextmanager
    def opened(self, rows: Sequence[Row]) -> Iterator[None]:
        with super().opened(rows):
            # A run outside the blocks, which loads the program and its files into memory.
            self._measure(self.pending(rows)[0])
            self.errors.clear()
            yield

    def pending(self, rows: Sequence[Row]) -> list[Request]:
        made = {row["key"] for row in rows}
        every = requests(self._experiment, self.plan, slots(self.plan, self.plan.variants, BLOCKS))
        return [request for request in every if request.key not in made]

    def _argv(self, run: Run) -> Sequence[str]:
        return self._request.argv

    def _call(self, argv: Sequence[str], scratch: str) -> Call:
        directory = self._directory / scratch
        directory.mkdir(parents=True, exist_ok=True)
        seconds, where = self._request.seconds, self._request.directory
        given = self._request.given
        stdin = given.stdin or Path(os.devnull)
        environment = dict(given.environment)
        return Call(argv, seconds, self.marked, self._cpus, where, directory, stdin, environment)

    def _ended_well(self, observed: Observed) -> bool:
        """Did the program end by itself, with a status that is no failure?"""
        ignored = self._request.given.ignore_status and observed.exit_status is not None
        return ignored or observed.exit_status == 0

    def _told(self, call: Call, run: Run, observed: Observed) -> Observed:
        arm, everything = run.variant, f"(its output: {call.scratch})"
        if not self._ended_well(observed):
            check_room(call.scratch)
            lines = self._how_it_failed(call, observed, arm) + end_of_output(_end_of(call.output))
            raise FastError("\n".join([*lines, everything]))
        if not observed.document or not observed.document["elapsed_ns"]:
            raise FastError(
                f"{self._path} ended well with policy {arm.name}, but fast-stat wrote no counts\n"
                f"{everything}"
            )
        if arm.name == BASELINE and (times := fired(observed.mechanism)):
            raise FastError(
                f"FAST fired {times} times with policy {arm.name}: another process on this machine "
                "sets the policy; stop it and try again"
            )
        self.errors.append(_end_of(call.errors))
        # The program is not a benchmark, and has no self-check.
        output = {
            "benchmark": run.workload.benchmark,
            "threads": 0,
            "seed": 0,
            "check": "ok",
            "elapsed_ns": observed.document["elapsed_ns"],
        }
        return replace(observed, output=output, exit_status=0)

    def _how_it_failed(self, call: Call, observed: Observed, arm: Variant) -> list[str]:
        errors = _end_of(call.errors)
        if observed.exit_status is None:
            return [too_long(self._path, self._request.seconds, arm), *last_lines(errors)]
        return how_it_failed(self._path, observed.exit_status, arm, errors)

    def latencies(self, reporter: Reporter) -> list[Timed]:
        """Further runs for latencies, the policies in turn. The first failure ends them: later runs
        would fail as well."""
        task = f"measuring latencies of {self._path.name}"
        call = self._call(self._request.argv, LAST_LATENCY_RUN)
        timed_runs: list[Timed] = []
        reporter.start(task, LATENCY_RUNS * len(OWN_ARMS))
        try:
            with only_user(self._root), self._sched_fast:
                for arm in OWN_ARMS * LATENCY_RUNS:
                    timed_runs.append(self._time(call, arm))
                    reporter.advance(task, len(timed_runs))
                    if len(timed_runs[-1].missing) == len(LATENCIES):
                        break
            return timed_runs
        finally:
            reporter.finish(task)

    def _time(self, call: Call, arm: Variant) -> Timed:
        self._sched_fast.set(arm.settings)
        timed = time_run(call, self._toolbox.fast_latency, self._root, fixed=True)
        if not self._ended_well(timed) or not timed.document:
            check_room(call.scratch)
            lines = self._how_it_failed(call, timed, arm)
            why = f"under fast-latency {': '.join(dict.fromkeys((lines[0], lines[-1])))}"
            return Timed(arm.name, {}, dict.fromkeys(LATENCIES, why), ())
        histograms, missing = latencies_of(timed.document)
        figures = {
            f"{latency}_{name}": percentile(histogram, thousandths)
            for latency, histogram in histograms.items()
            for name, thousandths in PERCENTILES.items()
        }
        return Timed(arm.name, figures, missing, self._locks(timed.document))

    def _locks(self, document: Mapping[str, Any]) -> tuple[Lock, ...]:
        """The locks of the process whose memory map is known are the program's."""
        maps = document["maps"] or {"process": None, "text": ""}
        symbols = Symbols(parse_maps(maps["text"]), self._path)
        locks = []
        for lock in document["locks"]:
            address = int(lock["address"], 16)
            ours = lock["process"] == maps["process"]
            name = demangle(symbols.describe(address)) if ours else ""
            locks.append(Lock(name, address, ours, None, lock["handoffs"], None))
        return tuple(locks)
