/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms of times in ns: a bucket for each ns up to 63, then 32 buckets for
 * each power of two, so that a bucket's upper end is at most 3.2 % (1/32) more than
 * any time in it.
 */
#ifndef FAST_LATENCY_HISTOGRAM_H
#define FAST_LATENCY_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS 5
#define HISTOGRAM_BUCKETS ((64u - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

/* Empty if all zero. */
struct histogram {
	uint64_t count[HISTOGRAM_BUCKETS];
};

static inline unsigned int histogram_bucket(uint64_t ns)
{
	unsigned int shift;

	if (ns < 1u << HISTOGRAM_BITS)
		return (unsigned int)ns;
	/* Drop low bits, so that HISTOGRAM_BITS stay below the highest. */
	shift = 63u - (unsigned int)__builtin_clzll(ns) - HISTOGRAM_BITS;
	return (shift << HISTOGRAM_BITS) + (unsigned int)(ns >> shift);
}

/* The longest time that falls into the bucket. */
static inline uint64_t histogram_end(unsigned int bucket)
{
	unsigned int shift = bucket >> HISTOGRAM_BITS;
	uint64_t mantissa = bucket & ((1u << HISTOGRAM_BITS) - 1);

	if (shift < 2)
		return bucket;
	return ((mantissa + (1u << HISTOGRAM_BITS) + 1) << (shift - 1)) - 1;
}

/* Safe from any number of threads and processes at once. */
static inline void histogram_add(struct histogram *histogram, uint64_t ns)
{
	__atomic_fetch_add(&histogram->count[histogram_bucket(ns)], 1, __ATOMIC_RELAXED);
}

/* The number of times in it. */
static inline uint64_t histogram_events(const struct histogram *histogram)
{
	uint64_t events = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		events += histogram->count[i];
	return events;
}

/*
 * The upper end of the bucket that `thousandths` of all times do not exceed. The
 * histogram is not empty.
 */
static inline uint64_t histogram_percentile(const struct histogram *histogram,
					    unsigned int thousandths)
{
	uint64_t events = histogram_events(histogram), seen = 0;
	unsigned int i = 0;

	while ((seen += histogram->count[i]) * 1000 < events * thousandths || !seen)
		i++;
	return histogram_end(i);
}

#endif
