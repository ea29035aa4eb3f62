#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where there is no /sys nothing is said of it, and programs and OMP_PLACES are as with it."""

import os
import subprocess
import sys

SKIPPED = 77
# An empty file system over /sys, for the program alone.
UNDER = 'mount -t tmpfs none /sys && exec "$@"'
HIDE = ("unshare", "--mount", "--map-root-user", "sh", "-c", UNDER, "-")


def main() -> int:
    library, program = sys.argv[1:]
    if subprocess.run([*HIDE, "true"], capture_output=True, check=False).returncode:
        print("skipped: no mount namespaces here")
        return SKIPPED
    assert subprocess.run([*HIDE, "test", "-e", "/sys/devices"], check=False).returncode == 1
    for threads in ("1", "2", "7"):
        told = subprocess.run(
            [*HIDE, "env", f"LD_PRELOAD={library}", program, "omp_get_num_places"],
            env={**os.environ, "OMP_NUM_THREADS": threads, "OMP_PLACES": "threads"},
            capture_output=True,
            text=True,
            check=True,
        )
        places = len(os.sched_getaffinity(0))
        assert (told.stdout, told.stderr) == (f"omp_get_num_places = {places}\n", ""), told
    return 0


if __name__ == "__main__":
    sys.exit(main())
