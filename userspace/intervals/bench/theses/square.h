/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Squares of memory, and small ones inside of matrices, which several programs divide theirs by. */
#ifndef BENCH_SQUARE_H
#define BENCH_SQUARE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Its rows are `stride` apart. */
struct bench_square {
	double *at;
	size_t stride;
};

/* The part at this row and column of parts, of `size` rows and columns each. */
static inline struct bench_square square_part(struct bench_square whole, size_t size,
					      unsigned int row, unsigned int column)
{
	whole.at += (row * whole.stride + column) * size;
	return whole;
}

/* c = a * b */
void square_multiply(size_t size, struct bench_square c, struct bench_square a,
		     struct bench_square b);
/* c += a */
void square_add(size_t size, struct bench_square c, struct bench_square a);
/* c -= a * b */
void square_update(size_t size, struct bench_square c, struct bench_square a,
		   struct bench_square b);
/* a becomes L, whose diagonal is 1, and U. */
void square_decompose(size_t size, struct bench_square a);
/* a = L^-1 a, where `lower` has L. */
void square_lower(size_t size, struct bench_square lower, struct bench_square a);
/* a = a U^-1, where `upper` has U. */
void square_upper(size_t size, struct bench_square upper, struct bench_square a);
/* `size` rows of `size` elements of `bytes` bytes; NULL: no memory. */
void *square_alloc(size_t size, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
