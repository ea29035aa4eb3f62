// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"
#include "theses/square.h"

struct bench_matmul bench_matmul;

void matmul_leaf(const double *restrict a, const double *restrict b, double *restrict c, size_t n)
{
	for (size_t i = 0; i < MATMUL_LEAF; i++) {
		for (size_t k = 0; k < MATMUL_LEAF; k++) {
			double factor = a[i * n + k];

			for (size_t j = 0; j < MATMUL_LEAF; j++)
				c[i * n + j] += factor * b[k * n + j];
		}
	}
}

static bool allocate(size_t n)
{
	struct bench_matmul *m = &bench_matmul;

	if (m->n == n)
		return true;
	m->n = n;
	m->a = square_alloc(n, sizeof(double));
	m->b = square_alloc(n, sizeof(double));
	m->c = square_alloc(n, sizeof(double));
	if (!m->a || !m->b || !m->c)
		return false;
	for (size_t i = 0; i < n * n; i++) {
		m->a[i] = (double)(i * 7 % 17) - 8;
		m->b[i] = (double)(i * 11 % 19) - 9;
	}
	return true;
}

/* The side is a power of two times the leaf's, so that halves are squares of whole leaves. */
int matmul_prepare(unsigned int size)
{
	size_t leaves = size / MATMUL_LEAF;

	if (!size || size % MATMUL_LEAF || leaves & (leaves - 1))
		return EINVAL;
	if (!allocate(size))
		return ENOMEM;
	memset(bench_matmul.c, 0, (size_t)size * size * sizeof(double));
	return 0;
}

static void times_vector(const double *matrix, const double *x, double *y)
{
	size_t n = bench_matmul.n;

	for (size_t i = 0; i < n; i++) {
		y[i] = 0;
		for (size_t j = 0; j < n; j++)
			y[i] += matrix[i * n + j] * x[j];
	}
}

/* Freivalds: c * x is a * (b * x). All numbers are small integers, so equal is equal. */
bool matmul_check(void)
{
	const struct bench_matmul *m = &bench_matmul;
	double *x = malloc(4 * m->n * sizeof(double));
	double *bx = x + m->n, *abx = bx + m->n, *cx = abx + m->n;
	bool equal;

	if (!x)
		return false;
	for (size_t i = 0; i < m->n; i++)
		x[i] = (double)(i * 2654435761U >> 16 & 15);
	times_vector(m->b, x, bx);
	times_vector(m->a, bx, abx);
	times_vector(m->c, x, cx);
	equal = !memcmp(abx, cx, m->n * sizeof(double));
	free(x);
	return equal;
}

const struct bench_kernel bench_kernel_matmul = {
	.name = "matmul", .size = 1024, .quick_size = 128, .warmups = 1, .repeats = 3,
	.prepare = matmul_prepare, .check = matmul_check,
};
