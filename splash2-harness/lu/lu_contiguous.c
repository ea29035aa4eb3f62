// SPDX-License-Identifier: GPL-2.0
/*
 * LU (lu.c) with each block in one piece of memory, and the blocks of a thread beside
 * each other: no line holds elements of two blocks.
 */
#include <stdlib.h>

#include "lu.h"

static struct lu_shape shape;
static double **at;	/* [row * blocks + column] */

void lu_allocate(const struct lu_shape *s)
{
	size_t count = s->blocks * s->blocks;
	double **next = splash_alloc(s->threads, sizeof(*next));
	size_t *owned = splash_alloc(s->threads, sizeof(*owned));

	shape = *s;
	at = splash_alloc(count, sizeof(*at));
	for (size_t i = 0; i < count; i++)
		owned[lu_owner(i / s->blocks, i % s->blocks)]++;
	for (unsigned int id = 0; id < s->threads; id++)
		next[id] = splash_alloc(owned[id], s->b * s->b * sizeof(double));
	for (size_t i = 0; i < count; i++) {
		unsigned int owner = lu_owner(i / s->blocks, i % s->blocks);

		at[i] = next[owner];
		next[owner] += s->b * s->b;
	}
	free(next);
	free(owned);
}

struct lu_block lu_block(size_t row, size_t column)
{
	return (struct lu_block){ at[row * shape.blocks + column], shape.b };
}

const struct splash_program program = {
	.name = "lu_contiguous",
	.about = "Blocked dense LU factorisation, each block in one piece of memory. " LU_ABOUT,
	.numbers = lu_numbers,
	.words = lu_words,
	.setup = lu_setup,
	.work = lu_work,
	.check = lu_check,
	.result = lu_result,
};
