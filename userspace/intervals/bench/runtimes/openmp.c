// SPDX-License-Identifier: LGPL-2.1-or-later
/* OpenMP tasks: libgomp when gcc compiles this, libomp when clang does. */
#include <omp.h>

#include "parallel/start.h"

#define PAR_FORK2(function, arg, statement) \
	do { \
		void *fork_arg = (arg); \
		\
		_Pragma("omp task firstprivate(fork_arg)") \
		(function)(fork_arg); \
		statement; \
		_Pragma("omp taskwait") \
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
	#pragma omp task firstprivate(function, arg)
	function(arg);
}

/* All children of the calling task: no task here has two scopes at a time. */
static void par_sync(struct par_scope *scope)
{
	#pragma omp taskwait
}

struct async_arg {
	char bytes[PAR_ASYNC_BYTES] __attribute__((aligned(16)));
};

static void par_async(par_function *function, const void *arg, size_t bytes)
{
	struct async_arg copy;

	memcpy(copy.bytes, arg, bytes);
	#pragma omp task firstprivate(function, copy)
	function(copy.bytes);
}

static void par_finish(par_function *function, void *arg)
{
	#pragma omp taskgroup
	function(arg);
}

/* An ordinary loop: outside tasks, one part for each thread. */
static void par_for(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		    void *arg)
{
	#pragma omp parallel for schedule(static)
	for (size_t i = begin; i < end; i++)
		body(i, i + 1, arg);
}

static void par_deal(size_t begin, size_t end, void (*body)(size_t begin, size_t end, void *arg),
		     void *arg)
{
	#pragma omp parallel for schedule(static, 1)
	for (size_t i = begin; i < end; i++)
		body(i, i + 1, arg);
}

#define PAR_DEAL par_deal

static double par_reduce(const double *values, size_t count)
{
	size_t blocks = omp_get_max_threads();
	double sum = 0;

	#pragma omp parallel for schedule(static) reduction(+: sum)
	for (size_t block = 0; block < blocks; block++) {
		size_t begin = count * block / blocks, end = count * (block + 1) / blocks;

		sum += reduce_part(values + begin, end - begin);
	}
	return sum;
}

#include "parallel/scan_blocks.h"

/* Not `reduction(inscan, +: sum)`: clang 14 has all sums on the stack, which overflows. */
static void par_scan(int64_t *out, const int64_t *in, size_t count)
{
	scan_by_blocks(out, in, count, omp_get_max_threads());
}

/* Its address is the dependence. */
struct par_node {
	char unused;
};

static void par_node(struct par_node *node, unsigned int place, par_function *function, void *arg,
		     struct par_node *before, struct par_node *before_too)
{
	if (!before) {
		before = before_too;
		before_too = NULL;
	}
	if (before_too) {
		#pragma omp task firstprivate(function, arg) depend(in: *before, *before_too) \
			depend(out: *node)
		function(arg);
	} else if (before) {
		#pragma omp task firstprivate(function, arg) depend(in: *before) depend(out: *node)
		function(arg);
	} else {
		#pragma omp task firstprivate(function, arg) depend(out: *node)
		function(arg);
	}
}

static void par_graph(void (*make)(struct par_node *nodes, void *arg), struct par_node *nodes,
		      size_t count, void *arg)
{
	#pragma omp taskgroup
	make(nodes, arg);
}

#include "parallel/forms.h"

static int start(unsigned int workers)
{
	omp_set_dynamic(0);
	omp_set_num_threads(workers);
	return 0;
}

static void stop(void)
{
}

#define LOOP(name, form) form##_run,

/* Loops start their threads themselves. */
static bool is_loop(void (*run)(void))
{
	static void (*const loops[])(void) = { sor_run, reduce_run, scan_run, THESES_LOOPS(LOOP) };

	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		if (loops[i] == run)
			return true;
	return false;
}

static void enter(void (*run)(void))
{
	if (is_loop(run)) {
		run();
		return;
	}
	#pragma omp parallel
	#pragma omp single
	run();
}

const struct bench_runtime bench_runtime = {
	.name = BENCH_RUNTIME, .start = start, .stop = stop, .enter = enter, .forms = par_forms,
	.loop = par_for,
};
