// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory for a few stacks only, whose tasks all wait for a task without a stack: the program ends
 * and says why.
 */
#include <sys/resource.h>

#include "check.h"

/* With OMP_STACKSIZE=256M: of an address space that grows no further. */
static void limit(void)
{
	const struct rlimit limit = { .rlim_cur = 2ul << 30, .rlim_max = 2ul << 30 };

	CHECK(!setrlimit(RLIMIT_AS, &limit));
}

/*
 * Waits for the next one, which is not the last that its thread has created: one with a dependence
 * is queued in any case.
 */
static void chain(int depth)
{
	if (!depth)
		return;
#pragma omp task
	chain(depth - 1);
#pragma omp task if (0)
	{
#pragma omp task depend(out : depth)
		(void)omp_get_thread_num();
	}
#pragma omp taskwait
}

int main(void)
{
#pragma omp parallel num_threads(1)
	{
		limit();
#pragma omp task
		chain(100);
	}
	return 0;
}
