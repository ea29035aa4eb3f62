// SPDX-License-Identifier: LGPL-2.1-or-later
/* Asyncs: how each policy starts one, and how it runs and ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <watch/watch.h>

#include "finish_count.h"
#include "run_queue.h"
#include "switching.h"

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

	if (__builtin_expect(!ivl_finish_error(finish), 1)) {
		struct ivl_local *local = ivl_local();

		*local = async->local;
		local->task = ivl_task_begins();
		async->function(async->arg);
		ivl_task_ends(local);
	}
	free_async(async);
	waiter = ivl_finish_remove_one(ivl_self(), finish);
	if (waiter)
		ivl_wake_next(waiter);
}

static void refuse_async(struct ivl_work *work)
{
	struct async *async = (struct async *)work;
	struct ivl_finish *finish = async->local.finish;
	struct ivl_waiter *waiter;

	ivl_finish_set_error(finish, ENOMEM);
	free_async(async);
	waiter = ivl_finish_remove_one(ivl_self(), finish);
	if (waiter)
		ivl_wake(waiter);
}

static const struct ivl_work_kind async_kind = {
	.run = run_async,
	.refuse = refuse_async,
	.awaited_by = offsetof(struct async, local.finish),
};

/* NULL worker: the caller is a thread outside. NULL: ENOMEM. */
static struct async *make_async(ivl_runtime *runtime, struct ivl_worker *worker,
				struct ivl_finish *finish, ivl_function *function, const void *arg,
				size_t bytes)
{
	struct async *async;

	if (sizeof(*async) + bytes <= IVL_ASYNC_BYTES)
		async = ivl_block_get(&runtime->asyncs, worker ? &worker->asyncs : NULL,
				      worker ? worker->place->node : -1);
	else
		async = malloc(sizeof(*async) + bytes);
	if (!async)
		return NULL;
	async->bytes = bytes;
	async->work.kind = &async_kind;
	async->local = (struct ivl_local){ ivl_finish_interval(finish), finish, 0, NULL };
	async->function = function;
	if (bytes)
		memcpy(async->arg, arg, bytes);
	return async;
}

static int async_help_first(struct ivl_worker *worker, struct ivl_finish *finish,
			    ivl_function *function, const void *arg, size_t bytes,
			    const ivl_place *place)
{
	struct async *async = make_async(worker->runtime, worker, finish, function, arg, bytes);

	if (!async)
		return ENOMEM;
	ivl_finish_add(worker, finish);
	ivl_make_ready(worker->runtime, &async->work, place ? place : worker->place);
	return 0;
}

int ivl_async_outside(ivl_runtime *runtime, struct ivl_finish *finish, ivl_function *function,
		      const void *arg, size_t bytes, const ivl_place *place)
{
	struct async *async;

	if (ivl_finish_error(finish))
		return 0;
	async = make_async(runtime, NULL, finish, function, arg, bytes);
	if (!async)
		return ENOMEM;
	/* Relaxed: the caller is the one that will wait. */
	atomic_fetch_add_explicit(&finish->left, 1, memory_order_relaxed);
	ivl_make_ready(runtime, &async->work, place);
	return 0;
}

static void resume_asyncer(struct ivl_work *work)
{
	struct spawner *spawner = (struct spawner *)work;
	struct ivl_fiber *fiber = spawner->task.context[0], *child = spawner->task.context[1];
	uint64_t ends = spawner->ends;

	ivl_finish_add(ivl_self(), spawner->finish);
	/*
	 * Acquire: what an ended child wrote. Pairs with its exchange. The spawner is counted, or
	 * is the finish itself: this count is not the last.
	 */
	if (!atomic_compare_exchange_strong_explicit(&child->ends, &ends, ends + 1,
						     memory_order_acq_rel, memory_order_acquire))
		ivl_finish_remove_one(ivl_self(), spawner->finish);
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
	fiber->local.interval = ivl_finish_interval(finish);
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
		waiter = ivl_finish_remove_one(worker, finish);
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

	worker->policy.until = config->adapt_interval;
	/* Tasks are stolen faster than they are made: publish them sooner. */
	worker->policy.help_first = lost - worker->policy.lost_before > config->adapt_interval;
	worker->policy.lost_before = lost;
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
	if (--worker->policy.until == 0)
		adapt(worker);
	return (worker->policy.help_first && ivl_pool_size(worker->pool) < config->adapt_fresh) ||
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

	if (__builtin_expect(ivl_finish_error(finish), 0))
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

#define START(name, policy) \
	static int name(struct ivl_worker *worker, struct ivl_finish *finish, \
			ivl_function *function, const void *arg, size_t bytes, \
			const ivl_place *place) \
	{ \
		return start(policy, worker, finish, function, arg, bytes, place); \
	}

START(start_adaptive, IVL_ADAPTIVE)
START(start_work_first, IVL_WORK_FIRST)
START(start_help_first, IVL_HELP_FIRST)

ivl_start_async *const ivl_async_starts[IVL_POLICIES] = {
	[IVL_ADAPTIVE] = start_adaptive,
	[IVL_WORK_FIRST] = start_work_first,
	[IVL_HELP_FIRST] = start_help_first,
};
