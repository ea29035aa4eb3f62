// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * More threads than CPUs: a spinning thread must soon yield to the thread it waits for, however
 * long it may spin on a CPU of its own.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"
#include "one_cpu.h"

enum { THREADS = 4, TIMES = 200, SKIPPED = 77 };

static void begin_on_one_cpu(char *program)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	stay_on_one_cpu();
	if (sched_setscheduler(0, SCHED_FIFO, &lowest)) {
		perror("skipped: no real-time scheduling here");
		exit(SKIPPED);
	}
	CHECK(!setenv("GOMP_SPINCOUNT", "infinite", 1));
	begin_again(program);
}

int main(int argc, char **argv)
{
	atomic_int passed = 0;

	if (argc == 1)
		begin_on_one_cpu(argv[0]);
	alarm(60);
	for (int i = 0; i < TIMES; i++) {
#pragma omp parallel num_threads(THREADS)
		{
			atomic_fetch_add(&passed, 1);
#pragma omp barrier
			CHECK(atomic_load(&passed) == THREADS * (i + 1));
		}
	}
	return 0;
}
