// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Block Matrix Multiplication of the thesis on intervals (section 5.3.3): a product is 8 products
 * of quarters, added by twos, down to 32 * 32. The outermost quarters decide the hints: 0 and 3 in
 * one place, 1 and 2 in the other.
 */
#include "kernels/kernels.h"
#include "theses.h"

enum bench_locality bench_blockmm;

unsigned int blockmm_place(unsigned int quarter)
{
	return quarter == 1 || quarter == 2;
}

unsigned int blockmm_sum_place(unsigned int place)
{
	return bench_blockmm == LOCALITY_WORST ? !place : place;
}

static int prepare(unsigned int size, enum bench_locality locality)
{
	bench_blockmm = locality;
	return matmul_prepare(size);
}

#define SIZES .size = 2048, .quick_size = 128, .check = matmul_check
KERNEL_AT(blockmm, best, LOCALITY_BEST, prepare, SIZES);
KERNEL_AT(blockmm, worst, LOCALITY_WORST, prepare, SIZES);
