/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Latencies in ns, every single one of them, so that mean and percentiles are exact. Not
 * thread-safe.
 */
#ifndef LATENCIES_H
#define LATENCIES_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty one. */
struct latencies {
	uint64_t *ns;
	size_t n, room;
};

/* Those of a region of interest. */
struct region_latencies {
	struct latencies handoff, wakeup;
};

/* Returns 0, or -1 without memory. */
int latencies_add(struct latencies *l, uint64_t ns);

/* The shortest first. */
void latencies_sort(struct latencies *l);

/*
 * The latency that so many thousandths of all do not exceed, from 1 to 1000, the longest. They
 * are sorted, and there is one.
 */
uint64_t latencies_percentile(const struct latencies *l, unsigned int thousandths);

/* Rounded to a whole ns. There is one. */
uint64_t latencies_mean(const struct latencies *l);

/* Leaves an empty one. */
void latencies_free(struct latencies *l);

/* The time from `begin` to `end` by the clocks of two CPUs, which differ by a little: not below 0. */
static inline uint64_t latency_between(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

#endif
