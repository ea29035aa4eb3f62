# SPDX-License-Identifier: GPL-2.0
"""Somebody else's program as a workload: the guest in which it finds all that it needs.

Everything stands in the guest at the path that it has here, symbolic links included.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote_from_bytes

from fastlab.base.model import FastError
from fastlab.guest import initramfs

# The runner's path in the guest (userspace/guest/subject.c).
RUNNER = "/fast-subject"
# How begins what it says of a program that has ended.
RUNNER_TELLS = '{"context_switches":'
# What the guest mounts itself, and what is ours.
RESERVED = ("/dev", "/proc", "/sys", "/init", RUNNER, initramfs.BALANCED_PATH)
# Tells the loader where the libraries are that are not in its usual directories.
LOADER_CACHE = Path("/etc/ld.so.cache")
# roi_begin() of userspace/roi/roi.h.
MARKER = bytes.fromhex("0f1f8400" + "02004146")
# The guest's memory holds the files twice while they are unpacked, and a kernel.
COPIES = 2
KERNEL_MB = 96

# Of what says how a program is run: an interpreter's line, an ELF header.
LONGEST_HEAD = 256

_TEMPORARY = 0o041777
_MAX_LINKS = 40
_MB = 1 << 20


@dataclass(frozen=True)
class Subject:
    """A program, the directory it is run in, and the guest's file system.

    `marked`: it says itself where its region of interest is. `advice` is for a reader of its
    failure, or "". `binaries` are the ELF files that it has brought.
    """

    path: Path
    argv: tuple[str, ...]
    directory: Path
    marked: bool
    image: bytes
    advice: str = ""
    binaries: tuple[Path, ...] = ()

    def job(self, delay: int, shown: bool = False) -> list[str]:
        """The command line in the guest: the program begins after `delay` nanoseconds. `shown`: its
        output is passed on, and nothing is counted."""
        region = "shown" if shown else "marked" if self.marked else "whole"
        words = (region, str(delay), str(self.directory), str(self.path), *self.argv)
        return [RUNNER, quote_from_bytes("\0".join(words).encode(errors="surrogateescape"))]


def find_subject(
    argv: Sequence[str],
    more: Sequence[Path],
    directory: Path,
    ours: Mapping[str, Path],
    memory_mb: int,
) -> Subject:
    """The program that `argv` runs in the directory, and a guest that has it, its libraries, the
    files that its words name, and `more` files and directories.

    `ours` are our init, RUNNER and what else the guest is to have of ours, by their paths in it. A
    FastError says what does not go into the guest, and why.
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
    for word in argv[1:]:
        named = directory / word
        # The directory itself is enough of one: it may be where results go.
        if word and _exists(named):
            files.add(named)
    for extra in more:
        files.add_all(directory / extra)
    if LOADER_CACHE.is_file():
        files.add(LOADER_CACHE)
    advice = f"{path} is a script: what it runs and reads must be named by --with" if script else ""
    binaries = tuple(files.binaries)
    return Subject(path, tuple(argv), directory, is_marked(path), files.image(), advice, binaries)


def is_marked(path: Path) -> bool:
    """Does the program say itself where its region of interest is?"""
    content = _read(path)
    return not content.startswith(b"#!") and MARKER in content


def find_program(word: str, directory: Path) -> Path:
    """The program that a command line begins with, in the directory or in PATH."""
    if "/" in word:
        path = directory / word
    else:
        program = shutil.which(word)
        if not program:
            raise FastError(f"{word}: no such program in PATH; install it, or give its path")
        path = directory / program
    if path.is_dir():
        raise FastError(f"{path}: is a directory; name a program in it")
    if not path.is_file():
        raise FastError(f"{path}: there is no such program")
    if not os.access(path, os.X_OK):
        raise FastError(f"{path}: is not executable (chmod +x, if it is a program)")
    return path


def _reserved(path: str | Path) -> bool:
    normal = os.path.normpath(path)
    return any(normal == prefix or normal.startswith(f"{prefix}/") for prefix in RESERVED)


