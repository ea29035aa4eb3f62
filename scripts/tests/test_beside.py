# SPDX-License-Identifier: GPL-2.0
"""Another load beside a program: it ends with the program, however that ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import eventually

SCRIPT = Path(__file__).parents[2] / "experiments/beside.sh"
# Ends with the script's input, or by a signal.
PROGRAM = ("sh", "-c", "echo begun; read line; exit 7")


@contextlib.contextmanager
def begun(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The script as a terminal's foreground has it, once its program runs."""
    process = subprocess.Popen(
        [SCRIPT, *words, *PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with process:
        try:
            assert process.stdout and process.stdout.readline() == b"begun\n"
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def members(group: int) -> list[str]:
    """The names of the processes in it, but for those that are over."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = file.read_text().partition("(")[2].rpartition(")")
            state, _, of, *_ = rest.split()
            if int(of) == group and state != "Z":
                found.append(name)
    return found


def status_and_rest(process: subprocess.Popen[bytes]) -> tuple[int, list[str]]:
    """How it ended, and what is left of its group. A signal takes effect in a while."""
    status = process.wait(timeout=30)
    eventually(lambda: not members(process.pid))
    return status, members(process.pid)


@pytest.mark.parametrize("number", [0, 3])
def test_the_load_ends_with_the_program(number: int) -> None:
    with begun(str(number), "100") as process:
        # The script itself and its program.
        assert len(members(process.pid)) == number + 2
        assert process.stdin
        process.stdin.close()
        assert status_and_rest(process) == (7, [])


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_the_load_ends_with_an_interrupted_program(number: int, status: int) -> None:
    with begun("2", "0") as process:
        os.killpg(process.pid, number)
        assert status_and_rest(process) == (status, [])


def test_the_load_ends_where_the_script_alone_is_terminated() -> None:
    with begun("2", "0") as process:
        process.terminate()
        assert process.stdin
        process.stdin.close()
        assert status_and_rest(process) == (143, [])


def refusal(*words: str) -> str:
    answer = subprocess.run([SCRIPT, *words], capture_output=True, text=True, timeout=30)
    assert (answer.returncode, answer.stdout) == (2, "")
    return answer.stderr


@pytest.mark.parametrize("number", ["", "x", "-1", "1.5", "08", "0x4", " 1"])
def test_what_is_no_number_is_refused(number: str) -> None:
    wanted = f"beside.sh: {number}: not a number from 0 to 999999999\n"
    assert refusal(number, "0", "echo", "run") == wanted
    assert refusal("0", number, "echo", "run") == wanted


def test_what_the_shell_cannot_count_to_is_refused() -> None:
    assert "not a number" in refusal("0", "99999999999999999999", "echo", "run")


def test_no_program_is_refused() -> None:
    assert "usage: beside.sh N TURNS PROGRAM" in refusal("1", "0")
