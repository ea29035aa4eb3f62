// SPDX-License-Identifier: GPL-2.0
/*
 * Finish and async (SLAW, section II-B). A finish counts the asyncs inside it that
 * may not have returned, plus one for itself. An async whose spawner saw it return
 * was never counted: under work-first, whoever takes the spawner counts the child,
 * unless that has ended before. The two agree on it by the child's fiber, which is
 * there whoever comes last:
 *
 *	who takes the spawner			the child, when it ends
 *	finish->left++				if (ends++ had been counted)
 *	if (cannot mark ends as counted)		finish->left--
 *		finish->left--
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

struct ivl_finish {
	_Atomic(int64_t) left;
	IVL_SHARED(struct ivl_waiter *) waiter;
};

/* Help-first: what has not run yet. */
struct async {
	struct ivl_work work;
	struct ivl_local local;
	ivl_function *function;
	size_t bytes;			/* of arg */
	_Alignas(max_align_t) char arg[];
};

/* Work-first: where the spawner is; in its frame. */
struct spawner {
	struct ivl_task task;
	const void *arg;
	size_t bytes;
	struct ivl_finish *finish;
	IVL_SHARED(uint64_t) ends;	/* of the child's fiber, when it began */
};

/*
 * Counts are taken ahead: else every async would write to its finish, and all workers
 * to the same line of the cache. Those that a worker has and does not use hold up the
 * finish, so it gives them back before it does anything else (ivl_return_credit()).
 */
#ifndef IVL_AHEAD
#define IVL_AHEAD 64		/* 2 or more: a worker that remembers the finish holds one */
#endif

/* The waiter, if these were the last. */
static struct ivl_waiter *subtract(struct ivl_finish *finish, int64_t count)
{
	/* Pairs with itself and publish_finish(): what the asyncs wrote is seen behind it. */
	if (atomic_fetch_sub_explicit(&finish->left, count, memory_order_acq_rel) == count)
		return finish->waiter;
	return NULL;
}

void ivl_return_credit(struct ivl_worker *worker)
{
	struct ivl_waiter *waiter = subtract(worker->credit, worker->credits);

	worker->credit = NULL;
	if (waiter)
		ivl_wake(waiter);
}

static void add(struct ivl_worker *worker, struct ivl_finish *finish)
{
	if (worker->credit == finish && worker->credits > 1) {
		worker->credits--;
		return;
	}
	if (worker->credit && worker->credit != finish)
		ivl_return_credit(worker);
	/* Relaxed: the adder holds one of those counted, or is the finish itself. */
	atomic_fetch_add_explicit(&finish->left, IVL_AHEAD, memory_order_relaxed);
	worker->credits = (worker->credit ? worker->credits : 0) + IVL_AHEAD - 1;
	worker->credit = finish;
}

/* The waiter, if this was the last. */
static struct ivl_waiter *remove_one(struct ivl_worker *worker, struct ivl_finish *finish)
{
	if (worker->credit != finish)
		return subtract(finish, 1);
	/* Not the last: the credit is counted, and is given back in time. */
	if (++worker->credits > 2 * IVL_AHEAD) {
		worker->credits -= IVL_AHEAD;
		return subtract(finish, IVL_AHEAD);
	}
	return NULL;
}

static size_t bytes_of(const struct async *async)
{
	return sizeof(*async) + async->bytes;
}

static void free_async(struct async *async)
{
	struct ivl_worker *worker = ivl_self();

	if (bytes_of(async) <= IVL_ASYNC_BYTES)
		ivl_block_put(&worker->runtime->asyncs, &worker->asyncs, async);
	else
		free(async);
}

static void run_async(struct ivl_work *work)
{
	struct async *async = (struct async *)work;
	struct ivl_finish *finish = async->local.finish;
	struct ivl_waiter *waiter;

	*ivl_local() = async->local;
	async->function(async->arg);
	free_async(async);
	waiter = remove_one(ivl_self(), finish);
	if (waiter)
		ivl_wake_next(waiter);
}

bool ivl_uses_credit(struct ivl_worker *worker, struct ivl_work *work)
{
	return work->run == run_async && ((struct async *)work)->local.finish == worker->credit;
}

static int async_help_first(struct ivl_worker *worker, ivl_function *function, const void *arg,
			    size_t bytes, const ivl_place *place)
{
	struct ivl_local *local = &worker->fiber->local;
	struct async *async;

	if (sizeof(*async) + bytes <= IVL_ASYNC_BYTES)
		async = ivl_block_get(&worker->runtime->asyncs, &worker->asyncs,
				      worker->place->node);
	else
		async = malloc(sizeof(*async) + bytes);
	if (!async)
		return ENOMEM;
	async->bytes = bytes;
	async->work.run = run_async;
	async->local = *local;
	async->function = function;
	if (bytes)
		memcpy(async->arg, arg, bytes);
	add(worker, local->finish);
	ivl_submit(worker->runtime, &async->work, place ? place : worker->place);
	return 0;
}

