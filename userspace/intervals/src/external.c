// SPDX-License-Identifier: LGPL-2.1-or-later
/* External workers: threads that work while they wait in ivl_run_here(). */
#include "external.h"

#include <futex.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "run_queue.h"
#include "switching.h"

/* Waiting. */

/* Has the awaited word changed? */
static bool is_called(const struct ivl_external *ext)
{
	const _Atomic(uint32_t) *word = atomic_load_explicit(&ext->awaited, memory_order_relaxed);

	/* Acquire: what was written before ivl_wake(), or before the word changed. */
	return atomic_load_explicit(word, memory_order_acquire) !=
	       atomic_load_explicit(&ext->value, memory_order_relaxed);
}

bool ivl_external_may_leave(const struct ivl_external *ext)
{
	return is_called(ext) && (!ivl_is_restricted(&ext->worker) || ext->worker.base.exclusive);
}

void ivl_external_wait(struct ivl_external *ext, bool (*publish)(void *arg, struct ivl_waiter *waiter),
		   void *arg)
{
	struct ivl_worker *worker = &ext->worker;

	atomic_store_explicit(&ext->waiter.word, 0, memory_order_relaxed);
	ivl_exclusive_wait_begin(worker, &worker->base);
	if (publish(arg, &ext->waiter))
		ivl_thread_work(worker);
	ivl_exclusive_wait_end(worker, &worker->base);
	atomic_store_explicit(&ext->waiter.word, 0, memory_order_relaxed);
}

/* Relaxed: other threads read it only after this one has counted itself asleep. */
static void await(struct ivl_external *ext, const _Atomic(uint32_t) *word, uint32_t value)
{
	atomic_store_explicit(&ext->value, value, memory_order_relaxed);
	atomic_store_explicit(&ext->awaited, word, memory_order_relaxed);
}

void ivl_external_wait_word(struct ivl_external *ext, const _Atomic(uint32_t) *word, uint32_t value)
{
	struct ivl_worker *worker = &ext->worker;

	await(ext, word, value);
	ivl_exclusive_wait_begin(worker, &worker->base);
	ivl_thread_work(worker);
	ivl_exclusive_wait_end(worker, &worker->base);
	await(ext, &ext->waiter.word, 0);
}

void ivl_external_sleep(struct ivl_external *ext, uint64_t key)
{
	struct ivl_eventcount *eventcount = &ext->own.sleepers.eventcount;
	const _Atomic(uint32_t) *word = atomic_load_explicit(&ext->awaited, memory_order_relaxed);

	if (word == &ext->waiter.word) {
		ivl_eventcount_sleep(eventcount, key);
		return;
	}
	ivl_futex_wait_either(ivl_futex_upper(&eventcount->state), (uint32_t)key, word,
			      atomic_load_explicit(&ext->value, memory_order_relaxed));
	ivl_eventcount_cancel(eventcount);
}

/* True: the worker was asleep. */
static bool wake(struct ivl_external *ext)
{
	return ivl_eventcount_notify(&ext->own.sleepers.eventcount, 1);
}

void ivl_external_call(struct ivl_external *ext)
{
	ivl_runtime *runtime = ext->worker.runtime;
	bool counted;

	/* Its own thread is awake, and looks before it sleeps. */
	if (ivl_self() == &ext->worker) {
		atomic_store_explicit(&ext->waiter.word, 1, memory_order_relaxed);
		return;
	}
	counted = ivl_submit_begin(runtime);
	atomic_store_explicit(&ext->waiter.word, 1, memory_order_release);
	wake(ext);
	ivl_submit_end(runtime, counted);
}

/* Exclusive waits, when all workers sleep. */

/* Is there something that only this thread can resume? */
static bool has_something(struct ivl_external *ext)
{
	return is_called(ext) || !ivl_mailbox_empty(&ext->own.returning);
}

bool ivl_externals_lift_exclusion(struct ivl_worker *worker)
{
	bool any = false;

	worker->exclusion_lifted = worker->exclusive &&
				   (has_something(worker->external) || ivl_anything(worker));
	if (worker->exclusion_lifted)
		return true;
	/* A woken worker that can do nothing sleeps again, and is then the last. */
	for (struct ivl_external *ext = ivl_externals(worker->runtime); ext; ext = ext->next)
		any |= ext != worker->external && has_something(ext) && wake(ext);
	return any;
}

void ivl_externals_wake_one(ivl_runtime *runtime)
{
	struct ivl_external *ext = ivl_externals(runtime);

	/* A detached thread does not sleep there: wake() returns false. */
	while (ext && !wake(ext))
		ext = ext->next;
}

/* Creating. */

static void destroy(struct ivl_external *ext)
{
	ivl_tied_destroy(&ext->own);
	free(ext);
}

struct ivl_external *ivl_external_create(ivl_runtime *runtime, const struct ivl_place *place)
{
	struct ivl_external *ext = aligned_alloc(IVL_LINE, sizeof(*ext));

