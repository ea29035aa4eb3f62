// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads, on a CPU each, which count by themselves: in counters that share a line of the
 * caches, or, built with -DPADDED, in lines of their own.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "roi.h"

#define LINE 256	/* at least */

#ifdef PADDED
#define ALIGNED __attribute__((aligned(LINE)))
#else
#define ALIGNED
#endif

static struct {
	volatile uint64_t count ALIGNED;
} counters[2] __attribute__((aligned(LINE)));

static pthread_barrier_t barrier;

static void *count(void *number)
{
	intptr_t n = (intptr_t)number;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(n, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		abort();
	pthread_barrier_wait(&barrier);
	if (!n)
		ROI_MARK(ROI_BEGIN);
	for (int i = 0; i < 300000; i++)
		counters[n].count++;
	pthread_barrier_wait(&barrier);
	if (!n)
		ROI_MARK(ROI_END);
	return NULL;
}

int main(void)
{
	pthread_t other;

	if (pthread_barrier_init(&barrier, NULL, 2) ||
	    pthread_create(&other, NULL, count, (void *)1))
		return 1;
	count(NULL);
	printf("{}\n");
	return pthread_join(other, NULL);
}
