// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libfork: tasks are coroutines, so the parallel forms are its own. Its pool of
 * workers that sleep, lazy_pool, is the one to compare with.
 */
#include <libfork.hpp>

#include <memory>
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
	{ "nqueens", nqueens_run }, { "uts_t1", uts_run }, { "uts_t3", uts_run }, { 0, 0 }
};

const struct bench_runtime bench_runtime = { "libfork", start, stop, enter, nullptr, forms,
					    nullptr };
