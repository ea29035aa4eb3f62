# SPDX-License-Identifier: GPL-2.0
"""`fast trust`: benchmarks that are shell scripts, and a simulation that is a list of rows."""

from __future__ import annotations

import io
import json
import os
import re
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples
from fake_machine import FAST, FakeMachine
from fake_programs import BENCHMARKS, give_manifest

from fastlab.backend.host import only_user, without_fast
from fastlab.base import manifest
from fastlab.base.model import Experiment, FastError, Machine, Variant
from fastlab.base.progress import PlainReporter
from fastlab.cli import common, main
from fastlab.cli import trust as cli_trust
from fastlab.guest import meson
from fastlab.guest.initramfs import program_path
from fastlab.plan import presets
from fastlab.plan.experiment import keep_experiment, load_experiment
from fastlab.plan.rows import Row
from fastlab.trust import agreement, native
from fastlab.trust.agreement import Point

CPUS = tuple(sorted(os.sched_getaffinity(0)))[:2]
# In a millisecond.
PRINTS = """cat <<END
{"elapsed_ns": 1000000, "context_switches": 4, "check": "ok"}
END"""

pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="one CPU: free and confined are the same")


class Lab:
    """Programs that note how they are called, and on how many CPUs they may run."""

    def __init__(self, directory: Path) -> None:
        self.build = directory / "build"
        self.log = directory / "log"
        give_manifest(self.build)
        for name in BENCHMARKS:
            self.program(name, PRINTS)

    def program(self, name: str, script: str) -> None:
        path = program_path(self.build, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        note = f'echo "$(basename $0) $(nproc) $*" >> {self.log}'
        path.write_text(f"#!/bin/sh\n{note}\n{script}\n")
        path.chmod(0o755)

    def calls(self, name: str) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if line.startswith(f"{name} ")]

    def session(self, rounds: int = 1) -> native.NativeSession:
        return native.NativeSession(self.build, CPUS, rounds)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def run(session: native.NativeSession) -> None:
    session.run(PlainReporter(io.StringIO()))


def test_the_arms_take_turns(lab: Lab) -> None:
    run(lab.session(rounds=2))
    calls = lab.calls("affinity")
    pilot = "--threads 2 --iterations=20000 --json"
    # A hundred times a millisecond.
    words = "--threads 2 --iterations=2000000 --json"
    of_two = [call for call in calls if "--threads 2" in call]
    assert of_two == [
        f"affinity 2 {pilot}",
        f"affinity 1 {pilot}",
        *[f"affinity {cpus} {words}" for cpus in (2, 1, 1, 2)] * 2,
    ]
    assert len(calls) == 20
    assert "--threads 4" in calls[-1]


def test_figures_are_an_iteration_s(lab: Lab) -> None:
    slow = "ns=1000000; [ $(nproc) = 1 ] && ns=4000000"
    lab.program("affinity", f"{slow}\n{PRINTS.replace('1000000', '$ns')}")
    session = lab.session()
    assert session.measured() == {}
    run(session)
    side = session.measured()
    assert set(side) == {Point(name, threads) for name in BENCHMARKS for threads in (2, 4)}
    arms = side[Point("affinity", 2)]["elapsed_ns"]
    assert arms.pairs == [(0.5, 2.0)] * 2
    switches = side[Point("affinity", 2)]["context_switches"]
    assert switches.pairs == [(4 / 2_000_000,) * 2] * 2
    assert switches.resolution == 2 * 2 / 2_000_000


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("echo no memory >&2; exit 1", "(prod_cons, 2 threads) ended with status 1: no memory"),
        ("kill -SEGV $$", "(prod_cons, 2 threads) killed by SIGSEGV"),
        ("echo nonsense", "printed no good result: nonsense"),
        ('echo \'{"check": "failed"}\'', "printed no good result: {"),
        ("exec sleep 60", "(prod_cons, 2 threads) did not end within 0.5 s"),
    ],
)
def test_a_benchmark_that_fails_is_an_error(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, script: str, what: str
) -> None:
    monkeypatch.setattr(native, "TIMEOUT", 0.5 if "sleep" in script else 60.0)
    monkeypatch.setattr(manifest, "suite", lambda *_: ("prod_cons",))
    lab.program("prod_cons", script)
    with pytest.raises(FastError, match=re.escape(what)):
        run(lab.session())


def test_what_is_not_built_is_named(lab: Lab) -> None:
    program_path(lab.build, "affinity").unlink()
    with pytest.raises(FastError, match="affinity: not built; build the programs first"):
        lab.session()


@pytest.mark.parametrize(("allowed", "used"), [(2, 2), (3, 2), (4, 4), (64, 4)])
def test_an_even_number_of_cpus(monkeypatch: pytest.MonkeyPatch, allowed: int, used: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(10, 10 + allowed)))
    assert native.usable_cpus() == tuple(range(10, 10 + used))


