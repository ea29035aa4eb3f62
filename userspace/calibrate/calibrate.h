/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fast-calibrate measures of the machine that it runs on. Every function makes one
 * measurement and returns it; the caller repeats them. Not thread-safe: one measurement at a time.
 */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * What takes its time whoever looks is measured in short batches, and the fastest counts: whoever
 * else is on the CPUs, or in the caches, can only make one slower.
 */
#define BATCHES 15

static inline double least(const double ns[BATCHES])
{
	double found = ns[0];

	for (unsigned int i = 1; i < BATCHES; i++)
		if (ns[i] < found)
			found = ns[i];
	return found;
}

/* Let the calling thread run on this CPU only. Exits with a message where that is refused. */
void pin(int cpu);

/* MHz, by a chain of additions, each of which takes one cycle. */
double measure_frequency(void);

/* Cycles an instruction in the loop in which microbenchmarks think (microbench/common/think.h). */
double measure_cpi(double mhz);

/*
 * Nanoseconds of a FUTEX_WAIT that returns at once, since the word is not what it is to be: the
 * kernel's instructions, and little else.
 */
double measure_refused_wait(void);

/* Nanoseconds of a PAUSE. */
double measure_pause(void);

/* Memory whose lines are linked to one random cycle: no prefetcher knows the next. */
struct chase {
	size_t size;	/* bytes */
	size_t line;
	size_t lines;
	uint32_t *order;	/* the lines, as the cycle visits them */
	size_t next;		/* of them, where the next measurement begins */
	char *base;
};

#define MAX_CHASES 16

/* Link `size` bytes, a multiple of `line`. Exits with a message when there is no memory. */
void chase_open(struct chase *chase, size_t size, size_t line);
void chase_close(struct chase *chase);

/*
 * Nanoseconds a load when 1, 2, 4, 8 or 16 chases go on side by side, each load waiting only for
 * the one before it in its own chase. A measurement goes on where the last one of the set has ended:
 * of memory, even the largest cache would hold what was visited just before.
 */
double measure_chases(struct chase *chase, unsigned int count);

/* Nanoseconds in which a line that one CPU has written reaches another: half a round trip. */
double measure_transfer(int one, int other);

/*
 * Nanoseconds in which an interrupt reaches a CPU that is busy and its answer comes back, by
 * membarrier(2), the median of some hundreds. 0: there is no membarrier here, or the other thread
 * hardly ever ran.
 */
double measure_interrupt(int one, int other);

/*
 * Nanoseconds from the call of FUTEX_WAKE to the return of the thread that it wakes, the median
 * of some hundreds, each of which has slept for `rest_ns` before. The CPUs may be one and the same;
 * nobody can sleep there while the other waits, so `rest_ns` is 0 then. 0: they hardly ever slept.
 */
double measure_handoff(int one, int other, uint64_t rest_ns);

#endif
