// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OMP_PROC_BIND=close,spread,spread with 7 places of any CPUs: subpartitions are consecutive
 * places, and the thread that divides a partition is in the one with its own place.
 */
#include "check.h"

static void are_places(int thread, int place, int first, int count)
{
	int places[7];

	CHECK(omp_get_num_places() == 7);
	if (omp_get_thread_num() != thread)
		return;
	CHECK(omp_get_place_num() == place && omp_get_partition_num_places() == count);
	omp_get_partition_place_nums(places);
	for (int i = 0; i < count; i++)
		CHECK(places[i] == first + i);
}

int main(void)
{
	if (!omp_get_num_places()) {
		puts("CPU 0 is none of this process: skipped");
		return 77;
	}
	omp_set_max_active_levels(3);
#pragma omp parallel num_threads(7)
	{
		are_places(5, 5, 0, 7);
		if (omp_get_thread_num() == 5) {
#pragma omp parallel num_threads(2)
			{
				are_places(0, 5, 4, 3);
				are_places(1, 0, 0, 4);
				if (omp_get_thread_num() == 0) {
#pragma omp parallel num_threads(3)
					{
						are_places(0, 5, 5, 1);
						are_places(1, 6, 6, 1);
						are_places(2, 4, 4, 1);
					}
				}
			}
		}
	}
	return 0;
}
