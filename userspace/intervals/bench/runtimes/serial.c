// SPDX-License-Identifier: LGPL-2.1-or-later
/* No runtime: each task is a call, to measure a program without tasks. */
#include "parallel/start.h"

/* A test replaces these, to lose tasks and the last indices of a loop (tests/broken.c). */
#ifndef SERIAL_CALL
#define SERIAL_CALL(function, arg) (function)(arg)
#define SERIAL_COUNT(count) (count)
#endif

/* Keeps the compiler from merging two pure calls. */
#define KEEP() __asm__ volatile("" ::: "memory")

#define PAR_FORK2(function, arg, statement) \
	do { \
		SERIAL_CALL(function, arg); \
		KEEP(); \
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
	SERIAL_CALL(function, arg);
	KEEP();
}

static void par_sync(struct par_scope *scope)
{
}

/* Asyncs on a stack of their own: a search of millions of steps would overflow the program's. */
static struct async {
	par_function *function;
	char arg[PAR_ASYNC_BYTES] __attribute__((aligned(16)));
} *asyncs;
static size_t async_count, async_capacity;

static void par_async(par_function *function, const void *arg, size_t bytes)
{
	if (async_count == async_capacity) {
		async_capacity = async_capacity ? 2 * async_capacity : 64;
		asyncs = realloc(asyncs, async_capacity * sizeof(*asyncs));
		if (!asyncs)
			abort();
	}
	asyncs[async_count].function = function;
	memcpy(asyncs[async_count++].arg, arg, bytes);
}

static void par_finish(par_function *function, void *arg)
{
	function(arg);
	while (async_count) {
		struct async last = asyncs[--async_count];

		SERIAL_CALL(last.function, last.arg);
	}
}

static void par_for(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		    void *arg)
{
	body(begin, begin + SERIAL_COUNT(end - begin), arg);
}

static double par_reduce(const double *values, size_t count)
{
	return reduce_part(values, SERIAL_COUNT(count));
}

static void par_scan(int64_t *out, const int64_t *in, size_t count)
{
	scan_part(out, in, SERIAL_COUNT(count), 0);
}

struct par_node {
	char unused;
};

/* Nodes are made in an order in which they can run. */
static void par_node(struct par_node *node, unsigned int place, par_function *function, void *arg,
		     struct par_node *before, struct par_node *before_too)
{
	SERIAL_CALL(function, arg);
}

static void par_graph(void (*make)(struct par_node *nodes, void *arg), struct par_node *nodes,
		      size_t count, void *arg)
{
	make(nodes, arg);
}

#include "parallel/forms.h"

static int start(unsigned int workers)
{
	return workers == 1 ? 0 : EINVAL;
}

static void stop(void)
{
	free(asyncs);
}

static void enter(void (*run)(void))
{
	run();
}

const struct bench_runtime bench_runtime = {
	.name = "serial", .start = start, .stop = stop, .enter = enter, .forms = par_forms,
	.max_workers = 1,
};
