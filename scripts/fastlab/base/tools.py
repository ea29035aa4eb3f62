# SPDX-License-Identifier: GPL-2.0
"""Finding the host's tools, and naming the Debian package of a missing one."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fastlab.base.model import FastError
from fastlab.base.project import PROJECT

# Programs that this project runs, and their Debian packages.
PACKAGES: dict[str, str] = {
    "base64": "coreutils",
    "bc": "bc",
    "bison": "bison",
    "ccache": "ccache",
    "cpio": "cpio",
    "dh": "debhelper",
    "dpkg-buildpackage": "dpkg-dev",
    "flex": "flex",
    "g++": "g++",
    "gcc": "gcc",
    "gfortran": "gfortran",
    "git": "git",
    "kmod": "kmod",
    "ld": "binutils",
    "ldd": "libc-bin",
    "lz4": "lz4",
    "m4": "m4",
    "make": "make",
    "meson": "meson",
    "ninja": "ninja-build",
    "patch": "patch",
    "perl": "perl",
    "qemu-system-x86_64": "qemu-system-x86",
    "rsync": "rsync",
    "setarch": "util-linux",
    "setpriv": "util-linux",
    "strings": "binutils",
    "strace": "strace",
    "strip": "binutils",
    "su": "util-linux",
    "tar": "tar",
    "taskset": "util-linux",
    "trace-cmd": "trace-cmd",
    "udevadm": "udev",
    "xz": "xz-utils",
    "zstd": "zstd",
}

# C headers of the kernel's host programs, and their Debian packages.
HEADERS: dict[str, str] = {
    "gelf.h": "libelf-dev",
    "openssl/opensslv.h": "libssl-dev",
}

QEMU_VERSIONS = PROJECT / "scripts/qemu-versions"

# The version of the plugin API of our plugin, by the first QEMU that accepts it
# (userspace/cachesim/qemu_plugin_api.h).
PLUGIN_APIS: Mapping[tuple[int, int], int] = {(9, 2): 4, (11, 1): 7}


@dataclass(frozen=True)
class Qemu:
    """A QEMU for the simulation. It takes the plugin that is built for `plugin_api`."""

    path: Path
    plugin_api: int


def require(tool: str) -> Path:
    """The path of one tool of PACKAGES. A FastError names the package of a missing tool."""
    return require_all([tool])[tool]


def require_all(tools: Iterable[str], headers: Iterable[str] = ()) -> dict[str, Path]:
    """The paths of all tools; one FastError names every missing tool, header and package.

    Headers are looked up by asking gcc's preprocessor, as the kernel's build will.
    """
    paths = {tool: shutil.which(tool) for tool in tools}
    missing = {tool: PACKAGES[tool] for tool, path in paths.items() if path is None}
    # Headers cannot be checked without gcc, which is then reported itself.
    if shutil.which("gcc"):
        missing |= {name: HEADERS[name] for name in headers if not _has_header(name)}
    if missing:
        raise FastError(_missing(missing))
    return {tool: Path(path) for tool, path in paths.items() if path is not None}


def require_qemu() -> Qemu:
    """The qemu-system-x86_64 in PATH. A FastError says why it cannot run the simulation.

    Every simulating command calls this before it builds anything.
    """
    oldest, newest = _qemu_range()
    need = f"QEMU {oldest} to {newest}"
    advice = (
        "install the Debian package qemu-system-x86 (Debian 12: from bookworm-backports, "
        "apt-get install -t bookworm-backports qemu-system-x86)"
    )
    path = shutil.which("qemu-system-x86_64")
    if path is None:
        raise FastError(f"qemu-system-x86_64 is missing; the simulation runs with {need}: {advice}")
    answer = subprocess.run([path, "--version"], capture_output=True, text=True)
    match = re.search(r"version (\d+\.\d+)(\.\d+)*", answer.stdout)
    if match is None:
        printed = (answer.stdout + answer.stderr).strip()
        output = printed or f"nothing; its status is {answer.returncode}"
        raise FastError(f"{path} --version prints no version (it printed: {output}): {advice}")
    if _numbers(match[1]) < _numbers(oldest):
        raise FastError(
            f"{path} is {match[0]}, which is too old: the simulation runs with {need}: {advice}"
        )
    if _numbers(match[1]) > _numbers(newest):
        raise FastError(
            f"{path} is {match[0]}, which is too new: the simulation runs with {need}, and a newer "
            "QEMU may not accept its plugin; use a newer version of this project, or put one of "
            "these QEMUs first in PATH"
        )
    return Qemu(Path(path), _plugin_api(_numbers(match[1])))


def _qemu_range() -> tuple[str, str]:
    """The oldest and the newest supported version, from QEMU_VERSIONS."""
    versions = dict(re.findall(r"^(\w+)=([\d.]+)$", QEMU_VERSIONS.read_text(), re.MULTILINE))
    return versions["qemu_minimum"], versions["qemu_maximum"]


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)


def _plugin_api(version: tuple[int, int]) -> int:
    return PLUGIN_APIS[max(first for first in PLUGIN_APIS if first <= version)]


def version(program: Path) -> bytes:
    """The program's output for --version."""
    return subprocess.run([program, "--version"], capture_output=True, check=True).stdout


def _has_header(name: str) -> bool:
    answer = subprocess.run(
        ["gcc", "-E", "-x", "c", "-", "-o", "/dev/null"],
        input=f"#include <{name}>\n",
        capture_output=True,
        text=True,
    )
    return answer.returncode == 0


def _missing(missing: dict[str, str]) -> str:
    packages = sorted(set(missing.values()))
    names = ", ".join(missing)
    return (
        f"{names} {'is' if len(missing) == 1 else 'are'} missing: "
        f"install the Debian package{'s'[: len(packages) > 1]} {', '.join(packages)} "
        f"(apt-get install {' '.join(packages)})"
    )