def check_there(path: Path) -> None:
    """Is there what is asked to be in the guest beside the program?"""
    if not _exists(path):
        raise FastError(f"{path}: there is no such file to be put into the guest (--with)")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        # Any word may be asked about: such as one that is too long for a name.
        return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FastError(f"{path}: cannot be read: {error.strerror}") from error


class _Files:
    """The guest's files by their paths, and how much they are."""

    def __init__(self, memory_mb: int) -> None:
        self._entries: dict[str, tuple[int, bytes]] = {}
        self._size = 0
        self._memory_mb = memory_mb
        self.binaries: list[Path] = []

    def put(self, path: str, mode: int, data: bytes = b"") -> None:
        self._entries[path] = (mode, data)
        self._size += len(data)

    def image(self) -> bytes:
        # Sorted, a directory stands before what is in it.
        return initramfs.archive(
            initramfs.entry(
                path.lstrip("/"), mode, data, (5, 1) if mode == initramfs.CONSOLE else (0, 0)
            )
            for path, (mode, data) in sorted(self._entries.items())
        )

    def add_program(self, path: Path) -> bool:
        """Add a program with what runs it. Is it a script?"""
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
            raise FastError(f"{path}: is not for the simulated machine, an x86-64")
        return False

    def _add_interpreter(self, script: Path, head: bytes) -> None:
        words = os.fsdecode(head[2:].split(b"\n")[0]).split()
        if not words or not Path(words[0]).is_file():
            what = words[0] if words else "nothing"
            raise FastError(f"{script}: its interpreter, {what}, is not there; install it")
        self.add(Path(words[0]))
        if Path(words[0]).name == "env":
            # What env is to find: the first word that is neither option nor variable.
            names = [word for word in words[1:] if word[0] != "-" and "=" not in word]
            interpreter = shutil.which(names[0]) if names else None
            if not interpreter:
                raise FastError(
                    f"{script}: its interpreter, {' '.join(words)}, is not there; install it"
                )
            self.add(Path(interpreter))

    def add_all(self, path: Path) -> None:
        """Add a file, or a directory with all that is in it."""
        check_there(path)
        self.add(path)
        for directory, names, files in os.walk(path):
            for name in (*names, *files):
                below = Path(directory, name)
                # No sockets, and no links to what is gone.
                if below.is_file() or below.is_dir():
                    self.add(below)

    def add(self, path: Path) -> None:
        """Add a file, a program's libraries with it, or an empty directory; and what is around."""
        real = self._place(path)
        if str(real) in self._entries or _reserved(real):
            return
        if real.is_dir():
            self.put(str(real), initramfs.DIRECTORY)
            return
        if not real.is_file():
            raise FastError(f"{path}: neither a file nor a directory; the guest cannot have it")
        status = real.stat()
        self._check_room(path, status.st_size)
        executable = status.st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        content = _read(real)
        self.put(str(real), initramfs.PROGRAM if executable else initramfs.DATA, content)
        if content.startswith(b"\x7fELF"):
            self.binaries.append(real)
            self._add_libraries(real)

    def _add_libraries(self, program: Path) -> None:
        for library in initramfs.libraries([program]):
            self.add(Path(library))
            # glibc loads it when a thread is cancelled or ends itself.
            unwinder = Path(library).with_name("libgcc_s.so.1")
            if Path(library).name == "libc.so.6" and unwinder.is_file():
                self.add(unwinder)

    def _check_room(self, path: Path, size: int) -> None:
        needed = COPIES * (self._size + size) // _MB + KERNEL_MB
        if needed > self._memory_mb:
            raise FastError(
                f"{path}: with it the guest's files and kernel need {needed} MB of memory, and the "
                f"machine has {self._memory_mb}: give it more (--memory-mb), or less (--with)"
            )

    def _place(self, path: Path) -> Path:
        """Add all links and directories on the path; where they lead, without any link."""
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
