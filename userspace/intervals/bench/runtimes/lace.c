// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lace: fork-join with typed tasks, which is where its speed comes from, so the
 * parallel forms are its own. It has no tasks that outlive who made them, and no
 * loops.
 */
#include <lace.h>

#include "parallel/start.h"

TASK_1(uint64_t, fib, unsigned int, n)
{
	uint64_t first, second;

	if (n < 2)
		return n;
	SPAWN(fib, n - 1);
	second = CALL(fib, n - 2);
	first = SYNC(fib);
	return first + second;
}

static void fib_run(void)
{
	bench_fib.result = RUN(fib, bench_fib.n);
}

VOID_TASK_1(fj_task, unsigned int, index)
{
	bench_fork_join.done[index]++;
}

VOID_TASK_1(fj_rounds, unsigned int, rounds)
{
	for (unsigned int round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < FORK_JOIN_TASKS; i++)
			SPAWN(fj_task, i);
		for (unsigned int i = 0; i < FORK_JOIN_TASKS; i++)
			SYNC(fj_task);
	}
}

static void fj_run(void)
{
	RUN(fj_rounds, bench_fork_join.rounds);
}

VOID_TASK_2(fj_rec_range, unsigned int, begin, unsigned int, end)
{
	unsigned int middle = begin + (end - begin) / 2;

	if (end - begin == 1) {
		bench_fork_join.done[begin]++;
		return;
	}
	SPAWN(fj_rec_range, begin, middle);
	CALL(fj_rec_range, middle, end);
	SYNC(fj_rec_range);
}

VOID_TASK_1(fj_rec_rounds, unsigned int, rounds)
{
	for (unsigned int round = 0; round < rounds; round++)
		CALL(fj_rec_range, 0, FORK_JOIN_TASKS);
}

static void fj_rec_run(void)
{
	RUN(fj_rec_rounds, bench_fork_join.rounds);
}

VOID_TASK_1(nqueens, struct bench_nqueens *, board)
{
	struct bench_nqueens next[NQUEENS_MAX];
	unsigned int count = 0;

	if (nqueens_full(board)) {
		board->solutions = 1;
		return;
	}
	for (uint32_t free = nqueens_free(board); free; free &= free - 1) {
		nqueens_place(board, free & -free, &next[count]);
		SPAWN(nqueens, &next[count]);
		count++;
	}
	board->placements = count;
	for (unsigned int i = 0; i < count; i++)
		SYNC(nqueens);
	for (unsigned int i = 0; i < count; i++) {
		board->solutions += next[i].solutions;
		board->placements += next[i].placements;
	}
}

static void nqueens_run(void)
{
	RUN(nqueens, &bench_nqueens);
}

/* Where the children do not fit on the stack, memory that lacks leaves them uncounted. */
#define UTS_SMALL 128

VOID_TASK_1(uts, struct bench_uts *, node)
{
	unsigned int count = uts_children(node);
	size_t bytes = count * sizeof(struct bench_uts);
	struct bench_uts *children;

	node->nodes = 1;
	if (!count)
		return;
	children = (struct bench_uts *)(count > UTS_SMALL ? malloc(bytes) : alloca(bytes));
	if (!children)
		return;
	for (unsigned int i = 0; i < count; i++) {
		uts_child(node, i, &children[i]);
		SPAWN(uts, &children[i]);
	}
	for (unsigned int i = 0; i < count; i++)
		SYNC(uts);
	for (unsigned int i = 0; i < count; i++)
		node->nodes += children[i].nodes;
	if (count > UTS_SMALL)
		free(children);
}

static void uts_run(void)
{
	RUN(uts, &bench_uts);
}

static int start(unsigned int workers)
{
	lace_set_stacksize(BENCH_STACK_BYTES);
	lace_start(workers, 0);
	return 0;
}

static void stop(void)
{
	lace_stop();
}

/* Each run enters with RUN() itself. */
static void enter(void (*run)(void))
{
	run();
}

static const struct bench_form forms[] = {
	{ "fib", fib_run }, { "fj", fj_run }, { "fj_rec", fj_rec_run },
	{ "nqueens", nqueens_run }, { "uts_t1", uts_run }, { "uts_t3", uts_run }, { 0, 0 }
};

const struct bench_runtime bench_runtime = {
	.name = "lace", .start = start, .stop = stop, .enter = enter, .forms = forms,
};