def test_one_cpu_has_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    with pytest.raises(FastError, match="one CPU: free and confined to one CPU are the same"):
        native.usable_cpus()


def mine(directory: Path, built_in: str) -> Path:
    """A preset of one's own, as good as that one."""
    text = (presets.DIRECTORY / f"{built_in}.toml").read_text()
    path = directory / "mine.toml"
    path.write_text(text.replace(f'name = "{built_in}"', 'name = "mine"'))
    return path


def test_the_experiment_predicts_what_is_measured(tmp_path: Path) -> None:
    preset = mine(tmp_path, "epyc-milan")
    directory = tmp_path / "results"
    path = native.write_experiment(directory, preset, "6.12", (3, 5), BENCHMARKS)
    assert path == directory / "trust-mine.toml"
    experiment = load_experiment(path)
    # Beside it, so that the results are whole.
    assert experiment.machine.preset == str(directory / "mine.toml")
    assert (experiment.machine.cpus, experiment.machine.quantum) == (2, 100)
    points = {(load.benchmark, load.threads) for load in experiment.workloads}
    assert points == {(name, threads) for name in BENCHMARKS for threads in (2, 4)}
    assert experiment.baseline == agreement.FREE
    assert [(one.name, one.kernel, one.cpus) for one in experiment.variants] == [
        (agreement.FREE, "baseline", None),
        (agreement.CONFINED, "baseline", 1),
    ]


def test_the_simulation_keeps_copies_of_its_own(tmp_path: Path) -> None:
    directory = tmp_path / "results"
    preset = mine(tmp_path, "rx4640")
    path = native.write_experiment(directory, preset, "6.12", (3, 5), BENCHMARKS)
    simulation = directory / agreement.SIMULATION
    simulation.mkdir()
    machine = Machine(preset=str(directory / "mine.toml"))
    keep_experiment(path, replace(samples.experiment(), machine=machine), simulation)
    assert {one.name for one in simulation.iterdir()} == {"experiment.toml", "mine.toml"}


def test_a_preset_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "mine.toml"
    with pytest.raises(FastError, match=f"`fast calibrate --out {missing}` writes it"):
        native.write_experiment(tmp_path / "results", missing, "6.12", (0, 1), BENCHMARKS)
    with pytest.raises(FastError, match="allowed: up to 31 small letters"):
        native.write_experiment(tmp_path, tmp_path / "Mine.toml", "6.12", (0, 1), BENCHMARKS)


