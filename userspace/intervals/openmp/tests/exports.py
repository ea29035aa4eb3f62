#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library exports the names and versions of names.def, the locks of OpenMP 2.5, and all that
the compiler's own library exports."""

import re
import subprocess
import sys
from pathlib import Path

# Of lock_25.c, which gives these names their old version itself.
LOCKS = {
    f"omp_{verb}_{kind}{fortran}@OMP_1.0"
    for verb in ("init", "destroy", "set", "unset", "test")
    for kind in ("lock", "nest_lock")
    for fortran in ("", "_")
}


def exported(library: str) -> set[str]:
    listing = subprocess.run(
        ["readelf", "--dyn-syms", "--wide", library], capture_output=True, text=True, check=True
    )
    names = set()
    for line in listing.stdout.splitlines():
        words = line.split()
        if len(words) < 8 or words[3] not in ("FUNC", "OBJECT") or words[6] in ("UND", "ABS"):
            continue
        # A default version has two @, an old one has one.
        name, at, version = words[7].partition("@")
        assert at, f"{name} has no version"
        names.add(f"{name}@{version}")
    return names


def mapped(path: str) -> set[str]:
    """The names of a linker's version script, without patterns."""
    names = set()
    for version, node in re.findall(r"^(\S+) \{(.*?)^\}", Path(path).read_text(), re.DOTALL | re.M):
        names |= {f"{name}@@{version}" for name in re.findall(r"(\w+);", node)}
    return names


def main() -> None:
    library, path, theirs = sys.argv[1:]
    wanted, found = mapped(path) | LOCKS, exported(library)
    assert wanted > LOCKS, f"no names in {path}"
    assert not wanted - found, f"missing: {sorted(wanted - found)}"
    assert not found - wanted, f"not in names.def: {sorted(found - wanted)}"
    # GOMP_PLUGIN_*: for the plugins of GCC's library.
    needed = {name for name in exported(theirs) if not name.startswith("GOMP_PLUGIN_")}
    assert needed, f"{theirs} exports nothing"
    assert not needed - found, f"only in {theirs}: {sorted(needed - found)}"


if __name__ == "__main__":
    main()
