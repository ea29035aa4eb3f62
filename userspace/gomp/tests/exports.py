#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library exports what exports.txt says, names with their versions, and nothing else."""

import subprocess
import sys
from pathlib import Path


def exported(library: str) -> set[str]:
    told = subprocess.run(
        ["readelf", "--dyn-syms", "--wide", library], capture_output=True, text=True, check=True
    )
    names = set()
    for line in told.stdout.splitlines():
        words = line.split()
        if len(words) < 8 or words[3] not in ("FUNC", "OBJECT") or words[6] in ("UND", "ABS"):
            continue
        # A version that is the default has two @, others have one.
        name, at, version = words[7].partition("@")
        assert at, f"{name} has no version"
        names.add(f"{name}@{version}" if version else name)
    return names


def main() -> None:
    library, path = sys.argv[1:]
    lines = Path(path).read_text("utf-8").splitlines()
    wanted = {line for line in lines if not line.startswith("#")}
    found = exported(library)
    assert not wanted - found, f"missing: {sorted(wanted - found)}"
    assert not found - wanted, f"not in exports.txt: {sorted(found - wanted)}"


if __name__ == "__main__":
    main()
