// SPDX-License-Identifier: GPL-2.0
/* Symmetric sparse matrices: generated problems, and what the check needs of them. */
#include <math.h>
#include <stdlib.h>

#include "common/splash.h"
#include "matrix.h"

void matrix_alloc(struct matrix *a, uint32_t n, uint64_t entries)
{
	a->n = n;
	a->start = splash_alloc((size_t)n + 1, sizeof(*a->start));
	a->row = splash_alloc(entries, sizeof(*a->row));
	a->value = splash_alloc(entries, sizeof(*a->value));
}

/* An edge between two grid points, in the column of the smaller one. */
static void join(struct matrix *a, uint64_t *entry, uint32_t from, uint32_t to, double weight)
{
	a->row[*entry] = to;
	a->value[(*entry)++] = -weight;
	a->value[a->start[from]] += weight;
}

struct matrix matrix_grid(uint32_t side, uint64_t seed)
{
	const uint32_t steps[3] = { 1, side, side * side };
	uint64_t state = splash_random_state(seed, 0), entry = 0;
	uint32_t n = side * side * side;
	struct matrix a;

	matrix_alloc(&a, n, 4 * (uint64_t)n);
	for (uint32_t j = 0; j < n; j++) {
		const uint32_t place[3] = { j % side, j / side % side, j / side / side };

		a.start[j] = entry;
		a.row[entry++] = j;
		for (int d = 0; d < 3; d++) {
			if (place[d] + 1 < side)
				join(&a, &entry, j, j + steps[d], 0.5 + splash_random_real(&state));
			else
				a.value[a.start[j]] += 1;
			if (!place[d])
				a.value[a.start[j]] += 1;
		}
	}
	a.start[n] = entry;

	/* A neighbour's weights: known once all columns before it are. */
	for (uint32_t j = 0; j < n; j++)
		for (uint64_t e = a.start[j] + 1; e < a.start[j + 1]; e++)
			a.value[a.start[a.row[e]]] -= a.value[e];
	return a;
}

struct matrix matrix_dense(uint32_t n, uint64_t seed)
{
	uint64_t state = splash_random_state(seed, 0), entry = 0;
	struct matrix a;

	matrix_alloc(&a, n, (uint64_t)n * (n + 1) / 2);
	for (uint32_t j = 0; j < n; j++) {
		a.start[j] = entry;
		for (uint32_t i = j; i < n; i++) {
			a.row[entry] = i;
			a.value[entry++] = i == j ? n : splash_random_real(&state) - 0.5;
		}
	}
	a.start[n] = entry;
	return a;
}

void matrix_multiply(const struct matrix *a, const double *x, double *y)
{
	for (uint32_t j = 0; j < a->n; j++)
		y[j] = 0;
	for (uint32_t j = 0; j < a->n; j++)
		for (uint64_t e = a->start[j]; e < a->start[j + 1]; e++) {
			uint32_t i = a->row[e];

			y[i] += a->value[e] * x[j];
			if (i != j)
				y[j] += a->value[e] * x[i];
		}
}

double matrix_norm(const struct matrix *a)
{
	double *sum = splash_alloc(a->n, sizeof(*sum)), norm = 0;

	for (uint32_t j = 0; j < a->n; j++)
		for (uint64_t e = a->start[j]; e < a->start[j + 1]; e++) {
			sum[j] += fabs(a->value[e]);
			if (a->row[e] != j)
				sum[a->row[e]] += fabs(a->value[e]);
		}
	for (uint32_t j = 0; j < a->n; j++)
		norm = fmax(norm, sum[j]);
	free(sum);
	return norm;
}
