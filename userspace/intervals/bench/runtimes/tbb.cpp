// SPDX-License-Identifier: LGPL-2.1-or-later
/* oneTBB. */
#include <tbb/blocked_range.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <functional>
#include <memory>
#include <new>

#include "parallel/start.h"

#define PAR_FORK2(function, arg, statement) \
	tbb::parallel_invoke([&] { (function)(arg); }, [&] { statement; })

struct par_scope {
	tbb::task_group group;
};

struct par_task {
};

#define PAR_SCOPE(name) par_scope name

static void par_spawn(par_scope *scope, par_task *, par_function *function, void *arg)
{
	scope->group.run([=] { function(arg); });
}

static void par_sync(par_scope *scope)
{
	scope->group.wait();
}

/* Of the finish that is under way; there is one at a time. */
static tbb::task_group *asyncs;

struct async_arg {
	alignas(16) char bytes[PAR_ASYNC_BYTES];
};

static void par_async(par_function *function, const void *arg, size_t bytes)
{
	async_arg copy;

	memcpy(copy.bytes, arg, bytes);
	asyncs->run([function, copy] {
		async_arg mine = copy;

		function(mine.bytes);
	});
}

static void par_finish(par_function *function, void *arg)
{
	tbb::task_group group;

	asyncs = &group;
	function(arg);
	group.wait();
}

static void par_for(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		    void *arg)
{
	tbb::parallel_for(tbb::blocked_range<size_t>(begin, end),
			  [=](const tbb::blocked_range<size_t> &range) {
		body(range.begin(), range.end(), arg);
	});
}

static double par_reduce(const double *values, size_t count)
{
	return tbb::parallel_reduce(tbb::blocked_range<size_t>(0, count), 0.0,
				    [=](const tbb::blocked_range<size_t> &range, double sum) {
		return sum + reduce_part(values + range.begin(), range.size());
	}, std::plus<double>());
}

static void par_scan(int64_t *out, const int64_t *in, size_t count)
{
	tbb::parallel_scan(tbb::blocked_range<size_t>(0, count), int64_t(0),
			   [=](const tbb::blocked_range<size_t> &range, int64_t sum, bool last) {
		const int64_t *begin = in + range.begin();

		return last ? scan_part(out + range.begin(), begin, range.size(), sum)
			    : sum + scan_sum(begin, range.size());
	}, std::plus<int64_t>());
}

using continue_node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct par_node {
	continue_node *node;
	bool first;
};

/* Of the graph that is being made by this thread. */
static thread_local tbb::flow::graph *graph;

static void par_node(struct par_node *node, unsigned int, par_function *function, void *arg,
		     struct par_node *before, struct par_node *before_too)
{
	node->node = new continue_node(*graph, [=](const tbb::flow::continue_msg &) {
		function(arg);
	});
	node->first = !before && !before_too;
	if (before)
		tbb::flow::make_edge(*before->node, *node->node);
	if (before_too)
		tbb::flow::make_edge(*before_too->node, *node->node);
}

static void par_graph(void (*make)(struct par_node *nodes, void *arg), struct par_node *nodes,
		      size_t count, void *arg)
{
	tbb::flow::graph here, *around = graph;

	graph = &here;
	make(nodes, arg);
	graph = around;
	for (size_t i = 0; i < count; i++)
		if (nodes[i].first)
			nodes[i].node->try_put(tbb::flow::continue_msg());
	here.wait_for_all();
	for (size_t i = 0; i < count; i++)
		delete nodes[i].node;
}

#include "parallel/forms.h"

static std::unique_ptr<tbb::global_control> parallelism, stack_size;
static std::unique_ptr<tbb::task_arena> arena;

static int start(unsigned int workers)
{
	using control = tbb::global_control;

	parallelism.reset(new control(control::max_allowed_parallelism, workers));
	stack_size.reset(new control(control::thread_stack_size, BENCH_STACK_BYTES));
	arena.reset(new tbb::task_arena(workers));
	arena->initialize();
	return 0;
}

static void stop()
{
	arena.reset();
	stack_size.reset();
	parallelism.reset();
}

static void enter(void (*run)(void))
{
	arena->execute(run);
}

static void submit(void (*function)(void *), void *arg)
{
	arena->enqueue([=] { function(arg); });
}

/* The thread that calls execute() takes part; a loop of a thread outside needs no arena. */
const struct bench_runtime bench_runtime = { "tbb", start, stop, enter, submit, par_forms,
					    nullptr, 0, enter, par_for };
