// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * More threads than CPUs, of which the environment says nothing: who waits does not look for long.
 * The CPU time of a barrier is less than that of looking once as often as with a CPU each.
 */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4, TIMES = 200, SPINS = 20000 };

static double cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* As park.h has it. */
static double look(void)
{
	volatile int word = 0;
	const double begin = cpu_time();

	for (int i = 0; i < SPINS && !word; i++)
		__builtin_ia32_pause();
	return cpu_time() - begin;
}

static double barriers(void)
{
	double begin = 0, end = 0;

#pragma omp parallel num_threads(THREADS)
	{
#pragma omp barrier
#pragma omp master
		begin = cpu_time();
		for (int i = 0; i < TIMES; i++) {
#pragma omp barrier
		}
#pragma omp master
		end = cpu_time();
	}
	return (end - begin) / TIMES;
}

static double regions(void)
{
	const double begin = cpu_time();

	for (int i = 0; i < TIMES; i++) {
#pragma omp parallel num_threads(THREADS)
		;
	}
	return (cpu_time() - begin) / TIMES;
}

/* By those that there are when it is loaded the library decides how long to look. */
static void begin_on_one_cpu(char **argv)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
	execv("/proc/self/exe", argv);
	CHECK(!"no such program");
}

int main(int argc, char **argv)
{
	double most;

	(void)argc;
	if (omp_get_num_procs() > 1)
		begin_on_one_cpu(argv);
	most = look();
	CHECK(barriers() < most);
	CHECK(regions() < most);
	return 0;
}
