# SPDX-License-Identifier: GPL-2.0
"""The command line: usage, errors, interrupts and the launcher."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import write_results

from fastlab.base.model import FastError
from fastlab.cli import main
from fastlab.cli.commands import MODULES
from fastlab.kernel import kernels


def python(*words: str, before: str = 'exec "$@"') -> subprocess.CompletedProcess[str]:
    """Python with these words, by a shell that does something before."""
    return subprocess.run(
        ["sh", "-c", before, "sh", sys.executable, "-P", *words],
        env={"PYTHONPATH": str(Path(main.__file__).parents[2]), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["run"], "required: EXPERIMENT.toml"),
        (["run", "x.toml", "--jobs", "0"], "'0' is not a whole number of at least 1"),
        (["run", "x.toml", "--backend", "hard"], "invalid choice: 'hard'"),
        (["run", "x.toml", "--jobs", "many"], "'many' is not a whole number of at least 1"),
        (["kernel"], "the following arguments are required: COMMAND"),
        (["compare"], "required: RESULTS_DIR"),
        (["report", "a", "b"], "unrecognized arguments: b"),
        (["compare", "a", "--fail-below", "nan"], "'nan' is not a finite number"),
        (["compare", "a", "--fail-below", "inf"], "'inf' is not a finite number"),
        (["shell", "6.12", "uname"], "behind `--`: fast shell 6.12 -- uname"),
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
        "look",
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
    assert not {f"fastlab.cli.{name}" for name in MODULES} & {*loaded} - {"fastlab.cli.probes"}
    assert not {"scipy", "numpy", "matplotlib", "rich", "jinja2", "elftools", "perfetto"} & {
        *loaded
    }


def test_a_command_loads_no_other() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from fastlab.cli.main import make_parser\n"
            "make_parser(['no.toml', 'compare']); print(*sys.modules)",
        ],
        env={"PYTHONPATH": str(Path(main.__file__).parents[2])},
        capture_output=True,
        text=True,
    ).stdout.split()
    assert {name for name in MODULES if f"fastlab.cli.{name}" in loaded} == {"results", "probes"}


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


def test_an_interrupt_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "build", interrupted)
    assert main.main(["kernel", "build", "--source", "my linux"]) == 130
    assert capsys.readouterr().err == (
        "fast: interrupted; finished work is kept. "
        "To continue: fast kernel build --source 'my linux'\n"
    )


def test_an_interrupt_while_commands_are_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(wanted: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "make_parser", interrupted)
    assert main.main(["doctor"]) == 130
    assert capsys.readouterr().err.endswith("To continue: fast doctor\n")


INTERRUPTED_IMPORT = """
import runpy, sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "fastlab.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
runpy.run_module("fastlab.cli", run_name="__main__")
"""


def test_an_interrupt_before_all_else() -> None:
    answer = python("-c", INTERRUPTED_IMPORT)
    assert (answer.returncode, answer.stderr) == (130, "")


UNREADABLE = """
import argparse, sys
from fastlab.cli import main
def command(arguments, reporter):
    print("a row")
    return open("/no/such/file").fileno()
main.parse = lambda words: argparse.Namespace(command=command)
sys.exit(main.main([]))
"""


def test_what_was_printed_before_an_error_is_not_lost() -> None:
    answer = python("-c", UNREADABLE)
    assert (answer.returncode, answer.stdout) == (1, "a row\n")
    assert answer.stderr == "fast: /no/such/file: No such file or directory\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_termination_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    signal.signal(number, signal.SIG_DFL)
    tidied = []

    def long_work(*_: object) -> None:
        try:
            os.kill(os.getpid(), number)
            time.sleep(30)
        finally:
            tidied.append(True)

    monkeypatch.setattr(kernels, "build", long_work)
    assert main.main(["kernel", "build"]) == 130
    assert tidied == [True]


def test_what_nohup_ignores_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr(kernels, "build", lambda *_: os.kill(os.getpid(), signal.SIGHUP) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main.main(["kernel", "build"])


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


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_closed_stream_takes_nothing(experiment_file: Path, closed: str) -> None:
    write_results(experiment_file, Path("good"))
    answer = python("-m", "fastlab.cli", "compare", "good", before=f'exec "$@" {closed}')
    assert (answer.returncode, answer.stderr) == (0, "")
    assert ("better" in answer.stdout) == (closed == "2>&-")


def test_a_small_alphabet_shows_what_it_can(experiment_file: Path) -> None:
    write_results(experiment_file, Path("good"))
    small = 'PYTHONUTF8=0 PYTHONIOENCODING=ascii exec "$@"'
    answer = python("-m", "fastlab.cli", "compare", "good", before=small)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "60.0 ?0.0" in answer.stdout


def test_a_directory_that_is_gone(experiment_file: Path) -> None:
    Path("gone").mkdir()
    gone = 'cd gone && rmdir ../gone && exec "$@"'
    answer = python("-m", "fastlab.cli", "compare", str(experiment_file.parent), before=gone)
    assert (answer.returncode, answer.stderr) == (
        1,
        "fast: the current directory was removed; change to another one, then run it again\n",
    )


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


@pytest.mark.parametrize("begun", [False, True])
def test_the_launcher_says_what_to_run_first(checkout: Path, begun: bool) -> None:
    venv = checkout / "build/venv"
    if begun:
        # As `make` leaves it where PyPI cannot be reached.
        (venv / "bin").mkdir(parents=True)
        (venv / "bin/python").symlink_to(sys.executable)
    answer = subprocess.run(
        [checkout / "scripts/fast", "kernel", "list"], capture_output=True, text=True
    )
    assert answer.returncode == 1
    assert answer.stderr == f"fast: {venv} is not complete; run first: make -C {checkout}\n"


def test_the_launcher_works_through_a_link_and_from_anywhere(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    python = checkout / "build/venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n')
    python.chmod(0o755)
    (checkout / "build/venv/complete").touch()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    link = elsewhere / "fast"
    link.symlink_to(checkout / "scripts/fast")
    answer = subprocess.run([link, "run", "a b"], cwd=elsewhere, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (7, f"{checkout}/scripts|run|a b|")


def test_a_failed_stage_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise FastError("no compiler: install gcc")

    monkeypatch.setattr(kernels, "build", fail)
    assert main.main(["kernel", "build"]) == 1
    assert capsys.readouterr().err == "fast: no compiler: install gcc\n"
