# SPDX-License-Identifier: GPL-2.0
"""A user's program as a workload: a guest with everything the program needs.

Every file has the same path in the guest as on this machine, symbolic links included.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_from_bytes

from fastlab.base.model import FastError
from fastlab.guest import initramfs
from fastlab.trial.given import NOTHING, Given
from fastlab.trial.opened import Opened

# The runner's path in the guest (userspace/guest/subject.c).
RUNNER = "/fast-subject"
# The beginning of the runner's line about a program that has ended.
RUNNER_TELLS = '{"context_switches":'
# What its messages begin with, and its status after one.
COMPLAINT = "subject: "
CANNOT_PREPARE = 126
# Paths that the guest mounts itself, and paths of the laboratory.
RESERVED = ("/dev", "/proc", "/sys", "/init", RUNNER, initramfs.BALANCED_PATH)
# The loader's cache of libraries outside its usual directories.
LOADER_CACHE = Path("/etc/ld.so.cache")
# roi_begin() of userspace/roi/roi.h.
MARKER = bytes.fromhex("0f1f8400" + "02004146")
# Names that programs look up. No name service of this machine is in the guest.
NAMES = {
    "/etc/hosts": b"127.0.0.1 localhost\n",
    "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\n",
}
# Of this machine: its users, the names of ports, and the locale that the runner sets.
USUAL = tuple(map(Path, ("/etc/passwd", "/etc/group", "/etc/services", "/usr/lib/locale/C.utf8")))
# While the files are unpacked the guest's memory holds them twice, besides the kernel.
COPIES = 2
KERNEL_MB = 96

# Bytes of an interpreter's line or an ELF header.
LONGEST_HEAD = 256

_TEMPORARY = 0o041777
_MAX_LINKS = 40
_MB = 1 << 20


@dataclass(frozen=True)
class Subject:
    """A program, its working directory, its input, and the guest's file system.

    `marked`: the program marks its region of interest itself. `advice` helps the reader of a
    failure, or is "". `binaries` are the ELF files of the guest. `remarks` say what it lacks that
    it may not need. `server` is the path of the server's program; None: there is none.
    """

    path: Path
    argv: tuple[str, ...]
    directory: Path
    marked: bool
    image: bytes
    advice: str = ""
    binaries: tuple[Path, ...] = ()
    given: Given = field(default_factory=Given)
    remarks: tuple[str, ...] = ()
    server: Path | None = None

    def job(self, delay: int, shown: bool = False) -> list[str]:
        """The command line in the guest; the program begins after `delay` ns. `shown`: its output
        is passed on, and nothing is counted."""
        region = "shown" if shown else "marked" if self.marked else "whole"
        stdin = str(self.given.stdin or os.devnull)
        words = (region, str(delay), str(self.directory), stdin, str(self.path), *self.argv)
        server = [_encoded((str(self.server), *self.given.server))] if self.server else []
        return [RUNNER, _encoded(words), *server]


def runners_words(status: int, errors: Sequence[str]) -> Sequence[str]:
    """What the runner said, instead of the program, if it is the runner's status."""
    said = [place for place, line in enumerate(errors) if line.startswith(COMPLAINT)]
    if status != CANNOT_PREPARE or not said:
        return ()
    return [errors[said[-1]].removeprefix(COMPLAINT), *errors[said[-1] + 1 :]]


def _encoded(words: Iterable[str]) -> str:
    return quote_from_bytes("\0".join(words).encode(errors="surrogateescape"))


