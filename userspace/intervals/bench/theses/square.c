// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "square.h"

/* to += factor * from; they are not the same row. */
static void add_row(size_t size, double *restrict to, double factor, const double *restrict from)
{
	for (size_t j = 0; j < size; j++)
		to[j] += factor * from[j];
}

static double *row(struct bench_square square, size_t i)
{
	return square.at + i * square.stride;
}

void square_multiply(size_t size, struct bench_square c, struct bench_square a,
		     struct bench_square b)
{
	for (size_t i = 0; i < size; i++) {
		for (size_t j = 0; j < size; j++)
			row(c, i)[j] = 0;
		for (size_t k = 0; k < size; k++)
			add_row(size, row(c, i), row(a, i)[k], row(b, k));
	}
}

void square_add(size_t size, struct bench_square c, struct bench_square a)
{
	for (size_t i = 0; i < size; i++)
		add_row(size, row(c, i), 1, row(a, i));
}

void square_update(size_t size, struct bench_square c, struct bench_square a,
		   struct bench_square b)
{
	for (size_t i = 0; i < size; i++)
		for (size_t k = 0; k < size; k++)
			add_row(size, row(c, i), -row(a, i)[k], row(b, k));
}

void square_decompose(size_t size, struct bench_square a)
{
	for (size_t k = 0; k < size; k++) {
		for (size_t i = k + 1; i < size; i++) {
			row(a, i)[k] /= row(a, k)[k];
			add_row(size - k - 1, row(a, i) + k + 1, -row(a, i)[k], row(a, k) + k + 1);
		}
	}
}

void square_lower(size_t size, struct bench_square lower, struct bench_square a)
{
	for (size_t i = 1; i < size; i++)
		for (size_t k = 0; k < i; k++)
			add_row(size, row(a, i), -row(lower, i)[k], row(a, k));
}

void square_upper(size_t size, struct bench_square upper, struct bench_square a)
{
	for (size_t i = 0; i < size; i++) {
		for (size_t k = 0; k < size; k++) {
			row(a, i)[k] /= row(upper, k)[k];
			add_row(size - k - 1, row(a, i) + k + 1, -row(a, i)[k],
				row(upper, k) + k + 1);
		}
	}
}

void *square_alloc(size_t size, size_t bytes)
{
	size_t row, all;

	if (__builtin_mul_overflow(size, bytes, &row) || __builtin_mul_overflow(row, size, &all))
		return NULL;
	return malloc(all);
}
