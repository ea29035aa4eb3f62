/* SPDX-License-Identifier: LGPL-2.1-or-later */
static void nqueens_task(void *arg);

static void nqueens_next_row(struct bench_nqueens *board)
{
	struct bench_nqueens next[NQUEENS_MAX];
	struct par_task tasks[NQUEENS_MAX];
	unsigned int count = 0;
	PAR_SCOPE(scope);

	for (uint32_t free = nqueens_free(board); free; free &= free - 1) {
		nqueens_place(board, free & -free, &next[count]);
		par_spawn(&scope, &tasks[count], nqueens_task, &next[count]);
		count++;
	}
	par_sync(&scope);
	board->placements = count;
	for (unsigned int i = 0; i < count; i++) {
		board->solutions += next[i].solutions;
		board->placements += next[i].placements;
	}
}

static void nqueens_task(void *arg)
{
	struct bench_nqueens *board = (struct bench_nqueens *)arg;

	if (nqueens_full(board))
		board->solutions = 1;
	else
		nqueens_next_row(board);
}

static void nqueens_run(void)
{
	nqueens_task(&bench_nqueens);
}
