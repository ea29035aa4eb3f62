# SPDX-License-Identifier: GPL-2.0
"""What a program opens: found by one run on this machine under strace."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import tools
from fastlab.base.model import FastError
from fastlab.base.process import run_group
from fastlab.base.progress import Reporter
from fastlab.trial.given import Given
from fastlab.trial.listening import listens
from fastlab.trial.runs import last_lines

# Calls that name a file and succeed: those that only ask for it, too.
STRACE = ("-f", "-y", "-qq", "-s", "4096", "--status=successful", "-e", "trace=%file")
# The guest has its own.
OWN = tuple(map(Path, ("/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf")))
# Seconds until a server listens, and between two looks.
SERVER_SECONDS = 60.0
LOOK = 0.05

# PROCESS CALL(DIRECTORY, "PATH"...: the directory of a relative path, if the call has one.
_CALL = re.compile(
    rb"^\d+ +(?P<call>\w+)\((?:(?:AT_FDCWD|\d+)<(?P<directory>[^>]*)>, )?"
    rb'"(?P<path>(?:[^"\\]|\\.)*)"'
)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}


@dataclass(frozen=True)
class Opened:
    """Files and directories that were there before the run, and remarks on those that were not."""

    files: tuple[Path, ...]
    remarks: tuple[str, ...]


def opened_by(
    argv: Sequence[str], directory: Path, given: Given, seconds: float, reporter: Reporter
) -> Opened | None:
    """What a run of at most `seconds`, with its server, opens; None: not asked for."""
    if not given.auto:
        return None
    reporter.say(f"running {argv[0]} once on this machine, to find the files that it opens")
    return _observe(argv, directory, given, seconds)


def _observe(argv: Sequence[str], directory: Path, given: Given, seconds: float) -> Opened:
    strace = str(tools.require("strace"))
    # A file that is changed now was not there, or was another one.
    begun = time.time()
    with tempfile.TemporaryDirectory() as scratch:
        logs = [Path(scratch, name) for name in ("program", "server")]
        traced = [[strace, *STRACE, "-o", str(log), "--"] for log in logs]
        with _server(traced[1], directory, given, Path(scratch, "words")):
            _run([*traced[0], *argv], directory, given, seconds, Path(scratch, "errors"))
        paths = [path for log in logs if log.is_file() for path in _paths(log, directory)]
    found = [path for path in dict.fromkeys(paths) if path not in OWN]
    made = [path for path in found if _changed(path, begun)]
    files = tuple(path for path in found if path not in made and (path.is_file() or path.is_dir()))
    written = [path for path in made if path.is_file() and not _is_scratch(path)]
    return Opened(files, tuple(_written(path) for path in written[:1]))


def _written(path: Path) -> str:
    return (
        f"the program writes {path}, which is not in the guest at its start; --with {path} takes "
        "it along as it is now"
    )


def _is_scratch(path: Path) -> bool:
    """Is it a temporary file, or one of the kernel?"""
    return any(path.is_relative_to(where) for where in ("/tmp", "/dev", "/proc", "/sys"))


def _changed(path: Path, begun: float) -> bool:
    """Is it a file that has been changed since then? A directory changes with its files."""
    try:
        return not path.is_dir() and path.stat().st_ctime >= begun
    except OSError:
        return True


def _environment(given: Given) -> dict[str, str]:
    return {**os.environ, **dict(given.environment)}


def _run(
    command: Sequence[str], directory: Path, given: Given, seconds: float, errors: Path
) -> None:
    program = command[command.index("--") + 1]
    try:
        with errors.open("wb") as err, (given.stdin or Path(os.devnull)).open("rb") as stdin:
            status = run_group(
                command,
                seconds,
                cwd=directory,
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=err,
                env=_environment(given),
            )
    except subprocess.TimeoutExpired as error:
        raise FastError(
            f"--with auto: {program} took longer than {seconds:g} s on this machine; it waits for "
            "something, or needs a smaller task or more time (--stdin, --timeout)"
        ) from error
    if status and not given.ignore_status:
        text = errors.read_text(errors="replace")
        first = f"--with auto: {program} ended with status {status} on this machine"
        if "ptrace" in text:
            first += "; a program that traces another one cannot be observed: name its files"
        raise FastError("\n".join([first, *last_lines(text.splitlines())]))


@contextmanager
def _server(traced: Sequence[str], directory: Path, given: Given, words: Path) -> Iterator[None]:
    """The server while it runs; it listens first. `words` gets its output."""
    if not given.server:
        yield
        return
    with words.open("wb") as output:
        process = subprocess.Popen(
            [*traced, *given.server],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=_environment(given),
            start_new_session=True,
        )
    try:
        _await(process, given.server[0], words)
        yield
    finally:
        _end(process)


def _await(process: subprocess.Popen[bytes], program: str, words: Path) -> None:
    end = time.monotonic() + SERVER_SECONDS
    while not listens(process.pid):
        said = last_lines(words.read_text(errors="replace").splitlines())
        if process.poll() is not None:
            what = (
                f"ended with status {process.returncode} before it listened at a port or socket; "
                "it has to stay in the foreground, and its port has to be free"
            )
        elif time.monotonic() > end:
            what = f"has not listened at a port or socket for {SERVER_SECONDS:g} s"
        else:
            time.sleep(LOOK)
            continue
        raise FastError("\n".join([f"--with auto: the server {program} {what}", *said]))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server by SIGTERM, or else by SIGKILL, with all that it has started."""
    for number in (15, 9):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _paths(log: Path, directory: Path) -> Iterator[Path]:
    """The absolute paths of the log's calls."""
    made: set[Path] = set()
    for line in log.read_bytes().splitlines():
        call = _CALL.match(line)
        if not call or not call["path"]:
            continue
        base = Path(os.fsdecode(call["directory"])) if call["directory"] else directory
        path = base / os.fsdecode(_ESCAPE.sub(_unescaped, call["path"]))
        if call["call"].startswith(b"mkdir"):
            made.add(path)
        if path not in made:
            yield path


def _unescaped(escape: re.Match[bytes]) -> bytes:
    text = escape[1]
    return bytes([int(text, 8)]) if text.isdigit() else _LETTERS.get(text, text)
