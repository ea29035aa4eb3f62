/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The measurements of fast-calibrate. Each function makes one measurement and returns it; the
 * caller repeats them. Not thread-safe: one measurement at a time.
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
 * A constant time is measured in short batches, and the fastest counts: other programs on the
 * CPUs or in the caches can only make a batch slower.
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

/* Confine the calling thread to this CPU. Exits with a message if the kernel refuses. */
void pin(int cpu);

/* MHz, by a chain of additions, each of which takes one cycle. */
double measure_frequency(void);

/* Cycles per instruction of the microbenchmarks' think loop (microbench/common/think.h). */
double measure_cpi(double mhz);

/*
 * Nanoseconds of a FUTEX_WAIT that returns at once, since the word has another value: mostly the
 * kernel's instructions.
 */
double measure_refused_wait(void);

/* Nanoseconds of a PAUSE. */
double measure_pause(void);

/* Memory whose lines are linked to one random cycle, which no prefetcher can follow. */
struct chase {
	size_t size;	/* bytes */
	size_t line;
	size_t lines;
	uint32_t *order;	/* the lines, as the cycle visits them */
	size_t next;		/* index of the line where the next measurement begins */
	char *base;
};

#define MAX_CHASES 16
#define MOST_TRANSFERS 16

/* Link `size` bytes, a multiple of `line`. Exits with a message without memory. */
void chase_open(struct chase *chase, size_t size, size_t line);
void chase_close(struct chase *chase);

/*
 * Nanoseconds per load with 1, 2, 4, 8 or 16 chases at a time, in which a load waits only for the
 * load before it in its own chase. A measurement begins where the last one of the set ended: even
 * of a set larger than all caches, the largest cache would hold the lines just visited.
 */
double measure_chases(struct chase *chase, unsigned int count);

/* Nanoseconds until a line that one CPU has written reaches another: half a round trip. */
double measure_transfer(int one, int other);

/*
 * Nanoseconds in which a CPU adds to `lines` lines that another has written, none of which waits
 * for another: the median of some hundreds.
 */
double measure_transfers(int one, int other, unsigned int lines);

/*
 * Nanoseconds per load of lines that the CPU has written and another has loaded since. A CPU that
 * keeps its copy has them in its own caches.
 */
double measure_reload(int one, int other);

/*
 * Nanoseconds of an interrupt to a busy CPU and its answer, by membarrier(2): the median of some
 * hundreds. 0: the kernel has no membarrier, or the other thread hardly ever ran.
 */
double measure_interrupt(int one, int other);

/*
 * Nanoseconds from the call of FUTEX_WAKE to the return of the thread that it wakes: the median
 * of some hundreds. The thread has slept for `rest_ns` before, which is 0 if both threads are on
 * the same CPU, where one cannot rest while the other waits. 0: the threads hardly ever slept.
 */
double measure_handoff(int one, int other, uint64_t rest_ns);

#endif
