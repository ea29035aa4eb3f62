// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * More threads than CPUs: a waiting thread yields before it sleeps, unless yields cost time slices.
 * This program's sched_yield() says what a yield costs.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "one_cpu.h"

/* PAUSE: the library's, in waits. */
enum { TIMES = 200, PAUSE = 1024 };

static atomic_int yields;
static atomic_bool slow;

int sched_yield(void)
{
	const struct timespec slice = { .tv_nsec = 1000000 };

	atomic_fetch_add(&yields, 1);
	return atomic_load(&slow) ? nanosleep(&slice, NULL) : (int)syscall(SYS_sched_yield);
}

static int yields_in(int regions)
{
	int sum = 0;

	atomic_store(&yields, 0);
	for (int i = 0; i < regions; i++) {
#pragma omp parallel reduction(+ : sum)
		sum++;
	}
	CHECK(sum == regions * omp_get_max_threads());
	return atomic_load(&yields);
}

int main(int argc, char **argv)
{
	const bool alone = omp_get_max_threads() == 1;
	int cheap, costly, later;

	if (argc == 1) {
		stay_on_one_cpu();
		begin_again(argv[0]);
	}
	cheap = yields_in(TIMES);
	atomic_store(&slow, true);
	yields_in(TIMES);
	costly = yields_in(TIMES);
	atomic_store(&slow, false);
	later = yields_in(4 * PAUSE);
	fprintf(stderr, "%d yields, %d when they cost a time slice, %d afterwards\n", cheap, costly,
		later);
	CHECK(alone == !cheap);
	CHECK(costly <= omp_get_max_threads());
	CHECK(alone == !later);
	return 0;
}
