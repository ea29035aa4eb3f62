// SPDX-License-Identifier: GPL-2.0
#include "worker.h"

#include <limits.h>
#include <urcu/urcu-memb.h>

#include "futex.h"

__thread struct ivl_worker *ivl_worker_self;

/*
 * Fibers.
 */

/* A worker has up to twice as many free fibers, and takes and gives this many at a time. */
#define FIBERS 64

struct ivl_fiber *ivl_fiber_refill(struct ivl_worker *worker)
{
	struct ivl_fiber *list = ivl_stacks_get(worker->runtime->stacks, FIBERS);

	if (list)
		worker->free = list->next;
	return list;
}

void ivl_fiber_put(struct ivl_worker *worker, struct ivl_fiber *fiber)
{
	fiber->next = worker->free;
	worker->free = fiber;
	if (++worker->returned < FIBERS)
		return;
	worker->returned = 0;
	for (unsigned int i = 1; i < FIBERS && fiber; i++)
		fiber = fiber->next;
	if (fiber && fiber->next) {
		ivl_stacks_put(worker->runtime->stacks, fiber->next);
		fiber->next = NULL;
	}
}

/*
 * Switching.
 */

/* Go on with `next`; what runs is left for good, or until somebody goes on with it. */
static void go_on_with(struct ivl_worker *worker, struct ivl_fiber *next)
{
	struct ivl_fiber *left = worker->fiber;

	worker->fiber = next;
	ivl_fiber_leave(left, next, worker->after.over == left);
	ivl_switch(&left->sp, next->sp, 1);
}

void ivl_switched(void)
{
	for (;;) {
		struct ivl_worker *worker = ivl_self();
		struct ivl_after after = worker->after;

		ivl_fiber_arrive(worker->fiber, false);
		worker->after = (struct ivl_after){ 0 };
		if (after.over) {
#ifdef IVL_TSAN
			/* It believes that the functions of the one that has ended go on. */
			__tsan_destroy_fiber(after.over->tsan);
			after.over->tsan = __tsan_create_fiber(0);
#endif
			ivl_fiber_put(worker, after.over);
		}
		/* At the base alone: who waits has come here. From publish() on it may run. */
		if (!after.waits || after.publish(after.arg, &after.waits->waiter))
			return;
		go_on_with(worker, after.waits);
	}
}

_Noreturn void ivl_end_with(struct ivl_worker *worker, struct ivl_fiber *next)
{
	worker->after.over = worker->fiber;
	go_on_with(worker, next);
	__builtin_unreachable();
}

void ivl_resume(struct ivl_worker *worker, struct ivl_fiber *fiber)
{
	if (worker->fiber != &worker->base)
		ivl_end_with(worker, fiber);
	go_on_with(worker, fiber);
	ivl_switched();
}

void ivl_resume_waiter(struct ivl_work *work)
{
	ivl_resume(ivl_self(), (struct ivl_fiber *)((char *)work -
						    offsetof(struct ivl_fiber, waiter.work)));
}

_Noreturn void ivl_fiber_loop(struct ivl_work *work)
{
	for (;;) {
		struct ivl_worker *worker = ivl_self();

		if (!work)
			work = ivl_take_next(worker);
		ivl_hold_nothing_back(worker, work);
		if (!work)
			ivl_end_with(worker, &worker->base);
		worker->fiber->local = (struct ivl_local){ 0 };
		/* The depth stays: those who spawned us may still be in the queue, on their fibers. */
		work->run(work);
		work = NULL;
	}
}

_Noreturn void ivl_end_child(struct ivl_waiter *waiter, struct ivl_work *taken)
{
	struct ivl_worker *worker = ivl_self();

	if (!waiter)
		ivl_fiber_loop(taken);
	if (taken)
		ivl_submit(worker->runtime, taken, worker->place);
	ivl_fiber_loop(&waiter->work);
}

static long fiber_main(void *work)
{
	ivl_fiber_arrive(ivl_self()->fiber, true);
	ivl_fiber_loop(work);
}

/* At the base. */
static void run(struct ivl_worker *worker, struct ivl_work *work)
{
	struct ivl_fiber *fiber;

	ivl_hold_nothing_back(worker, work);
	if (work->run == ivl_resume_waiter || work->run == ivl_resume_spawner ||
	    work->run == ivl_resume_asyncer) {
		work->run(work);
		return;
	}
	fiber = ivl_fiber_get(worker);
	if (!fiber) {
		/* It goes on here, and where it waits the base does (ivl_wait()). */
		worker->base.local = (struct ivl_local){ 0 };
		work->run(work);
		return;
	}
	fiber->depth = 0;
	worker->fiber = fiber;
	ivl_fiber_leave(&worker->base, fiber, false);
	ivl_call_on(ivl_fiber_stack(fiber), fiber_main, work, &worker->base.sp);
	ivl_switched();
}

/*
 * Waiting.
 */

static __thread struct foreign {
	struct ivl_local local;
	struct ivl_waiter waiter;
} foreign;

struct ivl_local *ivl_local(void)
{
	struct ivl_worker *worker = ivl_self();

	return worker ? &worker->fiber->local : &foreign.local;
}

/* A foreign thread, or work that runs on a worker's base since there was no fiber. */
static void wait_here(struct ivl_worker *worker, struct ivl_waiter *waiter,
		      bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	waiter->runtime = NULL;
	waiter->eventcount = worker ?
		&worker->runtime->halls[worker->place->index].eventcount : NULL;
	atomic_store_explicit(&waiter->word, 0, memory_order_relaxed);
	if (!publish(arg, waiter))
		return;
	/* Acquire: what was written before ivl_wake(). */
	while (!atomic_load_explicit(&waiter->word, memory_order_acquire)) {
		struct ivl_work *work;

		if (!worker) {
			ivl_futex_wait(&waiter->word, 0);
			continue;
		}
		/* The base goes on with other work, on top. */
		work = ivl_find(worker);
		if (!work)
			work = ivl_idle(worker, &waiter->word);
		if (work)
			run(worker, work);
	}
}

void ivl_wait(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	struct ivl_worker *worker = ivl_self();
	struct ivl_fiber *fiber;

	if (!worker) {
		wait_here(NULL, &foreign.waiter, publish, arg);
		return;
	}
	fiber = worker->fiber;
	if (fiber == &worker->base) {
		struct ivl_waiter waiter;

		wait_here(worker, &waiter, publish, arg);
		return;
	}
	fiber->waiter.work.run = ivl_resume_waiter;
	fiber->waiter.runtime = worker->runtime;
	worker->after = (struct ivl_after){ .waits = fiber, .publish = publish, .arg = arg };
	go_on_with(worker, &worker->base);
	ivl_switched();
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
		run(worker, work);
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
