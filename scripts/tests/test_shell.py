# SPDX-License-Identifier: GPL-2.0
"""`fast shell` and every way in which it can end, with a program that acts as virtme-run."""

from __future__ import annotations

import io
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fastlab.base import tools
from fastlab.base.model import FastError, Kernel
from fastlab.base.progress import PlainReporter
from fastlab.guest import kvm
from fastlab.kernel import kernels
from fastlab.kernel.catalogue import VariantEntry
from fastlab.kernel.kernels import BuildRequest, Places
from fastlab.shell import machine, session
from fastlab.shell.session import BootError, Streams

FAKE = Path(__file__).with_name("fake_virtme.py")
PROJECT = Path(__file__).parents[2]
KERNEL = Kernel("6.12", "fast", "6.12-fast+shell", "/cache/vmlinux", "/cache/System.map")


class Lab:
    """A project whose kernels are built, and a virtme-run that is the fake."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.asked: list[BuildRequest] = []
        self.no_kvm = "/dev/kvm: No such file or directory"
        self.said = io.StringIO()
        self._monkeypatch = monkeypatch
        (path / "Kbuild").symlink_to(PROJECT / "Kbuild")
        self.bin_dir = path / "bin"
        self.bin_dir.mkdir()
        self.install("virtme-run", FAKE)
        self.install("python", Path(sys.executable))
        # "QEMU": it tells that it lives, as long as it does.
        self.alive = path / "alive"
        script = self.bin_dir / "qemu-system-x86_64"
        script.write_text(f"#!/bin/sh\nwhile echo $$ >{self.alive}; do sleep 0.1; done\n")
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(self.bin_dir / "python"))
        monkeypatch.setenv("PATH", str(self.bin_dir), prepend=":")
        monkeypatch.setattr(kernels, "build", self._build)
        monkeypatch.setattr(kvm, "denied", lambda: self.no_kvm)
        monkeypatch.setattr(kvm, "probe", self._probe)
        monkeypatch.setattr(machine, "build_programs", lambda project, reporter: path / "built")
        monkeypatch.setattr(session, "BOOT_SECONDS", 30.0)

    def install(self, name: str, program: Path) -> None:
        (self.bin_dir / name).symlink_to(program)

    def mode(self, name: str) -> None:
        self._monkeypatch.setenv("FAKE_VIRTME", name)

    def _build(self, request: BuildRequest, reporter: object) -> tuple[Kernel, ...]:
        self.asked.append(request)
        return (KERNEL,)

    def _probe(self, kernel: Kernel, init: Path, reporter: object) -> str:
        assert init == self.path / "built/userspace/guest/init"
        return self.no_kvm

    def request(self, argv: Sequence[str], streams: Streams, variant: str = "fast") -> int:
        request = machine.ShellRequest(
            variant=variant,
            argv=tuple(argv),
            streams=streams,
            places=Places(self.path, self.path / "cache"),
        )
        return machine.run(request, PlainReporter(self.said))

    def run(self, *argv: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Status, stdout and stderr of a command."""
        files = [self.path / name for name in ("stdin", "stdout", "stderr")]
        files[0].write_bytes(stdin)
        with files[0].open("rb") as into, files[1].open("wb") as out, files[2].open("wb") as err:
            status = self.request(argv, Streams(into.fileno(), out.fileno(), err.fileno()))
        return status, files[1].read_bytes(), files[2].read_bytes()

    def kept(self) -> list[Path]:
        return list((self.path / "build/shell").iterdir())

    def has_said(self, words: str) -> bool:
        """Has the kernel, in a run that may be under way?"""
        return any(words in log.read_text() for log in self.path.glob("build/shell/*/serial.log"))

    def qemu_lives(self) -> bool:
        """Does it say so, when it has had the time to?"""
        self.alive.unlink(missing_ok=True)
        time.sleep(0.5)
        return self.alive.exists()


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


def words(path: Path, tcg: bool = True, argv: Sequence[str] = ()) -> list[str]:
    return machine.command_line(Path("/venv/virtme-run"), KERNEL, path, tcg, argv)


