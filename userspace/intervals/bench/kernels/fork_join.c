// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"

struct bench_fork_join bench_fork_join;

static int prepare(unsigned int size)
{
	memset(&bench_fork_join, 0, sizeof(bench_fork_join));
	bench_fork_join.rounds = size;
	return 0;
}

static uint64_t tasks(void)
{
	return (uint64_t)bench_fork_join.rounds * FORK_JOIN_TASKS;
}

static bool check(void)
{
	for (unsigned int i = 0; i < FORK_JOIN_TASKS; i++)
		if (bench_fork_join.done[i] != bench_fork_join.rounds)
			return false;
	return true;
}

const struct bench_kernel bench_kernel_fj = {
	.name = "fj", .size = 1000, .quick_size = 3, .warmups = 1, .repeats = 3,
	.prepare = prepare, .tasks = tasks, .check = check,
};

/* As many tasks again are the inner nodes of the spawn tree; they count as overhead. */
const struct bench_kernel bench_kernel_fj_rec = {
	.name = "fj_rec", .size = 1000, .quick_size = 3, .warmups = 1, .repeats = 3,
	.prepare = prepare, .tasks = tasks, .check = check,
};
