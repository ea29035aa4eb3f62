/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHOLESKY_MATRIX_H
#define CHOLESKY_MATRIX_H

#include <stdint.h>

/*
 * A symmetric matrix: its lower triangle by columns. Column j's rows are
 * row[start[j]] .. row[start[j + 1] - 1], ascending; the first is j, the diagonal.
 */
struct matrix {
	uint32_t n;
	uint64_t *start;
	uint32_t *row;
	double *value;
};

/* The largest order: the product of two indices fits 64 bits with room to spare. */
#define MATRIX_MAX_ORDER (UINT32_C(1) << 30)

void matrix_alloc(struct matrix *a, uint32_t n, uint64_t entries);

/*
 * The Laplacian of a grid of side x side x side points, each joined to its six
 * neighbours by a weight in [0.5, 1.5); beyond the grid's faces is 0.
 */
struct matrix matrix_grid(uint32_t side, uint64_t seed);

/* No zeros: in [-0.5, 0.5), and n on the diagonal. */
struct matrix matrix_dense(uint32_t n, uint64_t seed);

/*
 * A Harwell-Boeing or Rutherford-Boeing file: RSA, ISA, or PSA, which gets values that
 * make it diagonally dominant. Anything wrong in it is refused with file and line.
 */
struct matrix matrix_read(const char *name);

/* y = A x */
void matrix_multiply(const struct matrix *a, const double *x, double *y);

/* The largest sum of a row's absolute values. */
double matrix_norm(const struct matrix *a);

#endif
