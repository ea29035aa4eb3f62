// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finishes and groups; finish_count.h counts their asyncs, async.c starts them. */
#include <errno.h>

#include <watch/watch.h>

#include "attach.h"
#include "deadlock.h"
#include "finish_count.h"

void ivl_finish_return_reserve(struct ivl_worker *worker, bool leaves)
{
	struct ivl_finish_reserve *reserve = &worker->reserve;
	struct ivl_waiter *waiter = ivl_finish_subtract(
		(struct ivl_finish *)reserve->deferred.from, reserve->count);

	reserve->count = 0;
	ivl_deferred_remove(&worker->deferred, &reserve->deferred);
	if (waiter && leaves)
		ivl_wake_next(waiter);
	else if (waiter)
		ivl_wake(waiter);
}

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
	return start_by(worker->policy.start, worker, worker->fiber->local.finish, function, arg,
			bytes, place);
}

static ivl_start_async *start_of(enum ivl_policy policy, const struct ivl_worker *worker)
{
	/* Work-first could move the spawner to another thread. */
	return worker->tied ? worker->policy.start : ivl_async_starts[policy];
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

	if (worker && ivl_finish_has_reserve(worker, finish))
		ivl_finish_return_reserve(worker, false);
	/* Acquire: what the asyncs wrote. */
	if (atomic_load_explicit(&finish->left, memory_order_acquire) != 1)
		ivl_wait(ivl_publish_finish, finish);
	if (ivl_is_watching())
		ivl_watch_finished(finish);
	return ivl_finish_error(finish);
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
	if (ivl_finish_interval(finish) || !current)
		return;
	ivl_retain(current);
	ivl_outlast(current);
	atomic_store_explicit(&finish->interval, current, memory_order_relaxed);
}

static void leave(struct ivl_finish *finish)
{
	if (ivl_finish_interval(finish))
		ivl_release(ivl_finish_interval(finish));
	atomic_store_explicit(&finish->interval, NULL, memory_order_relaxed);
}

/* Its tasks are in no interval. */
static int start_outside(struct ivl_finish *finish, ivl_function *function, const void *arg,
			 size_t bytes, const ivl_place *place)
{
	ivl_runtime *runtime = ivl_default();

	return runtime ? ivl_async_outside(runtime, finish, function, arg, bytes, place) : EAGAIN;
}

int ivl_group_async(struct ivl_group *group, ivl_function *function, const void *arg,
		    size_t bytes, const ivl_place *place)
{
	struct ivl_finish *finish = finish_of(group);
	struct ivl_worker *worker = ivl_self();

	if (!worker)
		return start_outside(finish, function, arg, bytes, place);
	enter(finish, worker->fiber->local.interval);
	return start_by(worker->policy.start, worker, finish, function, arg, bytes, place);
}

int ivl_group_async_by(struct ivl_group *group, enum ivl_policy policy, ivl_function *function,
		       const void *arg, size_t bytes, const ivl_place *place)
{
	struct ivl_finish *finish = finish_of(group);
	struct ivl_worker *worker = ivl_self();

	if (policy >= IVL_POLICIES)
		return ivl_error(EINVAL, "group_async_by: no such policy");
	if (!worker)
		return start_outside(finish, function, arg, bytes, place);
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
	ivl_finish_add(ivl_self(), finish_of(group));
}

void ivl_group_done(struct ivl_group *group)
{
	struct ivl_waiter *waiter = ivl_finish_remove_one(ivl_self(), finish_of(group));

	if (waiter)
		ivl_wake(waiter);
}

void ivl_group_cancel(struct ivl_group *group, int error)
{
	ivl_finish_set_error(finish_of(group), error);
}

int ivl_group_error(struct ivl_group *group)
{
	return ivl_finish_error(finish_of(group));
}

struct ivl_group *ivl_group_current(void)
{
	return (struct ivl_group *)ivl_local()->finish;
}
