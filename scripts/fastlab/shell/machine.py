# SPDX-License-Identifier: GPL-2.0
"""A patched kernel with the user's own file system, by virtme-ng: a shell in it, or one command.

virtme-ng starts QEMU with the root directory as a read-only file system (9p), over which the guest
lays what it writes. Its own command is virtme-run; `vng` is a front end that puts these arguments
through a shell and mixes in the user's configuration.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fastlab.base import tools
from fastlab.base.fast_command import fast_command
from fastlab.base.lookup import pick
from fastlab.base.model import FastError, Kernel
from fastlab.base.progress import Reporter
from fastlab.base.project import python_package, work_dir
from fastlab.guest import initramfs, kvm
from fastlab.guest.alarms import Console
from fastlab.guest.meson import build_programs
from fastlab.kernel import kernels
from fastlab.kernel.catalogue import VariantEntry, load_catalogue
from fastlab.kernel.kernels import Places
from fastlab.shell.session import Session, Streams

# Tools that the guest uses from the host's file system are required, too: udev creates the devices
# of a command's input and output, and `su` is the parent of the shell.
TOOLS = ("qemu-system-x86_64", "setpriv", "strings", "su", "udevadm")

# Directories of which the guest has its own.
OWN = frozenset({"dev", "lost+found", "proc", "run", "sys"})
# virtme-ng hands each overlay over as a variable, and of a guest's init Linux takes 32 in all. So
# these come first, if the host has more directories than that.
USUAL = frozenset({"etc", "home", "opt", "root", "srv", "tmp", "usr", "var"})
MOST_OVERLAYS = 20
MEMORY = "2G"
# CONFIG_NR_CPUS of Kbuild/base.config.
MOST_CPUS = 64

# The second serial port: virtme-ng may give the first one to the shell.
SERIAL = (
    *("earlycon=uart8250,io,0x2f8,115200", "console=ttyS1,115200", "ignore_loglevel"),
    *("printk.devkmsg=on", "panic=-1"),
)


@dataclass(frozen=True)
class ShellRequest:
    """`fast shell`: no series means the primary one, no `argv` an interactive shell."""

    series: str | None = None
    variant: str = "fast"
    argv: tuple[str, ...] = ()
    streams: Streams = field(default_factory=Streams)
    places: Places = field(default_factory=Places)


def run(request: ShellRequest, reporter: Reporter) -> int:
    """Boot the kernel and run the shell or the command to its end; returns its exit status."""
    if not request.argv and not os.isatty(request.streams.stdin):
        raise FastError(
            "an interactive shell needs a terminal; for a command: "
            f"{fast_command('shell')} -- COMMAND"
        )
    virtme = find_virtme()
    tools.require_all(TOOLS)
    variants = load_catalogue(request.places.project).variants
    variant = pick(variants, request.variant, "variant")
    (kernel,) = kernels.build(
        kernels.BuildRequest(
            request.series, (variant.name,), fragments=fragments(variant), places=request.places
        ),
        reporter,
    )
    with _directory(work_dir(request.places.project) / "shell") as directory:
        # Without the device nothing needs to be built.
        no_kvm = kvm.denied() or _probe(kernel, request.places.project, reporter)
        reporter.say(f"booting {kernel.id} with " + (f"TCG: {no_kvm}" if no_kvm else "KVM"))
        words = command_line(virtme, kernel, directory, bool(no_kvm), request.argv)
        session = Session(words, directory, request.streams, reporter)
        if request.argv:
            return session.command()
        reporter.say("Ctrl-d ends the shell, Ctrl-a x the machine")
        session.interactive()
        return 0


def _probe(kernel: Kernel, project: Path, reporter: Reporter) -> str:
    return kvm.probe(kernel, build_programs(project, reporter) / initramfs.INIT, reporter)


def fragments(variant: VariantEntry) -> tuple[str, ...]:
    """What is merged into a variant for this: devices and, with patches, a name that says so."""
    return ("shell", "release") if variant.patched else ("shell",)


def find_virtme() -> Path:
    """virtme-run, of the Python that this runs in."""
    path = Path(sys.executable).with_name("virtme-run")
    if not os.access(path, os.X_OK):
        raise FastError(f"{path}: {python_package('virtme-ng')}")
    return path


def command_line(
    virtme: Path, kernel: Kernel, directory: Path, tcg: bool, argv: Sequence[str]
) -> list[str]:
    """virtme-run and its arguments; what they refer to is written into the directory."""
    log = str(directory / "serial.log").replace(",", ",,")
    return [
        *(str(tools.require("setpriv")), "--pdeathsig", "KILL"),
        # Its first line names the place where the environment was made.
        *(sys.executable, str(virtme)),
        *("--kimg", kernel.vmlinux, "--mods", "none"),
        *("--qemu-bin", str(_mortal_qemu(directory))),
        *("--force-9p", *(("--disable-kvm",) if tcg else ())),
        *("--cpus", str(min(len(os.sched_getaffinity(0)), MOST_CPUS)), "--memory", MEMORY),
        *(word for path in overlaid() for word in ("--overlay-rwdir", str(path))),
        *("--kopt=root=/dev/root", *(f"--kopt={option}" for option in SERIAL)),
        *(("--script-sh", f"exec /bin/sh {_script(directory, argv)}") if argv else ("--pwd",)),
        # It takes all that follows.
        *("--qemu-opts", "-no-reboot"),
        *("-chardev", f"file,id=fast,path={log}", "-device", "isa-serial,index=1,chardev=fast"),
    ]


def overlaid(root: Path = Path("/")) -> list[Path]:
    """The directories of the host that the guest may write to, each into an overlay."""
    usual = {*USUAL, *Path.cwd().parts[1:2]}
    paths = sorted(
        path
        for path in root.iterdir()
        if path.is_dir() and not path.is_symlink() and path.name not in OWN
    )
    return sorted(paths, key=lambda path: path.name not in usual)[:MOST_OVERLAYS]


def _mortal_qemu(directory: Path) -> Path:
    """QEMU as virtme-run is to start it: it ends with virtme-run, which has no such option."""
    path = directory / "qemu"
    words = [tools.require("setpriv"), "--pdeathsig", "KILL", tools.require("qemu-system-x86_64")]
    path.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
    path.chmod(0o755)
    return path


def _script(directory: Path, argv: Sequence[str]) -> str:
    """A script of the command, as a word of a shell. It is in a file, for a kernel's command line
    is short."""
    path = directory / "command"
    text = (
        "echo '<6>FAST start' >/dev/kmsg\n"
        f"export PATH={shlex.quote(os.environ.get('PATH', os.defpath))}\n"
        f"cd -- {shlex.quote(str(Path.cwd()))} || exit\n"
        f"{shlex.join(argv)}\n"
        "status=$?\n"
        'echo "<6>FAST exit $status" >/dev/kmsg\n'
        "exit $status\n"
    )
    # Words need be no UTF-8.
    path.write_bytes(os.fsencode(text))
    return shlex.quote(str(path))


@contextmanager
def _directory(parent: Path) -> Iterator[Path]:
    """A directory of this session alone. It is kept if what the machine said is worth reading."""
    parent.mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(dir=parent, prefix=""))
    try:
        yield path
    except FastError:
        raise
    except BaseException:
        shutil.rmtree(path)
        raise
    if not Console(path / "serial.log").alarmed():
        shutil.rmtree(path)
