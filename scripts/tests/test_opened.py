# SPDX-License-Identifier: GPL-2.0
"""The files that a program opens on this machine, by a run under strace."""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from heard import Heard

from fastlab.base.model import FastError
from fastlab.trial import opened
from fastlab.trial.given import NOTHING, Given
from fastlab.trial.opened import Opened, opened_by

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")

SERVER = (
    "import socket, sys, time\n"
    "open('served')\n"
    "s = socket.socket(socket.AF_UNIX)\n"
    "s.bind('socket')\n"
    "s.listen()\n"
    "time.sleep(60)\n"
)


def found(directory: Path, argv: Sequence[str], given: Given = NOTHING) -> Opened:
    given = Given(given.stdin, given.environment, given.ignore_status, None, given.server, True)
    answer = opened_by(argv, directory, given, 60.0, Heard())
    assert answer is not None
    return answer


def test_what_a_program_reads_by_any_name(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("read", 'qu"ote\\', "ümlaut", "below/deep", "asked", "not"):
        (tmp_path / name).write_text("content")
    (tmp_path / "link").symlink_to("read")
    script = (
        "import os\n"
        "for name in ('link', 'qu\"ote\\\\', 'ümlaut'): open(name).read()\n"
        "at = os.open('below', os.O_RDONLY)\n"
        "os.open('deep', os.O_RDONLY, dir_fd=at)\n"
        "os.stat('asked')\n"
        "os.access('missing', os.R_OK)\n"
    )
    files = found(tmp_path, [sys.executable, "-c", script]).files
    inside = {str(path.relative_to(tmp_path)) for path in files if path.is_relative_to(tmp_path)}
    assert inside >= {"link", 'qu"ote\\', "ümlaut", "below", "below/deep", "asked"}
    assert not inside & {"not", "missing", "read"}
    # Its interpreter's, too; no list of names has these.
    assert any(path.name == "os.py" for path in files)


def test_what_it_writes_is_not_there_at_its_start(tmp_path: Path) -> None:
    script = "mkdir made; echo 1 > made/x; echo 2 > out; cat < out < /etc/hosts"
    answer = found(tmp_path, ["sh", "-c", script])
    assert not {tmp_path / "out", tmp_path / "made", tmp_path / "made/x"} & set(answer.files)
    assert Path("/etc/hosts") not in answer.files
    home = Path.cwd() / "build/written-by-a-test"
    try:
        (remark,) = found(tmp_path, ["sh", "-c", f"echo > {home}"]).remarks
    finally:
        home.unlink(missing_ok=True)
    assert f"--with {home} takes it along" in remark


def test_input_environment_and_status_are_as_in_the_guest(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("read")
    for name in ("read-1", "other"):
        (tmp_path / name).write_text("")
    script = 'read word; : < "$word-$NUMBER"; exit 3'
    given = Given(tmp_path / "input", (("NUMBER", "1"),), ignore_status=True)
    assert tmp_path / "read-1" in found(tmp_path, ["sh", "-c", script], given).files


def test_a_server_is_observed_too(tmp_path: Path) -> None:
    (tmp_path / "served").write_text("")
    given = Given(server=(sys.executable, "-c", SERVER))
    client = "import socket; socket.socket(socket.AF_UNIX).connect('socket')"
    assert tmp_path / "served" in found(tmp_path, [sys.executable, "-c", client], given).files


def test_what_goes_wrong_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusal(argv: Sequence[str], given: Given = NOTHING) -> str:
        with pytest.raises(FastError) as caught:
            found(tmp_path, argv, given)
        return str(caught.value)

    said = refusal(["sh", "-c", "echo why >&2; exit 3"])
    assert said == "--with auto: sh ended with status 3 on this machine\nwhy"
    assert "traces another one cannot be observed: name its files" in refusal(["strace", "true"])
    monkeypatch.setattr(opened, "SERVER_SECONDS", 0.5)
    silent = Given(server=("sh", "-c", "echo loading; exec sleep 60"))
    said = refusal(["true"], silent)
    assert "the server sh has not listened at a port or socket for 0.5 s\nloading" in said
    monkeypatch.setattr(opened, "SERVER_SECONDS", 60)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        script = f"import socket; socket.socket().bind(('127.0.0.1', {port}))"
        said = refusal(["true"], Given(server=(sys.executable, "-c", script)))
    assert "ended with status 1 before it listened" in said and "its port has to be free" in said
    assert "Address already in use" in said
    with pytest.raises(FastError, match=r"sleep took longer than 0.2 s .*\(--stdin, --timeout\)"):
        opened_by(["sleep", "60"], tmp_path, Given(auto=True), 0.2, Heard())


def test_nothing_is_run_unless_asked(tmp_path: Path) -> None:
    assert opened_by(["/nonexistent"], tmp_path, NOTHING, 1.0, Heard()) is None