class Command:
    """`fast trust` with the simulation's rows; `experiment` is what was asked of it."""

    def __init__(self, lab: Lab, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        mine(directory, "rx4640")
        self.rows: list[Row] = []
        self.asked: list[tuple[Path, Path]] = []
        monkeypatch.chdir(directory)
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        monkeypatch.setattr(meson, "build_programs", lambda *_: lab.build)
        monkeypatch.setattr(cli_trust, "load_experiment", lambda _: samples.experiment())
        monkeypatch.setattr(cli_trust, "simulate", self._simulate)
        self.machine = FakeMachine(directory / "machine")
        self.machine.boot(1, fast=True)
        root = self.machine.root
        monkeypatch.setattr(cli_trust, "without_fast", lambda _: without_fast(root))

    def _simulate(
        self, experiment: Experiment, source: Path, directory: Path, reporter: object
    ) -> list[Row]:
        self.asked.append((source, directory))
        return self.rows

    def predict(self, ratio: float, threads: tuple[int, ...] = (2, 4)) -> None:
        """This free / confined, and as many switches as the scripts have."""
        variants = (samples.BASELINE, Variant("onecpu", "baseline", cpus=1))
        for name in BENCHMARKS:
            for count in threads:
                of = samples.experiment((name,), (count,), (1,), variants)
                for variant, ns in (("baseline", ratio * 1e6), ("onecpu", 1e6)):
                    row: dict[str, Any] = {**samples.row(of, samples.run_of(of, variant))}
                    counters = {
                        "cycles": {"unit": "", "total": ns},
                        "l2_misses": {"unit": "", "total": 32_000},
                    }
                    row |= {"elapsed_ns": ns, "context_switches": 0, "counters": counters}
                    self.rows.append(row)  # type: ignore[arg-type]


@pytest.fixture
def command(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(lab, tmp_path, monkeypatch)


Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("ratio", "status", "result"), [(1.1, common.OK, "7 of 7"), (1.2, common.BELOW, "0 of 7")]
)
def test_measured_here(
    command: Command, capsys: Capture, ratio: float, status: int, result: str
) -> None:
    command.predict(ratio)
    assert main.main(["trust", "--preset", "mine.toml", "--rounds", "1"]) == status
    said = capsys.readouterr().out
    assert f"{result} benchmarks are within the bounds" in said
    assert "this machine, 2 CPUs" in said
    directory = Path("results/trust-mine")
    assert command.asked == [(directory / "trust-mine.toml", directory / "simulation")]
    files = {path.name for path in directory.iterdir()}
    assert files == {"mine.toml", "trust-mine.toml", "trust.json", "trust.md"}
    assert len(json.loads((directory / "trust.json").read_text())["rows"]) == 14


@pytest.mark.parametrize("place", ["", "simulation"])
def test_an_experiments_results_stay(command: Command, capsys: Capture, place: str) -> None:
    kept = Path("out") / place
    kept.mkdir(parents=True)
    (kept / "experiment.toml").write_text('name = "mine"\n')
    (kept / "runs.jsonl").write_text("{}\n")
    assert main.main(["trust", "--preset", "mine.toml", "--output", "out"]) == common.ERROR
    assert f"{kept} has the runs of the experiment 'mine'" in capsys.readouterr().err
    assert {one.name for one in kept.iterdir()} == {"experiment.toml", "runs.jsonl"}
    assert not command.asked


def test_here_is_measured_without_fast_and_by_nobody_else(
    command: Command, lab: Lab, capsys: Capture
) -> None:
    policy = command.machine.root / FAST / "policy"
    lab.program("affinity", f"cat {policy} >>{lab.log}.policies\n{PRINTS}")
    command.machine.set("policy", "off [strict] soft adaptive")
    command.predict(1.1)
    with only_user(command.machine.root):
        assert main.main(["trust", "--preset", "mine.toml", "--rounds", "1"]) == common.ERROR
    assert "is measuring on this machine" in capsys.readouterr().err
    assert not lab.log.exists()
    assert main.main(["trust", "--preset", "mine.toml", "--rounds", "1"]) == common.OK
    assert set(Path(f"{lab.log}.policies").read_text().split()) == {"off"}
    assert command.machine.setting("policy") == "strict"


def test_one_cpu_of_each_core_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    for cpu in range(8):
        path = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        path.parent.mkdir(parents=True)
        path.write_text(f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}\n")
    assert native.usable_cpus(tmp_path) == (0, 2, 4, 6)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert native.usable_cpus(tmp_path) == (0, 2)


def test_without_predictions_nothing_is_proved(command: Command, capsys: Capture) -> None:
    assert main.main(["trust", "--preset", "mine.toml", "--rounds", "1"]) == common.INCOMPLETE
    assert "no prediction: single_ctr, 2 threads" in capsys.readouterr().out


def test_measured_elsewhere(command: Command, capsys: Capture) -> None:
    command.predict(1.5, threads=(2,))
    rows = "".join(
        f'[[row]]\nbenchmark = "{name}"\nthreads = 2\n'
        "cycles = [1500, 1000]\nl2_misses = [16, 16]\ncontext_switches = [1, 5]\n"
        for name in BENCHMARKS
    )
    Path("there.toml").write_text(f'machine = "that one"\nexperiment = "that.toml"\n{rows}')
    assert main.main(["trust", "--measured", "there.toml", "--output", "out"]) == common.OK
    said = capsys.readouterr().out
    assert "Predicted and measured: that one" in said
    assert command.asked == [(Path("that.toml"), Path("out/simulation"))]
    assert Path("out/trust.md").is_file()


def test_interrupted_it_shows_what_there_is(
    command: Command, lab: Lab, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    block: Callable[..., Any] = native.NativeSession._block

    def interrupted(session: native.NativeSession, point: Point) -> Any:
        if point == Point("multiple_ctr", 2):
            raise KeyboardInterrupt
        return block(session, point)

    monkeypatch.setattr(native.NativeSession, "_block", interrupted)
    command.predict(1.0)
    assert main.main(["trust", "--preset", "mine.toml"]) == common.INTERRUPTED
    said = capsys.readouterr()
    assert "1 of 1 benchmarks are within the bounds (single_ctr)" in said.out
    assert "interrupted" in said.err


def test_interrupted_at_once_it_shows_nothing(
    command: Command, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(native.NativeSession, "_needed", interrupted)
    assert main.main(["trust", "--preset", "mine.toml"]) == common.INTERRUPTED
    assert capsys.readouterr().out == ""
    assert not Path("results/trust-mine/trust.json").exists()


def test_a_full_disk_is_said(command: Command, capsys: Capture) -> None:
    Path("results").touch()
    assert main.main(["trust", "--preset", "mine.toml"]) == common.ERROR
    assert "mine.toml: cannot be written: " in capsys.readouterr().err
    assert command.asked == []


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "one of the arguments --preset --measured is required"),
        (["--preset", "a.toml", "--measured", "b.toml"], "not allowed with argument"),
        (["--preset", "a.toml", "--rounds", "0"], "'0' is not a whole number of at least 1"),
    ],
)
def test_bad_usage(words: list[str], what: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        main.main(["trust", *words])
    assert end.value.code == 2
    assert what in capsys.readouterr().err
