// SPDX-License-Identifier: LGPL-2.1-or-later
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
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "deadlock.h"
#include "run_queue.h"
#include "switching.h"

#include <watch/watch.h>

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

/* Help-first: an async that has not begun. */
struct async {
	struct ivl_work work;
	struct ivl_local local;
	ivl_function *function;
	size_t bytes;			/* of arg */
	_Alignas(max_align_t) char arg[];
};

/* Work-first: the suspended spawner, in its own frame. */
struct spawner {
	struct ivl_task task;
	const void *arg;
	size_t bytes;
	struct ivl_finish *finish;
	IVL_SHARED(uint64_t) ends;	/* of the child's fiber at its begin */
};

/* Returns the waiter if these were the last. */
static struct ivl_waiter *subtract(struct ivl_finish *finish, int64_t count)
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
static bool has_reserve(const struct ivl_worker *worker, const struct ivl_finish *finish)
{
	return worker->reserve.held.from == finish;
}

static void return_reserve(struct ivl_worker *worker, bool leaves)
{
	struct ivl_finish_reserve *reserve = &worker->reserve;
	struct ivl_waiter *waiter = subtract((struct ivl_finish *)reserve->held.from,
					     reserve->count);

	reserve->count = 0;
	ivl_deferred_remove(worker, &reserve->held);
	if (waiter && leaves)
		ivl_wake_next(waiter);
	else if (waiter)
		ivl_wake(waiter);
}

static void add(struct ivl_worker *worker, struct ivl_finish *finish)
{
	struct ivl_finish_reserve *reserve = &worker->reserve;

	if (has_reserve(worker, finish) && reserve->count > 1) {
		reserve->count--;
		return;
	}
	if (reserve->held.from && !has_reserve(worker, finish))
		return_reserve(worker, false);
	/* Relaxed: the adder holds a count, or is the finish itself. */
	atomic_fetch_add_explicit(&finish->left, IVL_AHEAD, memory_order_relaxed);
	reserve->count += IVL_AHEAD - 1;
	if (!reserve->held.from)
		ivl_defer(worker, &reserve->held, finish, return_reserve);
}

/* Returns the waiter if this was the last. */
static struct ivl_waiter *remove_one(struct ivl_worker *worker, struct ivl_finish *finish)
{
	if (!has_reserve(worker, finish))
		return subtract(finish, 1);
	/* Not the last: the reserve itself is counted. */
	if (++worker->reserve.count > 2 * IVL_AHEAD) {
		worker->reserve.count -= IVL_AHEAD;
		return subtract(finish, IVL_AHEAD);
	}
	return NULL;
}

/* Relaxed: a reader that must see it has taken back a count, or looks again. */
static int error_of(struct ivl_finish *finish)
{
	return atomic_load_explicit(&finish->error, memory_order_relaxed);
}

static void set_error(struct ivl_finish *finish, int error)
{
	int none = 0;

	/* Relaxed: the waiter sees it by the count that the caller returns. */
	atomic_compare_exchange_strong_explicit(&finish->error, &none, error,
						memory_order_relaxed, memory_order_relaxed);
}

/* Relaxed: the caller came by an async, and its spawner saw it. */
static struct ivl_interval *interval_of(struct ivl_finish *finish)
{
	return atomic_load_explicit(&finish->interval, memory_order_relaxed);
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

	if (__builtin_expect(!error_of(finish), 1)) {
		struct ivl_local *local = ivl_local();

		*local = async->local;
		local->task = ivl_task_begins();
		async->function(async->arg);
		ivl_task_ends(local);
	}
	free_async(async);
	waiter = remove_one(ivl_self(), finish);
	if (waiter)
		ivl_wake_next(waiter);
}

static void refuse_async(struct ivl_work *work)
{
	struct async *async = (struct async *)work;
	struct ivl_finish *finish = async->local.finish;
	struct ivl_waiter *waiter;

	set_error(finish, ENOMEM);
	free_async(async);
	waiter = remove_one(ivl_self(), finish);
	if (waiter)
		ivl_wake(waiter);
}

static const struct ivl_work_kind async_kind = {
	.run = run_async,
	.refuse = refuse_async,
	.awaited_by = offsetof(struct async, local.finish),
};

