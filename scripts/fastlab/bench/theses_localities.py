# SPDX-License-Identifier: GPL-2.0
"""T. Weibel, "An Advanced Scheduler for Intervals" (ETH Zurich, 2010), chapters 3 and 5: programs
that say where their tasks would be, well and badly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastlab.bench.theses import Contender, Published, ThesisEvaluation
from fastlab.bench.theses_claims import Conclusion, Ratio, compare, programs_apart
from fastlab.bench.theses_intervals import LASSI, NEHALEM, SERIAL, THESIS, THREADS

INTERVALS = Contender("intervals", environment=LASSI)
LOCALITY = ("time", "l3_hits", "l3_misses", "remote_memory")


def _localities(
    program: str, metric: str, unit: str, rows: Mapping[str, Mapping[str, float]]
) -> tuple[Published, ...]:
    return tuple(
        Published(NEHALEM, f"{program}_{locality}", metric, unit, values)
        for locality, values in rows.items()
    )


def _stress(locality: str) -> str:
    return f"cachestress_{locality}"


def _best_of(program: str, others: Sequence[str], contender: str) -> tuple[Ratio, ...]:
    """More hits in the L3 than others, and fewer misses."""
    best = f"{program}_best"
    return (
        *programs_apart(best, others, contender, 1.0, "l3_hits"),
        *programs_apart(best, others, contender, 0.0, "l3_misses", 1.0),
    )


WORSE = tuple(map(_stress, ("ignorant", "random", "worst")))

CACHESTRESS = ThesisEvaluation(
    "cachestress",
    f"{THESIS}, Tables 3.2, 3.3, 5.1 and 5.2",
    "Cache Stress Test at four localities",
    (_stress("best"), *WORSE),
    (SERIAL, THREADS, INTERVALS),
    LOCALITY,
    published=(
        *_localities(
            *("cachestress", "time", "s"),
            {
                "best": {"serial": 25.571, "threads": 3.327, "intervals": 3.596},
                "ignorant": {"serial": 25.571, "threads": 3.985, "intervals": 4.038},
                "random": {"serial": 25.571, "threads": 5.175, "intervals": 4.030},
                "worst": {"serial": 25.571, "threads": 4.389, "intervals": 3.982},
            },
        ),
        *_localities(
            *("cachestress", "l3_hits", "million"),
            {
                "best": {"threads": 2577, "intervals": 2335},
                "ignorant": {"threads": 1674, "intervals": 1568},
                "random": {"threads": 1646, "intervals": 1570},
                "worst": {"threads": 1387, "intervals": 1539},
            },
        ),
        *_localities(
            *("cachestress", "l3_misses", "million"),
            {
                "best": {"threads": 219, "intervals": 275},
                "ignorant": {"threads": 800, "intervals": 837},
                "random": {"threads": 894, "intervals": 854},
                "worst": {"threads": 1005, "intervals": 837},
            },
        ),
    ),
    conclusions=(
        Conclusion(
            "chapter 3",
            "As expected, the implementation with best locality is the fastest",
            tuple(
                ratio
                for one in WORSE
                for ratio in programs_apart(one, (_stress("best"),), "threads", 1.0)
            ),
            nodes=2,
        ),
        Conclusion(
            "section 5.3.1",
            "The best locality implementation is more than 10% faster compared to the other "
            "locality benchmarks.",
            tuple(
                ratio
                for one in WORSE
                for ratio in programs_apart(one, (_stress("best"),), "intervals", 1.1)
            ),
            nodes=2,
        ),
        Conclusion(
            "section 5.3.1",
            "The intervals implementation of the benchmarks with ignorant, random and worst "
            "locality is faster compared to the multi-threaded benchmark implementations of the "
            "same localities.",
            compare(WORSE, "intervals", "threads", high=1.0),
            nodes=2,
        ),
        Conclusion(
            "section 5.3.1",
            "The best locality benchmark has up to 1.5x more L3 cache read hits and 3.1x fewer L3 "
            "cache read misses than the other benchmarks.",
            _best_of("cachestress", WORSE, "intervals"),
            nodes=2,
        ),
        Conclusion(
            "chapter 3",
            "Compared to the other benchmarks, the best locality benchmark has between 1.5x and "
            "1.8x more L3 cache read hits, and between 3.6x and 4.5x fewer L3 cache read misses.",
            _best_of("cachestress", WORSE, "threads"),
            nodes=2,
        ),
    ),
    simulated=dict.fromkeys((_stress("best"), *WORSE), 32768),
    note="Of one node, all localities are the same work. In Table 3.2 the times, or the speed-ups, "
    "of random and worst have changed places.",
)

MERGESORT = ThesisEvaluation(
    "mergesort",
    f"{THESIS}, Tables 5.3 and 5.4",
    "Merge Sort at three localities",
    ("mergesort_best", "mergesort_ignorant", "mergesort_worst"),
    (SERIAL, INTERVALS),
    LOCALITY,
    published=(
        *_localities(
            *("mergesort", "time", "s"),
            {
                "best": {"intervals": 0.672667},
                "ignorant": {"intervals": 0.741333},
                "worst": {"intervals": 0.726},
            },
        ),
        *_localities(
            *("mergesort", "l3_hits", "million"),
            {
                "best": {"intervals": 100},
                "ignorant": {"intervals": 98},
                "worst": {"intervals": 99},
            },
        ),
        *_localities(
            *("mergesort", "l3_misses", "million"),
            {
                "best": {"intervals": 39},
                "ignorant": {"intervals": 42},
                "worst": {"intervals": 41},
            },
        ),
    ),
    conclusions=(
        Conclusion(
            "section 5.3.2",
            "As expected, the implementation with best locality is the fastest",
            tuple(
                ratio
                for one in ("mergesort_ignorant", "mergesort_worst")
                for ratio in programs_apart(one, ("mergesort_best",), "intervals", 1.0)
            ),
            nodes=2,
        ),
        Conclusion(
            "section 5.3.2",
            "about 2% more cache read hits and 7% less cache read misses than the worst and "
            "ignorant locality variants",
            _best_of("mergesort", ("mergesort_ignorant", "mergesort_worst"), "intervals"),
            nodes=2,
        ),
    ),
    simulated={f"mergesort_{one}": 65536 for one in ("best", "ignorant", "worst")},
)

BLOCKMM = ThesisEvaluation(
    "blockmm",
    f"{THESIS}, Tables 5.5 and 5.6",
    "Block Matrix Multiplication at two localities",
    ("blockmm_best", "blockmm_worst"),
    (SERIAL, INTERVALS),
    LOCALITY,
    published=(
        *_localities(
            *("blockmm", "time", "s"),
            {
                "best": {"serial": 18.703, "intervals": 4.724},
                "worst": {"serial": 18.703, "intervals": 5.075},
            },
        ),
        *_localities(
            *("blockmm", "l3_hits", "million"),
            {"best": {"intervals": 1283}, "worst": {"intervals": 1256}},
        ),
        *_localities(
            *("blockmm", "l3_misses", "million"),
            {"best": {"intervals": 352}, "worst": {"intervals": 374}},
        ),
    ),
    conclusions=(
        Conclusion(
            "section 5.3.3",
            "As expected, the implementation with best locality is faster than the one for the "
            "worst locality.",
            programs_apart("blockmm_worst", ("blockmm_best",), "intervals", 1.0),
            nodes=2,
        ),
        Conclusion(
            "section 5.3.3",
            "about 2% more cache read hits and 6% less cache read misses than the worst locality "
            "variant",
            _best_of("blockmm", ("blockmm_worst",), "intervals"),
            nodes=2,
        ),
    ),
    simulated={"blockmm_best": 256, "blockmm_worst": 256},
)

EVALUATIONS = (CACHESTRESS, MERGESORT, BLOCKMM)
