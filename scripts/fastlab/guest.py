# SPDX-License-Identifier: GPL-2.0
"""The guest's file system: an initramfs that holds init and the benchmarks, nothing else."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastlab import tools
from fastlab.model import BENCHMARKS, FastError

_DIRECTORY = 0o040755
_PROGRAM = 0o100755
_CONSOLE = 0o020600

# The build id is a digest of the debug information too.
REMOVED = ("--strip-all", "--remove-section=.note.gnu.build-id")


@dataclass(frozen=True)
class Built:
    """What `ninja` has built and a simulation takes: the guest's programs and QEMU's plugin.

    `programs` are by their path in the guest.
    """

    programs: Mapping[str, Path]
    plugin: Path


def find_built(build: Path) -> Built:
    """The files in Meson's build directory; a FastError names what is not there."""
    programs = {"/init": build / "userspace/guest/init"} | {
        f"/bin/{name}": build / "microbench" / name for name in BENCHMARKS
    }
    plugin = build / "userspace/cachesim/libcachesim.so"
    missing = [path for path in (*programs.values(), plugin) if not path.is_file()]
    if missing:
        raise FastError(
            f"{', '.join(map(str, missing))}: not built; build the programs first: "
            f"meson setup {build} && ninja -C {build}"
        )
    return Built(programs, plugin)


def build_image(programs: Mapping[str, Path]) -> bytes:
    """The initramfs, the same bytes for the same programs, wherever they were built.

    Debug information is left out: it tells the build directory, and the guest's memory would be
    laid out otherwise, which the caches see.
    """
    entries = [
        _entry("bin", _DIRECTORY),
        _entry("dev", _DIRECTORY),
        # Without it, init would start with no standard files open.
        _entry("dev/console", _CONSOLE, device=(5, 1)),
    ]
    for path, program in sorted(programs.items()):
        entries.append(_entry(path.lstrip("/"), _PROGRAM, stripped(program)))
    entries.append(_entry("TRAILER!!!", 0))
    return b"".join(entries)


def digest(content: bytes) -> str:
    """A name for the content: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


def _entry(name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """One file of a "newc" archive (Linux: Documentation/driver-api/early-userspace/
    buffer-format.rst). Inode, owner and times are 0 for all; no file has two names."""
    encoded = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
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
