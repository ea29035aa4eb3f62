// SPDX-License-Identifier: LGPL-2.1-or-later
/* Traced tasks: begin, end, spawn and sync. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tunables.h"
#include "watch/locks.h"
#include "watch/names.h"
#include "watch/probes.h"
#include "watch/watching.h"

/* Spans of the tasks that a foreign thread has waited for. */
static __thread struct ivl_span foreign;

static struct ivl_watched *running(struct ivl_worker *worker)
{
	return worker ? worker->fiber->watched : NULL;
}

/* Until ivl_view_go(). */
static void stop(struct ivl_worker *worker, struct ivl_watched *task)
{
	if (task->since)
		ivl_view_stop(task, &worker->watch->counts);
}

/* Not on a fiber: the thread's own code. */
static bool is_outside(const struct ivl_worker *worker)
{
	return !worker || worker->fiber == &worker->base;
}

struct ivl_span ivl_span_here(void)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_watched *task = running(worker);

	if (!task)
		return is_outside(worker) ? foreign : (struct ivl_span){ 0, 0, 0 };
	if (task->since) {
		ivl_view_stop(task, &worker->watch->counts);
		ivl_view_go(task);
	}
	return task->span;
}

void ivl_span_joined(const struct ivl_span *span)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_watched *task = running(worker);

	if (task) {
		ivl_span_here();
		ivl_span_reach(&task->span, span);
	} else if (is_outside(worker)) {
		ivl_span_reach(&foreign, span);
	}
}

void ivl_task_watched(struct ivl_watched *task, const char *name, const struct ivl_span *from)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_fiber *fiber = worker->fiber;
	struct ivl_watch *watch = worker->watch;

	*task = (struct ivl_watched){ .outer = fiber->watched, .name = name,
				      .number = watch->number + ++watch->tasks, .span = *from };
	ivl_slice_begin(worker, name, "task", task->number);
	task->span.tasks++;
	__atomic_store_n(&watch->counts.tasks, watch->tasks, __ATOMIC_RELAXED);
	if (ivl_viewing()) {
		task->stops_outer = task->outer && task->outer->since;
		if (task->stops_outer)
			stop(worker, task->outer);
	}
	fiber->watched = task;
	IVL_PROBE2(task_begin, task->number, name);
	if (ivl_viewing())
		ivl_view_go(task);
}

void ivl_task_over(struct ivl_watched *task)
{
	struct ivl_worker *worker = ivl_self();

	stop(worker, task);
	IVL_PROBE2(task_end, task->number, task->name);
	worker->fiber->watched = task->outer;
	ivl_slices_end(worker, 1);
	if (task->stops_outer)
		ivl_view_go(task->outer);
}

/*
 * Spawn and sync. For spans, children's records are kept until the sync, in a list in the scope's
 * waiter field.
 */

struct child {
	ivl_function *function;
	void *arg;
	struct child *next;		/* of the same scope */
	struct ivl_span span;		/* at the spawn, then at the end */
	_Atomic unsigned int refs;	/* its own, and its scope's if listed */
};

static void drop(struct child *child)
{
	/* Acquire and release: all uses come before free(). Pairs with itself. */
	if (atomic_fetch_sub_explicit(&child->refs, 1, memory_order_acq_rel) == 1)
		free(child);
}

static void run_child(void *arg)
{
	struct child *child = arg;
	struct ivl_watched task;

	ivl_task_watched(&task, ivl_function_name((const void *)child->function), &child->span);
	child->function(child->arg);
	ivl_task_over(&task);
	child->span = task.span;
	drop(child);
}

void ivl_watch_spawn(struct ivl_task *task)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_watched *spawner = running(worker);
	struct child *child = malloc(sizeof(*child));

	if (spawner)
		stop(worker, spawner);
	/* Without memory the child is not traced. */
	if (!child)
		return;
	*child = (struct child){ .function = task->function, .arg = task->arg };
	atomic_init(&child->refs, 1);
	task->function = run_child;
	task->arg = child;
	if (!ivl_viewing())
		return;
	atomic_init(&child->refs, 2);
	if (spawner)
		child->span = spawner->span;
	child->span.burdened_ns += IVL_BURDEN_NS;
	/* Without the mark it may be the last waiter. */
	if (task->scope->elsewhere & IVL_SCOPE_WATCHED)
		child->next = task->scope->waiter;
	task->scope->waiter = child;
	task->scope->elsewhere |= IVL_SCOPE_WATCHED;
}

