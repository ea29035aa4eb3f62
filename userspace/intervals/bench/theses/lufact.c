// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Java Grande's LUFact, which is Linpack: LU factorization with partial pivoting of a matrix that
 * is stored by columns, then the solution of one system.
 */
#include <float.h>

#include "theses.h"

/* The suite's bound for its largest size; its smaller bounds fit its own matrices only. */
#define BOUND 20

struct bench_lufact bench_lufact;

static double *matrix;		/* becomes L and U */
static double *original, *right, *solution;
static size_t *pivots;

static double *column(size_t j)
{
	return matrix + j * bench_lufact.n;
}

/* Find the pivot of column k, and divide the elements below the diagonal by it. */
void lufact_pivot(size_t k)
{
	double *a = column(k);
	size_t best = k;
	double swap;

	for (size_t i = k + 1; i < bench_lufact.n; i++)
		if (fabs(a[i]) > fabs(a[best]))
			best = i;
	pivots[k] = best;
	swap = a[best];
	a[best] = a[k];
	a[k] = swap;
	for (size_t i = k + 1; i < bench_lufact.n; i++)
		a[i] /= swap;
}

/* Columns begin to end, minus a multiple of column k. */
void lufact_columns(size_t k, size_t begin, size_t end)
{
	const double *a = column(k);

	for (size_t j = begin; j < end; j++) {
		double *b = column(j), factor = b[pivots[k]];

		b[pivots[k]] = b[k];
		b[k] = factor;
		for (size_t i = k + 1; i < bench_lufact.n; i++)
			b[i] -= factor * a[i];
	}
}

void lufact_solve(void)
{
	size_t n = bench_lufact.n;

	for (size_t k = 0; k < n; k++) {
		double *a = column(k), value = solution[pivots[k]];

		solution[pivots[k]] = solution[k];
		solution[k] = value;
		for (size_t i = k + 1; i < n; i++)
			solution[i] -= value * a[i];
	}
	for (size_t k = n; k--; ) {
		double *a = column(k), value = solution[k] /= a[k];

		for (size_t i = 0; i < k; i++)
			solution[i] -= value * a[i];
	}
}

/*
 * Numbers as Linpack's, from -2 to 2, but not by its generator: that one repeats itself after
 * 16384, and columns 0 and 1024 of 2000 would be the same. The right side is the sum of the
 * columns: the solution is all ones.
 */
static void fill(size_t n)
{
	uint64_t state = 1325;

	memset(right, 0, n * sizeof(double));
	for (size_t i = 0; i < n * n; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		original[i] = ((double)(state >> 48) - 32768) / 16384;
		right[i % n] += original[i];
	}
}

static int prepare(unsigned int size)
{
	size_t n = size, bytes = n * n * sizeof(double);

	if (bench_lufact.n != n) {
		bench_lufact.n = n;
		matrix = square_alloc(n, sizeof(double));
		original = square_alloc(n, sizeof(double));
		right = malloc(n * sizeof(double));
		solution = malloc(n * sizeof(double));
		pivots = calloc(n, sizeof(*pivots));
		if (!matrix || !original || !right || !solution || !pivots)
			return ENOMEM;
		fill(n);
	}
	memcpy(matrix, original, bytes);
	memcpy(solution, right, n * sizeof(double));
	return 0;
}

/* Linpack's normalized residual. */
static bool check(void)
{
	size_t n = bench_lufact.n;
	double norm = 0, largest = 0, residual = 0;

	for (size_t i = 0; i < n; i++) {
		double sum = -right[i];

		for (size_t j = 0; j < n; j++) {
			sum += original[j * n + i] * solution[j];
			norm = fmax(norm, fabs(original[j * n + i]));
		}
		/* fmax() would hide a NaN. */
		if (!isfinite(sum))
			return false;
		residual = fmax(residual, fabs(sum));
		largest = fmax(largest, fabs(solution[i]));
	}
	return residual / ((double)n * norm * largest * DBL_EPSILON) <= BOUND;
}

const struct bench_kernel bench_kernel_lufact = {
	.name = "lufact", .size = 2000, .quick_size = 120, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
