// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * SparseLU (BOTS): LU decomposition of a matrix of blocks, most of which are absent. Where a product
 * falls on an absent block, one is made. BOTS says which blocks exist; the elements are our own,
 * and the diagonal dominates.
 */
#include "theses.h"

struct bench_sparselu bench_sparselu;

static double **original;	/* block by block, as bench_sparselu.blocks */

static double *new_block(void)
{
	return calloc(1, SPARSELU_BYTES);
}

static struct bench_square block(size_t i, size_t j)
{
	return (struct bench_square){ sparselu_block(i, j), SPARSELU_BLOCK };
}

double *sparselu_block(size_t i, size_t j)
{
	return bench_sparselu.blocks[i * bench_sparselu.n + j];
}

void sparselu_decompose(size_t k)
{
	square_decompose(SPARSELU_BLOCK, block(k, k));
}

void sparselu_lower(size_t k, size_t j)
{
	square_lower(SPARSELU_BLOCK, block(k, k), block(k, j));
}

void sparselu_upper(size_t k, size_t i)
{
	square_upper(SPARSELU_BLOCK, block(k, k), block(i, k));
}

void sparselu_update(size_t k, size_t i, size_t j)
{
	double **at = &bench_sparselu.blocks[i * bench_sparselu.n + j];

	if (!*at)
		*at = new_block();
	/* Without memory the product is missing, and the check fails. */
	if (*at)
		square_update(SPARSELU_BLOCK, block(i, j), block(i, k), block(k, j));
}

/* Diagonals and their neighbours; of the even ones, in each half, one row or column of 3. */
static bool is_there(size_t i, size_t j)
{
	if (i == j || i + 1 == j || j + 1 == i)
		return true;
	return i % 2 == 0 && j % 2 == 0 && (i < j ? i : j) % 3 == 0;
}

static double element(size_t row, size_t column)
{
	double size = (double)(bench_sparselu.n * SPARSELU_BLOCK);

	if (row == column)
		return size;
	return (double)((row * 40503 + column * 2654435761U) >> 8 & 0xffff) / 65536 - 0.5;
}

static double *make_block(size_t i, size_t j)
{
	double *made = new_block();

	for (size_t k = 0; made && k < SPARSELU_BLOCK * SPARSELU_BLOCK; k++)
		made[k] = element(i * SPARSELU_BLOCK + k / SPARSELU_BLOCK,
				  j * SPARSELU_BLOCK + k % SPARSELU_BLOCK);
	return made;
}

static bool allocate(size_t n)
{
	bench_sparselu.n = n;
	bench_sparselu.blocks = calloc(n * n, sizeof(*bench_sparselu.blocks));
	original = calloc(n * n, sizeof(*original));
	if (!bench_sparselu.blocks || !original)
		return false;
	for (size_t b = 0; b < n * n; b++) {
		if (!is_there(b / n, b % n))
			continue;
		original[b] = make_block(b / n, b % n);
		if (!original[b])
			return false;
	}
	return true;
}

static int prepare(unsigned int size)
{
	if (bench_sparselu.n != size && !allocate(size))
		return ENOMEM;
	for (size_t b = 0; b < (size_t)size * size; b++) {
		free(bench_sparselu.blocks[b]);
		bench_sparselu.blocks[b] = NULL;
		if (!original[b])
			continue;
		bench_sparselu.blocks[b] = make_block(b / size, b % size);
		if (!bench_sparselu.blocks[b])
			return ENOMEM;
	}
	return 0;
}

/* Every other row of blocks is on another NUMA node (NUMA thesis, chapter 5). */
static int prepare_spread(unsigned int size, enum bench_locality locality)
{
	int error = prepare(size);

	bench_spread = locality;
	for (unsigned int b = 0; !error && b < size * size; b++)
		if (bench_sparselu.blocks[b])
			spread_move(bench_sparselu.blocks[b], SPARSELU_BYTES, b / size % 2);
	return error;
}

/* All blocks as one matrix; NULL: no memory. */
static double *whole(double *const *blocks)
{
	size_t n = bench_sparselu.n, rows = n * SPARSELU_BLOCK;
	double *matrix = calloc(rows * rows, sizeof(double));

	for (size_t b = 0; matrix && b < n * n; b++)
		for (size_t i = 0; blocks[b] && i < SPARSELU_BLOCK; i++)
			memcpy(matrix + (b / n * SPARSELU_BLOCK + i) * rows + b % n * SPARSELU_BLOCK,
			       blocks[b] + i * SPARSELU_BLOCK, SPARSELU_BLOCK * sizeof(double));
	return matrix;
}

static bool check(void)
{
	double *decomposed = whole(bench_sparselu.blocks), *before = whole(original);
	bool right = decomposed && before &&
		     lu_right(bench_sparselu.n * SPARSELU_BLOCK, decomposed, before);

	free(decomposed);
	free(before);
	return right;
}

#define SIZES .size = 50, .quick_size = 5, .check = check
#define KERNEL(form) \
	const struct bench_kernel bench_kernel_sparselu_##form = { \
		.name = "sparselu_" #form, .repeats = 3, .prepare = prepare, SIZES, \
	}

KERNEL(single);
KERNEL(for);
KERNEL_AT(sparselu, best, LOCALITY_BEST, prepare_spread, SIZES);
KERNEL_AT(sparselu, ignorant, LOCALITY_IGNORANT, prepare_spread, SIZES);
