/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels' parallel forms for the C and C++ runtimes. Each runtimes/X includes it once, after
 * it has defined:
 *
 * PAR_FORK2(function, arg, statement)
 *	function(arg) and the statement, possibly at the same time; then both are over.
 * struct par_scope; PAR_SCOPE(name); struct par_task
 * par_spawn(struct par_scope *, struct par_task *, function, arg)
 * par_sync(struct par_scope *)
 *	Tasks that are over when par_sync() returns; the task's storage is the caller's.
 * par_finish(function, arg)
 *	function(arg); returns when it and all asyncs inside are over.
 * par_async(function, const void *arg, size_t bytes)
 *	A task with a copy of its argument of at most PAR_ASYNC_BYTES.
 * par_for(begin, end, void (*body)(size_t begin, size_t end, void *), arg)
 * PAR_EACH(begin, end, body, arg)
 *	As par_for(), where the source has a task for each index. The default, for runtimes with
 *	loops, is par_for().
 * PAR_DEAL(begin, end, body, arg)
 *	As par_for(), where the source deals the indices to its threads in turn. A runtime whose
 *	par_for() gives each thread a block defines it; the default is par_for().
 * double par_reduce(const double *values, size_t count)
 * par_scan(int64_t *out, const int64_t *in, size_t count)
 *	The sum, and the prefix sums, by the runtime's own functions or, without them, by
 *	scan_blocks.h. The serial parts are reduce_part(), scan_sum() and scan_part().
 * struct par_node
 * par_graph(make, struct par_node *nodes, size_t count, arg)
 *	make(nodes, arg) makes all of them; returns when they have run. Nodes may have graphs.
 * par_node(struct par_node *, place, function, arg, before, before)
 *	A node that runs after up to two nodes (NULL: none). The place is a hint: an index modulo
 *	the runtime's number of places, or PAR_ANYWHERE.
 *
 * par_bind(const void *object, size_t bytes); par_forget()
 *	The runtime locates the object, until par_forget() forgets all. The first object is bound
 *	before the first task.
 * unsigned int par_dispatch(const void *const *objects, size_t count)
 *	The place for a task that uses them, or PAR_ANYWHERE. A runtime that has a dispatcher defines
 *	PAR_DISPATCHES and these three; without one no place is better than another.
 *
 * The forms are both C and C++.
 */
#ifndef BENCH_FORMS_H
#define BENCH_FORMS_H

#ifndef PAR_EACH
#define PAR_EACH par_for
#endif
#ifndef PAR_DEAL
#define PAR_DEAL par_for
#endif

#ifndef PAR_DISPATCHES
static inline void par_bind(const void *object, size_t bytes)
{
}

static inline void par_forget(void)
{
}

static inline unsigned int par_dispatch(const void *const *objects, size_t count)
{
	return PAR_ANYWHERE;
}
#endif

#include "parallel/fib.h"
#include "parallel/fork_join.h"
#include "parallel/nqueens.h"
#include "parallel/uts.h"
#include "parallel/matmul.h"
#include "parallel/sort.h"
#include "parallel/sums.h"
#include "parallel/sor.h"
#include "parallel/dag.h"
#include "parallel/dfs.h"
#include "parallel/graphs.h"
#include "theses/forms.h"

#define PAR_FORM(name, form) { #name, form##_run },

static const struct bench_form par_forms[] = {
	{ "fib", fib_run }, { "fj", fj_run }, { "fj_rec", fj_rec_run },
	{ "nqueens", nqueens_run }, { "uts_t1", uts_run }, { "uts_t3", uts_run },
	{ "matmul", matmul_run }, { "sort", sort_run }, { "reduce", reduce_run },
	{ "scan", scan_run }, { "sor", sor_run }, { "dag", dag_run }, { "dfs", dfs_run },
	{ "chain", chain_run }, { "wavefront", wavefront_run }, THESES(PAR_FORM) { 0, 0 }
};

#endif
