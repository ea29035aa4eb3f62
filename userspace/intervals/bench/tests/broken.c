// SPDX-License-Identifier: LGPL-2.1-or-later
/* A runtime that loses every task: each kernel's check has to find out. */
#include "parallel/start.h"

#define PAR_FORK2(function, arg, statement) \
	do { \
		(void)(function); \
		(void)(arg); \
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
	(void)scope;
	(void)task;
	(void)function;
	(void)arg;
}

static void par_sync(struct par_scope *scope)
{
	(void)scope;
}

static void par_async(par_function *function, const void *arg, size_t bytes)
{
	(void)function;
	(void)arg;
	(void)bytes;
}

static void par_finish(par_function *function, void *arg)
{
	function(arg);
}

static void par_for(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		    void *arg)
{
	(void)begin;
	(void)end;
	(void)body;
	(void)arg;
}

struct par_node {
	char unused;
};

static void par_node(struct par_node *node, par_function *function, void *arg,
		     const struct par_node *before, const struct par_node *before_too)
{
	(void)node;
	(void)function;
	(void)arg;
	(void)before;
	(void)before_too;
}

static void par_graph(void (*make)(struct par_node *nodes), struct par_node *nodes, size_t count)
{
	(void)count;
	make(nodes);
}

#include "parallel/forms.h"

static int start(unsigned int workers)
{
	(void)workers;
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
