// SPDX-License-Identifier: GPL-2.0
/* How work and random numbers are divided. */
#include "common/think.h"
#include "splash.h"

void splash_share(uint64_t count, unsigned int threads, unsigned int id, uint64_t *begin,
		  uint64_t *end)
{
	uint64_t part = count / threads, rest = count % threads;

	*begin = id * part + (id < rest ? id : rest);
	*end = *begin + part + (id < rest);
}

uint64_t splash_random_state(uint64_t seed, uint64_t stream)
{
	return think_seed(seed ^ mix64(stream), 0);
}

uint64_t splash_random(uint64_t *state)
{
	return *state = xorshift64(*state);
}

double splash_random_real(uint64_t *state)
{
	return (double)(splash_random(state) >> 11) * 0x1p-53;
}
