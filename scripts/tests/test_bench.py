# SPDX-License-Identifier: GPL-2.0
"""The benchmark of the cache model, with stand-ins for the machine and the kernel."""

from __future__ import annotations

import fcntl
import io
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fastlab.backend.sim import Toolbox
from fastlab.base.model import FastError, Kernel, Machine
from fastlab.base.progress import PlainReporter
from fastlab.base.tools import Qemu
from fastlab.bench import bench_machine, cost
from fastlab.guest.vm import Outcome
from fastlab.kernel.kernels import BuildRequest, Places

OUTPUT = {"benchmark": "single_ctr", "check": "ok"}
COUNTS = {mode: {"instructions": count} for mode, count in (("user", 30), ("kernel", 8))}
DOCUMENT = {"total": {**COUNTS, "idle": {"instructions": 2}}}
PLAIN = Outcome(None, OUTPUT, None, 0, (), workload=2.0)
MODELLED = replace(PLAIN, document=DOCUMENT, workload=5.0)


def fake_machine(
    monkeypatch: pytest.MonkeyPatch,
    directory: Path,
    run_job: Callable[..., Outcome],
    plugin: Path = Path("plugin.so"),
) -> None:
    """Let a BenchMachine build and boot nothing, and answer by `run_job`."""
    kernel = Kernel("6.12", "baseline", "id", "", "")
    monkeypatch.setattr(bench_machine.vm, "run_job", run_job)
    monkeypatch.setattr(bench_machine.vm, "save_machine", lambda *_: None)
    monkeypatch.setattr(bench_machine, "build_programs", lambda *_: directory)
    qemu = Path("qemu")
    monkeypatch.setattr(bench_machine.tools, "require_qemu", lambda: Qemu(qemu, 4))
    toolbox = Toolbox("id", qemu, plugin, b"")
    monkeypatch.setattr(bench_machine.sim, "find_sim_toolbox", lambda qemu, build, further: toolbox)
    request = BuildRequest(variants=("baseline",), places=Places(directory, directory))
    # In this module alone: another that is first imported now would keep a changed BuildRequest.
    built = SimpleNamespace(build=lambda *_: (kernel,), BuildRequest=lambda **_: request)
    monkeypatch.setattr(bench_machine, "kernels", built)


@pytest.fixture
def outcomes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Outcome]:
    """What the machine will answer, one after another: with the model, with attribution too, with
    a model that is alone, and without any; and without contention."""
    coming: list[Outcome] = []
    plugin = tmp_path / "plugin.so"
    plugin.touch()

    def run_job(
        simulation: Any, snapshot: Path, given: Path | None, *_: object, attribute: bool
    ) -> Outcome:
        turn = -len(coming) % 5
        assert (given and given.name) == (None if turn == 3 else plugin.name)
        assert (given == plugin) == (turn in (0, 1, 4))
        assert attribute == (turn == 1)
        return coming.pop(0)

    fake_machine(monkeypatch, tmp_path, run_job, plugin)
    return coming


def measure() -> cost.SimCost:
    return cost.measure(PlainReporter(io.StringIO()))


def test_the_least_disturbed_round_counts(outcomes: list[Outcome]) -> None:
    for modelled, attributed, unpaced, plain in (
        (9.0, 6.0, 7.0, 2.0),
        (5.0, 8.0, 8.0, 3.0),
        (6.0, 9.0, 6.5, 2.5),
    ):
        outcomes += [
            replace(MODELLED, workload=modelled),
            replace(MODELLED, workload=attributed),
            replace(MODELLED, workload=unpaced),
            replace(PLAIN, workload=plain),
            replace(MODELLED, workload=plain + 1),
        ]
    found = measure()
    assert found == cost.SimCost(
        40,
        (9.0, 5.0, 6.0),
        (2.0, 3.0, 2.5),
        (6.0, 8.0, 9.0),
        (7.0, 8.0, 6.5),
        40,
        (3.0, 4.0, 3.5),
    )
    assert found.instructions_per_second == 8.0
    assert found.slowdown == 2.5
    assert found.attribution == 1.2
    assert found.unpacing == 1.3


def test_a_machines_directory_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_machine(monkeypatch, tmp_path, lambda *_: PLAIN)
    machine = bench_machine.BenchMachine("bench", Machine(), PlainReporter(io.StringIO()))
    with machine.directory.with_name("bench.lock").open() as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        del machine
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_people_read_millions() -> None:
    rounds = ((15.0, 14.0), (7.0, 7.25), (21.0, 22.0), (17.5, 18.0))
    text = cost.SimCost(450_000_000, *rounds, 300_000_000, (5.0, 6.0)).text()
    assert text.splitlines() == [
        "single_ctr, 4 threads: 450 million guest instructions",
        "with the cache model:    15.00, 14.00 s",
        "without the cache model: 7.00, 7.25 s",
        "32.1 million instructions per second with the model, 2.00 times slower than without it",
        "mlt_ctr_mlt_lock, without contention: 5.00, 6.00 s, 60.0 million instructions per second",
        "with attribution, too:   21.00, 22.00 s, 1.50 times as long",
        "without libpace.so:      17.50, 18.00 s, 1.25 times as long",
    ]


@pytest.mark.parametrize(
    ("output", "status", "killer"),
    [(None, 1, 0), ({"check": "failed"}, 1, 0), (None, 139, signal.SIGSEGV)],
)
def test_a_benchmark_that_fails_is_no_measurement(
    outcomes: list[Outcome], output: dict[str, str] | None, status: int, killer: int
) -> None:
    failing = replace(PLAIN, output=output, exit_status=status)
    outcomes += [MODELLED, MODELLED, MODELLED, failing, MODELLED] * cost.ROUNDS
    with pytest.raises(
        bench_machine.NoResultError, match=f"ended with status {status} and without a good result"
    ) as caught:
        measure()
    assert caught.value.signal == killer


def test_a_model_that_saw_nothing_is_no_measurement(outcomes: list[Outcome]) -> None:
    blind = replace(MODELLED, document=None)
    outcomes += [blind, MODELLED, MODELLED, PLAIN, MODELLED] * cost.ROUNDS
    with pytest.raises(FastError, match="wrote no document"):
        measure()


def test_an_interrupt_ends_what_is_under_way_and_begins_no_more() -> None:
    cancelled = threading.Event()
    begun: list[int] = []
    taken: list[int] = []

    class Machine:
        def cancel(self) -> None:
            cancelled.set()

    def measure(point: int) -> int:
        begun.append(point)
        # As a job that takes long, unless it is ended.
        if point and not cancelled.wait(20):
            raise AssertionError("it went on")
        return point

    def take(point: int, _: int) -> None:
        taken.append(point)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench_machine.run_each(
            [Machine()],  # type: ignore[list-item]
            PlainReporter(io.StringIO()),
            "measuring",
            range(100),
            measure,
            take,
        )
    assert taken == [0]
    assert len(begun) < 100
    assert cancelled.is_set()
