// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * LU decomposition without pivoting, by quarters down to squares of LU_LEAF (SLAW's, from JCilk).
 * The matrix is dominated by its diagonal, so that none is needed.
 */
#include "theses.h"

struct bench_lu bench_lu;

static double *original;

static bool allocate(size_t n)
{
	bench_lu.n = n;
	bench_lu.a = square_alloc(n, sizeof(double));
	original = square_alloc(n, sizeof(double));
	if (!bench_lu.a || !original)
		return false;
	for (size_t i = 0; i < n * n; i++)
		original[i] = (double)(i * 2654435761U >> 16 & 0xffff) / 65536 - 0.5;
	for (size_t i = 0; i < n; i++)
		original[i * n + i] += (double)n;
	return true;
}

/* A power of two times a leaf, so that halves are whole leaves. */
static int prepare(unsigned int size)
{
	size_t leaves = size / LU_LEAF;

	if (size % LU_LEAF || !leaves || leaves & (leaves - 1))
		return EINVAL;
	if (bench_lu.n != size && !allocate(size))
		return ENOMEM;
	memcpy(bench_lu.a, original, (size_t)size * size * sizeof(double));
	return 0;
}

bool lu_right(size_t n, const double *decomposed, const double *whole)
{
	double *x = calloc(2 * n, sizeof(double)), *ux = x + n;
	bool right = x;

	for (size_t i = 0; i < n && right; i++)
		x[i] = (double)(i * 2654435761U >> 16 & 15) - 8;
	for (size_t i = 0; i < n && right; i++)
		for (size_t j = i; j < n; j++)
			ux[i] += decomposed[i * n + j] * x[j];
	for (size_t i = 0; i < n && right; i++) {
		double sum = ux[i];

		for (size_t j = 0; j < i; j++)
			sum += decomposed[i * n + j] * ux[j];
		for (size_t j = 0; j < n; j++)
			sum -= whole[i * n + j] * x[j];
		right = fabs(sum) < 1e-12 * (double)n * (double)n;
	}
	free(x);
	return right;
}

static bool check(void)
{
	return lu_right(bench_lu.n, bench_lu.a, original);
}

const struct bench_kernel bench_kernel_lu = {
	.name = "lu", .size = 2048, .quick_size = 256, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
