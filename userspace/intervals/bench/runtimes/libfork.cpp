// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libfork: tasks are coroutines, so the parallel forms are its own. No task outlives its creator,
 * and it has no edges between tasks. The pool is lazy_pool, whose idle workers sleep.
 */
#include <libfork.hpp>

#include <memory>
#include <utility>
#include <vector>

#include "parallel/start.h"

static std::unique_ptr<lf::lazy_pool> pool;

static constexpr auto fib = [](auto fib, unsigned int n) LF_STATIC_CALL -> lf::task<uint64_t> {
	if (n < 2)
		co_return n;

	uint64_t first, second;

	co_await lf::fork(&first, fib)(n - 1);
	co_await lf::call(&second, fib)(n - 2);
	co_await lf::join;
	co_return first + second;
};

static void fib_run(void)
{
	bench_fib.result = lf::sync_wait(*pool, fib, bench_fib.n);
}

static constexpr auto fj_task = [](auto, unsigned int index) LF_STATIC_CALL -> lf::task<> {
	bench_fork_join.done[index]++;
	co_return;
};

static constexpr auto fj_rounds = [](auto, unsigned int rounds) LF_STATIC_CALL -> lf::task<> {
	for (unsigned int round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < FORK_JOIN_TASKS; i++)
			co_await lf::fork(fj_task)(i);
		co_await lf::join;
	}
};

static void fj_run(void)
{
	lf::sync_wait(*pool, fj_rounds, bench_fork_join.rounds);
}

static constexpr auto fj_rec_range = [](auto range, unsigned int begin, unsigned int end)
	LF_STATIC_CALL -> lf::task<> {
	unsigned int middle = begin + (end - begin) / 2;

	if (end - begin == 1) {
		bench_fork_join.done[begin]++;
		co_return;
	}
	co_await lf::fork(range)(begin, middle);
	co_await lf::call(range)(middle, end);
	co_await lf::join;
};

static constexpr auto fj_rec_rounds = [](auto, unsigned int rounds) LF_STATIC_CALL -> lf::task<> {
	for (unsigned int round = 0; round < rounds; round++) {
		co_await lf::call(fj_rec_range)(0U, (unsigned int)FORK_JOIN_TASKS);
		co_await lf::join;
	}
};

static void fj_rec_run(void)
{
	lf::sync_wait(*pool, fj_rec_rounds, bench_fork_join.rounds);
}

static constexpr auto nqueens = [](auto nqueens, struct bench_nqueens *board)
	LF_STATIC_CALL -> lf::task<> {
	struct bench_nqueens next[NQUEENS_MAX];
	unsigned int count = 0;

	if (nqueens_full(board)) {
		board->solutions = 1;
		co_return;
	}
	for (uint32_t free = nqueens_free(board); free; free &= free - 1) {
		nqueens_place(board, free & -free, &next[count]);
		co_await lf::fork(nqueens)(&next[count]);
		count++;
	}
	co_await lf::join;
	board->placements = count;
	for (unsigned int i = 0; i < count; i++) {
		board->solutions += next[i].solutions;
		board->placements += next[i].placements;
	}
};

static void nqueens_run(void)
{
	lf::sync_wait(*pool, nqueens, &bench_nqueens);
}

static constexpr auto uts = [](auto uts, struct bench_uts *node) LF_STATIC_CALL -> lf::task<> {
	std::vector<struct bench_uts> children(uts_children(node));

	for (unsigned int i = 0; i < children.size(); i++) {
		uts_child(node, i, &children[i]);
		co_await lf::fork(uts)(&children[i]);
	}
	co_await lf::join;
	node->nodes = 1;
	for (const auto &child : children)
		node->nodes += child.nodes;
};

static void uts_run(void)
{
	lf::sync_wait(*pool, uts, &bench_uts);
}

static constexpr auto matmul = [](auto matmul, const double *a, const double *b, double *c,
				  size_t size) LF_STATIC_CALL -> lf::task<> {
	size_t half = size / 2, down = half * bench_matmul.n;

	if (size == MATMUL_LEAF) {
		matmul_leaf(a, b, c, bench_matmul.n);
		co_return;
	}
	/* The four quarters of c, each += one quarter of a times one of b. */
	for (unsigned int step = 0; step < 2; step++) {
		const double *left = a + step * half, *upper = b + step * down;

		co_await lf::fork(matmul)(left, upper, c, half);
		co_await lf::fork(matmul)(left, upper + half, c + half, half);
		co_await lf::fork(matmul)(left + down, upper, c + down, half);
		co_await lf::call(matmul)(left + down, upper + half, c + down + half, half);
		co_await lf::join;
	}
};

