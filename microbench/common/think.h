/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The random work outside critical sections: "threads don't iteratively just
 * acquire/release locks but do perform some work in between successive locking
 * operations" (section 3.2.1). Registers only, so it disturbs no cache.
 */
#ifndef MICROBENCH_THINK_H
#define MICROBENCH_THINK_H

#include "bench.h"

/* Marsaglia's xorshift (13, 7, 17): full period, cheap, and a chain no compiler can shorten. */
static inline uint64_t xorshift64(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* SplitMix64's finaliser: a bijection that makes neighbouring inputs unlike. */
static inline uint64_t mix64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9;
	x ^= x >> 27;
	x *= 0x94d049bb133111eb;
	x ^= x >> 31;
	return x;
}

/* The PRNG's first state for a thread; never 0, where xorshift would stay. */
static inline uint64_t think_seed(uint64_t seed, unsigned int id)
{
	uint64_t x = mix64(mix64(seed) + (id + 1) * 0x9e3779b97f4a7c15);

	return x ? x : 1;
}

/* Work for a random number of PRNG steps, uniform in [think / 2, think / 2 + think]. */
static inline void think(struct worker *w)
{
	uint64_t x = xorshift64(w->random);
	uint64_t steps = w->opt->think / 2 + (x >> 32) % (w->opt->think + 1);

	while (steps--)
		x = xorshift64(x);
	w->random = x;
}

#endif