def following(words: Sequence[str], option: str) -> str:
    return words[words.index(option) + 1]


def test_a_command_gets_its_input_and_its_output_is_ours(lab: Lab) -> None:
    status, out, err = lab.run("sh", "-c", "cat; echo error >&2", stdin=b"some\0input\n" * 50000)
    assert (status, out, err) == (0, b"some\0input\n" * 50000, b"error\n")
    assert lab.kept() == []


@pytest.mark.parametrize("status", [0, 3, 137, 255])
def test_the_status_is_the_commands(status: int, lab: Lab) -> None:
    assert lab.run("sh", "-c", f"exit {status}")[0] == status


def test_the_commands_words_arrive_as_they_are(lab: Lab) -> None:
    said = lab.run("printf", "%s|", "two words", "$HOME", "it's", ";", "")[1]
    assert said == b"two words|$HOME|it's|;||"


def test_a_word_that_is_no_utf_8_arrives_as_it_is(lab: Lab) -> None:
    assert lab.run("printf", "%s", os.fsdecode(b"\xff"))[1] == b"\xff"


def test_a_command_that_is_not_there_says_so(lab: Lab) -> None:
    status, _, err = lab.run("frobnicate")
    assert status == 127
    assert b"frobnicate" in err


def test_the_command_runs_where_we_are(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    here = lab.path / "a directory"
    here.mkdir()
    monkeypatch.chdir(here)
    assert lab.run("pwd")[1].decode().strip() == str(here)


def test_output_that_is_appended_to_a_file_leaves_what_is_in_it(lab: Lab) -> None:
    log = lab.path / "log"
    log.write_text("before\n")
    with log.open("ab") as file, Path(os.devnull).open("rb") as nothing:
        lab.request(["echo", "after"], Streams(nothing.fileno(), file.fileno(), file.fileno()))
    assert log.read_text() == "before\nafter\n"


def test_a_patched_kernel_has_a_name_that_says_so(lab: Lab) -> None:
    lab.run("true")
    assert (lab.asked[0].variants, lab.asked[0].fragments) == (("fast",), ("shell", "release"))
    assert machine.fragments(VariantEntry("baseline", ("simulator",), ("base",))) == ("shell",)


def test_the_default_is_the_fast_variant_of_the_primary_series() -> None:
    request = machine.ShellRequest()
    assert (request.series, request.variant, request.argv) == (None, "fast", ())


def test_an_unknown_variant_is_an_error_that_names_those_there_are(lab: Lab) -> None:
    with pytest.raises(FastError, match="'quick'; known: baseline, fast"):
        lab.request(["true"], Streams(), "quick")


@pytest.mark.parametrize(("why", "words"), [("no", "with TCG: no"), ("", "with KVM")])
def test_it_says_how_the_machine_is_executed(why: str, words: str, lab: Lab) -> None:
    lab.no_kvm = why
    lab.run("true")
    assert f"booting 6.12-fast+shell {words}\n" in lab.said.getvalue()


def test_virtme_is_told_the_kernel_and_to_leave_kvm_alone(tmp_path: Path) -> None:
    for tcg in (True, False):
        line = words(tmp_path, tcg, ["true"])
        assert line[:5] == [
            str(tools.require("setpriv")),
            "--pdeathsig",
            "KILL",
            sys.executable,
            "/venv/virtme-run",
        ]
        assert following(line, "--kimg") == "/cache/vmlinux"
        assert ("--disable-kvm" in line) == tcg
        assert "--force-9p" in line


def test_a_guest_has_no_more_cpus_than_its_kernel_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for here, there in ((3, "3"), (96, "64")):
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid, here=here: set(range(here)))
        assert following(words(tmp_path), "--cpus") == there
    assert "CONFIG_NR_CPUS=64\n" in (PROJECT / "Kbuild/base.config").read_text()


def test_only_a_shell_is_told_where_to_be_by_virtme(tmp_path: Path) -> None:
    assert "--script-sh" not in words(tmp_path) and "--pwd" in words(tmp_path)
    line = words(tmp_path, argv=["true"])
    assert following(line, "--script-sh") == f"exec /bin/sh {tmp_path}/command"


