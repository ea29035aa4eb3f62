// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A runtime that loses every BROKEN_LOSES-th task, with 1 all of them, and of a loop or a
 * sum the last index or all: each kernel's check has to find out.
 */
#include "parallel/start.h"

static bool lost(void)
{
	static unsigned int made;

	return ++made % BROKEN_LOSES == 0;
}

static void run_or_lose(par_function *function, void *arg)
{
	if (!lost())
		function(arg);
}

#define PAR_FORK2(function, arg, statement) \
	do { \
		run_or_lose(function, arg); \
		statement; \
	} while (0)

struct par_scope {
	char unused;
};

struct par_task {
	char unused;
};

#define PAR_SCOPE(name) struct par_scope name

static void par_spawn(struct par_scope *scope, struct par_task *task, par_function *function,
		      void *arg)
{
	run_or_lose(function, arg);
}

static void par_sync(struct par_scope *scope)
{
}

static void par_async(par_function *function, const void *arg, size_t bytes)
{
	char copy[PAR_ASYNC_BYTES] __attribute__((aligned(16)));

	memcpy(copy, arg, bytes);
	run_or_lose(function, copy);
}

static void par_finish(par_function *function, void *arg)
{
	function(arg);
}

static void par_for(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		    void *arg)
{
	if (BROKEN_LOSES > 1 && begin < end)
		body(begin, end - 1, arg);
}

static double par_reduce(const double *values, size_t count)
{
	return reduce_part(values, BROKEN_LOSES > 1 ? count - 1 : 0);
}

static void par_scan(int64_t *out, const int64_t *in, size_t count)
{
	scan_part(out, in, BROKEN_LOSES > 1 ? count - 1 : 0, 0);
}

struct par_node {
	char unused;
};

static void par_node(struct par_node *node, unsigned int place, par_function *function, void *arg,
		     struct par_node *before, struct par_node *before_too)
{
	run_or_lose(function, arg);
}

static void par_graph(void (*make)(struct par_node *nodes, void *arg), struct par_node *nodes,
		      size_t count, void *arg)
{
	make(nodes, arg);
}

#include "parallel/forms.h"

static int start(unsigned int workers)
{
	return 0;
}

static void stop(void)
{
}

static void enter(void (*run)(void))
{
	run();
}

const struct bench_runtime bench_runtime = {
	.name = "broken", .start = start, .stop = stop, .enter = enter, .forms = par_forms,
};
