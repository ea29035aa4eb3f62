// SPDX-License-Identifier: GPL-2.0
/*
 * LU (lu.c) on a matrix as C has it, row by row: the rows of a block are n elements
 * apart, and fall into few sets of a cache when n is a power of two.
 */
#include "lu.h"

static struct lu_shape shape;
static double *matrix;

void lu_allocate(const struct lu_shape *s)
{
	shape = *s;
	matrix = splash_alloc(s->n, s->n * sizeof(*matrix));
}

struct lu_block lu_block(size_t row, size_t column)
{
	return (struct lu_block){ matrix + row * shape.b * shape.n + column * shape.b, shape.n };
}

const struct splash_program program = {
	.name = "lu_noncontiguous",
	.about = "Blocked dense LU factorisation of a matrix that is stored row by row. " LU_ABOUT,
	.numbers = lu_numbers,
	.words = lu_words,
	.setup = lu_setup,
	.work = lu_work,
	.check = lu_check,
	.result = lu_result,
};
