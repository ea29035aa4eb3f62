# SPDX-License-Identifier: GPL-2.0
"""The seven benchmarks on the running machine, free and confined to one CPU, and the experiment
that predicts them.

The arms take turns in blocks of four, ABBA: a slow drift affects both alike.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fastlab.base import manifest
from fastlab.base.fast_command import fast_command
from fastlab.base.files import write_files
from fastlab.base.model import FastError
from fastlab.base.process import ask, ending
from fastlab.base.progress import Reporter, steps
from fastlab.base.tools import require
from fastlab.guest.initramfs import check_built, program_path
from fastlab.plan import presets
from fastlab.plan.invocation import benchmark_result
from fastlab.trust.agreement import CONFINED, FREE, Point, Rates, SideFigures, paired
from fastlab.trust.calibrate import preset_name

ROUNDS = 5
# The length of a run, in seconds: long compared with its start.
RUN_SECONDS = 0.1
# Iterations of a pilot run, which determines their number.
PILOT_ITERATIONS = 20_000
# Seconds; a busy machine is slow.
TIMEOUT = 120.0

# In the simulation, some 10 ms: the scheduler takes a few ms to spread the threads.
ITERATIONS = 50_000
FEWER = {"affinity": 5_000}
WARM_UP_PART = 10
SEEDS = (1, 2, 3)
# Cycles: as long as a critical section. With longer turns the quantum decides which threads meet.
QUANTUM = 100


def usable_cpus(root: Path = Path("/")) -> tuple[int, ...]:
    """The CPUs to measure on: four or two, an even number as some benchmarks need, of as many cores
    as possible, since hyperthreads share the caches that the model gives to each CPU. Raises
    FastError if there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise FastError(
            "this machine, or the affinity mask, has only one CPU: free and confined to one CPU "
            "are the same; use a machine with two CPUs"
        )
    # Each CPU with its number within its core.
    ranked, of_core = [], Counter[str]()
    for cpu in allowed:
        core = _core(root, cpu)
        ranked.append((of_core[core], cpu))
        of_core[core] += 1
    return tuple(sorted(cpu for _, cpu in sorted(ranked)[: 4 if len(allowed) >= 4 else 2]))


def _core(root: Path, cpu: int) -> str:
    """The CPUs of its core, as the kernel lists them; the CPU itself if unknown."""
    try:
        path = f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        return (root / path).read_text().strip()
    except OSError:
        return str(cpu)


def threads_for(cpus: Sequence[int]) -> tuple[int, int]:
    """One and two for each CPU."""
    return len(cpus), 2 * len(cpus)


def experiment_name(preset: Path) -> str:
    """That of the experiment which predicts what a machine of this preset does."""
    return f"trust-{preset_name(preset)}"


def read_preset(preset: Path) -> bytes:
    """The file's content. Raises FastError if it is not a preset."""
    try:
        content = preset.read_bytes()
    except OSError as error:
        raise FastError(
            f"{preset}: {error.strerror}; "
            f"`{fast_command('calibrate', '--out', str(preset))}` writes it"
        ) from error
    # Report errors for the named file, not for its copy.
    presets.load(preset)
    return content


def write_experiment(
    directory: Path, preset: Path, series: str, cpus: Sequence[int], benchmarks: Sequence[str]
) -> Path:
    """Write the experiment that predicts what a NativeSession measures, with the preset beside it.
    Raises FastError for an invalid preset, or if the files cannot be written."""
    name = experiment_name(preset)
    content = read_preset(preset)
    text = _experiment(name, preset.name, series, cpus, benchmarks)
    _, path = write_files(directory, [(preset.name, content), (f"{name}.toml", text)])
    return path


def _experiment(
    name: str, preset: str, series: str, cpus: Sequence[int], benchmarks: Sequence[str]
) -> str:
    lines = [
        f'name = "{name}"',
        f'series = "{series}"',
        f'baseline = "{FREE}"',
        f"threads = {list(threads_for(cpus))}",
        f"seeds = {list(SEEDS)}",
        "[machine]",
        f"cpus = {len(cpus)}",
        f'preset = "{preset}"',
        f"quantum = {QUANTUM}",
        "[[variant]]",
        f'name = "{FREE}"',
        'kernel = "baseline"',
        "[[variant]]",
        f'name = "{CONFINED}"',
        'kernel = "baseline"',
        "cpus = 1",
    ]
    for name in benchmarks:
        count = FEWER.get(name, ITERATIONS)
        lines += ["[[benchmark]]", f'name = "{name}"', f"iterations = {count}"]
        lines += [f"warmup = {count // WARM_UP_PART}"]
    return "\n".join(lines) + "\n"


class NativeSession:
    """The measurements, round by round. Intermediate results are available at any time."""

    def __init__(self, build: Path, cpus: Sequence[int], rounds: int) -> None:
        """`build` is Meson's directory. Raises FastError where something is not built."""
        names = manifest.suite(build, manifest.MICROBENCHMARKS)
        self._programs = {name: program_path(build, name) for name in names}
        check_built(build, self._programs.values())
        self._rounds = rounds
        taskset = str(require("taskset"))
        self._arms = {
            FREE: [taskset, "--cpu-list", ",".join(map(str, cpus))],
            CONFINED: [taskset, "--cpu-list", str(cpus[0])],
        }
        self._runs: dict[Point, list[tuple[Rates, Rates]]] = {
            Point(name, threads): [] for name in names for threads in threads_for(cpus)
        }
        self._iterations: dict[Point, int] = {}

    def run(self, reporter: Reporter) -> None:
        """Make all rounds. A failed run is a FastError: these programs are ours."""
        reporter.hold_still()
        for point in steps(reporter, "measuring", [*self._runs] * self._rounds, str):
            if point not in self._iterations:
                self._iterations[point] = self._needed(point)
            self._runs[point] += self._block(point)

    def measured(self) -> SideFigures:
        """The results so far."""
        return {
            point: paired(runs, self._iterations[point], point.threads)
            for point, runs in self._runs.items()
            if runs
        }

    def _needed(self, point: Point) -> int:
        """Iterations, an even number, for the faster arm to take RUN_SECONDS."""
        ns = min(self._run(arm, point, PILOT_ITERATIONS)["elapsed_ns"] for arm in self._arms)
        return max(PILOT_ITERATIONS, 2 * round(RUN_SECONDS * 1e9 / ns / 2))

    def _block(self, point: Point) -> list[tuple[Rates, Rates]]:
        """Two pairs."""
        order = (FREE, CONFINED, CONFINED, FREE)
        a, b, c, d = (self._run(arm, point, self._iterations[point]) for arm in order)
        return [(a, b), (d, c)]

    def _run(self, arm: str, point: Point, iterations: int) -> Rates:
        program = str(self._programs[point.benchmark])
        words = ["--threads", str(point.threads), f"--iterations={iterations}", "--json"]
        try:
            answer = ask([*self._arms[arm], program, *words], TIMEOUT)
        except FastError as error:
            raise FastError(f"{program} ({point}) {error}") from error
        result = benchmark_result(answer.output.splitlines())
        if answer.status:
            raise FastError(f"{program} ({point}) {ending(answer.status, answer.errors)}")
        if not result or result.get("check") != "ok":
            raise FastError(f"{program} ({point}) printed no good result: {answer.output.strip()}")
        return {name: result[name] / iterations for name in ("elapsed_ns", "context_switches")}
