/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lu_contiguous and lu_noncontiguous share: all but the place of a block in
 * memory, which is each program's own.
 */
#ifndef LU_H
#define LU_H

#include "common/splash.h"

/* A square part of the matrix; a block of the last row or column may be smaller. */
struct lu_block {
	double *at;	/* its first element; rows follow at `stride` doubles */
	size_t stride;
};

/* The matrix is n x n elements, and blocks x blocks blocks of b x b elements. */
struct lu_shape {
	size_t n, b, blocks;
	unsigned int threads;
};

/* The program supplies: memory for all blocks, and where one of them is. */
void lu_allocate(const struct lu_shape *shape);
struct lu_block lu_block(size_t row, size_t column);

/* The thread that writes the block. */
unsigned int lu_owner(size_t row, size_t column);

extern const struct splash_number lu_numbers[];
extern const struct splash_word lu_words[];

#define LU_ABOUT \
	"The threads form a grid, as square as their number allows, that repeats over the blocks: " \
	"any number of threads whose grid has no more rows than the matrix has rows of blocks. " \
	"The paper's size: -n2048 -b16."

void lu_setup(const struct splash_options *opt);
void lu_work(struct splash_worker *w);
void lu_check(const struct splash_options *opt, struct verdict *verdict);
double lu_result(void);

#endif
