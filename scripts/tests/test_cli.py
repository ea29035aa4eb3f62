# SPDX-License-Identifier: GPL-2.0
"""The command line: what reaches the stages, what is printed where, how it ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paired
import pytest
import samples
from fake_machine import FakeMachine

from fastlab.backend import contract, kvm_guests, running_kernel, sim, slot_rows
from fastlab.base.model import FastError, Kernel
from fastlab.cli import main
from fastlab.guest import kvm, meson
from fastlab.kernel import kernels
from fastlab.kernel.kernels import BuildRequest, DebRequest
from fastlab.plan import plan_file
from fastlab.plan.blocks import Slot, make_plan
from fastlab.plan.experiment import load_experiment, plan
from fastlab.plan.run_log import RunLog, read_rows
from fastlab.report.forms import NAMES
from fastlab.shell import machine

EXPERIMENT = f"""
name = "small"
series = "6.12"
baseline = "baseline"
threads = [4]
seeds = [1, 2]
{samples.VARIANTS}
[[variant]]
name = "fast-deep"
kernel = "fast"
policy = "strict"
knobs = {{ depth = 32 }}

[[benchmark]]
name = "single_ctr"
iterations = 2000
"""
IDLE_FAST = {**samples.MECHANISM, "used": 0, "same_cpu": 0}


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """main() handles SIGTERM; the tests give it back."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def experiment_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(EXPERIMENT)
    return path


