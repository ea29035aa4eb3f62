#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is not supported says so and ends; bad environments are named and ignored."""

import os
import subprocess
import sys


def run(
    library: str, program: str, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *words],
        env={**os.environ, "LD_PRELOAD": library, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def check_places(library: str, program: str) -> None:
    def count(**environment: str) -> int:
        told = run(library, program, "omp_get_num_places", **environment)
        return int(told.stdout.removeprefix("omp_get_num_places = "))

    # The default if OMP_PROC_BIND is set and the list is invalid.
    assert count(OMP_PLACES="desks(2)", OMP_PROC_BIND="close") > 0
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) > 1:
        one, other = cpus[:2]
        assert count(OMP_PLACES=f"{one},{other}") == 2
        assert count(OMP_PLACES=f"{{{one}}},{{{other}}},{{{one}}},!{{{one}}}") == 1
        assert count(OMP_PLACES=f"{one},!{other}") == 0


def main() -> None:
    library, program, no_memory = sys.argv[1:]
    plain = run(library, program)
    assert plain.returncode == 0 and plain.stderr == "", plain

    for name, value in (
        ("OMP_NUM_THREADS", "0"),
        ("OMP_NUM_THREADS", "2,x"),
        ("OMP_SCHEDULE", "sometimes"),
        ("OMP_SCHEDULE", "dynamic,0x"),
        ("OMP_SCHEDULE", "dynamic,99999999999"),
        ("OMP_NUM_THREADS", "-3"),
        ("OMP_NUM_THREADS", "+"),
        ("OMP_STACKSIZE", "1k"),
        ("GOMP_SPINCOUNT", "3x"),
        ("OMP_PROC_BIND", "near"),
        ("OMP_PROC_BIND", "close;"),
        ("OMP_PLACES", "{0"),
        ("OMP_PLACES", "desks(2)"),
        ("GOMP_CPU_AFFINITY", "zero"),
        ("GOMP_CPU_AFFINITY", "0,zero"),
        ("OMP_STACKSIZE", "big"),
        ("OMP_DYNAMIC", "perhaps"),
        ("OMP_MAX_ACTIVE_LEVELS", "-1"),
        ("OMP_WAIT_POLICY", "lazily"),
        ("OMP_WAIT_POLICY", "active or not"),
        ("OMP_DISPLAY_ENV", "perhaps"),
        ("OMP_ALLOCATOR", "malloc"),
        ("OMP_THREAD_LIMIT", "0"),
        ("GOMP_SPINCOUNT", "many"),
    ):
        told = run(library, program, "omp_get_num_places", **{name: value})
        assert told.returncode == 0, (name, value, told)
        assert f'libintervals-gomp: {name}: "{value}"' in told.stderr, (name, value, told)
        assert told.stdout == "omp_get_num_places = 0\n", (name, value, told)

    # A program that has no use for the library is as it is without it.
    alone = subprocess.run(["nproc"], capture_output=True, text=True, check=True)
    told = run(
        library,
        "nproc",
        OMP_PLACES="threads",
        OMP_PROC_BIND="close",
        OMP_DYNAMIC="maybe",
        OMP_DISPLAY_ENV="true",
    )
    assert (told.stdout, told.stderr) == (alone.stdout, ""), told

    check_places(library, program)

    for name, value, shown in (
        ("OMP_NUM_THREADS", "+3", "OMP_NUM_THREADS = '3'"),
        ("GOMP_SPINCOUNT", "infinity", "GOMP_SPINCOUNT = '4294967295'"),
        ("GOMP_SPINCOUNT", "10k", "GOMP_SPINCOUNT = '10000'"),
        ("GOMP_SPINCOUNT", "20 G", "GOMP_SPINCOUNT = '4294967295'"),
    ):
        told = run(library, program, OMP_DISPLAY_ENV="verbose", **{name: value})
        assert shown in told.stderr and "ignored" not in told.stderr, (name, value, told)

    refused = run(library, program, "acc_init")
    assert refused.returncode == 1, refused
    assert "acc_init is not supported" in refused.stderr, refused

    told = run(library, no_memory, OMP_STACKSIZE="256M")
    assert told.returncode == 1, told
    assert "a further task needs a stack of 268435456 bytes" in told.stderr, told
    assert run(library, no_memory, OMP_STACKSIZE="1M").returncode == 0

    displayed = run(library, program, OMP_DISPLAY_ENV="true", OMP_SCHEDULE="guided,4")
    assert "OMP_SCHEDULE = 'GUIDED,4'" in displayed.stderr, displayed
    assert "OMP_PROC_BIND = 'FALSE'" in displayed.stderr, displayed
    displayed = run(library, program, OMP_DISPLAY_ENV="true", OMP_PLACES="cores")
    assert "OMP_PROC_BIND = 'TRUE'" in displayed.stderr, displayed


if __name__ == "__main__":
    main()
