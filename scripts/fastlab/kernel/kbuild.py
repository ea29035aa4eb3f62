# SPDX-License-Identifier: GPL-2.0
"""Running the kernel's own build: configure, make, and make sense of what make says."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fastlab.base import tools
from fastlab.base.cache import full_disk
from fastlab.base.model import FastError
from fastlab.base.process import start
from fastlab.kernel import kconfig

# Fixed, so that equal input gives an equal vmlinux on every machine with the same compiler.
REPRODUCIBLE: Mapping[str, str] = {
    "KBUILD_BUILD_TIMESTAMP": "2020-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "fast",
    "KBUILD_BUILD_HOST": "fast",
    "KBUILD_BUILD_VERSION": "1",
}

# The caller's environment may hold ARCH, KCFLAGS, MAKEFLAGS and more that make would obey.
_PASSED_ON = re.compile(r"PATH|HOME|USER|LOGNAME|TMPDIR|CCACHE_\w+|XDG_\w+|DEB\w+")

_OBJECT = re.compile(r"^  (?:CC|AS) +(?:\[M\] +)?(\S+)$")


@dataclass(frozen=True)
class Tree:
    """A patched source and its objects, kept from build to build so that make does the least.

    Objects and source are neighbours: ccache, which is told to forget `root`, then sees the
    same commands in every tree and shares what two variants have in common.
    """

    root: Path

    @property
    def lock(self) -> Path:
        """The lock beside the tree; removing the tree requires it."""
        return self.root.with_name(f"{self.root.name}.lock")

    @property
    def source(self) -> Path:
        return self.root / "source"

    @property
    def objects(self) -> Path:
        return self.root / "objects"

    @property
    def log(self) -> Path:
        return self.root / "build.log"

    @property
    def running(self) -> Path:
        """Exists while make runs: found later, it tells of a make that was killed."""
        return self.root / "running"


def prepare(tree: Tree) -> bool:
    """Make the tree ready for a build and empty its log. False: it starts from nothing.

    make deletes half-written objects when it is interrupted, but not when it is killed or the
    machine stops; what such a make leaves behind is not trusted.
    """
    if tree.running.exists():
        shutil.rmtree(tree.objects, ignore_errors=True)
        tree.running.unlink()
    again = tree.objects.is_dir()
    tree.objects.mkdir(parents=True, exist_ok=True)
    tree.log.write_bytes(b"")
    return again


def make(
    tree: Tree,
    *words: str,
    cache: Path,
    environment: Mapping[str, str] = REPRODUCIBLE,
    on_object: Callable[[str], None] = lambda name: None,
) -> None:
    """Run make in the tree with all that it says in the tree's log.

    `on_object` is called with the name of each object when its compilation begins. A failed make
    is a FastError with the first error of the log. An interrupt waits for make to tidy up.
    """
    # An empty LOCALVERSION keeps git's state out of the release.
    command = [*_in(tree.source, tree), "LOCALVERSION=", *words]
    _run(tree, command, cache, environment, on_object)


def make_tool(tree: Tree, directory: Path, *words: str, cache: Path) -> None:
    """As make(), in a directory of the kernel's tools, which is only read."""
    _run(tree, [*_in(directory, tree), *words], cache, REPRODUCIBLE, lambda name: None)


def _in(directory: Path, tree: Tree) -> list[str]:
    """make there, with the objects in the tree."""
    compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
    return [
        *("make", "-C", str(directory), f"O={tree.objects}", f"-j{len(os.sched_getaffinity(0))}"),
        *(f"CC={compiler}", f"HOSTCC={compiler}"),
    ]


def configure(
    tree: Tree, fragments: Sequence[Path], cache: Path, start: bytes | None = None
) -> kconfig.Config:
    """Merge the fragments, the last one winning, over the configuration `start` or tinyconfig."""
    config = tree.objects / ".config"
    if start is None:
        make(tree, "tinyconfig", cache=cache)
    else:
        config.write_bytes(start.removeprefix(BOM_UTF8))
    # The script splits names at spaces, which the project's path may have.
    names = [_copied(fragment, tree) for fragment in fragments]
    merge = tree.source / "scripts/kconfig/merge_config.sh"
    command = [str(merge), "-m", "-O", str(tree.objects), str(config), *names]
    _run(tree, command, cache, REPRODUCIBLE, lambda name: None)
    make(tree, "olddefconfig", cache=cache)
    result = kconfig.read(config)
    kconfig.verify(result, fragments)
    return result


def _copied(fragment: Path, tree: Tree) -> str:
    """The name of a copy within the tree, where make and its scripts are run. Kconfig would take
    an editor's byte order mark for part of the first line."""
    copy = tree.root / "fragments" / fragment.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(fragment.read_bytes().removeprefix(BOM_UTF8))
    return str(copy.relative_to(tree.root))


def compiler_identity() -> str:
    """What the objects depend on besides their source: the compiler and the binutils."""
    lines = []
    for program in ("gcc", "ld"):
        answer = subprocess.run(
            [tools.require(program), "--version"],
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
        )
        lines.append(answer.stdout.partition("\n")[0])
    return "; ".join(lines)


def first_error(log: str) -> str:
    """The first error that a build's log tells of, with what the compiler shows under it."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if re.search(r":\d+(:\d+)?: (fatal )?error: |undefined reference|^ld: |: \*\*\* ", line):
            shown = [line]
            for below in lines[number + 1 : number + 5]:
                if not below.startswith(" ") or _OBJECT.match(below):
                    break
                shown.append(below)
            return "\n".join(shown)
    return "\n".join(lines[-15:])


def _run(
    tree: Tree,
    command: Sequence[str],
    cache: Path,
    environment: Mapping[str, str],
    on_object: Callable[[str], None],
) -> None:
    passed = {name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)}
    ccache = {"CCACHE_BASEDIR": str(tree.root), "CCACHE_ABSSTDERR": "1"}
    tree.running.touch()
    with tree.log.open("a") as log:
        process, heed = start(
            lambda: subprocess.Popen(
                command,
                cwd=tree.root,
                env={**passed, **ccache, "LC_ALL": "C", **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                # It gets the tree's lock: a make that outlives us is still at work there.
                close_fds=False,
                # A group of its own, to be ended as a whole: below dpkg-buildpackage is a make that
                # would not hear of it from the make above, and go on.
                process_group=0,
            )
        )
        with process:
            assert process.stdout is not None
            try:
                heed()
                for line in process.stdout:
                    log.write(line)
                    if match := _OBJECT.match(line):
                        on_object(match[1])
                status = process.wait()
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                process.stdout.read()  # make waits for its children, then deletes what is half done
                process.wait()
                tree.running.unlink()
                raise
    tree.running.unlink()
    if status != 0:
        text = tree.log.read_text(errors="replace")
        if "No space left on device" in text:
            raise full_disk(cache)
        raise FastError(
            f"{' '.join(command)} failed with status {status}:\n{first_error(text)}\n"
            f"all that it said: {tree.log}"
        )
