# SPDX-License-Identifier: GPL-2.0
"""The series for a second compiler, with the kernel's extra warnings.

clang takes for errors what gcc lets pass, such as a jump into the scope of a guard.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from lab import PROJECT, pristine, series_folder

from fastlab.base.cache import cache_dir, locked
from fastlab.base.progress import PlainReporter
from fastlab.kernel import kbuild, patches, sources

FRAGMENTS = ("base", "fast", "kunit")


def targets(touched: set[str]) -> list[str]:
    """The targets for make. A file may be included by another one, so a small directory is one
    target."""
    found = set()
    for path in (Path(name) for name in touched if name.endswith(".c")):
        if path.parts[0] != "tools":
            small = len(path.parts) > 2
            found.add(f"{path.parent}/" if small else str(path.with_suffix(".o")))
    return sorted(found)


def test_clang_has_nothing_to_say(tmp_path: Path) -> None:
    tree = kbuild.Tree(cache_dir() / "trees/clang")
    with locked(tree.lock, PlainReporter(io.StringIO())):
        touched = patches.apply(patches.read_series(series_folder()), pristine(), tmp_path)
        sources.sync(pristine(), tmp_path, touched, tree.source, share=True)
        # What is compiled already says nothing.
        for name in touched:
            (tree.source / name).touch()
        kbuild.prepare(tree)
        fragments = [PROJECT / f"Kbuild/{name}.config" for name in FRAGMENTS]
        kbuild.configure(tree, fragments, cache_dir())
        kbuild.make(tree, "CC=clang", "W=1", *targets(touched), cache=cache_dir())
        said = tree.log.read_text()
    assert [name for name in ("fast.o", "fair.o", "waitwake.o") if name not in said] == []
    files = "|".join(re.escape(name) for name in touched)
    assert re.findall(rf"^.*(?:{files}):\d+:.*warning.*", said, re.MULTILINE) == []