def find_subject(
    argv: Sequence[str],
    more: Sequence[Path],
    directory: Path,
    ours: Mapping[str, Path],
    memory_mb: int,
    given: Given = NOTHING,
    opened: Opened | None = None,
) -> Subject:
    """The program of `argv`, run in `directory`, and a guest with the program, its libraries, the
    files that its arguments name, the files and directories in `more`, and what a run has `opened`.

    `ours` are our init, RUNNER and further programs, by their paths in the guest. A FastError says
    what cannot be put into the guest, and why.
    """
    path = find_program(argv[0], directory)
    files = _Files(memory_mb)
    for name, file in ours.items():
        files.put(name, initramfs.PROGRAM, initramfs.stripped(file))
    files.put("/tmp", _TEMPORARY)
    files.put("/dev", initramfs.DIRECTORY)
    files.put("/dev/console", initramfs.CONSOLE)
    files.add(directory)
    script = files.add_program(path)
    files.add_named(argv[1:], directory)
    server = find_program(given.server[0], directory) if given.server else None
    if server:
        files.add_program(server)
        files.add_named(given.server[1:], directory)
    for extra in more:
        files.add_all(directory / extra)
    if given.stdin:
        files.add(given.stdin)
    if opened:
        for file in opened.files:
            files.add(file, optional=True)
    files.add_usual()
    uses = f"{path} is a script: name the programs and files that it uses by --with, or --with auto"
    advice = uses if script and not opened else ""
    binaries = tuple(files.binaries)
    return Subject(
        path,
        tuple(argv),
        directory,
        is_marked(path),
        files.image(),
        advice,
        binaries,
        given,
        (*(opened.remarks if opened else ()), *files.remarks()),
        server,
    )


def is_marked(path: Path) -> bool:
    """Does the program mark its region of interest itself?"""
    content = _read(path)
    return not content.startswith(b"#!") and MARKER in content


def find_program(word: str, directory: Path) -> Path:
    """The program of a command line, in the directory or in PATH."""
    if "/" in word:
        path = directory / word
    else:
        program = shutil.which(word)
        if not program:
            raise FastError(
                f"{word or repr(word)}: no such program in PATH; install it, or give its path"
            )
        path = directory / program
    if path.is_dir():
        raise FastError(f"{path}: is a directory; name a program in it")
    if not path.is_file():
        raise FastError(f"{path}: no such program")
    if not os.access(path, os.X_OK):
        raise FastError(f"{path}: not executable (chmod +x, if it is a program)")
    return path


def _reserved(path: str | Path) -> bool:
    normal = os.path.normpath(path)
    return any(normal == prefix or normal.startswith(f"{prefix}/") for prefix in RESERVED)


def check_there(path: Path) -> None:
    """Raise FastError if a file for the guest does not exist."""
    if not _exists(path):
        raise FastError(f"{path}: no such file for the guest (--with)")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        # The word may be anything, such as too long for a file name.
        return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FastError(f"{path}: cannot be read: {error.strerror}") from error


