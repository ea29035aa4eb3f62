// SPDX-License-Identifier: LGPL-2.1-or-later
/* A process that has had regions, and waits, takes less than 0.05 % of a CPU. */
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

#define SETTLE_S 1
#define IDLE_S 4
#define US_PER_S 1000000
#define MOST_US (IDLE_S * US_PER_S / 2000)

static long used_us(void)
{
	struct rusage used;

	CHECK(!getrusage(RUSAGE_SELF, &used));
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * US_PER_S +
		used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

int main(void)
{
	int sum = 0;
	long used;

	/* Threads of two levels, and tasks. */
	omp_set_max_active_levels(2);
	for (int i = 0; i < 100; i++)
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(2)
#pragma omp task shared(sum)
#pragma omp atomic
		sum++;
	CHECK(sum == 800);
	sleep(SETTLE_S);
	used = used_us();
	sleep(IDLE_S);
	used = used_us() - used;
	printf("%ld us of CPU time in %d s\n", used, IDLE_S);
	CHECK(used < MOST_US);
	return EXIT_SUCCESS;
}