def test_a_comma_in_a_path_is_no_end_of_it_for_qemu(tmp_path: Path) -> None:
    directory = tmp_path / "a,b"
    directory.mkdir()
    assert f"file,id=fast,path={tmp_path}/a,,b/serial.log" in words(directory)


def test_every_directory_of_the_host_is_writable_but_those_that_are_the_guests(
    tmp_path: Path,
) -> None:
    for name in ("etc", "home", "proc", "sys", "dev", "run", "lost+found", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin").symlink_to("etc")
    (tmp_path / "file").touch()
    assert [path.name for path in machine.overlaid(tmp_path)] == ["etc", "home", "work"]
    line = words(tmp_path)
    given = [line[i + 1] for i, word in enumerate(line) if word == "--overlay-rwdir"]
    assert given == [str(path) for path in machine.overlaid()]


def test_of_very_many_directories_the_usual_ones_and_ours_are_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"a{number:02}" for number in range(40)]
    for name in (*names, "etc", "usr", "zz"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(Path, "cwd", lambda: Path("/zz/work"))
    found = [path.name for path in machine.overlaid(tmp_path)]
    assert found == ["etc", "usr", "zz", *names[:17]]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("boot-hang", ["watchdog: the boot took longer than 8 s", "Linux version 6.12.117-fast"]),
        ("boot-panic", ["the kernel panicked", "Unable to mount root fs", "CPU: 0 UID: 0"]),
        ("no-boot", ["the machine ended before the command began"]),
        ("dies", ["the machine ended before the command did", "FAST start"]),
        ("panic", ["the kernel panicked", "Attempted to kill init!"]),
    ],
)
def test_a_machine_that_does_not_do_well_is_an_error_that_says_where_its_log_is(
    mode: str, expected: list[str], lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.mode(mode)
    if mode == "boot-hang":
        # Which are over when the kernel has said all that it says.
        monkeypatch.setattr(session, "BOOT_SECONDS", 8.0)
        begin = iter([0.0])
        monkeypatch.setattr(
            session,
            "time",
            SimpleNamespace(monotonic=lambda: next(begin, 9.0 * lab.has_said(expected[1]))),
        )
    with pytest.raises(BootError) as error:
        lab.run("true")
    text = str(error.value)
    assert [line for line in expected if line not in text] == []
    (directory,) = lab.kept()
    assert text.endswith(f"\n(all that the machine said: {directory})")
    assert (directory / "serial.log").is_file()
    assert not lab.qemu_lives()


def test_what_qemu_complains_about_is_on_stderr(lab: Lab) -> None:
    lab.mode("no-boot")
    with pytest.raises(BootError):
        lab.run("true")
    assert b"cannot set up guest memory" in (lab.path / "stderr").read_bytes()


def test_what_the_kernel_complains_about_is_said_and_kept(lab: Lab) -> None:
    lab.mode("complains")
    assert lab.run("true")[0] == 0
    (directory,) = lab.kept()
    said = lab.said.getvalue()
    assert "remark: the guest's kernel complained: [    0.5] WARNING: CPU: 1" in said
    assert str(directory / "serial.log") in said


def test_a_clock_that_adaptive_cannot_measure_with_is_said(lab: Lab) -> None:
    lab.mode("counts-ticks")
    assert lab.run("true")[0] == 0
    assert "remark: in the guest, the kernel's scheduler clock counts ticks" in lab.said.getvalue()
    # It is no complaint.
    assert lab.kept() == []


@pytest.mark.parametrize("begin", [session.Session.command, session.Session.interactive])
def test_an_interrupt_amid_the_start_ends_the_machine(
    begin: Callable[[session.Session], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    popen, started = subprocess.Popen, []

    def start(*words: Any, **options: Any) -> Any:
        started.append(popen(*words, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start)
    reporter = PlainReporter(io.StringIO())
    with pytest.raises(KeyboardInterrupt):
        begin(session.Session(["sleep", "60"], tmp_path, Streams(), reporter))
    assert started[0].returncode is not None


def test_an_interrupt_ends_the_machine(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.mode("hang")

    def interrupt(process: object, seconds: float) -> None:
        if lab.alive.exists():
            raise KeyboardInterrupt
        time.sleep(0.05)

    with monkeypatch.context() as patch:
        patch.setattr(session, "GLANCE", 0.1)
        wait = session.ends_within
        patch.setattr(
            session,
            "ends_within",
            lambda process, seconds: (wait if seconds > 1 else interrupt)(process, seconds),
        )
        with pytest.raises(KeyboardInterrupt):
            lab.run("true")
    assert not lab.qemu_lives()
    assert lab.kept() == []


def test_the_machine_ends_when_nobody_reads_its_output(lab: Lab) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    begun = time.monotonic()
    with Path(os.devnull).open("rb") as nothing, pytest.raises(BrokenPipeError):
        lab.request(["sh", "-c", "echo; sleep 60"], Streams(nothing.fileno(), writer, writer))
    assert time.monotonic() - begun < 50
    os.close(writer)


def test_output_that_cannot_be_written_is_an_error_that_says_why(lab: Lab) -> None:
    with Path(os.devnull).open("r+b") as nothing, Path("/dev/full").open("wb") as full:
        streams = Streams(nothing.fileno(), full.fileno(), nothing.fileno())
        with pytest.raises(OSError, match="No space left on device: 'standard output'"):
            lab.request(["echo", "hi"], streams)
    assert lab.kept() == []


def test_output_that_is_not_taken_at_once_arrives(lab: Lab) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    taken: list[bytes] = []

    def take() -> None:
        with os.fdopen(reader, "rb") as file:
            while select.select([], [writer], [], 0)[1]:  # until the pipe is full
                time.sleep(0.05)
            taken.append(file.read())

    taker = threading.Thread(target=take)
    taker.start()
    try:
        with Path(os.devnull).open("r+b") as nothing:
            streams = Streams(nothing.fileno(), writer, nothing.fileno())
            assert lab.request(["head", "-c", "1000000", "/dev/zero"], streams) == 0
    finally:
        os.close(writer)
        taker.join()
    assert taken == [bytes(1000000)]


def test_an_input_that_never_ends_does_not_keep_the_machine(lab: Lab) -> None:
    reader, writer = os.pipe()
    with (lab.path / "out").open("wb") as out:
        assert lab.request(["true"], Streams(reader, out.fileno(), out.fileno())) == 0
    os.close(writer)


@pytest.fixture
def terminal() -> Iterator[int]:
    ours, theirs = pty.openpty()
    yield theirs
    os.close(ours)
    os.close(theirs)


def test_a_shell_is_a_boot_without_a_command(lab: Lab, terminal: int) -> None:
    assert lab.request([], Streams(stdin=terminal)) == 0
    assert "Ctrl-a x" in lab.said.getvalue()
    assert lab.kept() == []


def test_a_shell_whose_machine_does_not_boot_is_an_error(lab: Lab, terminal: int) -> None:
    lab.mode("no-boot")
    with pytest.raises(BootError) as error:
        lab.request([], Streams(stdin=terminal))
    assert "cannot set up guest memory" in str(error.value)


def test_a_shell_without_a_terminal_is_told_about_commands(lab: Lab) -> None:
    with Path(os.devnull).open("rb") as nothing, pytest.raises(FastError) as error:
        lab.request([], Streams(nothing.fileno()))
    assert "needs a terminal; for a command: fast shell -- COMMAND" in str(error.value)
    assert lab.asked == []


def test_virtme_ng_that_is_missing_is_named(lab: Lab) -> None:
    (lab.bin_dir / "virtme-run").unlink()
    with pytest.raises(FastError, match=r"virtme-run: .*virtme-ng is missing: run `make`"):
        lab.request(["true"], Streams())
    assert lab.asked == []


def test_missing_tools_are_named_with_their_packages(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FastError) as error:
        lab.request(["true"], Streams())
    for package in ("qemu-system-x86", "util-linux", "binutils", "udev"):
        assert package in str(error.value)
    assert lab.asked == []