void ivl_resume_asyncer(struct ivl_work *work)
{
	struct spawner *spawner = (struct spawner *)work;
	struct ivl_fiber *fiber = spawner->task.context[0], *child = spawner->task.context[1];
	uint64_t ends = spawner->ends;

	add(ivl_self(), spawner->finish);
	/*
	 * Acquire: where the child has ended, what it wrote. Pairs with its exchange. The
	 * spawner is counted, or is the finish itself: ours is not the last.
	 */
	if (!atomic_compare_exchange_strong_explicit(&child->ends, &ends, ends + 1,
						     memory_order_acq_rel, memory_order_acquire))
		remove_one(ivl_self(), spawner->finish);
	ivl_resume(ivl_self(), fiber);
}

static long run_async_first(struct spawner *spawner)
{
	struct ivl_finish *finish = spawner->finish;
	struct ivl_worker *worker = ivl_self();
	struct ivl_fiber *const fiber = worker->fiber;
	struct ivl_work *const work = (struct ivl_work *)spawner->task.work;
	_Alignas(max_align_t) char arg[spawner->bytes + 1];
	ivl_function *function = spawner->task.function;
	const uint64_t ends = atomic_load_explicit(&fiber->ends, memory_order_relaxed);
	struct ivl_waiter *waiter = NULL;
	struct ivl_work *taken;

	ivl_fiber_arrive(fiber, true);
	spawner->ends = ends;
	memcpy(arg, spawner->arg, spawner->bytes);
	spawner->task.context[1] = fiber;
	/* From here on somebody may take the spawner, whose frame then is no more. */
	if (ivl_put(worker, work)) {
		ivl_back_to_spawner(worker, spawner->task.context[0]);
		return ENOMEM;
	}
	function(arg);
	worker = ivl_self();
	taken = ivl_take(worker);
	/* The same address may by now be the frame of a later async of the same spawner. */
	if (taken == work && spawner->task.context[1] == fiber) {
		ivl_back_to_spawner(worker, spawner->task.context[0]);
		return 0;
	}
	/* Pairs with the marking in ivl_resume_asyncer(). */
	if (atomic_exchange_explicit(&fiber->ends, ends + 2, memory_order_acq_rel) != ends)
		waiter = remove_one(worker, finish);
	ivl_end_child(waiter, taken);
}

/* As child_main() of forkjoin.c. */
__attribute__((no_sanitize_thread)) static long async_main(void *arg)
{
	struct spawner *spawner = arg;
	struct ivl_fiber *next = spawner->task.context[0];
	long error = run_async_first(spawner);

	ivl_fiber_leave(NULL, next, true);
	return error;
}

int ivl_async(ivl_function *function, const void *arg, size_t bytes, const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();
	struct spawner spawner = { .arg = arg, .bytes = bytes };

	if (!worker || !worker->fiber->local.finish)
		return ivl_error(EINVAL, "async: not inside a finish");
	if ((place && place != worker->place) || worker->fiber == &worker->base ||
	    ivl_asyncs_help_first(worker))
		return async_help_first(worker, function, arg, bytes, place);
	spawner.task.function = function;
	spawner.finish = worker->fiber->local.finish;
	((struct ivl_work *)spawner.task.work)->run = ivl_resume_asyncer;
	return ivl_work_first(worker, &spawner.task, async_main);
}

static bool publish_finish(void *arg, struct ivl_waiter *waiter)
{
	struct ivl_finish *finish = arg;

	finish->waiter = waiter;
	/* Release: the last async sees the waiter. Acquire: we see what the asyncs wrote. */
	return atomic_fetch_sub_explicit(&finish->left, 1, memory_order_acq_rel) != 1;
}

void ivl_finish(ivl_function *function, void *arg)
{
	struct ivl_finish finish = { 1, NULL };
	struct ivl_finish *outer = ivl_local()->finish;
	struct ivl_worker *worker;

	ivl_local()->finish = &finish;
	function(arg);
	ivl_local()->finish = outer;

	worker = ivl_self();
	if (worker && worker->credit == &finish)
		ivl_return_credit(worker);
	/* Acquire: what the asyncs wrote. */
	if (atomic_load_explicit(&finish.left, memory_order_acquire) != 1)
		ivl_wait(publish_finish, &finish);
}
