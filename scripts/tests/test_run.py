# SPDX-License-Identifier: GPL-2.0
"""The run stage on fake machines: order, resume, failures, watchdog, interruption."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import samples
from fake_programs import give_manifest
from heard import Heard

from fastlab.attribution.in_experiment import profile_experiment
from fastlab.backend import contract
from fastlab.backend.contract import run_experiment
from fastlab.backend.sim import Simulator, Toolbox, one_cpu_each, read_libraries
from fastlab.base import cache
from fastlab.base.model import Case, Experiment, FastError, Kernel, Machine, Watchdogs
from fastlab.guest import vm
from fastlab.guest.initramfs import program_path
from fastlab.guest.running_vm import CancelledError, GuestError
from fastlab.plan import presets
from fastlab.plan.experiment import load_experiment
from fastlab.plan.rows import builds_of
from fastlab.plan.run_log import RunLog, read_rows
from fastlab.report import contents
from fastlab.statistics import analysis, attributed

EXPERIMENT = samples.experiment(seeds=(1, 2))
KERNELS = {name: Kernel("6.12", name, f"id-{name}", name, "map") for name in ("baseline", "fast")}
TOOLBOX = Toolbox("tools", Path("qemu"), Path("plugin.so"), b"image")


class Machines:
    """Stands in for vm.save_machine() and vm.run_job()."""

    def __init__(self) -> None:
        self.boots: Counter[str] = Counter()
        self.booted: list[Machine] = []
        self.jobs: list[vm.Job] = []
        self.plugins: set[Path] = set()
        self.before: Callable[[vm.Job, threading.Event], None] = lambda job, cancelled: None

    def save(self, simulation: vm.Simulation, directory: Path, *_: Any) -> None:
        self.boots[simulation.kernel.variant] += 1
        self.booted.append(simulation.machine)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / vm.SNAPSHOT).write_text("machine")

    def job(
        self,
        simulation: vm.Simulation,
        snapshot: Path,
        plugin: Path,
        job: vm.Job,
        directory: Path,
        watchdogs: Watchdogs,
        cancelled: threading.Event,
        futexes: str,
        attribute: bool,
        programs: Sequence[Path],
    ) -> vm.Outcome:
        assert futexes == "own"
        self.jobs.append(job)
        self.plugins.add(plugin)
        if attribute:
            directory.mkdir(parents=True)
            (directory / vm.ATTRIBUTION).write_text(json.dumps(samples.ATTRIBUTED) + "\n")
        self.before(job, cancelled)
        variant = samples.FAST if job.fast else samples.BASELINE
        seed = int(job.argv[job.argv.index("--seed") + 1])
        of = samples.run_of(EXPERIMENT, variant.name, seed)
        mechanism = samples.MECHANISM if job.fast else None
        machine = simulation.machine
        document = samples.document() | {"cpus": machine.cpus, "preset": machine.preset_name}
        return vm.Outcome(document, samples.output(of), mechanism, 0, (), 0.0)


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    machines = Machines()
    monkeypatch.setenv("FAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(vm, "save_machine", machines.save)
    monkeypatch.setattr(vm, "run_job", machines.job)
    return machines


def execute(
    path: Path, experiment: Experiment = EXPERIMENT, jobs: int = 2, toolbox: Toolbox = TOOLBOX
) -> Any:
    source = path / "source.toml"
    source.write_text("# the experiment\n")
    results = path / "results"
    machines = Simulator(experiment, KERNELS, toolbox, results, Heard(), jobs)
    return machines.current(run_experiment(machines, experiment, source, results, Heard()))


def fail_first(machines: Machines, error: BaseException) -> None:
    """Let the first job fail, and no other."""

    def before(job: vm.Job, cancelled: threading.Event) -> None:
        if len(machines.jobs) == 1:
            raise error

    machines.before = before


def test_all_runs_are_made_and_each_kernel_boots_once(machines: Machines, tmp_path: Path) -> None:
    rows = execute(tmp_path)
    assert [(row["variant"], row["seed"], row["status"]) for row in rows] == [
        ("baseline", 1, "ok"),
        ("fast", 1, "ok"),
        ("baseline", 2, "ok"),
        ("fast", 2, "ok"),
    ]
    assert machines.boots == {"baseline": 1, "fast": 1}
    assert (tmp_path / "results/experiment.toml").read_text() == "# the experiment\n"
    assert len((tmp_path / "results/durations.jsonl").read_text().splitlines()) == 4
    assert {str(job.fast) for job in machines.jobs} == {"{}", "{'policy': 'strict'}"}


def test_a_control_is_handed_to_the_guest(machines: Machines, tmp_path: Path) -> None:
    control = replace(samples.ONE_CPU, features=("NEXT_BUDDY",))
    of = samples.experiment(seeds=(1,), variants=(samples.BASELINE, control))
    rows = execute(tmp_path, of, jobs=1)
    assert [(row["features"], row["cpus"]) for row in rows] == [([], None), (["NEXT_BUDDY"], 1)]
    assert {(job.features, job.cpus) for job in machines.jobs} == {((), None), (("NEXT_BUDDY",), 1)}


def test_every_machine_of_a_matrix_boots_once(machines: Machines, tmp_path: Path) -> None:
    (workload,) = EXPERIMENT.workloads
    cases = tuple(Case(Machine(cpus=cpus), workload, (("cpus", cpus),)) for cpus in (2, 8))
    rows = execute(tmp_path, replace(EXPERIMENT, matrix=cases))
    assert machines.boots == {"baseline": 2, "fast": 2}
    assert Counter(machine.cpus for machine in machines.booted) == {2: 2, 8: 2}
    assert [(row["machine"]["cpus"], row["status"]) for row in rows] == [
        *[(2, "ok"), (2, "ok"), (8, "ok"), (8, "ok")] * 2
    ]
    assert len({row["key"] for row in rows}) == 8


def test_a_finished_experiment_needs_no_machine(machines: Machines, tmp_path: Path) -> None:
    first = execute(tmp_path)
    machines.jobs.clear()
    assert execute(tmp_path) == first
    assert machines.jobs == []
    assert machines.boots == {"baseline": 1, "fast": 1}


def test_a_failed_run_is_a_row_and_is_made_again(machines: Machines, tmp_path: Path) -> None:
    fail_first(machines, GuestError("Kernel panic"))
    execute(tmp_path, jobs=1)
    rows = read_rows(tmp_path / "results/runs.jsonl")[0]
    assert sorted(row["status"] for row in rows) == ["failed", "ok", "ok", "ok"]
    assert "Kernel panic" in next(row["reason"] for row in rows if row["status"] == "failed")
    machines.before = lambda job, cancelled: None
    machines.jobs.clear()
    assert [row["status"] for row in execute(tmp_path)] == ["ok"] * 4
    assert len(machines.jobs) == 1


def test_an_interrupted_experiment_goes_on_where_it_was(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appended = RunLog.append

    def interrupt(log: RunLog, row: Any) -> None:
        appended(log, row)
        if len(log.rows) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(RunLog, "append", interrupt)
    with pytest.raises(KeyboardInterrupt):
        execute(tmp_path, jobs=1)
    monkeypatch.setattr(RunLog, "append", appended)
    kept = read_rows(tmp_path / "results/runs.jsonl")[0]
    assert len(kept) == 2
    rows = execute(tmp_path)
    assert all(row in rows for row in kept)
    assert len(rows) == 4


def test_the_total_watchdog_ends_the_machines(machines: Machines, tmp_path: Path) -> None:
    def hang(job: vm.Job, cancelled: threading.Event) -> None:
        assert cancelled.wait(10)
        raise CancelledError("ended")

    machines.before = hang
    with pytest.raises(FastError, match=r"longer than 0\.2 s in all"):
        execute(tmp_path, replace(EXPERIMENT, watchdogs=Watchdogs(total=0.2)))


def test_what_the_last_run_completes_is_complete_however_late(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, append = [time.monotonic()], RunLog.append

    def take_long(log: RunLog, row: Any) -> None:
        append(log, row)
        now[0] += 10 * Watchdogs.total

    monkeypatch.setattr(contract, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(RunLog, "append", take_long)
    with pytest.raises(FastError, match="the 1 rows written are safe"):
        execute(tmp_path)
    (alone := tmp_path / "alone").mkdir()
    assert len(execute(alone, replace(EXPERIMENT, seeds=(1,), variants=(samples.BASELINE,)))) == 1


def test_runs_are_of_the_plugin_that_was_hashed(machines: Machines, tmp_path: Path) -> None:
    plugin = tmp_path / "build/libcachesim-4.so"
    plugin.parent.mkdir()
    both = (plugin, plugin.with_name(vm.PACE))
    for file in both:
        file.write_text("first")
    toolbox = replace(TOOLBOX, plugin=plugin, libraries=read_libraries(plugin))
    for file in both:
        file.write_text("built anew")
    execute(tmp_path, toolbox=toolbox)
    (used,) = machines.plugins
    assert used.read_text() == used.with_name(vm.PACE).read_text() == "first"


def test_a_full_disk_ends_the_experiment(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_first(machines, GuestError("QEMU ended with status 1"))
    monkeypatch.setattr(cache, "FULL", 1 << 62)
    with pytest.raises(FastError, match="the disk is full"):
        execute(tmp_path, jobs=1)


def test_rows_of_another_experiment_are_not_current(machines: Machines, tmp_path: Path) -> None:
    rows = execute(tmp_path)
    fewer = samples.experiment(seeds=(2,))
    current = Simulator(fewer, KERNELS, TOOLBOX, tmp_path, Heard()).current(rows)
    assert [row["seed"] for row in current] == [2, 2]
    newer = replace(TOOLBOX, id="newer")
    assert not Simulator(fewer, KERNELS, newer, tmp_path, Heard()).current(rows)


def test_machines_are_shared_through_the_cache(machines: Machines, tmp_path: Path) -> None:
    execute(tmp_path)
    assert len(list((cache.cache_dir() / "machines").glob("*/snapshot"))) == 2


def affinities(jobs: int) -> list[set[int]]:
    """Where each of as many threads may run, all of them at work at a time."""
    together = threading.Barrier(jobs)

    def where() -> set[int]:
        together.wait(10)
        return os.sched_getaffinity(0)

    with ThreadPoolExecutor(jobs, initializer=one_cpu_each(jobs)) as pool:
        return [future.result() for future in [pool.submit(where) for _ in range(jobs)]]


def test_as_many_machines_as_cpus_have_one_each() -> None:
    cpus = os.sched_getaffinity(0)
    for rounds in (1, 2):
        found = affinities(rounds * len(cpus))
        assert sorted(cpu for one in found for cpu in one) == sorted(rounds * list(cpus))
    assert os.sched_getaffinity(0) == cpus


def test_another_number_of_machines_is_confined_to_none() -> None:
    cpus = os.sched_getaffinity(0)
    assert affinities(len(cpus) + 1) == [cpus] * (len(cpus) + 1)


def test_runs_are_attributed_by_workload_and_variant(machines: Machines, tmp_path: Path) -> None:
    (tmp_path / "map").write_text(samples.SYSTEM_MAP)
    kernels = {
        name: replace(one, vmlinux=str(tmp_path / "none"), system_map=str(tmp_path / "map"))
        for name, one in KERNELS.items()
    }
    give_manifest(tmp_path)
    program = program_path(tmp_path, "single_ctr")
    program.parent.mkdir()
    shutil.copyfile("/bin/true", program)
    of = replace(EXPERIMENT, attribute=True)
    results = tmp_path / "results"
    (tmp_path / "source.toml").write_text("# the experiment\n")
    simulator = Simulator(of, kernels, TOOLBOX, results, Heard(), 2)
    made = run_experiment(simulator, of, tmp_path / "source.toml", results, Heard())
    rows = simulator.current(made)
    profile_experiment(simulator.requests, rows, kernels, TOOLBOX.id, tmp_path, results)
    found = analysis.analyse(results, Heard()).attributed
    assert {(one.variant_name, one.workload) for one in found} == {
        (row["variant"], f"{row['benchmark']}-{row['threads']}") for row in rows
    }
    for one in found:
        assert one.runs == len(of.seeds)
        assert one.totals["cycles"] == 5 * one.runs
        assert [function.function for function in one.functions] == [
            "try_to_wake_up",
            "(memory that is in no file)",
        ]
        file = results / "attribution" / one.workload / f"{one.variant_name}.callgrind"
        assert f"summary: {5 * one.runs} " in file.read_text()
    # A run that failed is in no comparison, and not here.
    profile_experiment(simulator.requests, rows[:1], kernels, TOOLBOX.id, tmp_path, results)
    (alone,) = analysis.analyse(results, Heard()).attributed
    assert alone.runs == 1


@pytest.mark.parametrize(
    ("tools_id", "attribute", "shown"),
    [("tools", True, True), ("others", True, False), ("tools", False, False)],
    ids=["its own", "another build's", "not asked for"],
)
def test_what_was_attributed_before_is_not_this_experiments(
    tools_id: str, attribute: bool, shown: bool, machines: Machines, tmp_path: Path
) -> None:
    of = replace(EXPERIMENT, attribute=attribute)
    execute(tmp_path, of)
    results = tmp_path / "results"
    before = attributed.Attributed("fast", "single_ctr-4", 1, {}, (), ())
    attributed.keep(results, [before], builds_of(KERNELS, tools_id))
    assert analysis.analyse(results, Heard()).attributed == ((before,) if shown else ())


def report_of(results: Path, into: Path) -> dict[str, bytes]:
    """Every file of the report, by its name."""
    into.mkdir()
    paths = contents.write_report(analysis.analyse(results, Heard()), into)
    return {path.name: path.read_bytes() for path in paths}


SOURCE = f"""
name = "sample"
series = "6.12"
baseline = "baseline"
threads = [4]
seeds = [1, 2]

