/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finish and async (SLAW, section II-B), and groups. A finish is a group in its function's frame
 * that takes all of that function's asyncs. It counts the asyncs that may not have returned, plus
 * one for itself. An async whose spawner saw it return was never counted. Under work-first a worker
 * that takes the spawner counts the child, unless the child has ended before. Both use the child's
 * fiber, which outlives either:
 *
 *	taking the spawner			the child ends
 *	finish->left++				if (ends++ had been counted)
 *	if (cannot mark ends as counted)		finish->left--
 *		finish->left--
 */
#ifndef IVL_FINISH_COUNT_H
#define IVL_FINISH_COUNT_H

#include <assert.h>

#include "worker.h"

struct ivl_finish {
	_Atomic(int64_t) left;
	IVL_SHARED(struct ivl_waiter *) waiter;
	/* Of all asyncs inside; a group, which may outlive it, holds a reference. */
	_Atomic(struct ivl_interval *) interval;
	_Atomic(int) error;		/* the first; later asyncs do not begin */
};

#ifndef IVL_MODEL
static_assert(sizeof(struct ivl_finish) == sizeof(struct ivl_group), "a group has room");
#endif

/* Returns the waiter if these were the last. */
static inline struct ivl_waiter *ivl_finish_subtract(struct ivl_finish *finish, int64_t count)
{
	/* Pairs with itself and ivl_publish_finish(): the waiter sees what the asyncs wrote. */
	if (atomic_fetch_sub_explicit(&finish->left, count, memory_order_acq_rel) == count)
		return finish->waiter;
	return NULL;
}

/*
 * Counts are taken ahead, or each async would write to its finish and all workers would share that
 * line. Unused counts hold up the finish, so a worker returns them before it does anything else
 * (ivl_flush_deferred()).
 */
static inline bool ivl_finish_has_reserve(const struct ivl_worker *worker,
					  const struct ivl_finish *finish)
{
	return worker->reserve.deferred.from == finish;
}

void ivl_finish_return_reserve(struct ivl_worker *worker, bool leaves);

static inline void ivl_finish_add(struct ivl_worker *worker, struct ivl_finish *finish)
{
	struct ivl_finish_reserve *reserve = &worker->reserve;

	if (ivl_finish_has_reserve(worker, finish) && reserve->count > 1) {
		reserve->count--;
		return;
	}
	if (reserve->deferred.from && !ivl_finish_has_reserve(worker, finish))
		ivl_finish_return_reserve(worker, false);
	/* Relaxed: the adder holds a count, or is the finish itself. */
	atomic_fetch_add_explicit(&finish->left, IVL_AHEAD, memory_order_relaxed);
	reserve->count += IVL_AHEAD - 1;
	if (!reserve->deferred.from)
		ivl_defer(&worker->deferred, &reserve->deferred, finish, ivl_finish_return_reserve);
}

/* Returns the waiter if this was the last. */
static inline struct ivl_waiter *ivl_finish_remove_one(struct ivl_worker *worker,
						       struct ivl_finish *finish)
{
	if (!ivl_finish_has_reserve(worker, finish))
		return ivl_finish_subtract(finish, 1);
	/* Not the last: the reserve itself is counted. */
	if (++worker->reserve.count > 2 * IVL_AHEAD) {
		worker->reserve.count -= IVL_AHEAD;
		return ivl_finish_subtract(finish, IVL_AHEAD);
	}
	return NULL;
}

/* Relaxed: a reader that must see it has taken back a count, or looks again. */
static inline int ivl_finish_error(struct ivl_finish *finish)
{
	return atomic_load_explicit(&finish->error, memory_order_relaxed);
}

static inline void ivl_finish_set_error(struct ivl_finish *finish, int error)
{
	int none = 0;

	/* Relaxed: the waiter sees it by the count that the caller returns. */
	atomic_compare_exchange_strong_explicit(&finish->error, &none, error,
						memory_order_relaxed, memory_order_relaxed);
}

/* Relaxed: the caller came by an async, and its spawner saw it. */
static inline struct ivl_interval *ivl_finish_interval(struct ivl_finish *finish)
{
	return atomic_load_explicit(&finish->interval, memory_order_relaxed);
}

#endif
