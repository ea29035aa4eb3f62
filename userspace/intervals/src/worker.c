// SPDX-License-Identifier: GPL-2.0
/* The threads of workers, and contexts that wait. */
#include "worker.h"

#include <limits.h>
#include <urcu/urcu-memb.h>

#include "futex.h"

__thread struct ivl_worker *ivl_worker_self;

/*
 * Waiting.
 */

static __thread struct ivl_local foreign;

struct ivl_local *ivl_local(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker ? &worker->fiber->local : &foreign;
}

/* A foreign thread, or work that runs on a worker's base since there was no fiber. */
static void wait_here(struct ivl_worker *worker,
		      bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	struct ivl_waiter waiter;

	waiter.runtime = NULL;
	waiter.eventcount = worker ?
		&worker->runtime->halls[worker->place->index].eventcount : NULL;
	atomic_store_explicit(&waiter.word, 0, memory_order_relaxed);
	if (!publish(arg, &waiter))
		return;
	/* Acquire: what was written before ivl_wake(). */
	while (!atomic_load_explicit(&waiter.word, memory_order_acquire)) {
		struct ivl_work *work;

		if (!worker) {
			ivl_futex_wait(&waiter.word, 0);
			continue;
		}
		/* The base goes on with other work, on top. */
		work = ivl_find(worker);
		if (!work)
			work = ivl_idle(worker, &waiter.word);
		if (work)
			ivl_run_work(worker, work);
	}
}

void ivl_wait(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	struct ivl_worker *worker = ivl_self();

	if (worker && worker->fiber != &worker->base)
		ivl_suspend(worker, publish, arg);
	else
		wait_here(worker, publish, arg);
}

/* It is no fiber. */
static void wake_thread(struct ivl_waiter *waiter)
{
	struct ivl_eventcount *eventcount = waiter->eventcount;

	atomic_store_explicit(&waiter->word, 1, memory_order_release);
	/* The waiter may be gone by now: then this wakes nobody, or somebody for nothing. */
	if (eventcount)
		ivl_eventcount_notify(eventcount, UINT_MAX);
	else
		ivl_futex_wake(&waiter->word, 1);
}

void ivl_wake(struct ivl_waiter *waiter)
{
	if (waiter->runtime)
		ivl_submit(waiter->runtime, &waiter->work, NULL);
	else
		wake_thread(waiter);
}

void ivl_wake_next(struct ivl_waiter *waiter)
{
	if (waiter->runtime)
		ivl_submit_next(waiter->runtime, &waiter->work, NULL);
	else
		wake_thread(waiter);
}

/*
 * The thread.
 */

void *ivl_worker_main(void *arg)
{
	struct ivl_worker *worker = arg;
	ivl_runtime *runtime = worker->runtime;
	struct ivl_work *work;

	/* Until ivl_start() knows that all workers are there. */
	pthread_mutex_lock(&runtime->gate);
	pthread_mutex_unlock(&runtime->gate);

	ivl_worker_self = worker;
	urcu_memb_register_thread();
	if (runtime->config.pin && ivl_topology_cpu(runtime->topology, worker->number) >= 0)
		ivl_pin(ivl_topology_cpu(runtime->topology, worker->number));
#ifdef IVL_ASAN
	pthread_attr_t attributes;
	void *lowest;
	size_t bytes;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &lowest, &bytes);
	pthread_attr_destroy(&attributes);
	worker->base.lowest = lowest;
	worker->base.highest = (char *)lowest + bytes;
#endif
#ifdef IVL_TSAN
	worker->base.tsan = __tsan_get_current_fiber();
#endif
	while ((work = ivl_find(worker)) || (work = ivl_idle(worker, NULL)))
		ivl_run_work(worker, work);
	urcu_memb_unregister_thread();
	return NULL;
}

void ivl_adapt(struct ivl_worker *worker)
{
	const struct ivl_config *config = &worker->runtime->config;
	const uint64_t lost = atomic_load_explicit(&worker->lost, memory_order_relaxed);

	if (config->policy != IVL_ADAPTIVE)
		return;
	worker->until = config->adapt_interval;
	/* Tasks leave faster than they are made: make them available sooner. */
	worker->help_first = lost - worker->lost_before > config->adapt_interval;
	worker->lost_before = lost;
}
