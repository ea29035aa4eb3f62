// SPDX-License-Identifier: GPL-2.0
/*
 * Measures its own region of interest with the guest's clock: computes, misses the
 * caches, faults in pages, enters the kernel, sleeps, and is one of N threads that do so.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "roi.h"

#define BYTES (8u << 20)
#define LINE 128u

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static void *work(void *unused)
{
	char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct timespec nap = { .tv_nsec = 200000 };

	(void)unused;
	if (memory == MAP_FAILED)
		abort();
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < BYTES / 8; i += LINE)
			memory[i]++;
		for (int i = 0; i < 100; i++)
			getppid();
		nanosleep(&nap, NULL);
	}
	munmap(memory, BYTES);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t others[64];
	long begin, end;

	now_ns();	/* its page faults are no part of the region */
	ROI_MARK(ROI_BEGIN);
	begin = now_ns();
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, work, NULL))
			abort();
	work(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	end = now_ns();
	ROI_MARK(ROI_END);
	printf("{\"elapsed_ns\": %ld, \"cpus\": %ld, \"check\": \"ok\"}\n", end - begin,
	       sysconf(_SC_NPROCESSORS_CONF));
	return 0;
}
