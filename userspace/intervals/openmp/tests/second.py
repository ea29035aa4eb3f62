#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A second libgomp in the process, renamed as wheels carry it, is told of, once, and named."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

WARNING = "a second OpenMP library is in this process: "


def run(
    libraries: list[str], program: list[str], **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        program,
        env={**os.environ, "LD_PRELOAD": " ".join(libraries), **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def main() -> None:
    library, theirs, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "libgomp-a34b3233.so.1.0.0"
        # Under its own name the loader would take it for the loaded one.
        copy.write_bytes(Path(theirs).read_bytes().replace(b"libgomp.so.1\0", b"libgomp-a.so\0"))
        for threads in ("1", "2", "7"):
            told = run([library, str(copy)], [program], OMP_NUM_THREADS=threads)
            assert told.stderr.count(WARNING) == 1, told
            assert WARNING + str(copy) in told.stderr, told
            assert run([library], [program], OMP_NUM_THREADS=threads).stderr == "", threads
        # One that comes later is told of at the end.
        later = (
            "import ctypes, sys; ctypes.CDLL(sys.argv[1]).omp_get_max_threads();"
            "ctypes.CDLL(sys.argv[2]); print('on', file=sys.stderr)"
        )
        told = run([library], [sys.executable, "-c", later, library, str(copy)])
        assert told.stderr.startswith("on\n") and told.stderr.count(WARNING) == 1, told
        # Where nothing of OpenMP is used there is nothing to tell.
        assert run([library, str(copy)], ["true"]).stderr == ""


if __name__ == "__main__":
    main()
