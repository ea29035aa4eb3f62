// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sort with the halves of its arrays on two NUMA nodes (NUMA thesis, chapter 5). */
#include "kernels/kernels.h"
#include "theses.h"

extern const struct bench_kernel bench_kernel_sort;

static int prepare(unsigned int size, enum bench_locality locality)
{
	int error = bench_kernel_sort.prepare(size);
	size_t half = size / 2;

	bench_spread = locality;
	for (unsigned int node = 0; !error && node < 2; node++) {
		spread_move(bench_sort.values + node * half, half * sizeof(int32_t), node);
		spread_move(bench_sort.scratch + node * half, half * sizeof(int32_t), node);
	}
	return error;
}

static bool check(void)
{
	return bench_kernel_sort.check();
}

#define SIZES .size = 33554432, .quick_size = 50000, .check = check
KERNEL_AT(sort, best, LOCALITY_BEST, prepare, SIZES);
KERNEL_AT(sort, ignorant, LOCALITY_IGNORANT, prepare, SIZES);
