# SPDX-License-Identifier: GPL-2.0
"""T. Weibel, "An Advanced Scheduler for Intervals" (ETH Zurich, 2010): Java Grande, chapters 5, 11.

Its queues' names here are those of INTERVALS_QUEUE. Conclusions that are about a defect of its
programs are in it as others are; Documentation/intervals.rst says which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastlab.bench.theses import COUNTING, Contender, Published, ThesisEvaluation
from fastlab.bench.theses_claims import Conclusion, alike, compare, programs_apart

THESIS = "Weibel"
CORE2 = "Core2, 2 CPUs"
NEHALEM = "Nehalem, 8 CPUs"
# Java Grande, at the sizes of the thesis. Two of its counts are of other sizes than it says:
# there are an interval for each coefficient, and 750 or 749 of two rows in each of 200 sweeps.
SERIES, SOR = "series-100000", "jgf_sor-1500"
JGF = ("series", "crypt", "jgf_sor", "lufact", "moldyn", "montecarlo", "raytracer")
JGF_COUNTED = (SERIES, "crypt", SOR, *JGF[3:])
# For the simulated machine.
JGF_SMALL = {
    "series": 48,
    "crypt": 80000,
    "jgf_sor": 40,
    "lufact": 60,
    "moldyn": 3,
    "montecarlo": 32,
    "raytracer": 12,
}
QUEUES = (
    *("lazy", "chase-lev", "idempotent-deque", "idempotent-fifo", "idempotent-lifo"),
    *("dynamic", "duplicating", "shared"),
)
DEQUE, FIFO, LIFO = "idempotent-deque", "idempotent-fifo", "idempotent-lifo"
# "Considerably", and the other side of it: comparable.
CONSIDERABLY = 1.1
# "Extremely high".
EXTREMELY = 10.0
NO_NUMBERS = "The source has a figure without numbers."

# "worker threads are bound to specific processing units" (section 2.2), by places.
LASSI = {"INTERVALS_PLACES": "numa", "INTERVALS_PIN": "on"}

SERIAL, THREADS, INTERVALS = (
    Contender("serial", "serial"),
    Contender("threads", "pthreads"),
    Contender("intervals"),
)


def _queues(further: Mapping[str, str]) -> tuple[Contender, ...]:
    return tuple(
        Contender(name, environment={"INTERVALS_QUEUE": name, **further}) for name in QUEUES
    )


def _rows(
    where: str, program: str, contenders: Sequence[str], **metrics: Sequence[float]
) -> tuple[Published, ...]:
    """Of each metric the values of the contenders, in their order."""
    return tuple(
        Published(where, program, metric, "", dict(zip(contenders, values, strict=True)))
        for metric, values in metrics.items()
    )


def _idle(where: str, idles: Sequence[float], wakes: Sequence[float]) -> tuple[Published, ...]:
    """Table 11.1, whose queue is the lazy one."""
    programs = ("lufact", "moldyn", "crypt", SOR, "raytracer")
    return tuple(
        one
        for program, idle, wake in zip(programs, idles, wakes, strict=True)
        for one in _rows(where, program, ("lazy",), idles=(idle,), wakes=(wake,))
    )


def _attempts(
    where: str, program: str, other: str, *rows: Sequence[float]
) -> tuple[Published, ...]:
    """Tables 11.2 and 11.3: of the idempotent deque and another."""
    metrics = ("takes", "take_failures", "steals", "steal_failures")
    return _rows(where, program, (DEQUE, other), **dict(zip(metrics, rows, strict=True)))


_ATTEMPTS = (
    *_attempts(CORE2, SOR, FIFO, (149937, 150021), (504, 27450), (650, 27684), (153, 238)),
    *_attempts(CORE2, "moldyn", FIFO, (3662, 3667), (607, 673), (615, 673), (265, 266)),
    *_attempts(NEHALEM, SOR, FIFO, (150051, 150118), (2108, 16293), (4778, 34190), (2734, 17930)),
    *_attempts(
        *(NEHALEM, "moldyn", FIFO, (14197, 14076), (3327, 4421), (12742, 15095), (10490, 11718))
    ),
    *_attempts(
        *(CORE2, SERIES, LIFO, (100037, 100008), (49705, 78)),
        *((49921, 886483626), (223, 886483555)),
    ),
    *_attempts(
        *(CORE2, "montecarlo", LIFO, (60078, 60005), (29979, 41)),
        *((30257, 151331850), (283, 151331813)),
    ),
    *_attempts(
        *(NEHALEM, SERIES, LIFO, (101446, 100049), (88867, 175)),
        *((391742, 436934995), (302891, 436934868)),
    ),
    *_attempts(
        *(NEHALEM, "montecarlo", LIFO, (61989, 60017), (54333, 125)),
        *((244771, 71468669), (190454, 71468560)),
    ),
)

JGF_THREADS = ThesisEvaluation(
    "jgf-threads",
    f"{THESIS}, Figure 11.1",
    "Java Grande: threads and intervals",
    JGF,
    (SERIAL, THREADS, INTERVALS),
    conclusions=(
        Conclusion(
            "section 11.1",
            "The performance of the intervals implementation of the JGF benchmarks is comparable "
            "to the threaded implementation",
            compare(
                [one for one in JGF if one not in ("lufact", "moldyn")],
                *("intervals", "threads"),
                1 / CONSIDERABLY,
                CONSIDERABLY,
            ),
        ),
        Conclusion(
            "section 11.1",
            "The only benchmarks where intervals are considerably slower than threads are LuFact "
            "and MolDyn",
            compare(("lufact", "moldyn"), "intervals", "threads", CONSIDERABLY),
            cpus=2,
        ),
        Conclusion(
            "queues-performance.tex",
            "Performance generally improves as well due to the improved load balancing offered by "
            "a work-stealing execution engine.",
            compare(JGF, "intervals", "threads", high=1.0),
            asks="most",
            cpus=2,
        ),
    ),
    note=NO_NUMBERS,
    simulated=JGF_SMALL,
)

JGF_QUEUES = ThesisEvaluation(
    "jgf-queues",
    f"{THESIS}, Figures 11.2 to 11.6",
    "Java Grande under each of the eight queues: times",
    JGF,
    _queues({}),
    conclusions=(
        Conclusion(
            "section 11.2",
            "we do not see a significant difference in the runtime of the JGF benchmarks",
            (*alike(JGF, "chase-lev", "lazy"), *alike(JGF, DEQUE, "lazy")),
            cpus=2,
        ),
        Conclusion(
            "section 11.3.1",
            "Most of the benchmarks are slightly slower in comparison to other queue "
            "implementations.",
            compare(JGF, "dynamic", "chase-lev", 1.0),
            asks="most",
            cpus=2,
        ),
        Conclusion(
            "section 11.3.2",
            "the Idempotent Work-Stealing Deque has the best performance in combination with the "
            "intervals scheduler",
            (*compare(JGF, FIFO, DEQUE, 1.0), *compare(JGF, LIFO, DEQUE, 1.0)),
            asks="most",
            cpus=2,
        ),
        Conclusion(
            "section 11.3.2",
            "This is especially visible in the runtimes of the SOR and MolDyn benchmarks",
            compare(("jgf_sor", "moldyn"), FIFO, DEQUE, 1.0),
            cpus=2,
        ),
        Conclusion(
            "section 11.3.2",
            "This especially shows in the performance of the Series and MonteCarlo benchmarks",
            compare(("series", "montecarlo"), LIFO, DEQUE, 1.0),
            cpus=2,
        ),
        Conclusion(
            "section 11.3.3",
            "we could not find any significant performance difference to the idempotent "
            "work-stealing deque",
            alike(JGF, "duplicating", DEQUE),
            cpus=2,
        ),
        Conclusion(
            "section 11.4",
            "There is no significant difference between the runtimes of the different "
            "implementations",
            alike(JGF, "shared", "chase-lev"),
            cpus=2,
        ),
        Conclusion(
            "section 11.4",
            "Whether we use work-stealing with the Work-Stealing Deque or the Linked Blocking "
            "Deque, [...] we get almost the same results",
            cannot="there is no queue under a lock for each worker here",
        ),
    ),
    note=NO_NUMBERS,
    simulated=JGF_SMALL,
)

JGF_COUNTS = ThesisEvaluation(
    "jgf-counts",
    f"{THESIS}, Tables 11.1 to 11.3",
    "Java Grande under each of the eight queues: takes, steals, failures, idle workers",
    JGF_COUNTED,
    _queues(COUNTING),
    ("takes", "take_failures", "steals", "steal_failures", "idles", "wakes"),
    published=(
        *_idle(CORE2, (3533, 271, 9, 6, 6), (3531, 269, 7, 4, 4)),
        *_idle(NEHALEM, (11226, 1057, 27, 22, 17), (11218, 1051, 19, 14, 9)),
        *_ATTEMPTS,
    ),
    conclusions=(
        Conclusion(
            "section 11.1",
            "Compared to other benchmarks, workers in LuFact and MolDyn run out of work more often",
            tuple(
                ratio
                for more in ("lufact", "moldyn")
                for ratio in programs_apart(more, ("crypt", SOR, "raytracer"), "lazy", 1.0, "idles")
            ),
            cpus=2,
        ),
        Conclusion(
            "section 11.3.2",
            "a higher number of take and steal failures in the Idempotent Work-Stealing FIFO Queue "
            "compared to the Idempotent Work-Stealing Deque",
            (
                *compare((SOR, "moldyn"), FIFO, DEQUE, 1.0, metric="take_failures"),
                *compare((SOR, "moldyn"), FIFO, DEQUE, 1.0, metric="steal_failures"),
            ),
            cpus=2,
        ),
        Conclusion(
            "section 11.3.2",
            "an extremely high number of steal attempts and failures compared to the Idempotent "
            "Work-Stealing Deque",
            (
                *compare((SERIES, "montecarlo"), LIFO, DEQUE, EXTREMELY, metric="steals"),
                *compare((SERIES, "montecarlo"), LIFO, DEQUE, EXTREMELY, metric="steal_failures"),
            ),
            cpus=2,
        ),
    ),
    note="Counted from the program's begin to its end; Table 11.1 is under the lazy deque.",
    simulated=dict(zip(JGF_COUNTED, JGF_SMALL.values(), strict=True)),
)

JGF_PLACES = ThesisEvaluation(
    "jgf-places",
    f"{THESIS}, Figure 5.1",
    "Java Grande with and without places",
    JGF,
    (
        Contender("one place", environment={"INTERVALS_PLACES": "one"}),
        Contender("places", environment=LASSI),
    ),
    conclusions=(
        Conclusion(
            "section 5.2",
            "the performance of the locality-ignorant JGF benchmarks executed on LASSI is "
            "comparable to the original implementation",
            compare(JGF, "places", "one place", 1 / CONSIDERABLY, CONSIDERABLY),
            nodes=2,
        ),
    ),
    note=NO_NUMBERS,
    simulated=JGF_SMALL,
)

EVALUATIONS = (JGF_THREADS, JGF_QUEUES, JGF_COUNTS, JGF_PLACES)