class _Files:
    """The guest's files by path, and their total size."""

    def __init__(self, memory_mb: int) -> None:
        self._entries: dict[str, tuple[int, bytes, int]] = {}
        self._size = 0
        self._memory_mb = memory_mb
        self._missing: list[tuple[Path, str]] = []
        self.binaries: list[Path] = []

    def put(self, path: str, mode: int, data: bytes = b"", time: int = 0) -> None:
        self._entries[path] = (mode, data, time)
        self._size += len(data)

    def remarks(self) -> list[str]:
        """What is not in the guest, though some file of it is linked with it."""
        # A library may load another one by its path before one that needs it.
        there = {Path(path).name for path in self._entries}
        missing = [(program, library) for program, library in self._missing if library not in there]
        if not missing:
            return []
        (program, library), *others = missing
        more = f", and {len(others)} more like it" if others else ""
        return [
            f"{program} lacks {library}{more}: not in the guest, which matters only if the program "
            "loads it"
        ]

    def image(self) -> bytes:
        # Sorted: a directory precedes its content.
        return initramfs.archive(
            initramfs.entry(
                path.lstrip("/"), mode, data, (5, 1) if mode == initramfs.CONSOLE else (0, 0), time
            )
            for path, (mode, data, time) in sorted(self._entries.items())
        )

    def add_program(self, path: Path) -> bool:
        """Add a program and its interpreter. Returns whether it is a script."""
        self.add(path)
        head = _read(path)[:LONGEST_HEAD]
        if head.startswith(b"#!"):
            self._add_interpreter(path, head)
            return True
        if not head.startswith(b"\x7fELF"):
            raise FastError(
                f"{path}: neither an ELF program nor a script that begins with #!; "
                "run its interpreter, and name the script as its argument"
            )
        # ELFCLASS64 and EM_X86_64.
        if head[4] != 2 or head[18:20] != b"\x3e\x00":
            raise FastError(f"{path}: not an x86-64 program, as the simulated machine needs")
        return False

    def add_named(self, words: Iterable[str], directory: Path) -> None:
        """Add the files that the words name. Of a directory only itself: results may go there."""
        for word in words:
            named = directory / word
            if word and _exists(named):
                self.add(named)

    def _add_interpreter(self, script: Path, head: bytes) -> None:
        words = os.fsdecode(head[2:].split(b"\n")[0]).split()
        if not words or not Path(words[0]).is_file():
            what = words[0] if words else "nothing"
            raise FastError(f"{script}: its interpreter {what} does not exist; install it")
        self.add(Path(words[0]))
        if Path(words[0]).name == "env":
            # The program that env looks for: the first word that is neither an option nor a
            # variable.
            names = [word for word in words[1:] if word[0] != "-" and "=" not in word]
            interpreter = shutil.which(names[0]) if names else None
            if not interpreter:
                raise FastError(
                    f"{script}: its interpreter {' '.join(words)} does not exist; install it"
                )
            self.add(Path(interpreter))

    def add_all(self, path: Path) -> None:
        """Add a file, or a directory with its content. Of the libraries that are linked with it
        some may be missing."""
        check_there(path)
        self.add(path, optional=True)
        for directory, names, files in os.walk(path):
            for name in (*names, *files):
                below = Path(directory, name)
                # Skip sockets and broken links.
                if below.is_file() or below.is_dir():
                    self.add(below, optional=True)

    def add_usual(self) -> None:
        """Add what most programs read, unless they bring their own."""
        if LOADER_CACHE.is_file():
            self.add(LOADER_CACHE)
        for path in USUAL:
            if path.exists():
                self.add_all(path)
        self._entries.setdefault("/etc", (initramfs.DIRECTORY, b"", 0))
        for name, content in NAMES.items():
            if name not in self._entries:
                self.put(name, initramfs.DATA, content)

    def add(self, path: Path, optional: bool = False) -> None:
        """Add a file with its libraries, or an empty directory, and all directories on the path.
        `optional`: its libraries may be missing."""
        real = self._place(path)
        if str(real) in self._entries or _reserved(real):
            return
        if real.is_dir():
            self.put(str(real), initramfs.DIRECTORY)
            return
        if not real.is_file():
            raise FastError(
                f"{path}: neither a file nor a directory; it cannot be put into the guest"
            )
        status = real.stat()
        self._check_room(path, status.st_size)
        executable = status.st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        content = _read(real)
        mode = initramfs.PROGRAM if executable else initramfs.DATA
        if content.startswith(b"\x7fELF"):
            self.put(str(real), mode, content)
            self.binaries.append(real)
            self._add_libraries(real, self._missing if optional else None)
        else:
            # Interpreters compare it with what they have compiled from the file.
            self.put(str(real), mode, content, int(status.st_mtime))

    def _add_libraries(self, program: Path, missing: list[tuple[Path, str]] | None) -> None:
        for library in initramfs.libraries([program], missing):
            self.add(Path(library), optional=missing is not None)
            # glibc loads it when a thread is cancelled or exits.
            unwinder = Path(library).with_name("libgcc_s.so.1")
            if Path(library).name == "libc.so.6" and unwinder.is_file():
                self.add(unwinder)

    def _check_room(self, path: Path, size: int) -> None:
        needed = COPIES * (self._size + size) // _MB + KERNEL_MB
        if needed > self._memory_mb:
            raise FastError(
                f"{path}: with it the guest's files and kernel need {needed} MB of memory, and the "
                f"machine has {self._memory_mb}: add memory (--memory-mb), or remove files (--with)"
            )

    def _place(self, path: Path) -> Path:
        """Add all links and directories on the path; returns the real path."""
        parts = deque(path.parts[1:])
        here = Path("/")
        links = 0
        while parts:
            name = parts.popleft()
            if name == "..":
                here = here.parent
                continue
            there = here / name
            if not there.is_symlink():
                here = there
                if parts and str(here) not in self._entries:
                    self.put(str(here), initramfs.DIRECTORY)
                continue
            links += 1
            if links > _MAX_LINKS:
                raise FastError(f"{path}: too many symbolic links")
            target = there.readlink()
            self.put(str(there), initramfs.LINK, os.fsencode(target))
            if target.is_absolute():
                here = Path("/")
            parts.extendleft(part for part in reversed(target.parts) if part != "/")
        return here