static int async_help_first(struct ivl_worker *worker, struct ivl_finish *finish,
			    ivl_function *function, const void *arg, size_t bytes,
			    const ivl_place *place)
{
	struct async *async;

	if (sizeof(*async) + bytes <= IVL_ASYNC_BYTES)
		async = ivl_block_get(&worker->runtime->asyncs, &worker->asyncs,
				      worker->place->node);
	else
		async = malloc(sizeof(*async) + bytes);
	if (!async)
		return ENOMEM;
	async->bytes = bytes;
	async->work.kind = &async_kind;
	async->local = (struct ivl_local){ interval_of(finish), finish, 0, NULL };
	async->function = function;
	if (bytes)
		memcpy(async->arg, arg, bytes);
	add(worker, finish);
	ivl_submit(worker->runtime, &async->work, place ? place : worker->place);
	return 0;
}

static void resume_asyncer(struct ivl_work *work)
{
	struct spawner *spawner = (struct spawner *)work;
	struct ivl_fiber *fiber = spawner->task.context[0], *child = spawner->task.context[1];
	uint64_t ends = spawner->ends;

	add(ivl_self(), spawner->finish);
	/*
	 * Acquire: what an ended child wrote. Pairs with its exchange. The spawner is counted, or
	 * is the finish itself: this count is not the last.
	 */
	if (!atomic_compare_exchange_strong_explicit(&child->ends, &ends, ends + 1,
						     memory_order_acq_rel, memory_order_acquire))
		remove_one(ivl_self(), spawner->finish);
	ivl_resume(ivl_self(), fiber);
}

static const struct ivl_work_kind asyncer_kind = {
	.run = resume_asyncer,
	.resumes = true,
	.spawner = true,
};

static long run_async_first(struct spawner *spawner)
{
	struct ivl_finish *finish = spawner->finish;
	struct ivl_worker *worker = ivl_self();
	struct ivl_fiber *const fiber = worker->fiber;
	struct ivl_work *const work = (struct ivl_work *)spawner->task.work;
	_Alignas(max_align_t) char arg[spawner->bytes + 1];	/* not is_large() */
	ivl_function *function = spawner->task.function;
	const uint64_t ends = atomic_load_explicit(&fiber->ends, memory_order_relaxed);
	struct ivl_waiter *waiter = NULL;
	struct ivl_work *taken;

	ivl_fiber_arrive(fiber, true);
	fiber->local.interval = interval_of(finish);
	fiber->local.finish = finish;
	spawner->ends = ends;
	memcpy(arg, spawner->arg, spawner->bytes);
	spawner->task.context[1] = fiber;
	/* From here on the spawner may be taken, and its frame be gone. */
	if (ivl_put(worker, work)) {
		ivl_back_to_spawner(worker, spawner->task.context[0]);
		return ENOMEM;
	}
	function(arg);
	ivl_task_ends(&fiber->local);
	worker = ivl_self();
	taken = ivl_take(worker);
	/* The address may by now be the frame of a later async of the same spawner. */
	if (taken == work && spawner->task.context[1] == fiber) {
		ivl_back_to_spawner(worker, spawner->task.context[0]);
		return 0;
	}
	/* Pairs with resume_asyncer(). */
	if (atomic_exchange_explicit(&fiber->ends, ends + 2, memory_order_acq_rel) != ends)
		waiter = remove_one(worker, finish);
	ivl_end_child(waiter, taken);
}

/* See child_main() of forkjoin.c. */
__attribute__((no_sanitize_thread)) static long async_main(void *arg)
{
	struct spawner *spawner = arg;
	struct ivl_fiber *next = spawner->task.context[0];
	long error = run_async_first(spawner);

	ivl_fiber_leave(NULL, next, true);
	return error;
}

/* Review the choice of the adaptive policy, every adapt_interval asyncs. */
static void adapt(struct ivl_worker *worker)
{
	const struct ivl_config *config = &worker->runtime->config;
	const uint64_t lost = atomic_load_explicit(&worker->lost, memory_order_relaxed);

	worker->until = config->adapt_interval;
	/* Tasks are stolen faster than they are made: publish them sooner. */
	worker->help_first = lost - worker->lost_before > config->adapt_interval;
	worker->lost_before = lost;
}

/*
 * SLAW's algorithm 1, rule a: help-first where the stack is deep, work-first where many tasks are
 * fresh, else as the last steals suggest. Without a stack always help-first.
 */
