/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The NAS parallel benchmarks' random numbers: theirs, so that their published results are ours. */
#ifndef BENCH_NPB_H
#define BENCH_NPB_H

#include <stdint.h>

#define NPB_SEED 314159265

/* The next one, in (0, 1): 5^13 times the one before, modulo 2^46. */
static inline double npb_random(uint64_t *state)
{
	*state = *state * 1220703125 & ((UINT64_C(1) << 46) - 1);
	return (double)*state / (double)(UINT64_C(1) << 46);
}

#endif