[machine]
preset = "mine.toml"

[defaults]
iterations = 2000

[[benchmark]]
name = "single_ctr"
{samples.VARIANTS}
"""


def test_the_report_is_made_by_the_plan_that_was_kept(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, preset = tmp_path / "sample.toml", tmp_path / "mine.toml"
    text = (presets.DIRECTORY / "rx4640.toml").read_text()
    preset.write_text(text.replace('name = "rx4640"', 'name = "mine"'))
    source.write_text(SOURCE)
    results = tmp_path / "results"
    experiment = load_experiment(source)
    simulator = Simulator(experiment, KERNELS, TOOLBOX, results, Heard(), 2)
    run_experiment(simulator, experiment, source, results, Heard())
    before = report_of(results, tmp_path / "before")
    assert b'"preset": "mine"' in before["summary.json"]

    # The defaults, the preset and the experiment's copy have changed since.
    monkeypatch.setattr(Machine.__init__, "__defaults__", (8, 1024, "rx4640", 3000))
    for path in (preset, results / "mine.toml"):
        path.write_text(path.read_text().replace("mhz = ", "mhz = 1"))
    (results / "experiment.toml").write_text(SOURCE.replace("[1, 2]", "[1]"))
    assert report_of(results, tmp_path / "after") == before

    # What older releases kept says no more than the builds: the rest is as it is now.
    plan = json.loads((results / "plan.json").read_text())
    assert plan["machines"][0]["preset_id"] in before["summary.json"].decode()
    del plan["experiment"]
    (results / "plan.json").write_text(json.dumps(plan))
    assert analysis.analyse(results, Heard()).left_out
    (results / "plan.json").write_text(json.dumps({**plan, "experiment": {}}))
    with pytest.raises(FastError, match=r"plan\.json: not a plan .* `name` - at `.*experiment`"):
        analysis.analyse(results, Heard())