def write_results(file: Path, directory: Path, broken: str = "") -> None:
    """Rows of the whole experiment; FAST never fires in the variant `broken`."""
    experiment = load_experiment(file)
    directory.mkdir(parents=True)
    shutil.copy(file, directory / "experiment.toml")
    with RunLog(directory / "runs.jsonl") as log:
        for run in plan(experiment):
            given = {"mechanism": IDLE_FAST} if run.variant.name == broken else {}
            cycles = 1000 if run.variant.name == "baseline" else 400
            effect = {"cycles": cycles, "elapsed_cycles": cycles}
            log.append(samples.row(experiment, run, effect, **given))


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["run"], "required: EXPERIMENT.toml"),
        (["run", "x.toml", "--jobs", "0"], "invalid whole number of at least 1 value: '0'"),
        (["run", "x.toml", "--backend", "hard"], "invalid choice: 'hard'"),
        (["run", "x.toml", "--jobs", "many"], "invalid whole number of at least 1 value: 'many'"),
        (["kernel"], "the following arguments are required: COMMAND"),
        (["compare"], "required: RESULTS_DIR"),
        (["report", "a", "b"], "unrecognized arguments: b"),
        (["compare", "a", "--fail-below", "nan"], "invalid finite number value: 'nan'"),
        (["compare", "a", "--fail-below", "inf"], "invalid finite number value: 'inf'"),
        (["shell", "6.12", "uname"], "stand behind `--`: fast shell 6.12 -- uname"),
        (["report", "a", "--", "true"], "report runs no other program: -- true"),
    ],
)
def test_bad_usage_is_status_2(
    words: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main.main(words)
    assert end.value.code == 2
    assert what in capsys.readouterr().err


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main.main(["--version"])
    assert end.value.code == 0
    assert re.fullmatch(r"fast \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_help_loads_nothing_that_takes_long() -> None:
    script = (
        "import sys; from fastlab.cli import main\n"
        "try: main.main(['--help'])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(Path(main.__file__).parents[2]), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0
    for command in (
        "run",
        "try",
        "trace",
        "compare",
        "report",
        "kernel",
        "shell",
        "bench",
        "calibrate",
    ):
        assert re.search(rf"^    {command}\b", answer.stdout, re.MULTILINE)
    loaded = answer.stderr.split()
    assert "fastlab.cli.run" in loaded
    assert not {"scipy", "numpy", "matplotlib", "rich", "jinja2", "elftools", "perfetto"} & {
        *loaded
    }


def test_an_error_is_one_text_without_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "no.toml"
    assert main.main(["run", str(missing)]) == 1
    assert capsys.readouterr() == (
        "",
        f"fast: {missing}: No such file or directory; "
        "name an experiment file such as experiments/demo.toml\n",
    )


def test_dry_run_lists_the_runs_and_does_nothing(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["run", str(experiment_file), "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("baseline: /bin/single_ctr --threads 4 --iterations=2000 --seed 1 --json")
    assert lines[-1] == "6 runs, kernels 6.12: baseline, fast"
    assert len(lines) == 7
    assert [path.name for path in experiment_file.parent.iterdir()] == ["small.toml"]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ([], machine.ShellRequest(None, "fast", ())),
        (["--"], machine.ShellRequest(None, "fast", ())),
        (["--", "uname", "-r"], machine.ShellRequest(None, "fast", ("uname", "-r"))),
        (
            ["6.12", "--variant", "baseline", "--", "sh", "--", "--variant"],
            machine.ShellRequest("6.12", "baseline", ("sh", "--", "--variant")),
        ),
    ],
)
def test_shell_hands_over_the_words_behind_two_dashes(
    words: list[str], asked: machine.ShellRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[machine.ShellRequest] = []

    def run(request: machine.ShellRequest, reporter: object) -> int:
        heard.append(request)
        return 7

    monkeypatch.setattr(machine, "run", run)
    assert main.main(["shell", *words]) == 7
    assert heard == [asked]


class Stages:
    """Stand-ins for the stages before the results; remembers what they were asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, broken: str = "") -> None:
        self.asked: list[Any] = []
        self.broken = broken
        monkeypatch.setattr(meson, "build_programs", lambda project, reporter: "built")
        monkeypatch.setattr(sim, "find_sim_toolbox", self.find_toolbox)
        monkeypatch.setattr(kernels, "build", self.build)
        monkeypatch.setattr(sim, "Simulator", self.simulator)
        monkeypatch.setattr(contract, "run_experiment", self.run)

    @staticmethod
    def find_toolbox(build: str, further: tuple[str, ...]) -> str:
        return " and ".join([f"toolbox of {build}", *further])

    def build(self, request: BuildRequest, reporter: object) -> tuple[Kernel, ...]:
        self.asked.append((request.series, request.variants))
        return tuple(Kernel("6.12", name, f"6.12-{name}", "", "") for name in request.variants)

    def simulator(self, *arguments: Any) -> Any:
        _, kernels, toolbox, directory, _, jobs = arguments
        ids = {name: kernel.id for name, kernel in kernels.items()}
        self.asked.append((ids, toolbox, directory, jobs))
        return SimpleNamespace(current=list)

    def run(self, machines: object, of: object, file: Path, directory: Path, *_: object) -> Any:
        write_results(file, directory, self.broken)
        return read_rows(directory / "runs.jsonl")[0]


def test_run_goes_through_the_stages_and_ends_with_the_digest(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stages = Stages(monkeypatch)
    assert main.main(["run", "small.toml", "--jobs", "3"]) == 0
    results = Path("results/small")
    assert stages.asked == [
        ("6.12", ("baseline", "fast")),
        ({"baseline": "6.12-baseline", "fast": "6.12-fast"}, "toolbox of built", results, 3),
    ]
    out = capsys.readouterr().out
    assert re.search(r"^digest of the results: [0-9a-f]{64}$", out, re.MULTILINE)
    assert f"wrote {results}: summary.md" in out
    # One sentence, above the tables and below them; the other variant's stands above only.
    *_, wrote, said, last = out.splitlines()
    assert said.startswith("Best of 2: fast against baseline in elapsed_ns: of 1 rows 1 better (up")
    digest, first, second, nothing = out.splitlines()[:4]
    assert digest.startswith("digest") and wrote.startswith("wrote")
    assert first == said and second.startswith("fast-deep against baseline") and not nothing
    assert last == f"report: {results}/report.html"
    # Again from the results alone, byte by byte.
    before = {path.name: path.read_bytes() for path in results.iterdir()}
    assert main.main(["report", str(results)]) == 0
    assert {path.name: path.read_bytes() for path in results.iterdir()} == before


def test_output_is_the_results_directory(
    experiment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Stages(monkeypatch)
    assert main.main(["run", "small.toml", "--output", "elsewhere"]) == 0
    assert Path("elsewhere/report.html").is_file()
    assert not Path("results").exists()


def test_a_run_that_says_nothing_is_status_3_after_the_report(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Stages(monkeypatch, broken="fast-deep")
    assert main.main(["run", "small.toml"]) == 3
    captured = capsys.readouterr()
    assert "fast-deep: single_ctr, 4 threads, seed 2: invalid: FAST never fired" in captured.err
    assert "digest of the results" in captured.out
    assert captured.out.splitlines()[-1] == "report: results/small/report.html"
    summary = json.loads(Path("results/small/summary.json").read_text())
    assert [(one["status"], one["which"]) for one in summary["left_out"]] == [
        ("invalid", "seed 1"),
        ("invalid", "seed 2"),
    ]


def test_compare_prints_tables_only(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(experiment_file, Path("old"))
    before = sorted(Path("old").iterdir())
    assert main.main(["compare", "old"]) == 0
    captured = capsys.readouterr()
    assert "60.0" in captured.out
    assert "…" not in captured.out
    assert captured.err == ""
    assert sorted(Path("old").iterdir()) == before
    first, *_, said, last = captured.out.splitlines()
    assert first == said
    assert re.fullmatch(r"report: `.*fast report old` writes it", last)
    assert main.main(["report", "old"]) == 0
    capsys.readouterr()
    assert main.main(["compare", "old"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "report: old/report.html"


def test_the_answer_is_not_broken_within_words(
    experiment_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(experiment_file, Path("old"))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    assert main.main(["report", "old"]) == 0
    _, *said, last = capsys.readouterr().out.splitlines()
    assert last == "report: old/report.html"
    assert len(said) > 2 and max(map(len, said)) <= 40
    assert " ".join(said).startswith("Best of 2: fast against baseline in elapsed_ns: of 1 rows")


def test_compare_tells_of_runs_not_made_yet(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(experiment_file, Path("old"))
    rows = Path("old/runs.jsonl")
    whole = rows.read_text().splitlines(keepends=True)
    rows.write_text("".join(whole[:5]) + whole[5][:40])
    assert main.main(["compare", "old"]) == 3
    err = capsys.readouterr().err
    assert "old/runs.jsonl:6: the last row was cut short" in err
    assert "fast-deep: single_ctr, 4 threads, seed 2: missing: not made yet" in err


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [("50", 0, ""), ("-5", 0, ""), ("60.5", 4, "not at least +60.5 %")],
)
def test_fail_below(
    asked: str,
    status: int,
    words: str,
    experiment_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_results(experiment_file, Path("old"))
    assert main.main(["compare", "old", "--fail-below", asked]) == status
    assert words in capsys.readouterr().err


def test_no_answer_is_no_pass(experiment_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(experiment_file, Path("old"))
    rows = Path("old/runs.jsonl")
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:5]))
    assert main.main(["compare", "old", "--fail-below", "-5"]) == 3
    assert "fast-deep: single_ctr-4: incomplete" in capsys.readouterr().err


def test_compare_in_another_form(experiment_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(experiment_file, Path("old"))
    assert main.main(["compare", "old", "--format", "ktap", "--fail-below", "70"]) == 4
    assert capsys.readouterr().out.startswith("KTAP version 1\n1..2\n")


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
        return 1e6 * (1 + noise) * (1 - gains[slot.pair] * (slot.side == "B"))

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
    assert "real/plan.json: is not there" in capsys.readouterr().err


def test_report_needs_only_the_results(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(experiment_file, Path("old"))
    experiment_file.unlink()
    assert main.main(["report", "old"]) == 0
    out = capsys.readouterr().out
    for name in ("report.html", "summary.md", "summary.csv", "summary.json"):
        assert name in out and (Path("old") / name).is_file()


@pytest.mark.parametrize("command", ["compare", "report"])
def test_what_is_no_results_directory_is_said(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main([command, str(tmp_path)]) == 1
    assert f"fast: {tmp_path}: not a results directory" in capsys.readouterr().err


def test_kernel_build_passes_on_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[BuildRequest] = []
    monkeypatch.setattr(kernels, "build", lambda request, reporter: asked.append(request))
    words = "kernel build 6.12 --variant fast --variant baseline --source s --fragment a"
    assert main.main(words.split()) == 0
    (request,) = asked
    assert request == BuildRequest(
        "6.12", ("fast", "baseline"), Path("s"), ("a",), places=request.places
    )


def test_kernel_deb_passes_on_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[DebRequest] = []
    monkeypatch.setattr(kernels, "deb", lambda request, reporter: asked.append(request))
    assert main.main(["kernel", "deb", "--config", "c", "--output", "o"]) == 0
    (request,) = asked
    assert request == DebRequest(Path("o"), config=Path("c"), places=request.places)


def test_kernel_list_is_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAST_CACHE", str(tmp_path))
    assert main.main(["kernel", "list"]) == 0
    captured = capsys.readouterr()
    assert "6.12 baseline\n  not built\n" in captured.out
    assert captured.err == ""


def test_an_interrupt_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "build", interrupted)
    assert main.main(["kernel", "build", "--source", "my linux"]) == 130
    assert capsys.readouterr().err == (
        "fast: interrupted; what is finished is kept. "
        "To go on: fast kernel build --source 'my linux'\n"
    )


def test_termination_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    tidied = []

    def long_work(*_: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(30)
        finally:
            tidied.append(True)

    monkeypatch.setattr(kernels, "build", long_work)
    assert main.main(["kernel", "build"]) == 130
    assert tidied == [True]


def test_a_reader_that_leaves_is_no_traceback(experiment_file: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stdout:
        answer = subprocess.run(
            [sys.executable, "-m", "fastlab.cli", "run", "small.toml", "--dry-run"],
            env={"PYTHONPATH": str(Path(main.__file__).parents[2]), "PATH": os.environ["PATH"]},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (answer.returncode, answer.stderr) == (1, "")


def test_an_unforeseen_error_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(kernels, "build", broken)
    with pytest.raises(ZeroDivisionError):
        main.main(["kernel", "build"])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the launcher, and nothing installed."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(Path(main.__file__).parents[2] / "fast", tmp_path / "scripts")
    return tmp_path


def test_the_launcher_says_what_to_run_first(checkout: Path) -> None:
    answer = subprocess.run(
        [checkout / "scripts/fast", "kernel", "list"], capture_output=True, text=True
    )
    assert answer.returncode == 1
    python = checkout / "build/venv/bin/python"
    assert answer.stderr == f"fast: {python} is not there; run first: make -C {checkout}\n"


def test_the_launcher_works_through_a_link_and_from_anywhere(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    python = checkout / "build/venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
    python.chmod(0o755)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    link = elsewhere / "fast"
    link.symlink_to(checkout / "scripts/fast")
    answer = subprocess.run([link, "run", "a b"], cwd=elsewhere, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (7, "-P|-m|fastlab.cli|run|a b|")


def test_a_failed_stage_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise FastError("no compiler: install gcc")

    monkeypatch.setattr(kernels, "build", fail)
    assert main.main(["kernel", "build"]) == 1
    assert capsys.readouterr().err == "fast: no compiler: install gcc\n"


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
    monkeypatch.setattr(meson, "build_programs", lambda project, reporter: "built")
    monkeypatch.setattr(slot_rows, "find_real_toolbox", lambda build, of: machine.toolbox)
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
    assert "To go on: fast run small.toml --backend soft" in capsys.readouterr().err
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
    assert ", each run in a guest of its own; where there are hardware counters" in last
    experiment_file.write_text(f"latencies = true\n{REAL}")
    assert main.main(["run", "small.toml", "--backend", "soft", "--dry-run"]) == 0
    assert capsys.readouterr().out.endswith("; a second run of each measures latencies\n")
    assert [path.name for path in experiment_file.parent.iterdir()] == ["small.toml"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--jobs", "2"], "--jobs is for simulations; backend soft makes one run at a time"),
        ([], "primary = cycles is nothing that backend soft measures"),
    ],
)
def test_what_a_real_machine_does_not_do(
    words: list[str],
    what: str,
    experiment_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meson, "build_programs", lambda project, reporter: "built")
    monkeypatch.setattr(slot_rows, "find_real_toolbox", lambda build, of: None)
    experiment_file.write_text(f'primary = "cycles"\n{EXPERIMENT}')
    assert main.main(["run", "small.toml", "--backend", "soft", *words]) == 1
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
