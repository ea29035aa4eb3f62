// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "kernels.h"

/* The tile of c that is kept in registers. */
#define TILE_A 4
#define TILE_B 2

static double dot(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += a[k] * b[k];
	return sum;
}

uint32_t kernel_factor(double *a, uint32_t w)
{
	for (uint32_t j = 0; j < w; j++) {
		double *row = a + (uint64_t)j * w, pivot = row[j] - dot(row, row, j);

		if (!(pivot > 0))
			return j;
		row[j] = sqrt(pivot);
		for (uint32_t i = j + 1; i < w; i++) {
			double *below = a + (uint64_t)i * w;

			below[j] = (below[j] - dot(below, row, j)) / row[j];
		}
	}
	return w;
}

void kernel_divide(double *b, uint32_t rows, const double *l, uint32_t w)
{
	for (uint32_t i = 0; i < rows; i++) {
		double *row = b + (uint64_t)i * w;

		for (uint32_t j = 0; j < w; j++) {
			const double *l_row = l + (uint64_t)j * w;

			row[j] = (row[j] - dot(row, l_row, j)) / l_row[j];
		}
	}
}

/* TILE_A x TILE_B numbers of c at once: each that is loaded is used more than once. */
static void multiply_tile(double *c, uint32_t stride, const double *a, const double *b, uint32_t w)
{
	const double *a0 = a, *a1 = a0 + w, *a2 = a1 + w, *a3 = a2 + w, *b0 = b, *b1 = b0 + w;
	double c00 = 0, c01 = 0, c10 = 0, c11 = 0, c20 = 0, c21 = 0, c30 = 0, c31 = 0;

	for (uint32_t k = 0; k < w; k++) {
		double x = b0[k], y = b1[k];

		c00 += a0[k] * x;
		c01 += a0[k] * y;
		c10 += a1[k] * x;
		c11 += a1[k] * y;
		c20 += a2[k] * x;
		c21 += a2[k] * y;
		c30 += a3[k] * x;
		c31 += a3[k] * y;
	}
	c[0] = c00;
	c[1] = c01;
	c[stride] = c10;
	c[stride + 1] = c11;
	c[2 * stride] = c20;
	c[2 * stride + 1] = c21;
	c[3 * stride] = c30;
	c[3 * stride + 1] = c31;
}

void kernel_multiply(double *c, const double *a, uint32_t rows_a, const double *b,
		     uint32_t rows_b, uint32_t w)
{
	uint32_t whole_a = rows_a - rows_a % TILE_A, whole_b = rows_b - rows_b % TILE_B;

	for (uint32_t i = 0; i < whole_a; i += TILE_A)
		for (uint32_t j = 0; j < whole_b; j += TILE_B)
			multiply_tile(c + (uint64_t)i * rows_b + j, rows_b, a + (uint64_t)i * w,
				      b + (uint64_t)j * w, w);
	/* What the tiles leave: the last columns of all rows, and the last rows. */
	for (uint32_t i = 0; i < rows_a; i++)
		for (uint32_t j = i < whole_a ? whole_b : 0; j < rows_b; j++)
			c[(uint64_t)i * rows_b + j] = dot(a + (uint64_t)i * w,
							  b + (uint64_t)j * w, w);
}
