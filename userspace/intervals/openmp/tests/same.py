#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What OMP_DISPLAY_ENV shows is what GCC's own library shows, by name, order and value."""

import os
import subprocess
import sys

# How long the two look before they sleep is not the same, nor how deep regions can be.
OTHERS = {"GOMP_SPINCOUNT", "OMP_MAX_ACTIVE_LEVELS"}
# Not in each version of GCC's.
NOT_ALWAYS = {"OMP_NESTED"}


def shown(program: str, library: str, how: str, environment: dict[str, str]) -> list[str]:
    # Meson has the loader look for libraries where ours is.
    plain = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    told = subprocess.run(
        [program],
        env={**plain, "LD_PRELOAD": library, "OMP_DISPLAY_ENV": how, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == ("intervals\n" if library else "GCC\n"), told
    lines = told.stderr.splitlines()
    begin = lines.index("OPENMP DISPLAY ENVIRONMENT BEGIN")
    return lines[begin : lines.index("OPENMP DISPLAY ENVIRONMENT END") + 1]


def comparable(lines: list[str], names: set[str]) -> list[str]:
    """Without what only one of them has, and without values that are not the same."""
    kept = []
    for line in lines:
        name = line.split("=")[0].strip()
        if name in NOT_ALWAYS and name not in names:
            continue
        kept.append(name if name in OTHERS else line)
    return kept


def main() -> None:
    library, program = sys.argv[1:]
    cpus = sorted(os.sched_getaffinity(0))
    one, last = cpus[0], cpus[-1]
    beyond = (last // 64 + 1) * 64
    for environment in (
        {},
        {"OMP_NUM_THREADS": "3,2", "OMP_SCHEDULE": "guided,4", "OMP_DYNAMIC": "true"},
        {"OMP_WAIT_POLICY": "active"},
        {"OMP_WAIT_POLICY": "passive"},
        {"OMP_STACKSIZE": "1M"},
        {"GOMP_STACKSIZE": "2048"},
        {"OMP_ALLOCATOR": "omp_low_lat_mem_alloc"},
        {"OMP_ALLOCATOR": "OMP_THREAD_MEM_ALLOC"},
        {"OMP_TARGET_OFFLOAD": "disabled"},
        {"OMP_TARGET_OFFLOAD": " Mandatory "},
        {"OMP_TARGET_OFFLOAD": "perhaps"},
        {"OMP_AFFINITY_FORMAT": "thread %n of %N"},
        {"OMP_NUM_TEAMS": "4", "OMP_TEAMS_THREAD_LIMIT": "5", "OMP_THREAD_LIMIT": "9"},
        {"OMP_MAX_TASK_PRIORITY": "2", "OMP_CANCELLATION": "true", "OMP_DEFAULT_DEVICE": "1"},
        {"OMP_PROC_BIND": "spread,close", "OMP_PLACES": f"{{{one}}},{{{last}}}"},
        {"OMP_PLACES": f"{{{one},{last}}}"},
        {"OMP_PLACES": f"{{{one}}}:2:0"},
        # All that is in a list counts, or nothing does.
        {"OMP_PLACES": f"{{{one}}},{{{beyond}}}"},
        {"OMP_PLACES": f"{{{one}}},{{{one},{beyond}}}"},
        {"OMP_PLACES": f"{{{one}}}:2:{beyond}"},
        {"OMP_PLACES": f"{{{beyond}}}"},
        {"OMP_PLACES": f"{one},{beyond}", "OMP_PROC_BIND": "close"},
        {"OMP_PLACES": "{5000}"},
        # One that there could be is left out alone.
        {"OMP_PLACES": f"{{{one}}},{{{beyond - 1}}}"},
    ):
        for how in ("true", "verbose"):
            theirs = shown(program, "", how, environment)
            names = {line.split("=")[0].strip() for line in theirs}
            ours = shown(program, library, how, environment)
            assert comparable(ours, names) == comparable(theirs, names), (environment, ours, theirs)


if __name__ == "__main__":
    main()