static bool adapts_help_first(struct ivl_worker *worker)
{
	const struct ivl_config *config = &worker->runtime->config;

	if (worker->fiber->depth >= config->adapt_stack)
		return true;
	if (--worker->until == 0)
		adapt(worker);
	return (worker->help_first && ivl_pool_size(worker->pool) < config->adapt_fresh) ||
	       !ivl_fiber_there(worker);
}

static inline bool goes_help_first(enum ivl_policy policy, struct ivl_worker *worker)
{
	switch (policy) {
	case IVL_HELP_FIRST:
		return true;
	case IVL_WORK_FIRST:
		return !ivl_fiber_there(worker);
	default:
		return adapts_help_first(worker);
	}
}

static inline bool is_large(const struct ivl_worker *worker, size_t bytes)
{
	return bytes > IVL_ASYNC_COPIED &&
	       (!ivl_is_watched(worker) || bytes > IVL_ASYNC_NOTED + IVL_ASYNC_COPIED);
}

/* Inlined, with a constant policy. */
__attribute__((always_inline)) static inline int
start(enum ivl_policy policy, struct ivl_worker *worker, struct ivl_finish *finish,
      ivl_function *function, const void *arg, size_t bytes, const ivl_place *place)
{
	struct spawner spawner = { .arg = arg, .bytes = bytes, .finish = finish };

	if (__builtin_expect(error_of(finish), 0))
		return 0;
	if (ivl_mail_due(worker)) {
		ivl_give_way(worker);
		worker = ivl_self();
	}
	if ((place && place != worker->place) || is_large(worker, bytes) ||
	    goes_help_first(policy, worker))
		return async_help_first(worker, finish, function, arg, bytes, place);
	spawner.task.function = function;
	((struct ivl_work *)spawner.task.work)->kind = &asyncer_kind;
	return ivl_work_first(worker, &spawner.task, async_main);
}

static int start_adaptive(struct ivl_worker *worker, struct ivl_finish *finish,
			  ivl_function *function, const void *arg, size_t bytes,
			  const ivl_place *place)
{
	return start(IVL_ADAPTIVE, worker, finish, function, arg, bytes, place);
}

static int start_work_first(struct ivl_worker *worker, struct ivl_finish *finish,
			    ivl_function *function, const void *arg, size_t bytes,
			    const ivl_place *place)
{
	return start(IVL_WORK_FIRST, worker, finish, function, arg, bytes, place);
}

static int start_help_first(struct ivl_worker *worker, struct ivl_finish *finish,
			    ivl_function *function, const void *arg, size_t bytes,
			    const ivl_place *place)
{
	return start(IVL_HELP_FIRST, worker, finish, function, arg, bytes, place);
}

ivl_start_async *const ivl_async_starts[IVL_POLICIES] = {
	[IVL_ADAPTIVE] = start_adaptive,
	[IVL_WORK_FIRST] = start_work_first,
	[IVL_HELP_FIRST] = start_help_first,
};

static inline int start_by(ivl_start_async *by, struct ivl_worker *worker,
			   struct ivl_finish *finish, ivl_function *function, const void *arg,
			   size_t bytes, const ivl_place *place)
{
	if (ivl_is_watched(worker))
		return ivl_watch_async(by, worker, finish, function, arg, bytes, place);
	return by(worker, finish, function, arg, bytes, place);
}

int ivl_async(ivl_function *function, const void *arg, size_t bytes, const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();

	if (!worker || !worker->fiber->local.finish)
		return ivl_error(EINVAL, "async: not inside a finish");
	return start_by(worker->start_async, worker, worker->fiber->local.finish, function, arg,
			bytes, place);
}

static ivl_start_async *start_of(enum ivl_policy policy, const struct ivl_worker *worker)
{
	/* Work-first could move the spawner to another thread. */
	return worker->tied ? worker->start_async : ivl_async_starts[policy];
}

int ivl_async_by(enum ivl_policy policy, ivl_function *function, const void *arg, size_t bytes,
		 const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();

	if (!worker || !worker->fiber->local.finish)
		return ivl_error(EINVAL, "async_by: not inside a finish");
	if (policy >= IVL_POLICIES)
		return ivl_error(EINVAL, "async_by: no such policy");
	return start_by(start_of(policy, worker), worker, worker->fiber->local.finish, function,
			arg, bytes, place);
}

