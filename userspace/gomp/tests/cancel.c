// SPDX-License-Identifier: LGPL-2.1-or-later
/* Cancellation, which OMP_CANCELLATION allows. */
#include <stdatomic.h>

#include "check.h"

static void regions(void)
{
	atomic_int passed = 0;

	CHECK(omp_get_cancellation());
#pragma omp parallel
	{
		if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
			atomic_fetch_add(&passed, 1);
		}
#pragma omp barrier
		atomic_fetch_add(&passed, 1);
	}
	CHECK(atomic_load(&passed) == 0);
}

static void loops(void)
{
	atomic_int ran = 0;

#pragma omp parallel
#pragma omp for schedule(dynamic)
	for (int i = 0; i < 1000000; i++) {
		atomic_fetch_add(&ran, 1);
		if (i == 10) {
#pragma omp cancel for
		}
#pragma omp cancellation point for
	}
	CHECK(atomic_load(&ran) > 0 && atomic_load(&ran) < 1000000);
}

static void groups(void)
{
	atomic_int ran = 0;

#pragma omp parallel
#pragma omp single
	{
#pragma omp taskgroup
		{
#pragma omp task if (0)
			{
#pragma omp cancel taskgroup
				atomic_fetch_add(&ran, 1);
			}
			for (int i = 0; i < 100; i++) {
#pragma omp task
				atomic_fetch_add(&ran, 1);
			}
		}
#pragma omp task
		atomic_fetch_add(&ran, 1000);
	}
	CHECK(atomic_load(&ran) == 1000);
}

int main(void)
{
	regions();
	loops();
	groups();
	return 0;
}
