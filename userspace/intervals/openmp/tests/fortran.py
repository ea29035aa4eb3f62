#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""omp_lib's procedures in Fortran: what a program prints with GCC's library and with ours."""

import os
import re
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
# GCC's library is not compiled with a sanitizer, which cannot see its synchronisation or its leaks.
UNWATCHED = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "report_bugs=0"}
ENVIRONMENTS = (
    {"OMP_NUM_THREADS": "1"},
    {"OMP_NUM_THREADS": "2"},
    {"OMP_NUM_THREADS": "7"},
    {
        "OMP_NUM_THREADS": "2",
        "OMP_PLACES": "threads",
        "OMP_PROC_BIND": "close",
        "OMP_CANCELLATION": "true",
        "OMP_MAX_TASK_PRIORITY": "5",
    },
)


def words(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def check_completeness(program: str, module: str) -> None:
    """The program calls what the compiler's module declares and GCC's library has."""
    declared = re.findall(r"(?:function|subroutine) (omp_\w+)", Path(module).read_text())
    (library,) = (word for word in words("ldd", program) if re.match("/.*/libgomp.so.1$", word))
    exported = {name.partition("@")[0] for name in words("nm", "-D", "--defined-only", library)}
    called = {name.partition("@")[0] for name in words("nm", "-D", "-u", program)}
    missing = {f"{name}_" for name in declared} & exported - called
    assert declared and not missing, f"{program} calls no {', '.join(sorted(missing))}"


def told(program: str, environment: dict[str, str]) -> tuple[int, str, list[str]]:
    """Without the values of omp_display_env(), of which each library has some of its own."""
    done = subprocess.run(
        [program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        errors="backslashreplace",
        check=False,
    )
    errors = [line.partition(" = ")[0] for line in done.stderr.splitlines()]
    own = [line for line in errors if line == "  GOMP_SPINCOUNT" or not line.startswith("  ")]
    return done.returncode, done.stdout, own


def main() -> int:
    if len(sys.argv) == 1:
        print("gfortran is not installed")
        return SKIPPED
    program, module, before, library = sys.argv[1:]
    check_completeness(program, module)
    for environment in ENVIRONMENTS:
        theirs = told(program, {**UNWATCHED, "LD_PRELOAD": before, **environment})
        ours = told(program, {"LD_PRELOAD": f"{before}:{library}", **environment})
        assert theirs[0] == 0, theirs
        for of_theirs, of_ours in zip(theirs, ours, strict=True):
            assert of_theirs == of_ours, f"{environment}\nGCC's: {of_theirs}\nours: {of_ours}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
