# SPDX-License-Identifier: GPL-2.0
"""The command line on real machines: what it says and what it refuses."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import paired
import pytest
from command_line import EXPERIMENT, Stages
from fake_machine import FakeMachine

from fastlab.backend import block_rows, contract, kvm_guests, running_kernel
from fastlab.cli import main
from fastlab.guest import kvm, meson
from fastlab.plan import plan_file
from fastlab.plan.experiment import load_experiment
from fastlab.plan.paired_plan import Slot, make_plan
from fastlab.plan.run_log import RunLog
from fastlab.report.forms import NAMES


def test_results_of_a_real_machine(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same commands: another backend's rows are judged by the statistics of blocks."""
    real = Path("real")
    real.mkdir()
    text = EXPERIMENT.replace('series = "6.12"', 'series = "6.12"\nprimary = "elapsed_ns"')
    (real / "experiment.toml").write_text(text)
    plan_of = make_plan(load_experiment(real / "experiment.toml"), "soft")
    gains = {"fast": 0.2, "fast-deep": 0.0, "baseline": 0.0}

    def simulate(slot: Slot, number: int) -> float:
        noise = 0.02 * ((number * 0.6180339887) % 1 - 0.5)
        return round(1e6 * (1 + noise) * (1 - gains[slot.pair] * (slot.side == "B")))

    plan_file.keep(real, plan_of, load_experiment(real / "experiment.toml"), "tools", begun=False)
    with RunLog(real / "runs.jsonl") as log:
        for row in paired.experiment(plan_of, simulate).rows:
            log.append(row)
    assert main.main(["compare", "real"]) == 0
    out = capsys.readouterr().out
    assert "95 % interval" in out
    assert "noise floor" in out
    assert main.main(["compare", "real", "--fail-below", "1"]) == 4
    err = capsys.readouterr().err
    assert "fast-deep: single_ctr-4: elapsed_ns" in err
    assert "fast: single_ctr-4" not in err
    assert main.main(["report", "real"]) == 0
    assert "summary.xml" in capsys.readouterr().out
    assert json.loads((real / "summary.json").read_text())["primary"] == "elapsed_ns"
    # What was fixed before the first run counts, not what the file asks for by now.
    before = (real / "summary.json").read_bytes()
    other = EXPERIMENT.replace("seeds", 'primary = "fairness"\nseeds')
    (real / "experiment.toml").write_text(other)
    assert main.main(["report", "real"]) == 0
    assert (real / "summary.json").read_bytes() == before
    (real / "plan.json").unlink()
    assert main.main(["compare", "real"]) == 1
    assert "real/plan.json: missing" in capsys.readouterr().err


REAL = EXPERIMENT.replace("series =", 'primary = "elapsed_ns"\nseries =')
REAL_OFF = REAL.replace(
    'name = "baseline"\nkernel = "baseline"', 'name = "baseline"\nkernel = "fast"'
)


