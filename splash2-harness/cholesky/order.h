/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHOLESKY_ORDER_H
#define CHOLESKY_ORDER_H

#include "matrix.h"

/*
 * Orders of elimination that keep the factor sparse. Each returns n numbers, the
 * equation that comes first, second, ...; the caller frees them.
 */

/* As they are. */
uint32_t *order_natural(uint32_t n);

/* The equation of (nearly) the fewest neighbours next; for any matrix. */
uint32_t *order_minimum_degree(const struct matrix *a);

/* A plane through a grid's middle last, and so for both halves. */
uint32_t *order_dissection(uint32_t side);

#endif