void ivl_watch_spawned(void)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_watched *spawner = running(worker);

	/* The child had waited: its slices ended, and no switch began ours again. */
	if (!worker->watch->open)
		ivl_slices_begin_again(worker, spawner);
	if (spawner && ivl_viewing())
		ivl_view_go(spawner);
}

void ivl_watch_unspawn(struct ivl_task *task)
{
	struct child *child = task->arg;

	if (task->function != run_child)
		return;
	/* If it is listed, it is the first. */
	if (task->scope->waiter == child)
		task->scope->waiter = child->next;
	free(child);
}

/* Take the scope's list. */
static struct child *children_of(struct ivl_scope *scope)
{
	struct child *children = scope->waiter;

	if (!(scope->elsewhere & IVL_SCOPE_WATCHED))
		return NULL;
	scope->elsewhere &= ~IVL_SCOPE_WATCHED;
	scope->waiter = NULL;
	return children;
}

void *ivl_watch_sync(struct ivl_scope *scope)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_watched *task = running(worker);

	ivl_locks_wait(worker->fiber);
	if (task)
		stop(worker, task);
	return children_of(scope);
}

void ivl_watch_synced(void *children)
{
	struct ivl_watched *task = running(ivl_self());

	for (struct child *child = children; child;) {
		struct child *next = child->next;

		if (task)
			ivl_span_reach(&task->span, &child->span);
		drop(child);
		child = next;
	}
	ivl_watch_spawned();
}

void ivl_watch_leave(struct ivl_scope *scope)
{
	for (struct child *child = children_of(scope); child;) {
		struct child *next = child->next;

		drop(child);
		child = next;
	}
}

/* Asyncs. A finish has no room for a span, which is found by the finish's address until it ends. */

struct gathering {
	struct gathering *next;
	const struct ivl_finish *finish;
	struct ivl_span span;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gathering *gatherings[256];

static struct gathering **place_of(const struct ivl_finish *finish)
{
	struct gathering **place = &gatherings[(uintptr_t)finish / 16 % 256];

	while (*place && (*place)->finish != finish)
		place = &(*place)->next;
	return place;
}

/* NULL: ENOMEM. */
static struct gathering *gathering_of(const struct ivl_finish *finish)
{
	struct gathering **place, *it;

	pthread_mutex_lock(&lock);
	place = place_of(finish);
	it = *place;
	if (!it) {
		it = calloc(1, sizeof(*it));
		if (it)
			it->finish = finish;
		*place = it;
	}
	pthread_mutex_unlock(&lock);
	return it;
}

void ivl_tasks_forget(void)
{
	foreign = (struct ivl_span){ 0, 0, 0 };
	memset(gatherings, 0, sizeof(gatherings));
	pthread_mutex_init(&lock, NULL);
}

void ivl_watch_finished(const struct ivl_finish *finish)
{
	struct gathering **place, *it;

	pthread_mutex_lock(&lock);
	place = place_of(finish);
	it = *place;
	if (it)
		*place = it->next;
	pthread_mutex_unlock(&lock);
	if (it)
		ivl_span_joined(&it->span);
	free(it);
}

struct async {
	ivl_function *function;
	struct gathering *gathering;
	struct ivl_span span;
	_Alignas(max_align_t) char arg[];
};
static_assert(sizeof(struct async) == IVL_ASYNC_NOTED, "the argument is copied as ever");

static void run_async(void *arg)
{
	struct async *async = arg;
	struct ivl_watched task;

	ivl_task_watched(&task, ivl_function_name((const void *)async->function), &async->span);
	async->function(async->arg);
	ivl_task_over(&task);
	if (async->gathering)
		ivl_reach(&async->gathering->span, &task.span);
}

int ivl_watch_async(ivl_start_async *start, struct ivl_worker *worker, struct ivl_finish *finish,
		    ivl_function *function, const void *arg, size_t bytes, const ivl_place *place)
{
	struct ivl_watched *const spawner = running(worker);
	/* Not on the stack, which may be too small. */
	struct async *const async = malloc(sizeof(*async) + bytes);
	int error;

	if (!async)
		return ENOMEM;
	*async = (struct async){ .function = function };
	if (ivl_viewing()) {
		async->gathering = gathering_of(finish);
		if (spawner) {
			stop(worker, spawner);
			async->span = spawner->span;
		}
		async->span.burdened_ns += IVL_BURDEN_NS;
	}
	if (bytes)
		memcpy(async->arg, arg, bytes);
	error = start(worker, finish, run_async, async, sizeof(*async) + bytes, place);
	free(async);
	ivl_watch_spawned();
	return error;
}