bool ivl_publish_finish(void *arg, struct ivl_waiter *waiter)
{
	struct ivl_finish *finish = arg;

	finish->waiter = waiter;
	/* Release: the last async sees the waiter. Acquire: we see what the asyncs wrote. */
	return atomic_fetch_sub_explicit(&finish->left, 1, memory_order_acq_rel) != 1;
}

bool ivl_describe_finish(const void *arg, struct ivl_inspection *inspection)
{
	const struct ivl_finish *finish = (const struct ivl_finish *)arg;

	ivl_inspection_say(inspection, " waits for asyncs of a finish or group: %lld",
			   (long long)atomic_load_explicit(&finish->left, memory_order_relaxed));
	return true;
}

static int wait_for(struct ivl_finish *finish)
{
	struct ivl_worker *worker = ivl_self();

	if (worker && has_reserve(worker, finish))
		return_reserve(worker, false);
	/* Acquire: what the asyncs wrote. */
	if (atomic_load_explicit(&finish->left, memory_order_acquire) != 1)
		ivl_wait(ivl_publish_finish, finish);
	if (ivl_is_watching())
		ivl_watch_finished(finish);
	return error_of(finish);
}

int ivl_finish(ivl_function *function, void *arg)
{
	struct ivl_local *local = ivl_local();
	struct ivl_finish *outer = local->finish;
	struct ivl_finish finish = { 1, NULL, local->interval, 0 };

	local->finish = &finish;
	function(arg);
	local->finish = outer;
	return wait_for(&finish);
}

static struct ivl_finish *finish_of(struct ivl_group *group)
{
	return (struct ivl_finish *)group;
}

/* The group's first async, by its owner. */
static void enter(struct ivl_finish *finish, struct ivl_interval *current)
{
	if (interval_of(finish) || !current)
		return;
	ivl_retain(current);
	ivl_outlast(current);
	atomic_store_explicit(&finish->interval, current, memory_order_relaxed);
}

static void leave(struct ivl_finish *finish)
{
	if (interval_of(finish))
		ivl_release(interval_of(finish));
	atomic_store_explicit(&finish->interval, NULL, memory_order_relaxed);
}

int ivl_group_async(struct ivl_group *group, ivl_function *function, const void *arg,
		    size_t bytes, const ivl_place *place)
{
	struct ivl_finish *finish = finish_of(group);
	struct ivl_worker *worker = ivl_self();

	if (!worker)
		return ivl_error(EINVAL, "group_async: the caller is not a task");
	enter(finish, worker->fiber->local.interval);
	return start_by(worker->start_async, worker, finish, function, arg, bytes, place);
}

int ivl_group_async_by(struct ivl_group *group, enum ivl_policy policy, ivl_function *function,
		       const void *arg, size_t bytes, const ivl_place *place)
{
	struct ivl_finish *finish = finish_of(group);
	struct ivl_worker *worker = ivl_self();

	if (!worker)
		return ivl_error(EINVAL, "group_async_by: the caller is not a task");
	if (policy >= IVL_POLICIES)
		return ivl_error(EINVAL, "group_async_by: no such policy");
	enter(finish, worker->fiber->local.interval);
	return start_by(start_of(policy, worker), worker, finish, function, arg, bytes, place);
}

int ivl_group_wait(struct ivl_group *group)
{
	struct ivl_finish *finish = finish_of(group);
	const int error = wait_for(finish);

	/* Ready for reuse. */
	leave(finish);
	atomic_store_explicit(&finish->left, 1, memory_order_relaxed);
	atomic_store_explicit(&finish->error, 0, memory_order_relaxed);
	return error;
}

void ivl_group_add(struct ivl_group *group)
{
	add(ivl_self(), finish_of(group));
}

void ivl_group_done(struct ivl_group *group)
{
	struct ivl_waiter *waiter = remove_one(ivl_self(), finish_of(group));

	if (waiter)
		ivl_wake(waiter);
}

void ivl_group_cancel(struct ivl_group *group, int error)
{
	set_error(finish_of(group), error);
}

int ivl_group_error(struct ivl_group *group)
{
	return error_of(finish_of(group));
}

struct ivl_group *ivl_group_current(void)
{
	return (struct ivl_group *)ivl_local()->finish;
}
