// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lace: fork-join with typed tasks, so the parallel forms are its own. No task outlives its
 * creator. It has no edges between tasks, loops or reductions: loops are halved by hand here.
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

/* Children beyond the stack's limit are on the heap; without memory they are not counted. */
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

VOID_TASK_4(matmul, const double *, a, const double *, b, double *, c, size_t, size)
{
	size_t half = size / 2, down = half * bench_matmul.n;

	if (size == MATMUL_LEAF) {
		matmul_leaf(a, b, c, bench_matmul.n);
		return;
	}
	/* The four quarters of c, each += one quarter of a times one of b. */
	for (unsigned int step = 0; step < 2; step++) {
		const double *left = a + step * half, *upper = b + step * down;

		SPAWN(matmul, left, upper, c, half);
		SPAWN(matmul, left, upper + half, c + half, half);
		SPAWN(matmul, left + down, upper, c + down, half);
		CALL(matmul, left + down, upper + half, c + down + half, half);
		for (unsigned int i = 0; i < 3; i++)
			SYNC(matmul);
	}
}

static void matmul_run(void)
{
	RUN(matmul, bench_matmul.a, bench_matmul.b, bench_matmul.c, bench_matmul.n);
}

/* The middle of the longer one, a, splits both. */
VOID_TASK_5(merge, int32_t *, to, const int32_t *, a, size_t, na, const int32_t *, b, size_t, nb)
{
	size_t first_a = na / 2, first_b;

	if (na < nb) {
		CALL(merge, to, b, nb, a, na);
		return;
	}
	if (na + nb <= SORT_LEAF) {
		sort_merge(to, a, na, b, nb);
		return;
	}
	first_b = sort_rank(b, nb, a[first_a]);
	SPAWN(merge, to, a, first_a, b, first_b);
	CALL(merge, to + first_a + first_b, a + first_a, na - first_a, b + first_b, nb - first_b);
	SYNC(merge);
}

/* The sorted values end in one of the two arrays; the halves are merged from the other. */
VOID_TASK_4(sort, int32_t *, values, int32_t *, scratch, size_t, n, bool, to_scratch)
{
	size_t half = n / 2;
	int32_t *from = to_scratch ? values : scratch, *to = to_scratch ? scratch : values;

	if (n <= SORT_LEAF) {
		sort_leaf(values, n);
		if (to_scratch)
			memcpy(scratch, values, n * sizeof(*values));
		return;
	}
	SPAWN(sort, values, scratch, half, !to_scratch);
	CALL(sort, values + half, scratch + half, n - half, !to_scratch);
	SYNC(sort);
	CALL(merge, to, from, half, from + half, n - half);
}

static void sort_run(void)
{
	RUN(sort, bench_sort.values, bench_sort.scratch, bench_sort.n, false);
}

TASK_2(double, reduce, const double *, values, size_t, count)
{
	size_t half = count / 2;
	double first, second;

	if (count <= SUMS_LEAF)
		return reduce_part(values, count);
	SPAWN(reduce, values, half);
	second = CALL(reduce, values + half, count - half);
	first = SYNC(reduce);
	return first + second;
}

static void reduce_run(void)
{
	bench_reduce.sum = RUN(reduce, bench_reduce.values, bench_reduce.n);
}

typedef void range_body(size_t begin, size_t end, void *arg);

VOID_TASK_4(range, size_t, begin, size_t, end, range_body *, body, void *, arg)
{
	size_t middle = begin + (end - begin) / 2;

	if (end - begin <= 1) {
		body(begin, end, arg);
		return;
	}
	SPAWN(range, begin, middle, body, arg);
	CALL(range, middle, end, body, arg);
	SYNC(range);
}

static void par_for(size_t begin, size_t end, range_body *body, void *arg)
{
	RUN(range, begin, end, body, arg);
}

#include "parallel/scan_blocks.h"

VOID_TASK_1(scan, const struct bench_scan *, scan)
{
	scan_by_blocks(scan->out, scan->in, scan->n, (scan->n - 1) / SUMS_LEAF + 1);
}

static void scan_run(void)
{
	RUN(scan, &bench_scan);
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
	{ "nqueens", nqueens_run }, { "uts_t1", uts_run }, { "uts_t3", uts_run },
	{ "matmul", matmul_run }, { "sort", sort_run }, { "reduce", reduce_run },
	{ "scan", scan_run }, { 0, 0 }
};

const struct bench_runtime bench_runtime = {
	.name = "lace", .start = start, .stop = stop, .enter = enter, .forms = forms,
};