@pytest.fixture
def fake(experiment_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """`fast run` on a fake machine; small.toml needs two kernels."""
    experiment_file.write_text(REAL)
    machine = FakeMachine(tmp_path / "machine")
    running = partial(running_kernel.RunningKernel, root=machine.root)
    monkeypatch.setattr(meson, "build_programs", lambda project, reporter: Path("built"))
    monkeypatch.setattr(block_rows, "find_real_toolbox", lambda build, of: machine.toolbox)
    monkeypatch.setattr(running_kernel, "RunningKernel", running)
    return machine


def test_two_kernels_end_with_what_to_boot_next(
    fake: FakeMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["run", "small.toml", "--backend", "soft"]) == 3
    out, err = capsys.readouterr()
    assert "report: results/small-soft/report.html" in out
    last = err.splitlines()[-1]
    assert "Now boot " in last
    assert last.endswith("Then go on: fast run small.toml --backend soft")
    assert main.main(["run", "small.toml", "--backend", "soft", "--output", "there"]) == 3
    assert capsys.readouterr().err.endswith("--backend soft --output there\n")
    assert Path("there/plan.json").is_file()


def test_one_kernel_ends_with_the_comparison(
    fake: FakeMachine, experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment_file.write_text(REAL_OFF)
    fake.boot(1, fast=True)
    assert main.main(["run", "small.toml", "--backend", "soft"]) == 0
    out, err = capsys.readouterr()
    assert "Not available: cycles, instructions, l2_references" in out
    assert "fast-deep" in out and "better" in out
    assert "boot" not in err
    results = Path("results/small-soft")
    assert "Not available: cycles, instructions" in (results / "report.html").read_text()
    # Again from the results alone, byte by byte, every file of the report.
    written = [*NAMES.values()]
    before = {name: (results / name).read_bytes() for name in written}
    for name in written:
        (results / name).unlink()
    assert main.main(["report", str(results)]) == 0
    assert {name: (results / name).read_bytes() for name in written} == before
    assert main.main(["compare", "results/small-soft", "--fail-below", "5"]) == 0


def test_an_interrupted_real_machine_is_told_how_to_go_on(
    fake: FakeMachine, experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment_file.write_text(REAL_OFF)
    fake.boot(1, fast=True)
    fake.mode("at 3 terminate")
    assert main.main(["run", "small.toml", "--backend", "soft"]) == 130
    assert "To continue: fast run small.toml --backend soft" in capsys.readouterr().err
    assert fake.setting("policy") == "off"


def test_dry_run_of_a_real_machine_lists_the_slots(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment_file.write_text(REAL)
    assert main.main(["run", "small.toml", "--backend", "soft", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12 * 6 + 2 * 6 * 4 + 1
    assert lines[0].startswith("baseline, block 0, run 1 (")
    assert lines[0].endswith(
        ": baseline: /bin/single_ctr --threads 4 --iterations=2000 --seed 1 --json"
    )
    assert {line.split(": ")[1] for line in lines if "(A): " in line} == {
        "baseline",
        "baseline, uncounted",
    }
    assert {
        line.split(": ")[1] for line in lines if line.startswith("fast,") and "(B)" in line
    } == {"fast"}
    assert "each side of a block in a boot of its own" in lines[-1]
    assert main.main(["run", "small.toml", "--backend", "kvm", "--dry-run"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert ", each run in a guest of its own; with hardware counters" in last
    experiment_file.write_text(f"latencies = true\n{REAL}")
    assert main.main(["run", "small.toml", "--backend", "soft", "--dry-run"]) == 0
    assert capsys.readouterr().out.endswith("; a second run of each measures latencies\n")
    assert [path.name for path in experiment_file.parent.iterdir()] == ["small.toml"]


@pytest.mark.parametrize(
    ("words", "status", "what"),
    [
        (["--jobs", "2"], 2, "--jobs is for simulations; backend soft makes one run at a time"),
        ([], 1, "primary = cycles is not measured by backend soft"),
    ],
)
def test_what_a_real_machine_does_not_do(
    words: list[str],
    status: int,
    what: str,
    experiment_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meson, "build_programs", lambda project, reporter: Path("built"))
    monkeypatch.setattr(block_rows, "find_real_toolbox", lambda build, of: None)
    experiment_file.write_text(f'primary = "cycles"\n{EXPERIMENT}')
    assert main.main(["run", "small.toml", "--backend", "soft", *words]) == status
    assert what in capsys.readouterr().err


def test_guests_need_a_kvm_that_boots_them(
    fake: FakeMachine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = contract.run_experiment
    kernels = Stages(monkeypatch)
    monkeypatch.setattr(contract, "run_experiment", run)
    monkeypatch.setattr(kvm, "probe", lambda *arguments: "/dev/kvm: No such file")
    assert main.main(["run", "small.toml", "--backend", "kvm"]) == 1
    assert kernels.asked == [("6.12", ("baseline", "fast"))]
    err = capsys.readouterr().err
    assert err.startswith("fast: backend kvm is not available here: /dev/kvm: No such file;")
    assert not Path("results").exists()


def test_guests_get_the_kernels_of_the_variants(
    fake: FakeMachine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Stages(monkeypatch)
    asked: list[Any] = []

    def guests(*given: Any) -> None:
        asked.extend(given)
        experiment, directory = given[0], given[4]
        with RunLog(directory / "runs.jsonl"):
            plan = make_plan(experiment, "kvm")
            plan_file.keep(directory, plan, experiment, "tools", begun=False)
        shutil.copy("small.toml", directory / "experiment.toml")

    monkeypatch.setattr(kvm_guests, "Guests", guests)
    monkeypatch.setattr(contract, "run_experiment", lambda *_: [])
    assert main.main(["run", "small.toml", "--backend", "kvm"]) == 3
    assert {name: kernel.id for name, kernel in asked[3].items()} == {
        "baseline": "6.12-baseline",
        "fast": "6.12-fast",
    }
    assert asked[4] == Path("results/small-kvm")
    assert "report: results/small-kvm/report.html" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["ab", "ab-kernels"])
@pytest.mark.parametrize("backend", ["perf", "soft"])
def test_the_examples_can_be_planned(name: str, backend: str) -> None:
    path = Path(__file__).parents[2] / f"experiments/{name}.toml"
    assert make_plan(load_experiment(path), backend).boots == (name == "ab-kernels")
