/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHOLESKY_SYMBOLIC_H
#define CHOLESKY_SYMBOLIC_H

#include "matrix.h"

#define NO_PANEL UINT32_MAX

/* Widest panel, and so most rows of a block. */
#define MAX_BLOCK 128

/*
 * The part of a panel whose rows are columns of one panel, a dense matrix of
 * rows x width by rows; width is the panel's.
 */
struct block {
	uint32_t panel, row_panel;
	uint32_t first_row, rows;	/* in the panel's list of rows */
	double *value;
};

/*
 * Adjacent columns of a supernode: all have the same rows below them. The first
 * `width` rows are the columns themselves. Blocks are in the order of their rows:
 * the first one is the diagonal block.
 */
struct panel {
	uint32_t first, width;
	uint32_t parent;		/* panel of the first row below; NO_PANEL: there is none */
	uint32_t rows;
	const uint32_t *row;
	uint32_t first_block, blocks;
	double *value;			/* rows x width, by rows: all its blocks */
};

/* The factor's structure, and after the factorisation the factor itself. */
struct factor {
	uint32_t n, supernodes, panels, blocks;
	uint32_t *order;		/* equations in the order of elimination */
	uint32_t *panel_of;		/* column -> panel */
	struct panel *panel;
	struct block *block;
	uint32_t *row_storage;
	double *value_storage;
	uint64_t entries;		/* stored, the diagonal blocks' upper halves included */
};

/*
 * The structure of the factor of `a`, eliminated in `order`, in panels of at most
 * `width` columns, with the values of `a` in their places. Takes over `order`, and
 * changes it to an equivalent one in which supernodes are adjacent.
 */
struct factor factor_prepare(const struct matrix *a, uint32_t *order, uint32_t width);

/* The block of `panel` whose rows are columns of `row_panel`; it is there. */
uint32_t factor_find_block(const struct factor *f, uint32_t row_panel, uint32_t panel);

#endif
