// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks that every thread took part the right number of times, one at a time under a lock. */
#include "bench.h"
#include "sync.h"

struct bench_sync bench_sync;

static int prepare(unsigned int size)
{
	unsigned int threads = bench_sync.threads;

	memset(&bench_sync, 0, sizeof(bench_sync));
	bench_sync.size = size;
	bench_sync.threads = threads;
	return 0;
}

static uint64_t times(void)
{
	return bench_sync.size;
}

static bool check_each(void)
{
	for (unsigned int i = 0; i < bench_sync.threads; i++)
		if (bench_sync.own[i].count != bench_sync.size)
			return false;
	return bench_sync.threads;
}

static bool check_shared(void)
{
	return bench_sync.shared == bench_sync.size;
}

static bool check_reduction(void)
{
	return bench_sync.threads &&
	       bench_sync.shared == (uint64_t)bench_sync.size * bench_sync.threads;
}

#define KERNEL(what, checks) \
	const struct bench_kernel bench_kernel_##what = { \
		.name = #what, .size = 10000, .quick_size = 100, .warmups = 1, .repeats = 3, \
		.prepare = prepare, .tasks = times, .check = checks, \
	}

KERNEL(sync_parallel, check_each);
KERNEL(sync_barrier, check_each);
KERNEL(sync_lock, check_shared);
KERNEL(sync_reduction, check_reduction);
KERNEL(spin_near, check_shared);
KERNEL(spin_apart, check_shared);
