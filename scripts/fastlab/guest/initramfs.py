# SPDX-License-Identifier: GPL-2.0
"""The guest's file system: an initramfs that holds init and the benchmarks, nothing else.

A program that is dynamic brings its libraries and its loader, at the paths they have here.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fastlab.base import manifest, tools
from fastlab.base.lookup import closest
from fastlab.base.model import FastError

DIRECTORY = 0o040755
PROGRAM = 0o100755
DATA = 0o100644
LINK = 0o120777
CONSOLE = 0o020600

# In Meson's build directory.
INIT = "userspace/guest/init"

# Runs a program after the machine has balanced, and its path in the guest.
BALANCED = "userspace/guest/balanced"
BALANCED_PATH = "/fast-balanced"

# The build id is a digest of the debug information too.
REMOVED = ("--strip-all", "--remove-section=.note.gnu.build-id")


def program_path(build: Path, name: str, dynamic: bool = False) -> Path:
    """Where Meson's build directory has a program; with `dynamic` one that can load libraries."""
    known = manifest.read(build)
    if name not in known:
        raise FastError(
            f"{build} has no program {name}{closest(name, known)}; there are {', '.join(known)}"
        )
    return build / (known[name].dynamic if dynamic else known[name].path)


@dataclass(frozen=True)
class Built:
    """What `ninja` has built and a simulation takes: the guest's programs and QEMU's plugin.

    `programs` are by their path in the guest.
    """

    programs: Mapping[str, Path]
    plugin: Path


def plugin_path(build: Path, api: int) -> Path:
    """Where Meson's build directory has the plugin for this version of QEMU's plugin API."""
    return build / f"userspace/cachesim/libcachesim-{api}.so"


def find_built(build: Path, plugin_api: int, further: Sequence[str] = ()) -> Built:
    """The files in Meson's build directory; a FastError names missing files.

    Every guest has the microbenchmarks. Only a guest that runs them has the `further` programs: the
    content of its file system affects the caches.
    """
    always = manifest.suite(build, manifest.MICROBENCHMARKS)
    inside = {"/init": build / INIT} | {
        f"/bin/{name}": program_path(build, name) for name in (*always, *further)
    }
    plugin = plugin_path(build, plugin_api)
    check_built(build, (*inside.values(), plugin))
    return Built(inside, plugin)


def check_built(build: Path, paths: Iterable[Path]) -> None:
    """Raise FastError that names the missing files."""
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise FastError(
            f"{', '.join(map(str, missing))}: not built; build the programs first: "
            f"meson setup {build} && ninja -C {build}"
        )


def build_image(files: Mapping[str, Path]) -> bytes:
    """The initramfs, the same bytes for the same programs and libraries, wherever they were built.

    Debug information is left out: it tells the build directory, and the guest's memory would be
    laid out otherwise, which the caches see.
    """
    needed = libraries(files.values())
    entries = [
        entry("bin", DIRECTORY),
        entry("dev", DIRECTORY),
        # Without it, init would start with no standard files open.
        entry("dev/console", CONSOLE, device=(5, 1)),
    ]
    for directory in _directories(needed):
        entries.append(entry(directory, DIRECTORY))
    for path in needed:
        entries.append(entry(path.lstrip("/"), PROGRAM, Path(path).read_bytes()))
    for path, program in sorted(files.items()):
        entries.append(entry(path.lstrip("/"), PROGRAM, stripped(program)))
    return archive(entries)


def firmware(tables: Mapping[str, bytes]) -> bytes:
    """What stands before an image that brings the kernel ACPI tables, by their files' names
    (Linux: Documentation/admin-guide/acpi/initrd_table_override.rst)."""
    directory = PurePosixPath("kernel/firmware/acpi")
    entries = [
        entry(str(path), DIRECTORY) for path in (*reversed(directory.parents[:-1]), directory)
    ]
    for name, table in sorted(tables.items()):
        entries.append(entry(str(directory / name), DATA, table))
    return archive(entries)


def libraries(files: Iterable[Path], missing: list[tuple[Path, str]] | None = None) -> list[str]:
    """The paths of what the programs are linked with at run time, their loader included.

    A library that is not there is an error, or is appended to `missing` behind its program.
    """
    paths: set[str] = set()
    for program in files:
        answer = subprocess.run([tools.require("ldd"), program], capture_output=True, text=True)
        # Status 1 is that of a static program, or of none at all.
        lines = [] if answer.returncode else answer.stdout.splitlines()
        for line in lines:
            if "not found" in line and missing is not None:
                missing.append((program, line.strip().removesuffix(" => not found")))
            elif "not found" in line:
                raise FastError(
                    f"{program}: cannot be put into the guest: {line.strip()}; "
                    "install the library or build the program again"
                )
            # "NAME => PATH (ADDRESS)", or "PATH (ADDRESS)" for the loader; the vDSO has no path.
            match = re.search(r"^\s*(?:.* => )?(/.*) \(0x[0-9a-f]+\)$", line)
            if match:
                paths.add(match[1])
    return sorted(paths)


def _directories(paths: Iterable[str]) -> list[str]:
    """All directories around the paths, the outer ones first."""
    around = {str(parent).lstrip("/") for path in paths for parent in PurePosixPath(path).parents}
    return sorted(around - {"", "bin", "dev"})


def digest_all(contents: Iterable[bytes]) -> str:
    """A name for all of them in this order."""
    return digest("".join(map(digest, contents)).encode())


def digest(content: bytes) -> str:
    """A name for the content: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


def archive(entries: Iterable[bytes]) -> bytes:
    """The files as the kernel takes them for its first file system."""
    return b"".join([*entries, entry("TRAILER!!!", 0)])


def entry(
    name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0), time: int = 0
) -> bytes:
    """One file of a "newc" archive (Linux: Documentation/driver-api/early-userspace/
    buffer-format.rst), last modified at `time`. Inode and owner are 0; no file has two names."""
    encoded = os.fsencode(name) + b"\0"
    fields = (0, mode, 0, 0, 1, time, len(data), 0, 0, *device, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + encoded) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def stripped(program: Path) -> bytes:
    """The program without debug information, which tells where it was built."""
    with tempfile.TemporaryDirectory() as directory:
        result = Path(directory) / "stripped"
        answer = subprocess.run(
            [tools.require("strip"), *REMOVED, "-o", result, program],
            capture_output=True,
            text=True,
        )
        if answer.returncode:
            raise FastError(
                f"{program}: cannot be put into the guest: {answer.stderr.strip()}; build it again"
            )
        return result.read_bytes()
