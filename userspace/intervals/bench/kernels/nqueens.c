// SPDX-License-Identifier: LGPL-2.1-or-later

#include "kernels.h"

unsigned int bench_nqueens_n;
struct bench_nqueens bench_nqueens;

static uint32_t all_columns(void)
{
	return (1U << bench_nqueens_n) - 1;
}

uint32_t nqueens_free(const struct bench_nqueens *board)
{
	return all_columns() & ~(board->columns | board->left | board->right);
}

bool nqueens_full(const struct bench_nqueens *board)
{
	return board->columns == all_columns();
}

void nqueens_place(const struct bench_nqueens *board, uint32_t column, struct bench_nqueens *next)
{
	next->columns = board->columns | column;
	next->left = (board->left | column) << 1;
	next->right = (board->right | column) >> 1;
	next->solutions = 0;
	next->placements = 0;
}

static int prepare(unsigned int size)
{
	if (size < 1 || size > NQUEENS_MAX)
		return EINVAL;
	bench_nqueens_n = size;
	bench_nqueens = (struct bench_nqueens){ 0 };
	return 0;
}

static uint64_t tasks(void)
{
	return bench_nqueens.placements;
}

static bool check(void)
{
	/* OEIS A000170. */
	static const uint32_t solutions[NQUEENS_MAX + 1] = {
		1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184,
		14772512,
	};

	return bench_nqueens.solutions == solutions[bench_nqueens_n];
}

const struct bench_kernel bench_kernel_nqueens = {
	.name = "nqueens", .size = 12, .quick_size = 6, .warmups = 1, .repeats = 3,
	.prepare = prepare, .tasks = tasks, .check = check,
};
