# SPDX-License-Identifier: GPL-2.0
"""The kernel's own sched_ext schedulers, such as scx_simple, built from the source that a kernel is
built from: a program for the guest, which loads the scheduler and stays until it is ended."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

from fastlab.base.cache import locked, making_in, publish, reusable
from fastlab.base.model import FastError, Kernel
from fastlab.base.progress import Reporter
from fastlab.kernel import kbuild, kconfig, sources
from fastlab.kernel.catalogue import load_catalogue
from fastlab.kernel.kbuild import Tree
from fastlab.kernel.kernels import Places

# What an older one makes is refused by the kernel's verifier.
OLDEST_CLANG = 17
# Debian's newest, on 12 and 13.
_CLANG_PACKAGE = "clang-19"

# Our own scheduler, in Meson's build directory, and what it lacks where it is not there.
SCX_FAST = "userspace/scx/scx_fast"
SCX_FAST_MISSING = (
    f"not built: it needs clang {OLDEST_CLANG} and libbpf 1.4, or newer; run "
    "scripts/install-deps --scx, remove build/user, and run make"
)


def own_scheduler(program: str, kernel: Kernel, places: Places, reporter: Reporter) -> Path:
    """The program of this name for a kernel with sched_ext, built once for each kernel and clang.

    libbpf and bpftool are of the same source. A FastError says what is missing.
    """
    if kconfig.read(Path(kernel.vmlinux).with_name(".config")).get("SCHED_CLASS_EXT") != "y":
        raise FastError(
            f"kernel {kernel.id} has no sched_ext, and {program} is built for one that has: build "
            "the variant sched_ext, or add the fragment scx"
        )
    clang = find_clang()
    version = subprocess.run([clang, "--version"], capture_output=True, check=True).stdout
    digest = hashlib.sha256(b"\0".join((kernel.id.encode(), version))).hexdigest()
    final = places.cache / "schedulers" / f"{kernel.series}-{program}-{digest[:12]}"
    tree = Tree(places.cache / "trees" / f"{kernel.series}-{program}")
    with making_in(places.cache), locked(tree.lock, reporter):
        if not reusable(final, program, reporter):
            reporter.say(f"building {program} of Linux {kernel.series} with {clang}")
            _build(program, tree, kernel, clang, places, reporter)
            staging = tree.root / "finished"
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            shutil.copy(tree.objects / "build/bin" / program, staging)
            final.parent.mkdir(exist_ok=True)
            publish(staging, final)
    return final / program


def _build(
    program: str, tree: Tree, kernel: Kernel, clang: Path, places: Places, reporter: Reporter
) -> None:
    series = load_catalogue(places.project).pick_series(kernel.series)
    source = sources.locate(series.origin, series.name, None, places.cache, reporter)
    pristine = sources.unpack(source, series.name, places.cache, reporter)
    # Its makefiles do not know that another kernel's types came in.
    shutil.rmtree(tree.objects, ignore_errors=True)
    kbuild.prepare(tree)
    words = (f"CLANG={clang}", f"VMLINUX_BTF={kernel.vmlinux}", program)
    kbuild.make_tool(tree, pristine / "tools/sched_ext", *words, cache=places.cache)


def find_clang() -> Path:
    """The clang in PATH that compiles for BPF, `clang` itself if it is new enough."""
    names = ("clang", *(f"clang-{number}" for number in range(30, OLDEST_CLANG - 1, -1)))
    old = ""
    for path in filter(None, map(shutil.which, names)):
        answer = subprocess.run([path, "--version"], capture_output=True, text=True)
        match = re.search(r"clang version (\d+)", answer.stdout)
        if match and int(match[1]) >= OLDEST_CLANG:
            return Path(path)
        old = f", and {path} is version {match[1]}" if match else f", and {path} tells no version"
    raise FastError(
        f"a sched_ext scheduler needs clang {OLDEST_CLANG} or newer{old}: install the Debian "
        f"package {_CLANG_PACKAGE} (apt-get install {_CLANG_PACKAGE})"
    )
