// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Commutative reducers: each worker has a view of its own. Views of external workers are created on
 * demand.
 */
#include "intervals_algorithms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

struct view {
	struct view *next;
	const struct ivl_worker *worker;
	_Alignas(max_align_t) char sum[];
};

struct ivl_commutative {
	ivl_runtime *runtime;
	size_t bytes, stride;		/* bytes: of a sum; stride: of a view */
	char *views;			/* one per worker of the runtime */
	_Atomic(struct view *) others;
	_Alignas(max_align_t) char nothing[];
};

static struct view *view_at(const ivl_commutative *reducer, unsigned int number)
{
	return (struct view *)(reducer->views + number * reducer->stride);
}

static void begin_view(const ivl_commutative *reducer, struct view *view,
		       const struct ivl_worker *worker)
{
	view->worker = worker;
	view->next = NULL;
	memcpy(view->sum, reducer->nothing, reducer->bytes);
}

int ivl_commutative_create(ivl_runtime *runtime, size_t bytes, const void *nothing,
			   ivl_commutative **result)
{
	const unsigned int workers = ivl_worker_count(runtime);
	ivl_commutative *reducer = calloc(1, sizeof(*reducer) + bytes);

	if (!reducer)
		return ivl_error(ENOMEM, "commutative: out of memory");
	reducer->runtime = runtime;
	reducer->bytes = bytes;
	reducer->stride = (sizeof(struct view) + bytes + IVL_LINE - 1) / IVL_LINE * IVL_LINE;
	reducer->views = aligned_alloc(IVL_LINE, workers * reducer->stride);
	if (!reducer->views) {
		free(reducer);
		return ivl_error(ENOMEM, "commutative: out of memory");
	}
	memcpy(reducer->nothing, nothing, bytes);
	for (unsigned int i = 0; i < workers; i++)
		begin_view(reducer, view_at(reducer, i), &runtime->workers[i]);
	*result = reducer;
	return 0;
}

void ivl_commutative_destroy(ivl_commutative *reducer)
{
	struct view *view = reducer->others;

	while (view) {
		struct view *next = view->next;

		free(view);
		view = next;
	}
	free(reducer->views);
	free(reducer);
}

/* Of an external worker, which creates only one. */
static void *other_view(ivl_commutative *reducer, const struct ivl_worker *worker)
{
	/* Acquire, from the thread that added it. */
	struct view *view = atomic_load_explicit(&reducer->others, memory_order_acquire);

	while (view && view->worker != worker)
		view = view->next;
	if (view)
		return view->sum;
	view = aligned_alloc(IVL_LINE, reducer->stride);
	if (!view) {
		ivl_error(ENOMEM, "commutative_view: out of memory");
		return NULL;
	}
	begin_view(reducer, view, worker);
	view->next = atomic_load_explicit(&reducer->others, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&reducer->others, &view->next, view,
						      memory_order_release, memory_order_relaxed))
		;
	return view->sum;
}

void *ivl_commutative_view(ivl_commutative *reducer)
{
	const struct ivl_worker *worker = ivl_self();

	if (!worker || worker->runtime != reducer->runtime) {
		ivl_error(EINVAL, "commutative_view: the caller is not a task of its runtime");
		return NULL;
	}
	return worker->external ? other_view(reducer, worker) :
				  view_at(reducer, worker->number)->sum;
}

void ivl_commutative_read(const ivl_commutative *reducer, void *sum, ivl_combine *combine,
			  void *arg)
{
	const struct view *view = atomic_load_explicit(&reducer->others, memory_order_acquire);

	for (unsigned int i = 0; i < ivl_worker_count(reducer->runtime); i++)
		combine(sum, view_at(reducer, i)->sum, arg);
	for (; view; view = view->next)
		combine(sum, view->sum, arg);
}