	if (!ext)
		return NULL;
	memset(ext, 0, sizeof(*ext));
	ext->worker.external = ext;
	ext->waiter.external = ext;
	await(ext, &ext->waiter.word, 0);
	ext->worker.tied = runtime->threadless ? &ext->own : NULL;
	atomic_init(&ext->taken, true);
	ivl_tied_init(&ext->own, &ext->worker);
	if (ivl_worker_init(&ext->worker, runtime, place, UINT_MAX)) {
		ivl_worker_destroy(&ext->worker);
		destroy(ext);
		return NULL;
	}
	ext->next = atomic_load_explicit(&runtime->externals, memory_order_relaxed);
	/* Release, to ivl_externals(). */
	while (!atomic_compare_exchange_weak_explicit(&runtime->externals, &ext->next, ext,
						      memory_order_release, memory_order_relaxed))
		;
	return ext;
}

void ivl_externals_destroy(ivl_runtime *runtime)
{
	struct ivl_external *ext = ivl_externals(runtime);

	while (ext) {
		struct ivl_external *next = ext->next;

		/* A worker that left has few. */
		if (ext->worker.free)
			ivl_stacks_put(runtime->stacks, ext->worker.free);
		ivl_worker_destroy(&ext->worker);
		destroy(ext);
		ext = next;
	}
}

/* Entering and leaving. */

static bool has_cpu(const struct ivl_place *place, int cpu)
{
	for (unsigned int i = 0; i < place->cpu_count; i++)
		if (place->cpus[i] == cpu)
			return true;
	return false;
}

/* The place of the caller's CPU; if it has none, the next place in turn. */
static const struct ivl_place *callers_place(ivl_runtime *runtime)
{
	const struct ivl_topology *topology = runtime->topology;
	const bool one = topology->leaf_count == 1;
	const int cpu = topology->bindable && !one ? sched_getcpu() : -1;

	if (one)
		return &topology->leaves[0];
	for (unsigned int i = 0; cpu >= 0 && i < topology->leaf_count; i++)
		if (has_cpu(&topology->leaves[i], cpu))
			return &topology->leaves[i];
	return ivl_next_place(runtime);
}

static struct ivl_external *find_free(ivl_runtime *runtime)
{
	const struct ivl_place *place = callers_place(runtime);

	for (struct ivl_external *ext = ivl_externals(runtime); ext; ext = ext->next)
		/* Acquire, from leave(). */
		if (ext->worker.place == place && !ivl_external_taken(ext) &&
		    !atomic_exchange_explicit(&ext->taken, true, memory_order_acquire))
			return ext;
	return ivl_external_create(runtime, place);
}

static void count_in(struct ivl_external *ext)
{
	atomic_fetch_add_explicit(&ext->worker.runtime->all_asleep, 1, memory_order_seq_cst);
}

/*
 * The other workers may all sleep and rely on this one for stackless work, or for noticing a
 * deadlock.
 */
static void count_out(struct ivl_external *ext)
{
	ivl_runtime *runtime = ext->worker.runtime;
	const unsigned int all = atomic_fetch_sub_explicit(&runtime->all_asleep, 1,
							   memory_order_seq_cst) - 1;

	if ((uint32_t)atomic_load_explicit(&runtime->attention, memory_order_seq_cst) == all &&
	    (ivl_stackless_there(runtime) || runtime->deadlock))
		ivl_idle_wake(runtime, ext->worker.place);
}

static void enter(struct ivl_external *ext)
{
	struct ivl_worker *worker = &ext->worker;

	count_in(ext);
	ivl_thread_enter(worker, NULL);
	/* The thread may be handling an exception: hide it from the tasks. */
	if (worker->exceptions) {
		ext->before = *worker->exceptions;
		*worker->exceptions = (struct ivl_exceptions){ 0 };
	}
}

/* Give its queue and most of its stacks to the other workers. */
static void clear(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	struct ivl_work *work;

	ivl_flush_deferred(worker->deferred, worker, NULL, true);
	ivl_stay();
	while (!runtime->shared && ivl_pool_size(worker->pool) && (work = ivl_take(worker)))
		ivl_post(runtime, work, worker->place);
	ivl_fiber_put_most(worker);
	worker->mail_first = false;
}

static void leave(struct ivl_external *ext)
{
	struct ivl_worker *worker = &ext->worker;

	clear(worker);
	count_out(ext);
	if (worker->exceptions)
		*worker->exceptions = ext->before;
	ivl_thread_leave(NULL);
	/* Release, to find_free(). */
	atomic_store_explicit(&ext->taken, false, memory_order_release);
}

int ivl_run_here(ivl_runtime *runtime, ivl_body *body, void *arg)
{
	/*
	 * A task takes part already, a forked child has no workers, and a task tied to the caller
	 * could outlast the call.
	 */
	struct ivl_external *ext = ivl_self() || ivl_is_parents(runtime) || runtime->config.tied ?
				NULL : find_free(runtime);
	int error;

	if (!ext)
		return ivl_run(runtime, body, arg);
	enter(ext);
	error = ivl_run(runtime, body, arg);
	leave(ext);
	return error;
}
