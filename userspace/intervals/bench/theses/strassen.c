// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Strassen's product (BOTS): seven products of sums of quarters, instead of eight of quarters, down
 * to squares of STRASSEN_LEAF. The matrices are matmul's, of small integers, so all sums are exact.
 */
#include "kernels/kernels.h"
#include "theses.h"

/* Of the quarters 00, 01, 10 and 11. */
static const struct {
	signed char a[4], b[4];	/* the factors of a product */
	signed char c[4];	/* its part in the result */
} products[STRASSEN_PRODUCTS] = {
	{ { 1, 0, 0, 1 }, { 1, 0, 0, 1 }, { 1, 0, 0, 1 } },
	{ { 0, 0, 1, 1 }, { 1, 0, 0, 0 }, { 0, 0, 1, -1 } },
	{ { 1, 0, 0, 0 }, { 0, 1, 0, -1 }, { 0, 1, 0, 1 } },
	{ { 0, 0, 0, 1 }, { -1, 0, 1, 0 }, { 1, 0, 1, 0 } },
	{ { 1, 1, 0, 0 }, { 0, 0, 0, 1 }, { -1, 1, 0, 0 } },
	{ { -1, 0, 1, 0 }, { 1, 1, 0, 0 }, { 0, 0, 0, 1 } },
	{ { 0, 1, 0, -1 }, { 0, 0, 1, 1 }, { 1, 0, 0, 0 } },
};

/* to += sign * from */
static void add(size_t size, struct bench_square to, int sign, struct bench_square from)
{
	for (size_t i = 0; i < size; i++)
		for (size_t j = 0; j < size; j++)
			to.at[i * to.stride + j] += sign * from.at[i * from.stride + j];
}

static void clear(size_t size, struct bench_square square)
{
	for (size_t i = 0; i < size; i++)
		for (size_t j = 0; j < size; j++)
			square.at[i * square.stride + j] = 0;
}

static void sum(size_t size, struct bench_square to, struct bench_square whole,
		const signed char signs[4])
{
	clear(size, to);
	for (unsigned int i = 0; i < 4; i++)
		if (signs[i])
			add(size, to, signs[i], square_part(whole, size, i / 2, i % 2));
}

void strassen_factors(unsigned int product, size_t half, struct bench_square a,
		      struct bench_square b, struct bench_square left, struct bench_square right)
{
	sum(half, left, a, products[product].a);
	sum(half, right, b, products[product].b);
}

void strassen_result(size_t half, struct bench_square c, const struct bench_square *of)
{
	clear(2 * half, c);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int p = 0; p < STRASSEN_PRODUCTS; p++)
			if (products[p].c[i])
				add(half, square_part(c, half, i / 2, i % 2), products[p].c[i],
				    of[p]);
}

size_t strassen_halves(unsigned int product, size_t half, struct bench_square a,
		       struct bench_square b, const void *halves[STRASSEN_HALVES])
{
	size_t count = 0;

	for (unsigned int i = 0; i < 4; i++) {
		if (products[product].a[i])
			halves[count++] = square_part(a, half, i / 2, 0).at;
		if (products[product].b[i])
			halves[count++] = square_part(b, half, i / 2, 0).at;
	}
	return count;
}

/* The halves of all rows, on two NUMA nodes (NUMA thesis, chapter 5). */
static int prepare_spread(unsigned int size, enum bench_locality locality)
{
	int error = size < 2 * STRASSEN_LEAF ? EINVAL : matmul_prepare(size);
	size_t half = (size_t)size * size / 2;

	bench_spread = locality;
	for (unsigned int node = 0; !error && node < 2; node++) {
		spread_move(bench_matmul.a + node * half, half * sizeof(double), node);
		spread_move(bench_matmul.b + node * half, half * sizeof(double), node);
		spread_move(bench_matmul.c + node * half, half * sizeof(double), node);
	}
	return error;
}

#define SIZES .size = 2048, .quick_size = 256, .check = matmul_check
KERNEL_AT(strassen, best, LOCALITY_BEST, prepare_spread, SIZES);
KERNEL_AT(strassen, ignorant, LOCALITY_IGNORANT, prepare_spread, SIZES);

const struct bench_kernel bench_kernel_strassen = {
	.name = "strassen", .repeats = 3, .prepare = matmul_prepare, SIZES,
};
