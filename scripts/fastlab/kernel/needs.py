# SPDX-License-Identifier: GPL-2.0
"""The kernels that arms run, and what an arm needs of its kernel: answered before it is booted."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fastlab.base.model import FastError, Kernel, Variant
from fastlab.base.progress import Reporter
from fastlab.kernel import kconfig, kernels
from fastlab.kernel.kernels import BuildRequest

_FAST = (
    *("a policy or knobs", "SCHED_FAST", "has no FAST"),
    'kernel = "fast", or patches = ["series"] and config = ["fast"] in its [[kernel]]',
)
_EXT = "a scheduler", "SCHED_CLASS_EXT", "has no sched_ext", 'config = ["scx"] in its [[kernel]]'


def built_for(
    arms: Sequence[Variant], request: BuildRequest, reporter: Reporter
) -> dict[str, Kernel]:
    """The kernels of the arms by the names that arms give, built where they are not there yet.
    `request` has the rest. Raises FastError with all that they lack."""
    names = tuple(dict.fromkeys(arm.kernel for arm in arms))
    recipes = tuple(recipe for recipe in request.recipes if recipe.name in names)
    request = replace(request, variants=names, recipes=recipes)
    built = dict(zip(names, kernels.build(request, reporter), strict=True))
    check(arms, built)
    return built


def check(arms: Iterable[Variant], built: Mapping[str, Kernel]) -> None:
    """Raise FastError with all that the kernels lack, which are by the names that arms give."""
    lacking = [
        f"arm {arm.name}: {line}" for arm in arms for line in _lacking(arm, built[arm.kernel])
    ]
    if lacking:
        raise FastError("\n  ".join(["a kernel lacks what an arm needs:", *lacking]))


def _lacking(arm: Variant, kernel: Kernel) -> Iterator[str]:
    for asked, (what, symbol, lacks, cure) in ((arm.needs_fast, _FAST), (arm.scheduler, _EXT)):
        if asked and kconfig.read(Path(kernel.vmlinux).with_name(".config")).get(symbol) != "y":
            yield f"it has {what}, and kernel {kernel.variant} ({kernel.id}) {lacks}: use {cure}"
    names = [("scheduler feature", name, name.removeprefix("NO_")) for name in arm.features]
    names += [("sysctl", name, name.replace("/", ".").rpartition(".")[2]) for name in arm.sysctl]
    names += [("file of debugfs", name, name.rpartition("/")[2]) for name in arm.debugfs]
    for kind, name, text in names:
        if not _holds(kernel, text):
            yield (
                f"kernel {kernel.variant} ({kernel.id}) has no {kind} {name}: look for its name in "
                "this kernel's source, or leave it out"
            )


def _holds(kernel: Kernel, text: str) -> bool:
    """Is the text at the end of a string of the kernel? A name that the kernel makes of parts, as
    cpu0 is, is not looked for."""
    if any(letter.isdigit() for letter in text):
        return True
    with (
        Path(kernel.vmlinux).open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return content.find(text.encode() + b"\0") >= 0
