# SPDX-License-Identifier: GPL-2.0
"""Real machines on two dask workers, of which one is killed."""

from __future__ import annotations

import io
import threading
from collections import Counter
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from dask_cluster import Cluster, cluster
from lab import PROJECT, kernel

from fastlab.backend import contract, dask_workers
from fastlab.backend.sim import Simulator, find_sim_toolbox, machine_directory
from fastlab.base.model import Experiment, Machine, Variant, Workload
from fastlab.base.progress import PlainReporter
from fastlab.base.tools import require_qemu
from fastlab.guest import meson, vm
from fastlab.plan.rows import Row, counters_digest
from fastlab.plan.run_log import read_rows

EXPERIMENT = Experiment(
    name="workers",
    series="6.12",
    machine=Machine(),
    variants=(Variant("baseline", "baseline"), Variant("strict", "fast", "strict")),
    baseline="baseline",
    workloads=(Workload("prod_cons", 4, ("--iterations=4000", "--warmup=400")),),
    seeds=(1, 2),
    attribute=True,
)


def made(results: Path, address: str = "") -> tuple[list[Row], list[bytes]]:
    """The rows, and what was attributed in each run."""
    reporter = PlainReporter(io.StringIO())
    kernels = {name: kernel(name) for name in ("baseline", "fast")}
    build = meson.build_programs(PROJECT, reporter)
    toolbox = find_sim_toolbox(require_qemu(), build)
    given = (EXPERIMENT, kernels, toolbox, results, reporter)
    with dask_workers.connected(address) if address else nullcontext() as client:
        machines = dask_workers.DaskWorkers(client, *given) if client else Simulator(*given)
        contract.run_experiment(machines, EXPERIMENT, None, results, reporter)
    attributed = [machine_directory(results, one) / vm.ATTRIBUTION for one in machines.requests]
    return read_rows(results / "runs.jsonl")[0], [path.read_bytes() for path in attributed]


def kill_one(there: Cluster, over: threading.Event) -> None:
    """Kill the first worker that has begun with a workload, unless all is over before."""

    def killed() -> bool:
        # A run's directory vanishes with it.
        with suppress(FileNotFoundError):
            for worker in there.workers:
                for host in worker.place.glob("*/*/fast/*/machines/*/host"):
                    if b"FAST start" in host.read_bytes():
                        worker.process.kill()
                        return True
        return False

    while not killed() and not over.wait(0.02):
        pass


@pytest.mark.full
def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    alone, attributed = made(tmp_path / "alone")
    with cluster(tmp_path / "cluster") as there:
        there.add(2)
        over = threading.Event()
        killer = threading.Thread(target=kill_one, args=(there, over))
        killer.start()
        try:
            rows, theirs = made(tmp_path / "two", there.address)
        finally:
            over.set()
            killer.join()
        assert len([worker for worker in there.workers if worker.process.poll() is not None]) == 1
    assert {row["status"] for row in alone} == {"ok"}
    assert Counter(row["key"] for row in rows) == Counter(row["key"] for row in alone)
    assert counters_digest(rows) == counters_digest(alone)
    assert theirs == attributed
