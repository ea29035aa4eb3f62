# SPDX-License-Identifier: GPL-2.0
"""Y. Guo and others, "SLAW: a Scalable Locality-aware Adaptive Work-stealing Scheduler" (IPDPS
2010), section V. Here a spawn is help-first under the adaptive policy, and asyncs adapt
(Documentation/intervals.rst): of its programs only PDFS, which is dfs, is made of asyncs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fastlab.bench.theses import COUNTING, Contender, Published, ThesisEvaluation
from fastlab.bench.theses_claims import (
    Conclusion,
    Fails,
    Ratio,
    RatioSide,
    alike,
    compare,
    programs_apart,
)

PAPER = "SLAW"
HELP, WORK, ADAPTIVE = "help-first", "work-first", "adaptive"
# "Close to", "almost the same as", "matches".
CLOSE = 1.05
LOOPS = ("sor", "cg", "mg")
RECURSIVE = ("sort-50331648", "matmul", "lu", "colouring")
# For the simulated machine: adaptive's 256 stacks of each of eight workers, and a quarter more. On
# a real machine Linux bounds them: a process has at most 65,530 mappings, 8 GiB of stacks.
STACKS_MIB = 640
# Of stacks that are bounded.
FEW_MORE = 4.0
OVERFLOWS = (
    "Where work-first has no stack for a task any more, the program calls it, and overflows the "
    "one it is on."
)
NOT_OF_SPAWNS = "a spawn, and so a loop, is help-first here whatever INT is: only asyncs adapt"


def _policies(further: Mapping[str, str]) -> tuple[Contender, ...]:
    return tuple(
        Contender(name, environment={"INTERVALS_POLICY": name, **further})
        for name in (HELP, WORK, ADAPTIVE)
    )


def _parameter(variable: str, values: Iterable[int]) -> tuple[Contender, ...]:
    return tuple(
        Contender(str(value), environment={f"INTERVALS_ADAPT_{variable}": str(value)})
        for value in values
    )


# Of SLAW's Table III, by workers.
_FIB = {
    1: (334.14, 34.45, 34.25),
    2: (173.64, 17.13, 16.99),
    4: (79.43, 8.65, 8.54),
    8: (39.71, 4.31, 4.36),
    16: (21.43, 2.24, 2.25),
    32: (11.04, 1.23, 1.25),
    64: (8.04, 0.87, 0.90),
}

INT = ThesisEvaluation(
    "slaw-int",
    f"{PAPER}, Figures 6(a) to 6(d)",
    "PDFS by the interval between two evaluations of the policy",
    ("dfs",),
    _parameter("INTERVAL", (1, 16, 64, 256, 1024)),
    conclusions=(
        Conclusion(
            "section V-B1",
            "When we increase the INT value past 64, the throughput of the parallel depth first "
            "search benchmark declines.",
            (*compare(("dfs",), "256", "64", 1.0), *compare(("dfs",), "1024", "64", 1.0)),
            cpus=2,
        ),
        Conclusion(
            "section V-B1",
            "even in the INT=1 worst case, the overhead of the adaptive policy is only about 5% "
            "compared to the work-first policy",
            cannot=NOT_OF_SPAWNS,
        ),
        Conclusion(
            "section V-B1",
            "this experiment suggests that the INT should be set to be greater or equal the number "
            "of workers",
            cannot=NOT_OF_SPAWNS,
        ),
    ),
    simulated={"dfs": 60},
)

FRESH = ThesisEvaluation(
    "slaw-fresh",
    f"{PAPER}, Figure 6(e)",
    "PDFS by the threshold F of fresh tasks",
    ("dfs",),
    _parameter("FRESH", (1, 16, 128, 1024)),
    conclusions=(
        Conclusion(
            "section V-B2",
            "We do not find any correlation between the throughput and F.",
            tuple(one for fresh in ("1", "16", "1024") for one in alike(("dfs",), fresh, "128")),
        ),
    ),
    note="INT and S have their defaults; in the source INT is 50.",
    simulated={"dfs": 60},
)

STACK = ThesisEvaluation(
    "slaw-stack",
    f"{PAPER}, Figure 6(f)",
    "PDFS by the threshold S of the stack",
    ("dfs",),
    _parameter("STACK", (1, 16, 256, 4096)),
    conclusions=(
        Conclusion(
            "section V-B3",
            "if the stack threshold is set too large, the performance also degrades",
            compare(("dfs",), "4096", "256", 1.0),
        ),
    ),
    simulated={"dfs": 80},
)

FIB = ThesisEvaluation(
    "slaw-fib",
    f"{PAPER}, Table III",
    "Fib by policy and workers",
    ("fib",),
    _policies({}),
    sweep=True,
    published=tuple(
        Published(
            *("Niagara 2, Fib(35)", "fib", "time", "s"),
            dict(zip((HELP, WORK, ADAPTIVE), values, strict=True)),
            workers,
        )
        for workers, values in _FIB.items()
    ),
    conclusions=(
        Conclusion(
            "section V-C",
            "For Fib, the work-first policy is 10.2x faster than the help-first policy due to "
            "fewer context switches.",
            compare(("fib",), HELP, WORK, 1.0),
        ),
        Conclusion(
            "section V-C",
            "In both micro-benchmarks, the performance of the adaptive scheduler is close to that "
            "of the better policy. (Fib)",
            (
                *compare(("fib",), ADAPTIVE, WORK, high=CLOSE),
                *compare(("fib",), ADAPTIVE, HELP, high=CLOSE),
            ),
        ),
    ),
    note="Of factors such as 10.2 only the direction is asked. Here Fib is of 32.",
    simulated={"fib": 18},
)

FJ = ThesisEvaluation(
    "slaw-fj",
    f"{PAPER}, Figures 7 and 8",
    "FJ(1024), in a loop and by halves, by policy and workers",
    ("fj", "fj_rec"),
    _policies({}),
    sweep=True,
    conclusions=(
        Conclusion(
            "section V-C",
            "In FJ, steals are frequent and the help-first policy is 4.6x faster than the "
            "work-first policy.",
            compare(("fj",), WORK, HELP, 1.0),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "In both micro-benchmarks, the performance of the adaptive scheduler is close to that "
            "of the better policy. (FJ)",
            (
                *compare(("fj",), ADAPTIVE, WORK, high=CLOSE),
                *compare(("fj",), ADAPTIVE, HELP, high=CLOSE),
            ),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "When the number of threads is small (<= 8), the work-first policy performs than "
            "better than the help-first policy.",
            (
                *compare(("fj_rec",), HELP, WORK, 1.0, workers=1),
                *compare(("fj_rec",), HELP, WORK, 1.0, workers=2),
            ),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "The experiment also confirms that fj-rec is more scalable than fj",
            (
                Ratio(
                    "time",
                    (RatioSide("fj_rec", ADAPTIVE, 1), RatioSide("fj", ADAPTIVE)),
                    (RatioSide("fj_rec", ADAPTIVE), RatioSide("fj", ADAPTIVE, 1)),
                    1.0,
                ),
            ),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "the sequential overhead of the fj-rec is higher than the iterative fj",
            (
                Ratio(
                    "time",
                    (RatioSide("fj_rec", ADAPTIVE, 1),),
                    (RatioSide("fj", ADAPTIVE, 1),),
                    1.0,
                ),
            ),
        ),
    ),
    note="The source has figures without numbers.",
    simulated={"fj": 10, "fj_rec": 10},
)

PROGRAMS = ThesisEvaluation(
    "slaw-programs",
    f"{PAPER}, Figures 9 and 10",
    "SLAW's programs by policy: time, memory",
    (*LOOPS, *RECURSIVE, "dfs"),
    (Contender("serial", "serial"), *_policies({})),
    ("time", "peak_kib"),
    conclusions=(
        Conclusion(
            "section V-C",
            "CG.A, MG.A and SOR are flat, loop-based parallel benchmarks. In these benchmarks, the "
            "help-first policy performs better than the work-first policy.",
            compare(LOOPS, WORK, HELP, 1.0),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "the adaptive scheduling algorithm matches or exceeds the performance of the "
            "help-first policy for these benchmarks",
            compare(LOOPS, ADAPTIVE, HELP, high=CLOSE),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "Sort, Matmul, LU and GC are task recursive parallel benchmarks. In these benchmarks, "
            "the work-first policy is better than or almost the same as the help-first policy.",
            compare(RECURSIVE, WORK, HELP, high=CLOSE),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "the adaptive scheduling algorithm matches or exceeds the performance of work-first "
            "policy in those benchmarks",
            compare(RECURSIVE, ADAPTIVE, WORK, high=CLOSE),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "Our results show that the adaptive approach outperformed the help-first policy for "
            "this benchmark [PDFS]",
            compare(("dfs",), HELP, ADAPTIVE, 1.0),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "the work-first schedule of PDFS will overflow the stack",
            (Fails(RatioSide("dfs", WORK)),),
        ),
        Conclusion(
            "abstract",
            "achieves performance (and supports data sizes) that cannot be delivered by the use of "
            "any single fixed policy",
            (*compare(("dfs",), HELP, ADAPTIVE, 1.0), Fails(RatioSide("dfs", WORK))),
            cpus=2,
        ),
        Conclusion(
            "section V-C",
            "For Sort, Matmul and LU, SLAW achieves over 10x speedup on Xeon SMP.",
            compare(("sort-50331648", "matmul", "lu"), "serial", ADAPTIVE, 10.0),
            cpus=16,
        ),
        Conclusion(
            "section V-E",
            "Benchmarks like PDFS and GC scale well on Niagara 2 with one shared L2 cache, but not "
            "on Xeon SMP with separate L2 caches.",
            cannot="needs both machines",
        ),
    ),
    note=f"The source has figures without numbers. Memory is the whole process's. {OVERFLOWS}",
    simulated={
        "sor": 64,
        "cg": 1400,
        "mg": 32,
        "sort-50331648": 65536,
        "matmul": 128,
        "lu": 128,
        "colouring": 7,
        "dfs": 60,
    },
)

STACKS = ThesisEvaluation(
    "slaw-stacks",
    f"{PAPER}, sections II-A2 and III",
    "The stacks that PDFS takes, by policy, of a torus of 10,000 and of 4 million vertices",
    ("dfs-100", "dfs-2000"),
    _policies(COUNTING),
    ("fibers", "peak_kib"),
    sweep=True,
    conclusions=(
        Conclusion(
            "abstract",
            "for large irregular recursive parallel computations, the adaptive scheduler runs with "
            "bounded stack usage",
            programs_apart("dfs-2000", ("dfs-100",), ADAPTIVE, 0.0, "fibers", high=FEW_MORE),
        ),
        Conclusion(
            "section V-C",
            "the work-first schedule of PDFS will overflow the stack",
            (Fails(RatioSide("dfs-2000", WORK, 1)),),
        ),
    ),
    note="Bounded: four times the stacks are enough for 400 times the graph, since in a small one "
    f"not every worker comes to S. {OVERFLOWS} That is asked of one worker, from whom "
    "nobody steals.",
    simulated={"dfs-100": 40, "dfs-2000": 100},
    simulated_mib=STACKS_MIB,
)

LOCALITY = ThesisEvaluation(
    "slaw-locality",
    f"{PAPER}, Figure 11",
    "SOR and CG at places: not measured",
    conclusions=(
        Conclusion(
            "section V-D",
            "The 8-place-8-worker locality-aware scheduling is 2.1x faster than the "
            "locality-oblivious scheduling using the adaptive scheduling and the speedup for "
            "8-place-16-worker locality-aware scheduling is 2.6x.",
            cannot="SOR and CG are loops, which take no place hints here",
        ),
        Conclusion(
            "section V-D",
            "MG.A cannot benefit from temporal reuse on Xeon SMP",
            cannot="MG is loops, which take no place hints here",
        ),
    ),
)

EVALUATIONS = (INT, FRESH, STACK, FIB, FJ, PROGRAMS, STACKS, LOCALITY)
