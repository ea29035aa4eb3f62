// SPDX-License-Identifier: GPL-2.0
#include "worker.h"

#include <limits.h>
#include <string.h>
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
			work = ivl_take(worker);
		if (worker->credit && !(work && ivl_uses_credit(worker, work)))
			ivl_return_credit(worker);
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

	if (worker->credit && !ivl_uses_credit(worker, work))
		ivl_return_credit(worker);
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

void ivl_wake(struct ivl_waiter *waiter)
{
	struct ivl_eventcount *eventcount;

	if (waiter->runtime) {
		ivl_submit(waiter->runtime, &waiter->work, NULL);
		return;
	}
	eventcount = waiter->eventcount;
	atomic_store_explicit(&waiter->word, 1, memory_order_release);
	/* The waiter may be gone by now: then this wakes nobody, or somebody for nothing. */
	if (eventcount)
		ivl_eventcount_notify(eventcount, UINT_MAX);
	else
		ivl_futex_wake(&waiter->word, 1);
}

/*
 * Finding work.
 */

static void tell_length(struct ivl_worker *worker)
{
	if (worker->mask)
		ivl_stealability_update(worker->mask, worker->number,
					(unsigned int)ivl_pool_size(worker->pool));
}

int ivl_put_slowly(struct ivl_worker *worker, struct ivl_work *work)
{
	/* Once it is in the queue it may be run, and its memory gone. */
	const bool spawner = work->run == ivl_resume_spawner || work->run == ivl_resume_asyncer;
	int error = ivl_pool_put(worker->pool, work);

	if (error)
		return error;
	ivl_count(worker, puts);
	if (spawner)
		ivl_count(worker, spawners);
	tell_length(worker);
	ivl_idle_wake_near(worker);
	return 0;
}

struct ivl_work *ivl_take_slowly(struct ivl_worker *worker)
{
	struct ivl_work *work = ivl_pool_take(worker->pool);

	ivl_count(worker, takes);
	if (!work)
		ivl_count(worker, take_failures);
	tell_length(worker);
	return work;
}

void ivl_post(ivl_runtime *runtime, struct ivl_work *work, const struct ivl_place *place)
{
	struct ivl_hall *hall = &runtime->halls[place->index];

	cds_wfcq_node_init(&work->node);
#ifdef IVL_TSAN
	/* liburcu's atomics are invisible to it. */
	__tsan_release(work);
#endif
	cds_wfcq_enqueue(&hall->mailbox_head, &hall->mailbox_tail, &work->node);
	ivl_idle_wake(runtime, place);
}

void ivl_submit(ivl_runtime *runtime, struct ivl_work *work, const ivl_place *place)
{
	struct ivl_worker *worker = ivl_self();

	if (worker && worker->runtime == runtime && (!place || place == worker->place)) {
		if (!ivl_put(worker, work))
			return;
		place = worker->place;
	}
	if (!place)
		place = ivl_place_at(runtime,
				     atomic_fetch_add_explicit(&runtime->turn, 1,
							       memory_order_relaxed));
	ivl_post(runtime, work, place);
}

static bool mailbox_empty(struct ivl_hall *hall)
{
	return cds_wfcq_empty(&hall->mailbox_head, &hall->mailbox_tail);
}

static struct ivl_work *open_mailbox(struct ivl_worker *worker, struct ivl_hall *hall)
{
	struct cds_wfcq_node *node;
	bool more;

	if (mailbox_empty(hall) ||
	    atomic_exchange_explicit(&hall->mailbox_taken, true, memory_order_acquire))
		return NULL;
	node = __cds_wfcq_dequeue_nonblocking(&hall->mailbox_head, &hall->mailbox_tail);
	if (node == CDS_WFCQ_WOULDBLOCK)
		node = NULL;
	more = node && !mailbox_empty(hall);
	atomic_store_explicit(&hall->mailbox_taken, false, memory_order_release);
	if (!node)
		return NULL;
	/* Who came while we were looking in saw a mailbox that was taken. */
	if (more)
		ivl_idle_wake(worker->runtime, worker->place);
	ivl_count(worker, mailbox);
	struct ivl_work *work = caa_container_of(node, struct ivl_work, node);
#ifdef IVL_TSAN
	__tsan_acquire(work);
#endif
	return work;
}

