# SPDX-License-Identifier: GPL-2.0
"""`fast run --executor dask:ADDRESS`, with processes for workers and stand-ins for machines."""

from __future__ import annotations

import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_dask_worker
import pytest
import samples
from dask_cluster import Cluster, cluster
from distributed import KilledWorker
from heard import Heard
from waiting import eventually

from fastlab.backend import contract, dask_workers
from fastlab.backend.sim import Simulator, Toolbox, machine_directory
from fastlab.base import tools
from fastlab.base.model import Case, Experiment, FastError, Kernel, Machine
from fastlab.cli import main
from fastlab.guest import vm
from fastlab.plan import presets
from fastlab.plan.rows import Row, counters_digest
from fastlab.plan.run_log import read_rows

SEEDS = (1, 2, 3)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Machines here are the workers' stand-ins."""
    monkeypatch.setenv("FAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(vm, "run_job", fake_dask_worker.run_job)
    monkeypatch.setattr(vm, "save_machine", _save)
    monkeypatch.setattr(dask_workers, "program", fake_dask_worker.program)
    return tmp_path


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("dask") / "cluster"
    with cluster(directory, Path(fake_dask_worker.__file__)) as made:
        yield made


@pytest.fixture
def there(scheduler: Cluster) -> Iterator[Cluster]:
    """The scheduler, without a worker."""
    yield scheduler
    scheduler.end_workers()


def _save(simulation: vm.Simulation, directory: Path, *_: Any) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name in (vm.SNAPSHOT, vm.MEMORY):
        (directory / name).write_text(f"{name} of {simulation.kernel.id}")


def experiment(home: Path) -> Experiment:
    """An experiment on two machines, of which one has a preset of its own."""
    preset = home / "mine.toml"
    text = (presets.DIRECTORY / "rx4640.toml").read_text()
    preset.write_text(text.replace('name = "rx4640"', 'name = "mine"'))
    of = samples.experiment(seeds=SEEDS)
    (workload,) = of.workloads
    machines = (Machine(), Machine(preset=str(preset)))
    axes = ((("preset", machine.preset_name),) for machine in machines)
    cases = (Case(one, workload, axis) for one, axis in zip(machines, axes, strict=True))
    return replace(of, matrix=tuple(cases))


def arguments(home: Path, name: str, heard: Heard) -> tuple[Any, ...]:
    """What a simulator takes, with kernels and a toolbox of small files."""
    kernels = {}
    for kernel in ("baseline", "fast"):
        for file in ("vmlinux", "map"):
            (home / f"{kernel}-{file}").write_text(f"{file} of {kernel}")
        paths = (str(home / f"{kernel}-{file}") for file in ("vmlinux", "map"))
        kernels[kernel] = Kernel("6.12", kernel, f"id-{kernel}", *paths)
    program = home / "single_ctr"
    program.write_text("a program")
    libraries = {"plugin.so": b"the plugin", vm.PACE: b"its pace"}
    plugin = Path("plugin.so")
    programs = {"/bin/single_ctr": program}
    toolbox = Toolbox("tools", Path("qemu"), plugin, b"image", programs, libraries)
    return experiment(home), kernels, toolbox, home / name, heard, 1


def rows_of(results: Path) -> list[Row]:
    return read_rows(results / "runs.jsonl")[0]


def execute(
    home: Path, name: str, address: str = "", heard: Heard | None = None
) -> tuple[str, Simulator]:
    """Make the runs; the digest of their rows."""
    heard = heard or Heard()
    given = arguments(home, name, heard)
    with dask_workers.connected(address) if address else nullcontext() as client:
        machines = dask_workers.DaskWorkers(client, *given) if client else Simulator(*given)
        contract.run_experiment(machines, given[0], None, home / name, heard)
    rows = rows_of(home / name)
    # No row is lost or doubled.
    assert Counter(row["key"] for row in rows) == {one.key: 1 for one in machines.requests}
    return counters_digest(rows), machines


def test_the_digest_is_the_same_with_0_1_and_3_workers(home: Path, there: Cluster) -> None:
    class StartsOne(Heard):
        def say(self, text: str) -> None:
            super().say(text)
            if "the scheduler has no worker yet" in text:
                there.add(1)

    alone, machines = execute(home, "alone")
    assert {row["status"] for row in rows_of(home / "alone")} == {"ok"}
    heard = StartsOne()
    assert execute(home, "one", there.address, heard)[0] == alone
    assert len([text for text in heard.said if "wait until one is started" in text]) == 1
    sent = there.stored()
    # Two kernels and maps, two machines of two files, an image, two libraries, a program, a preset.
    assert len({path.name for path in sent}) == len(sent) == 13
    there.add(2)
    with dask_workers.connected(there.address) as client:
        client.wait_for_workers(3)
    # Workers that come later get them from the scheduler.
    assert eventually(lambda: len(there.stored()) == 39)
    times = {path: path.stat().st_mtime_ns for path in there.stored()}
    assert execute(home, "three", there.address)[0] == alone
    assert {path: path.stat().st_mtime_ns for path in there.stored()} == times
    # The logs are where a run at home has them.
    for request in machines.requests:
        logs = [machine_directory(home / name, request) for name in ("alone", "three")]
        here, theirs = ({one.name: one.read_bytes() for one in log.iterdir()} for log in logs)
        assert here == theirs and "serial.log" in here


def test_a_worker_that_dies_costs_its_runs_time_only(home: Path, there: Cluster) -> None:
    alone, _ = execute(home, "alone")
    there.add(2, **{fake_dask_worker.KILL_ONE: str(home / "killed")})
    assert execute(home, "two", there.address)[0] == alone
    assert (home / "killed").exists()
    ends = [worker.process.poll() for worker in there.workers]
    assert sorted(ends, key=str) == [-signal.SIGKILL, None]


def test_a_failed_run_says_why_and_another_version_is_refused(home: Path, there: Cluster) -> None:
    there.add(1, **{fake_dask_worker.FAILING: "2"})
    _, machines = execute(home, "some", there.address)
    rows = {row["key"]: row for row in rows_of(home / "some")}
    failed = [one for one in machines.requests if rows[one.key]["status"] == "failed"]
    assert {one.run.seed for one in failed} == {2} and len(failed) == 4
    for request in failed:
        logs = machine_directory(home / "some", request)
        reason = rows[request.key]["reason"]
        assert reason == f"the guest's kernel is in trouble\n(all that the machine said: {logs})"
        assert (logs / "serial.log").is_file()

    message = r"worker \S+ .*has another fastlab, and `fast run` is fastlab and QEMU: give its"
    with dask_workers.connected(there.address) as client:
        there.end_workers()
        there.add(1, **{fake_dask_worker.PROGRAM: "another fastlab"})
        # A worker that comes later is found by its first run.
        late = dask_workers.DaskWorkers(client, *arguments(home, "late", Heard()))
        with pytest.raises(FastError, match=message):
            contract.run_experiment(late, experiment(home), None, home / "late", Heard())
    assert rows_of(home / "late") == []
    with pytest.raises(FastError, match=message), dask_workers.connected(there.address):
        pass


@pytest.fixture
def alone(home: Path) -> dask_workers.DaskWorkers:
    """Without a scheduler."""
    client = SimpleNamespace(get_executor=lambda pure: None)
    return dask_workers.DaskWorkers(client, *arguments(home, "alone", Heard()))  # type: ignore[arg-type]


def ended(error: BaseException | None) -> Future[dask_workers.Made]:
    future: Future[dask_workers.Made] = Future()
    if error:
        future.set_exception(error)
    else:
        future.cancel()
    return future


def test_a_run_that_kills_its_workers_is_a_failed_row(
    alone: dask_workers.DaskWorkers, home: Path
) -> None:
    request = alone.requests[0]
    kernel = arguments(home, "alone", Heard())[1]["baseline"]
    simulation = vm.Simulation(Path("qemu"), kernel, Path("image"), request.run.machine)
    killed = ended(KilledWorker("task", SimpleNamespace(address="tcp://host:1"), 3))  # type: ignore[arg-type]
    row, _ = alone._accepted(request, simulation, killed)
    assert (row["key"], row["status"]) == (request.key, "failed")
    assert row["reason"] == "4 workers died while they made it, the last one at tcp://host:1"
    with pytest.raises(FastError, match="scheduler is gone; the rows written are safe"):
        alone._accepted(request, simulation, ended(None))


def test_no_scheduler(
    experiment_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_workers, "PATIENCE", 0.1)
    monkeypatch.setattr(tools, "require_qemu", fake_dask_worker.require_qemu)
    assert main.main(["run", "small.toml", "--executor", "dask:127.0.0.1:9"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("fast: no dask scheduler answers at 127.0.0.1:9: ")
    assert "start one there with `dask scheduler`" in said and "Traceback" not in said
    assert not Path("results").exists()


def test_no_dask(
    experiment_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "fastlab.backend.dask_workers")
    monkeypatch.delattr("fastlab.backend.dask_workers")
    monkeypatch.setattr(tools, "require_qemu", fake_dask_worker.require_qemu)
    assert main.main(["run", "small.toml", "--executor", "dask:127.0.0.1:9"]) == 1
    assert re.search(
        r"needs the Python package distributed, which is missing: install it with "
        r"`\S+ -m pip install 'distributed>=",
        capsys.readouterr().err,
    )
