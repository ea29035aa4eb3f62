// SPDX-License-Identifier: GPL-2.0
/* How many threads OpenMP starts, and on which CPUs they are. Its region is that of interest. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

#include "roi.h"

#define ROUNDS 20000

int main(void)
{
	unsigned long long ran = 0;
	int threads = 0;

	roi_warmup();
	roi_begin();
#pragma omp parallel reduction(| : ran)
	{
#pragma omp single
		threads = omp_get_num_threads();
		for (int i = 0; i < ROUNDS; i++)
			ran |= 1ULL << sched_getcpu();
	}
	roi_end();
	printf("{\"threads\":%d,\"told\":%d,\"ran\":%llu}\n", threads, omp_get_num_procs(), ran);
	return 0;
}
