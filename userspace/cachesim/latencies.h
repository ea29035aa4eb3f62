/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Latencies in ns, each kept, so that mean and percentiles are exact. Not thread-safe.
 */
#ifndef LATENCIES_H
#define LATENCIES_H

#include <stddef.h>
#include <stdint.h>

/* Empty if all zero. */
struct latencies {
	uint64_t *ns;
	size_t n, room;
};

/* The latencies of a region of interest. */
struct region_latencies {
	struct latencies handoff, wakeup;
};

/* Returns 0, or -1 without memory. */
int latencies_add(struct latencies *l, uint64_t ns);

/* Sort them, the shortest first. */
void latencies_sort(struct latencies *l);

/* The latency that `thousandths` of all, 1 to 1000, do not exceed. `l` is sorted and not empty. */
uint64_t latencies_percentile(const struct latencies *l, unsigned int thousandths);

/* Rounded to a whole ns. `l` is not empty. */
uint64_t latencies_mean(const struct latencies *l);

/* Leaves `l` empty. */
void latencies_free(struct latencies *l);

/*
 * The time from `begin` to `end`, or 0 if that is negative: the clocks of two CPUs differ a
 * little.
 */
static inline uint64_t latency_between(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

#endif
