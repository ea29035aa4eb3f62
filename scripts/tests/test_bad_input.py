# SPDX-License-Identifier: GPL-2.0
"""What users get wrong: each is said in a sentence before any work begins, without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import samples
from command_line import EXPERIMENT

from fastlab.cli import main
from fastlab.guest import meson
from fastlab.kernel import kbuild
from fastlab.plan.experiment import load_experiment, plan
from fastlab.plan.run_log import RunLog

SCRIPTS = Path(main.__file__).parents[2]
# An error, and bad usage.
ERROR, USAGE = 1, 2
CLOCK = f'primary = "task_clock"\n{EXPERIMENT}'
ONE_KERNEL = EXPERIMENT.replace('kernel = "baseline"', 'kernel = "fast"')
# What was measured elsewhere, and is to be predicted by an experiment.
RECORD = """
machine = "another"
experiment = "clock.toml"

[[row]]
benchmark = "single_ctr"
threads = 2
cycles = [2, 1]
l2_misses = [2, 1]
context_switches = [2, 1]
"""

# The command line, its status, and what it is told.
BAD = (
    # no command, or none that is
    ("", USAGE, "the following arguments are required: COMMAND"),
    ("frobnicate", USAGE, "invalid choice: 'frobnicate'"),
    ("run good.toml --frobnicate", USAGE, "unrecognized arguments: --frobnicate"),
    ("report dir -- true", USAGE, "report runs no other program: -- true"),
    # experiments
    ("run", USAGE, "required: EXPERIMENT.toml"),
    ("run nowhere.toml", ERROR, "nowhere.toml: No such file or directory; name an experiment"),
    ("run dir", ERROR, "dir: Is a directory; name an experiment file"),
    ("run empty.toml", ERROR, "empty.toml: variant is missing"),
    ("run binary.toml", ERROR, "binary.toml: byte 0 is not UTF-8 text"),
    ("run odd.toml", ERROR, "odd.toml: unknown key x"),
    ("run series.toml", ERROR, "no kernel series '9.9'"),
    ("run series.toml --dry-run", ERROR, "no kernel series '9.9'"),
    ("run good.toml --jobs 0", USAGE, "'0' is not a whole number of at least 1"),
    ("run good.toml --executor dask", USAGE, "'dask' is not dask:ADDRESS with a scheduler's"),
    ("run good.toml --executor dask:", USAGE, "'dask:' is not dask:ADDRESS"),
    ("run good.toml --executor dask:tcp://host", USAGE, "such as dask:tcp://192.0.2.1:8786"),
    ("run good.toml --executor dask:host:many", USAGE, "'dask:host:many' is not dask:ADDRESS"),
    ("run good.toml --executor ray:host:8786", USAGE, "'ray:host:8786' is not dask:ADDRESS"),
    ("run good.toml --executor dask:h:1 --jobs 2", USAGE, "--jobs is for simulations on this"),
    ("run good.toml --executor dask:h:1 --backend soft", USAGE, "backend soft measures this"),
    ("run good.toml --backend hard", USAGE, "invalid choice: 'hard'"),
    ("run good.toml --backend soft --jobs 2 --dry-run", USAGE, "--jobs is for simulations"),
    ("run cycles.toml --backend soft --dry-run", ERROR, "primary = cycles is not measured"),
    ("run clock.toml", ERROR, "primary = task_clock is not measured by backend sim"),
    ("run clock.toml --dry-run", ERROR, "choose one of elapsed_ns, cycles, instructions"),
    ("run good.toml --output empty.toml", ERROR, "empty.toml is a file; name a directory"),
    ("run good.toml --output empty.toml --dry-run", ERROR, "empty.toml is a file; name a dir"),
    ("run good.toml --output empty.toml/x", ERROR, "empty.toml is a file; name a directory"),
    ("run good.toml --output old --dry-run", ERROR, "old/runs.jsonl:1: schema version 1"),
    # results
    ("compare", USAGE, "required: RESULTS_DIR"),
    ("compare nowhere", ERROR, "nowhere: not a results directory"),
    ("compare empty.toml", ERROR, "empty.toml: not a results directory"),
    ("report dir", ERROR, "dir: not a results directory"),
    ("compare torn", ERROR, "torn/runs.jsonl:1: not a row"),
    ("compare nested", ERROR, "nested/runs.jsonl: cannot be read: Is a directory"),
    ("compare clock", ERROR, "primary metric task_clock is not measured by backend sim"),
    ("report garbled", ERROR, "garbled/experiment.toml: byte 0 is not UTF-8"),
    ("compare good --fail-below nan", USAGE, "'nan' is not a finite number"),
    # the user's program
    ("try", USAGE, "no program given"),
    ("try --", USAGE, "no program given"),
    ("try xz -T4", USAGE, "behind `--`: fast try -- xz -T4"),
    ("try --cpus 2 xz -T4", USAGE, "behind `--`: fast try --cpus 2 -- xz -T4"),
    ("try -- ./dir", ERROR, "dir: is a directory; name a program in it"),
    ("try -- ./nowhere", ERROR, "nowhere: no such program"),
    ("try -- no-such-program", ERROR, "no-such-program: no such program in PATH"),
    ("try -- ./empty.toml", ERROR, "empty.toml: not executable"),
    ("try --json dir -- true", ERROR, "dir: is a directory; name a file in it"),
    ("try --json nowhere/x.json -- true", ERROR, "its directory does not exist; create it first"),
    ("try --json -- true", USAGE, "argument --json: expected one argument"),
    ("try --cpus 99 -- true", USAGE, "--cpus 99: the simulated machine has at most 64"),
    ("try --memory-mb 99999 -- true", USAGE, "--memory-mb 99999: the simulated machine has"),
    ("try --timeout 0 -- true", USAGE, "'0' is not a whole number of at least 1"),
    ("try --preset none -- true", USAGE, "--preset none: there is no such preset; allowed: epyc"),
    ("try --presets epyc-milan,none -- true", USAGE, "--presets none: there is no such preset"),
    ("try --presets , -- true", USAGE, "--presets '': there is no such preset; allowed: epyc"),
    ("try --preset none.toml -- true", ERROR, "none.toml: "),
    ("try --preset epyc-milan --cpus 9 -- true", ERROR, "cpus = 9 is not allowed: machine epyc"),
    ("try --relevant nan -- true", USAGE, "'nan' is not a finite number"),
    ("try --relevant inf -- true", USAGE, "'inf' is not a finite number"),
    ("try --relevant=-1 -- true", USAGE, "'-1' is less than 0"),
    ("try --relevant 2% -- true", USAGE, "'2%' is not a finite number"),
    ("try --with nowhere -- true", ERROR, "nowhere: no such file for the"),
    ("try --annotate= -- true", USAGE, "ignored explicit argument"),
    ("try --backend soft --annotate -- true", USAGE, "--annotate describes the simulated machine"),
    ("try --backend soft --cpus 2 -- true", USAGE, "--cpus describes the simulated machine"),
    ("look", USAGE, "no program given: fast look [options] -- PROGRAM"),
    ("look xz -T4", USAGE, "behind `--`: fast look -- xz -T4"),
    ("look -- ./nowhere", ERROR, "nowhere: no such program"),
    ("look -- ./empty.toml", ERROR, "empty.toml: not executable"),
    ("look --pid 0", USAGE, "'0' is not a whole number of at least 1"),
    ("look --pid 4194304", ERROR, "process 4194304: there is none"),
    ("look --json nowhere/x.json -- true", ERROR, "its directory does not exist; create it first"),
    ("trace", USAGE, "name either an experiment"),
    ("trace good.toml -- true", USAGE, "name either an experiment"),
    ("trace --run x -- true", USAGE, "--run applies to experiments"),
    # kernels
    ("kernel", USAGE, "the following arguments are required: COMMAND"),
    ("kernel build 9.9", ERROR, "no kernel series '9.9'; known: 6.12"),
    ("kernel build --variant none", ERROR, "no variant 'none'; known: baseline"),
    ("kernel build --fragment none", ERROR, "no configuration fragment 'none' in /"),
    ("kernel build --source nowhere", ERROR, "nowhere: there is no kernel source"),
    ("kernel build --source dir", ERROR, "dir is no kernel source"),
    ("kernel deb --config nowhere", ERROR, "there is no configuration nowhere"),
    ("kernel deb --output empty.toml", ERROR, "empty.toml is a file; name a directory"),
    ("shell 6.12 uname", USAGE, "behind `--`: fast shell 6.12 -- uname"),
    ("shell --variant none -- true", ERROR, "no variant 'none'"),
    # measurements
    ("bench splash --tree nowhere", ERROR, "nowhere: no such directory"),
    ("splash run --tree dir", ERROR, "dir: not a SPLASH tree"),
    ("splash run --tree dir --output empty.toml", ERROR, "empty.toml is a file"),
    ("calibrate --out dir", ERROR, "dir: a preset's file is its name and .toml"),
    ("calibrate --out nowhere/x.toml", ERROR, "its directory does not exist"),
    ("calibrate --repeat 0", USAGE, "'0' is not a whole number of at least 1"),
    ("trust", USAGE, "one of the arguments --preset --measured is required"),
    ("trust --measured nowhere.toml", ERROR, "nowhere.toml: No such file or directory"),
    ("trust --measured odd.toml", ERROR, "odd.toml: unknown key x"),
    ("trust --measured record.toml", ERROR, "primary = task_clock is not measured by backend sim"),
    ("trust --preset nowhere.toml", ERROR, "`fast calibrate --out nowhere.toml` writes it"),
    ("trust --preset empty.toml", ERROR, "fast: empty.toml: name is missing; rx4640.toml has"),
    ("trust --preset nowhere.toml --output empty.toml", ERROR, "empty.toml is a file"),
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files that BAD names; a command that begins to work here fails."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAST_CACHE", str(tmp_path / "cache"))
    for name, text in (
        ("good", EXPERIMENT),
        ("series", EXPERIMENT.replace('"6.12"', '"9.9"')),
        ("cycles", f'primary = "cycles"\n{ONE_KERNEL}'),
        ("clock", CLOCK),
        ("record", RECORD),
        ("odd", "x = 1\n"),
        ("empty", ""),
    ):
        Path(f"{name}.toml").write_text(text)
    Path("binary.toml").write_bytes(b"\xff\xfe\0")
    Path("dir").mkdir()
    for name in ("good", "old", "torn", "nested", "garbled", "clock"):
        Path(name).mkdir()
        Path(name, "experiment.toml").write_text(EXPERIMENT)
    Path("clock/experiment.toml").write_text(CLOCK)
    Path("clock/runs.jsonl").touch()
    Path("old/runs.jsonl").write_text('{"schema": 1}\n')
    Path("torn/runs.jsonl").write_text("[1]\n[2]\n")
    Path("nested/runs.jsonl").mkdir()
    Path("garbled/runs.jsonl").touch()
    Path("garbled/experiment.toml").write_bytes(b"\xff")

    def work(*_: object, **__: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr(meson, "_run", work)
    monkeypatch.setattr(kbuild, "make", work)
    before = signal.getsignal(signal.SIGTERM)
    yield tmp_path
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("line", "status", "said"), BAD, ids=[line for line, *_ in BAD])
def test_bad_input(
    line: str, status: int, said: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(line, status, said, capsys)


def refused(line: str, status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command ends with this status and says this, without a traceback."""
    try:
        found = main.main(line.split())
    except SystemExit as end:
        assert isinstance(end.code, int)
        found = end.code
    errors = capsys.readouterr().err
    assert said in errors
    assert found == status
    assert "Traceback" not in errors


def test_there_are_as_many_as_promised() -> None:
    assert len({line for line, *_ in BAD}) == len(BAD) >= 45


def fast(*words: str, stdout: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fastlab.cli", *words],
        env={"PYTHONPATH": str(SCRIPTS), "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("words", [["compare", "good"], ["run", "good.toml", "--dry-run"]])
def test_a_full_disk_behind_stdout_is_said(words: list[str], place: Path) -> None:
    """Tables of rich, and what print() has in its buffer until the end."""
    experiment = load_experiment(Path("good.toml"))
    with RunLog(Path("good/runs.jsonl")) as log:
        for run in plan(experiment):
            log.append(samples.row(experiment, run, {"cycles": 1000, "elapsed_cycles": 1000}))
    with Path("/dev/full").open("w") as full:
        answer = fast(*words, stdout=full.fileno())
    assert answer.returncode == 1
    assert answer.stderr.endswith("fast: standard output: No space left on device\n")
    assert "Traceback" not in answer.stderr and "Exception" not in answer.stderr


def test_advice_names_the_command_as_it_was_typed(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAST_COMMAND", "scripts/fast")
    assert main.main(["compare", "dir"]) == 1
    assert "name one that `scripts/fast run` made" in capsys.readouterr().err
