# SPDX-License-Identifier: GPL-2.0
"""B. Vikranth, "Adaptive Work Stealing Run-times for NUMA Multi-core Architecture": chapters 3 to
6. How MATMUL's steals are divided `fast bench stealing` counts too, by another program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastlab.bench.theses import COUNTING, Contender, Published, ThesisEvaluation
from fastlab.bench.theses_claims import ALIKE, Conclusion, Ratio, RatioSide, alike, compare

THESIS = "NUMA thesis"
XEON = "2 Xeon E5-2620, 24 workers"
BOTS = (
    *("strassen-2048", "strassen-4096", "strassen-8192", "sort-33554432"),
    *("sparselu_single", "sparselu_for"),
)
SERIAL = Contender("serial", "serial")
RANDOM, THRESHOLD, TOPOLOGY = "random", "threshold", "domains-threshold"
# For the simulated machine.
SMALL = {
    "strassen-2048": 256,
    "strassen-4096": 512,
    "sort-33554432": 524288,
    "sparselu_single": 6,
    "sparselu_for": 6,
}
# Where tasks are small enough for every CPU to steal, and each run takes seconds.
SMALLER = {
    "strassen-2048": 256,
    "sort-33554432": 65536,
    "sparselu_single": 4,
    "sparselu_for": 4,
}
MATMUL = "numa_matmul"
# As `fast bench stealing`: who makes the tasks goes on.
STEALING = {"INTERVALS_PIN": "on", "INTERVALS_POLICY": "help-first", **COUNTING}
MATMUL_SMALL = {MATMUL: 64}
# Numbers of workers, of half of which each node has more than one.
SEVERAL = (4, 8)
# "Almost zeros when compared".
ALMOST_NONE = 0.1
NO_DISPATCHER = "these programs do not use the dispatcher of intervals_dispatch.h"
NO_MICROBENCHMARKS = "the OpenMP micro-benchmarks are not written here"
# Tables 3.4 and 4.5: serial, randomized, threshold, topology aware.
_SECONDS = {
    "strassen-2048": (1.81542, 0.306036, 0.287889, 0.247600539),
    "strassen-4096": (13.139, 1.848, 1.781, 1.5349547822),
    "strassen-8192": (92.7439, 12.045, 11.742, 10.12196554),
    "sort-33554432": (6.696, 0.7114, 0.669, 0.533518016),
    "sparselu_single": (11.1524, 1.0023, 1.0355, 0.82665136),
    "sparselu_for": (10.842, 0.9901, 0.9875, 0.860222),
}
# Table 4.4; not said of which strategy.
_REMOTE_GB = {
    "strassen-2048": 0.3423,
    "strassen-4096": 1.1157,
    "strassen-8192": 2.8416,
    "sort-33554432": 1.6365,
    "sparselu_single": 0.0675,
    "sparselu_for": 0.0613,
}
# Table 3.6: attempts, and those that got something.
_STEALS = {
    "strassen-2048": (4797195, 534),
    "strassen-4096": (19155228, 786),
    "strassen-8192": (76063619, 1063),
    "sort-33554432": (26600561, 3601),
    "sparselu_single": (106656, 1292),
    "sparselu_for": (132329, 1324),
}


def _victims(names: Sequence[str], further: Mapping[str, str]) -> tuple[Contender, ...]:
    return tuple(
        Contender(name, environment={"INTERVALS_VICTIMS": name, **further}) for name in names
    )


def _seconds(columns: Mapping[str, int]) -> tuple[Published, ...]:
    return tuple(
        Published(XEON, program, "time", "s", {name: row[i] for name, i in columns.items()})
        for program, row in _SECONDS.items()
    )


def _steals() -> tuple[Published, ...]:
    return tuple(
        Published(XEON, program, metric, "", {RANDOM: value})
        for program, (attempts, good) in _STEALS.items()
        for metric, value in (
            ("steals", attempts),
            ("steal_failures", attempts - good),
            ("steal_miss_ratio", 1 - good / attempts),
        )
    )


# Tables 3.1 to 3.3 by workers: steals in vain, and others; the miss ratios of 3.2 are in 3.3.
_MATMUL_STEALS = {
    2: (1, 34),
    4: (38, 72),
    6: (46, 82),
    8: (62, 84),
    10: (87, 68),
    12: (221, 191),
    14: (373, 243),
    16: (561, 595),
    18: (499, 888),
    20: (322, 846),
    22: (136, 546),
    24: (172, 101),
}
_MATMUL_MISSES = {
    2: (0.03, 0.48),
    4: (0.35, 0.20),
    6: (0.36, 0.28),
    8: (0.42, 0.12),
    10: (0.56, 0.12),
    12: (0.54, 0.12),
    14: (0.61, 0.12),
    16: (0.48, 0.08),
    18: (0.36, 0.08),
    20: (0.28, 0.00),
    22: (0.20, 0.00),
    24: (0.63, 0.00),
}
# Tables 4.2 and 4.3: remote and local steals, with random victims and with domains.
_MATMUL_REMOTE = {
    2: (23, 21, 0, 0),
    4: (41, 49, 0, 72),
    6: (46, 54, 0, 1001),
    8: (56, 55, 0, 85),
    10: (66, 56, 0, 69),
    12: (61, 45, 0, 271),
    14: (123, 88, 0, 251),
    16: (243, 235, 0, 638),
    18: (334, 401, 0, 835),
    20: (354, 473, 0, 823),
    22: (226, 312, 0, 522),
    24: (102, 77, 0, 24),
}


def _matmul(metric: str, workers: int, **values: float) -> Published:
    return Published("2 Xeon E5-2620", MATMUL, metric, "", values, workers)


def _matmul_steals() -> tuple[Published, ...]:
    counted = [
        one
        for workers, (vain, good) in _MATMUL_STEALS.items()
        for one in (
            _matmul("steal_failures", workers, random=vain),
            _matmul("steals_got", workers, random=good),
        )
    ]
    ratios = [
        _matmul("steal_miss_ratio", workers, random=random, threshold=threshold)
        for workers, (random, threshold) in _MATMUL_MISSES.items()
    ]
    return (*counted, *ratios)


def _matmul_remote() -> tuple[Published, ...]:
    return tuple(
        one
        for workers, (remote, local, remote_domains, local_domains) in _MATMUL_REMOTE.items()
        for one in (
            _matmul("steals_remote", workers, random=remote, domains=remote_domains),
            _matmul("steals_local", workers, random=local, domains=local_domains),
        )
    )


def _remote_volumes() -> tuple[Published, ...]:
    return tuple(
        Published(XEON, program, "remote_memory", "GB", {RANDOM: volume})
        for program, volume in _REMOTE_GB.items()
    )


TIMES = ThesisEvaluation(
    "numa-threshold",
    f"{THESIS}, Tables 3.4 and 3.5",
    "Programs of BOTS: random victims, and by a threshold",
    BOTS,
    (SERIAL, *_victims((RANDOM, THRESHOLD), {})),
    published=_seconds({"serial": 0, RANDOM: 1, THRESHOLD: 2}),
    conclusions=(
        Conclusion(
            "section 3.6.1",
            "the proposed threshold constrained work-stealing strategy is showing little "
            "performance gain over randomized work-stealing",
            compare(BOTS, RANDOM, THRESHOLD, 1.0),
            asks="most",
            cpus=2,
        ),
        Conclusion(
            "section 3.6.1",
            "Randomized work-stealing strategy is outperforming our proposed strategy by 3% in "
            "case of Sparse-LU-single version benchmark.",
            compare(("sparselu_single",), THRESHOLD, RANDOM, 1.0),
            cpus=2,
        ),
        Conclusion(
            "section 3.6.1",
            "The result is not significant at p <= 0.05.",
            alike(BOTS, THRESHOLD, RANDOM),
            cpus=2,
        ),
    ),
    simulated=SMALLER,
)

STEALS = ThesisEvaluation(
    "numa-steals",
    f"{THESIS}, Tables 3.1 to 3.3",
    "MATMUL, a task for each element: steals, and those that get nothing",
    (MATMUL,),
    _victims((RANDOM, THRESHOLD), STEALING),
    ("steal_failures", "steals_got", "steal_miss_ratio"),
    sweep=True,
    published=_matmul_steals(),
    conclusions=(
        Conclusion(
            "section 3.3.2",
            "There is no considerable relationship between the number of worker threads and steal "
            "miss values.",
            tuple(
                Ratio(
                    "steal_miss_ratio",
                    (RatioSide(MATMUL, RANDOM, workers),),
                    (RatioSide(MATMUL, RANDOM, 2),),
                    *ALIKE,
                )
                for workers in SEVERAL
            ),
            cpus=8,
        ),
        Conclusion(
            "section 3.3.2",
            "On an average, 40 percent steal attempts are leading to failures in finding a victim "
            "worker queue with enough load.",
            tuple(
                Ratio("steal_miss_ratio", (RatioSide(MATMUL, RANDOM, workers),), (), 0.3, 0.5)
                for workers in (2, *SEVERAL)
            ),
            asks="most",
            cpus=8,
        ),
        Conclusion(
            "section 3.5",
            "By introducing threshold limit on queue size for selection of a victim, the steal "
            "miss ratio is reduced to 13% on an average for less number of threads.",
            tuple(
                one
                for workers in (2, *SEVERAL)
                for one in compare(
                    *((MATMUL,), THRESHOLD, RANDOM),
                    high=1.0,
                    metric="steal_miss_ratio",
                    workers=workers,
                )
            ),
            asks="most",
            cpus=8,
        ),
        Conclusion(
            "section 3.5",
            "It can also be observed that for higher number of threads, the false steals are "
            "almost zero.",
            cannot="is about 20 workers and more",
        ),
    ),
    note="40 percent is 30 to 50 here; of 13 % only the direction is asked.",
    simulated=MATMUL_SMALL,
)

REMOTE_STEALS = ThesisEvaluation(
    "numa-remote",
    f"{THESIS}, Tables 4.2 and 4.3",
    "MATMUL, a task for each element: steals from the other node",
    (MATMUL,),
    _victims((RANDOM, "domains", TOPOLOGY), STEALING),
    ("steals_remote", "steals_local", "remote_share"),
    sweep=True,
    published=_matmul_remote(),
    conclusions=(
        Conclusion(
            "section 4.2",
            "It can be observed from the table 4.2 that, 50% of the steal attempts are remote.",
            tuple(
                Ratio("remote_share", (RatioSide(MATMUL, RANDOM, workers),), (), 0.45, 0.55)
                for workers in SEVERAL
            ),
            nodes=2,
        ),
        Conclusion(
            "section 4.4",
            "It can be observed that remote steal miss ratios are almost zeros when compared to "
            "the results presented in the table 4.2.",
            tuple(
                one
                for workers in SEVERAL
                for one in compare(
                    *((MATMUL,), "domains", RANDOM),
                    high=ALMOST_NONE,
                    metric="steals_remote",
                    workers=workers,
                )
            ),
            nodes=2,
        ),
        Conclusion(
            "section 6.3.1",
            "The probability of remote stealing is very minimal due to the implementation of "
            "stealing domains (Table 6.3)",
            tuple(
                Ratio("remote_share", (RatioSide(MATMUL, "domains", workers),), (), 0.0, 0.05)
                for workers in SEVERAL
            ),
            nodes=2,
        ),
    ),
    note="Steals are attempts. Almost zero is a tenth, and very minimal one of twenty. With two "
    "workers, one on each node, every steal is remote here; in Table 4.2 half of them are.",
    simulated=MATMUL_SMALL,
)

MISSES = ThesisEvaluation(
    "numa-misses",
    f"{THESIS}, Table 3.6",
    "Programs of BOTS: steal attempts that get nothing",
    BOTS,
    _victims((RANDOM, THRESHOLD), COUNTING),
    ("steals", "steal_failures", "steal_miss_ratio"),
    published=_steals(),
    conclusions=(
        Conclusion(
            "section 3.5",
            "By introducing threshold limit on queue size for selection of a victim, the steal "
            "miss ratio is reduced to 13% on an average for less number of threads.",
            compare(BOTS, THRESHOLD, RANDOM, high=1.0, metric="steal_miss_ratio"),
            asks="most",
            cpus=2,
        ),
    ),
    note="The source does not say of which strategy Table 3.6 is; its figures stand beside random. "
    "Its failures are attempts less successes. Asked of Table 3.3 is only the direction, of these "
    "programs.",
    simulated=SMALLER,
)

DOMAINS = ThesisEvaluation(
    "numa-domains",
    f"{THESIS}, Tables 4.4 and 4.5",
    "Programs of BOTS: random victims, and those of the own node first",
    BOTS,
    # "individual worker thread is pinned to processor core belonging to a node" (section 4.1.1).
    (SERIAL, *_victims((RANDOM, TOPOLOGY), {"INTERVALS_PIN": "on"})),
    ("time", "remote_memory"),
    published=(*_seconds({"serial": 0, RANDOM: 1, TOPOLOGY: 3}), *_remote_volumes()),
    simulated=SMALL,
    conclusions=(
        Conclusion(
            "section 4.6",
            "The proposed strategy resulted in 22% improvement in overall performance.",
            compare(BOTS, RANDOM, TOPOLOGY, 1.0),
            nodes=2,
        ),
        Conclusion(
            "section 4.6",
            "In case of remote victim selection, additional overheads are involved, and contribute "
            "to remote memory access latencies while accessing remote worker queues and stealing "
            "tasks from remote worker queues.",
            compare(BOTS, RANDOM, TOPOLOGY, 1.0, metric="remote_memory"),
            asks="most",
            nodes=2,
        ),
    ),
    note="Of the 22 % only the direction is asked. On one node, domains are no constraint. Table "
    "4.4 does not say of which strategy it is, and Table 5.3 has larger volumes for one that "
    "should have smaller ones.",
)

OTHERS = ThesisEvaluation(
    "numa-others",
    f"{THESIS}, Tables 4.1, 5.1 to 5.3, 6.1 to 6.6",
    "What is not measured, and why",
    conclusions=(
        Conclusion(
            "section 4.1",
            "From the table 4.1, NUMA Ratio for our experimental setup is 1.625.",
            cannot="is about the source's machine; so is Table 6.1",
        ),
        Conclusion(
            "section 4.4.1",
            "the value of R was 0.9123 and it is a strong positive relationship between remote "
            "steals and execution time",
            cannot="needs 2 NUMA nodes, and MATMUL on them",
        ),
        Conclusion(
            "section 5.2.1",
            "for smaller sized matrices 512 x 512 and 1024 x 1024, all the elements are stored on "
            "single node (Table 5.1)",
            cannot="is about the pages of another program",
        ),
        Conclusion(
            "section 5.6.1",
            "The speed up gain in case of 2048, 4096 and 8192 is significant. (Table 5.2)",
            cannot=NO_DISPATCHER,
        ),
        Conclusion(
            "section 5.6.1",
            "The speed-up improvement is on par with decreased remote data volume. (Table 5.3)",
            cannot=NO_DISPATCHER,
        ),
        Conclusion(
            "section 6.2",
            "Average starvation time of spin lock access by two threads pinned on same socket "
            "cores versus pinned on cores of different sockets (Table 6.2)",
            cannot="needs 2 NUMA nodes",
        ),
        Conclusion(
            "section 6.4.1",
            "It can be observed from the figure 6.3 that the overhead of OpenMP constructs such as "
            "parallel and parallel for is significant. (Table 6.4)",
            cannot=NO_MICROBENCHMARKS,
        ),
        Conclusion(
            "section 6.4.1",
            "the excess remote data volume in the default approach is the cause of additional "
            "overhead observed in Table 6.4. (Table 6.5)",
            cannot=NO_MICROBENCHMARKS,
        ),
        Conclusion(
            "section 6.4.2",
            "Hence there is significant performance improvement (11%). (Table 6.6)",
            cannot="these programs take no locks, and the runtime's queues have none",
        ),
    ),
)

EVALUATIONS = (STEALS, TIMES, MISSES, REMOTE_STEALS, DOMAINS, OTHERS)