static void matmul_run(void)
{
	lf::sync_wait(*pool, matmul, bench_matmul.a, bench_matmul.b, bench_matmul.c,
		      bench_matmul.n);
}

/* The middle of the longer one, a, splits both. */
static constexpr auto merge = [](auto merge, int32_t *to, const int32_t *a, size_t na,
				 const int32_t *b, size_t nb) LF_STATIC_CALL -> lf::task<> {
	if (na < nb) {
		std::swap(a, b);
		std::swap(na, nb);
	}
	if (na + nb <= SORT_LEAF) {
		sort_merge(to, a, na, b, nb);
		co_return;
	}

	size_t first_a = na / 2, first_b = sort_rank(b, nb, a[first_a]);

	co_await lf::fork(merge)(to, a, first_a, b, first_b);
	co_await lf::call(merge)(to + first_a + first_b, a + first_a, na - first_a, b + first_b,
				 nb - first_b);
	co_await lf::join;
};

/* The sorted values end in one of the two arrays; the halves are merged from the other. */
static constexpr auto sort = [](auto sort, int32_t *values, int32_t *scratch, size_t n,
				bool to_scratch) LF_STATIC_CALL -> lf::task<> {
	size_t half = n / 2;
	int32_t *from = to_scratch ? values : scratch, *to = to_scratch ? scratch : values;

	if (n <= SORT_LEAF) {
		sort_leaf(values, n);
		if (to_scratch)
			memcpy(scratch, values, n * sizeof(*values));
		co_return;
	}
	co_await lf::fork(sort)(values, scratch, half, !to_scratch);
	co_await lf::call(sort)(values + half, scratch + half, n - half, !to_scratch);
	co_await lf::join;
	co_await lf::call(merge)(to, from, half, from + half, n - half);
	co_await lf::join;
};

static void sort_run(void)
{
	lf::sync_wait(*pool, sort, bench_sort.values, bench_sort.scratch, bench_sort.n, false);
}

/* By hand: gcc 12 refuses lf::fold and lf::just of 3.8.0, "constraint depends on itself". */
static constexpr auto reduce = [](auto reduce, const double *values, size_t count)
	LF_STATIC_CALL -> lf::task<double> {
	if (count <= SUMS_LEAF)
		co_return reduce_part(values, count);

	size_t half = count / 2;
	double first, second;

	co_await lf::fork(&first, reduce)(values, half);
	co_await lf::call(&second, reduce)(values + half, count - half);
	co_await lf::join;
	co_return first + second;
};

static void reduce_run(void)
{
	bench_reduce.sum = lf::sync_wait(*pool, reduce, bench_reduce.values, bench_reduce.n);
}

typedef void range_body(size_t begin, size_t end, void *arg);

static constexpr auto range = [](auto range, size_t begin, size_t end, range_body *body,
				 void *arg) LF_STATIC_CALL -> lf::task<> {
	size_t middle = begin + (end - begin) / 2;

	if (end - begin <= 1) {
		body(begin, end, arg);
		co_return;
	}
	co_await lf::fork(range)(begin, middle, body, arg);
	co_await lf::call(range)(middle, end, body, arg);
	co_await lf::join;
};

static void par_for(size_t begin, size_t end, range_body *body, void *arg)
{
	lf::sync_wait(*pool, range, begin, end, body, arg);
}

#include "parallel/scan_blocks.h"

static void scan_run(void)
{
	scan_by_blocks(bench_scan.out, bench_scan.in, bench_scan.n,
		       (bench_scan.n - 1) / SUMS_LEAF + 1);
}

static int start(unsigned int workers)
{
	pool.reset(new lf::lazy_pool(workers));
	return 0;
}

static void stop(void)
{
	pool.reset();
}

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

const struct bench_runtime bench_runtime = { "libfork", start, stop, enter, nullptr, forms,
					    nullptr, 0 };
