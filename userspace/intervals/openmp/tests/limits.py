#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What limits the threads of libraries, as threadpoolctl does, knows ours by its file's name."""

import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
# As threadpoolctl has it: the functions of the library whose file's name begins so.
LIMIT = """
import ctypes, threadpoolctl
most = ctypes.CDLL(None).omp_get_max_threads
before = most()
with threadpoolctl.threadpool_limits(1, "openmp"):
    print(before, most(), end=" ")
print(most())
"""


def main() -> int:
    library = Path(sys.argv[1])
    # The file's name is the soname, so LD_LIBRARY_PATH finds it, too.
    told = subprocess.run(
        ["readelf", "--dynamic", library], capture_output=True, text=True, check=True
    )
    assert f"[{library.name}]" in told.stdout and library.name == "libgomp.so.1", told.stdout
    pythons = (sys.executable, "/usr/bin/python3")
    python = next(
        (
            python
            for python in pythons
            if not subprocess.run(
                [python, "-c", "import threadpoolctl"], capture_output=True, check=False
            ).returncode
        ),
        None,
    )
    if not python:
        print("skipped: no threadpoolctl (python3-threadpoolctl)")
        return SKIPPED
    for threads in ("1", "2", "7"):
        limited = subprocess.run(
            [python, "-c", LIMIT],
            env={**os.environ, "LD_PRELOAD": str(library), "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        )
        assert limited.stdout == f"{threads} 1 {threads}\n", limited
    return 0


if __name__ == "__main__":
    sys.exit(main())
