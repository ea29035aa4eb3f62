// SPDX-License-Identifier: LGPL-2.1-or-later
/* The threads of workers, and contexts that wait. */
#include "worker.h"

#include "futex.h"
#include "process.h"

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

/* A foreign thread. */
static void wait_here(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	struct ivl_waiter waiter;

	waiter.runtime = NULL;
	atomic_store_explicit(&waiter.word, 0, memory_order_relaxed);
	if (!publish(arg, &waiter))
		return;
	/* Acquire: what was written before ivl_wake(). */
	while (!atomic_load_explicit(&waiter.word, memory_order_acquire))
		ivl_futex_wait(&waiter.word, 0);
}

void ivl_wait(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	struct ivl_worker *worker = ivl_self();

	if (worker)
		ivl_suspend(worker, publish, arg);
	else
		wait_here(publish, arg);
}

/* It is no fiber. */
static void wake_thread(struct ivl_waiter *waiter)
{
	atomic_store_explicit(&waiter->word, 1, memory_order_release);
	/* The waiter may be gone by now: then this wakes nobody, or somebody for nothing. */
	ivl_futex_wake(&waiter->word, 1);
}

void ivl_wake(struct ivl_waiter *waiter)
{
	if (waiter->runtime)
		ivl_submit(waiter->runtime, &waiter->work, waiter->place);
	else
		wake_thread(waiter);
}

void ivl_wake_next(struct ivl_waiter *waiter)
{
	if (waiter->runtime)
		ivl_submit_next(waiter->runtime, &waiter->work, waiter->place);
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
	char signal_stack[64 << 10];
	struct ivl_work *work;

	/* Until ivl_start() knows that all workers are there. */
	pthread_mutex_lock(&runtime->gate);
	pthread_mutex_unlock(&runtime->gate);

	ivl_worker_self = worker;
	worker->exceptions = ivl_exceptions_of_thread();
	ivl_process_add_thread(worker, signal_stack, sizeof(signal_stack));
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
	while ((work = ivl_find(worker)) || (work = ivl_idle(worker)))
		ivl_run_work(worker, work);
	ivl_process_remove_thread(signal_stack);
	return NULL;
}

void ivl_adapt(struct ivl_worker *worker)
{
	const struct ivl_config *config = &worker->runtime->config;
	const uint64_t lost = atomic_load_explicit(&worker->lost, memory_order_relaxed);

	if (!worker->adapts)
		return;
	worker->until = config->adapt_interval;
	/* Tasks leave faster than they are made: make them available sooner. */
	worker->help_first = lost - worker->lost_before > config->adapt_interval;
	worker->lost_before = lost;
}
