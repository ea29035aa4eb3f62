/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of parallel/forms.h on the intervals runtime. */
#ifndef BENCH_INTERVALS_PAR_H
#define BENCH_INTERVALS_PAR_H

#include "intervals_algorithms.h"
#include "intervals_dispatch.h"
#include "parallel/start.h"

/* Without memory for a task it is called. */
#define PAR_FORK2(function, arg, statement) \
	do { \
		struct ivl_scope fork_scope = IVL_SCOPE_INIT; \
		struct ivl_task fork_task; \
		void *fork_arg = (arg); \
		\
		if (ivl_spawn(&fork_scope, &fork_task, function, fork_arg)) \
			(function)(fork_arg); \
		statement; \
		ivl_sync(&fork_scope); \
	} while (0)

struct par_scope {
	struct ivl_scope scope;
};

struct par_task {
	struct ivl_task task;
};

#define PAR_SCOPE(name) struct par_scope name = { IVL_SCOPE_INIT }

static void par_spawn(struct par_scope *scope, struct par_task *task, par_function *function,
		      void *arg)
{
	if (ivl_spawn(&scope->scope, &task->task, function, arg))
		function(arg);
}

static void par_sync(struct par_scope *scope)
{
	ivl_sync(&scope->scope);
}

static void par_async(par_function *function, const void *arg, size_t bytes)
{
	char copy[PAR_ASYNC_BYTES] __attribute__((aligned(16)));

	if (!ivl_async(function, arg, bytes, NULL))
		return;
	memcpy(copy, arg, bytes);
	function(copy);
}

static void par_finish(par_function *function, void *arg)
{
	ivl_finish(function, arg);
}

static void par_for(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		    void *arg)
{
	ivl_parallel_for(begin, end, 0, body, arg);
}

/* An index of a loop, as a task. */
struct par_index {
	struct ivl_task task;
	size_t index;
	void (*body)(size_t begin, size_t end, void *arg);
	void *arg;
};

static void run_index(void *arg)
{
	struct par_index *one = (struct par_index *)arg;

	one->body(one->index, one->index + 1, one->arg);
}

/* One task makes them all, as one interval does in the source; without memory it runs them. */
static void par_each(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		     void *arg)
{
	struct par_index *all = (struct par_index *)malloc((end - begin) * sizeof(*all));
	struct ivl_scope scope = IVL_SCOPE_INIT;

	if (!all) {
		body(begin, end, arg);
		return;
	}
	for (size_t i = begin; i < end; i++) {
		struct par_index *one = &all[i - begin];

		one->index = i;
		one->body = body;
		one->arg = arg;
		if (ivl_spawn(&scope, &one->task, run_index, one))
			run_index(one);
	}
	ivl_sync(&scope);
	free(all);
}

#define PAR_EACH par_each

static void add_part(size_t begin, size_t end, void *sum, void *values)
{
	*(double *)sum += reduce_part((const double *)values + begin, end - begin);
}

static void add_double(void *sum, const void *more, void *arg)
{
	*(double *)sum += *(const double *)more;
}

static double par_reduce(const double *values, size_t count)
{
	double sum = 0;

	ivl_parallel_reduce(0, count, 0, &sum, sizeof(sum), add_part, add_double, (void *)values);
	return sum;
}

static void add_integer(void *sum, const void *more, void *arg)
{
	*(int64_t *)sum += *(const int64_t *)more;
}

static void sum_integers(size_t begin, size_t end, void *sum, void *arg)
{
	const struct bench_scan *scan = arg;

	*(int64_t *)sum += scan_sum(scan->in + begin, end - begin);
}

static void scan_integers(size_t begin, size_t end, void *sum, void *arg)
{
	const struct bench_scan *scan = arg;

	*(int64_t *)sum = scan_part(scan->out + begin, scan->in + begin, end - begin,
				    *(int64_t *)sum);
}

static void par_scan(int64_t *out, const int64_t *in, size_t count)
{
	struct bench_scan scan = { count, (int64_t *)in, out };
	int64_t sum = 0;

	ivl_parallel_scan_parts(0, count, 0, &sum, sizeof(sum), sum_integers, scan_integers,
				add_integer, &scan);
}

struct par_node {
	ivl_interval *interval;
	par_function *function;
	void *arg;
};

static int run_node(ivl_interval *self, void *arg)
{
	struct par_node *node = (struct par_node *)arg;

	node->function(node->arg);
	return 0;
}

/* The runtime of the places. NULL: no hints. */
static ivl_runtime *par_runtime;

static const ivl_place *place_at(unsigned int place)
{
	return par_runtime && place != PAR_ANYWHERE ? ivl_place_at(par_runtime, place) : NULL;
}

#define PAR_DISPATCHES
#define PAR_OBJECTS 1000

static ivl_objects *par_objects;	/* NULL: none is bound */

/* An object that cannot be bound does not affect the dispatch. */
static void par_bind(const void *object, size_t bytes)
{
	if (!par_objects)
		par_objects = ivl_objects_create(par_runtime, PAR_OBJECTS);
	if (par_objects)
		ivl_object_bind(par_objects, object, bytes, NULL);
}

static void par_forget(void)
{
	ivl_objects_destroy(par_objects);
	par_objects = NULL;
}

static unsigned int par_dispatch(const void *const *objects, size_t count)
{
	const ivl_place *place = par_objects ? ivl_dispatch(par_objects, objects, count) : NULL;

	return place ? ivl_place_index(place) : PAR_ANYWHERE;
}

static int after(const struct par_node *before, const struct par_node *node)
{
	if (!before)
		return 0;
	if (!before->interval)
		return ENOMEM;
	return ivl_add_edge(ivl_end_point(before->interval), ivl_start_point(node->interval));
}

static void par_node(struct par_node *node, unsigned int place, par_function *function, void *arg,
		     struct par_node *before, struct par_node *before_too)
{
	node->function = function;
	node->arg = arg;
	node->interval = ivl_create(ivl_current(), NULL, run_node, node, place_at(place));
	if (!node->interval || after(before, node) || after(before_too, node))
		ivl_fail(ENOMEM);
}

struct graph {
	void (*make)(struct par_node *nodes, void *arg);
	struct par_node *nodes;
	void *arg;
};

static int make_graph(ivl_interval *self, void *arg)
{
	struct graph *graph = (struct graph *)arg;

	graph->make(graph->nodes, graph->arg);
	return 0;
}

static void par_graph(void (*make)(struct par_node *nodes, void *arg), struct par_node *nodes,
		      size_t count, void *arg)
{
	struct graph graph = { make, nodes, arg };

	ivl_inline(NULL, make_graph, &graph);
	for (size_t i = 0; i < count; i++)
		if (nodes[i].interval)
			ivl_release(nodes[i].interval);
}

#include "parallel/forms.h"

#endif