/* Take more from a victim, up to half of what it has, into the own queue. */
static void steal_more(struct ivl_worker *worker, struct ivl_worker *victim)
{
	size_t more = ivl_pool_size(victim->pool) / 2;
	void *element;

	while (more-- && ivl_pool_steal(victim->pool, &element) == IVL_STOLEN) {
		atomic_fetch_add_explicit(&victim->lost, 1, memory_order_relaxed);
		if (ivl_put(worker, element))
			ivl_post(worker->runtime, element, worker->place);
	}
}

static struct ivl_work *steal_from(struct ivl_worker *worker, struct ivl_worker *victim)
{
	const bool remote = victim->place != worker->place;
	void *element;
	bool stolen;

	urcu_memb_read_lock();
	stolen = ivl_pool_steal(victim->pool, &element) == IVL_STOLEN;
	if (stolen && worker->runtime->config.steal_half)
		steal_more(worker, victim);
	urcu_memb_read_unlock();

	ivl_count(worker, steals);
	if (remote)
		ivl_count(worker, steals_remote);
	if (!stolen) {
		ivl_count(worker, steal_failures);
		if (remote)
			ivl_count(worker, steal_failures_remote);
		return NULL;
	}
	atomic_fetch_add_explicit(&victim->lost, 1, memory_order_relaxed);
	if (worker->mask)
		ivl_stealability_update(worker->mask, victim->number,
					(unsigned int)ivl_pool_size(victim->pool));
	return element;
}

static struct ivl_work *steal(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	struct ivl_hall *hall = &runtime->halls[worker->place->index];
	struct ivl_work *work;
	bool looked = false;
	int number;

	if (!runtime->shared) {
		ivl_chooser_begin(worker->chooser);
		while ((number = ivl_chooser_next(worker->chooser)) >= 0) {
			struct ivl_worker *victim = &runtime->workers[number];

			/* A place's mailbox comes after its queues (SLAW, section IV). */
			if (!looked && victim->place != worker->place) {
				looked = true;
				work = open_mailbox(worker, hall);
				if (work)
					return work;
			}
			work = steal_from(worker, victim);
			if (work) {
				ivl_chooser_succeeded(worker->chooser);
				return work;
			}
		}
	}
	return looked ? NULL : open_mailbox(worker, hall);
}

struct ivl_work *ivl_find(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	const unsigned int halls = runtime->topology->leaf_count;
	struct ivl_work *work = ivl_take(worker);

	if (!work && worker->credit) {
		ivl_return_credit(worker);
		work = ivl_take(worker);
	}
	if (!work)
		work = steal(worker);
	if (!work && runtime->config.cross_place)
		for (unsigned int i = 1; i < halls && !work; i++)
			work = open_mailbox(worker,
					    &runtime->halls[(worker->place->index + i) % halls]);
	return work;
}

bool ivl_anything(struct ivl_worker *worker)
{
	ivl_runtime *runtime = worker->runtime;
	const bool everywhere = runtime->config.cross_place;

	for (unsigned int i = 0; i < runtime->topology->leaf_count; i++)
		if ((everywhere || i == worker->place->index) &&
		    !mailbox_empty(&runtime->halls[i]))
			return true;
	for (unsigned int i = 0; i < runtime->topology->workers; i++) {
		const struct ivl_worker *other = &runtime->workers[i];

		if ((everywhere || other->place == worker->place) &&
		    ivl_pool_size(other->pool))
			return true;
	}
	return false;
}

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
