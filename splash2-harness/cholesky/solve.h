/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHOLESKY_SOLVE_H
#define CHOLESKY_SOLVE_H

#include "symbolic.h"

/*
 * Solves A x = b with the factor, for a random b, and returns
 * |A x - b| / (|A| |x| + |b|), all of them largest row sums.
 */
double solve_residual(const struct matrix *a, const struct factor *f, uint64_t seed);

/* The logarithm of A's determinant: the same for every order of elimination. */
double solve_log_determinant(const struct factor *f);

#endif
