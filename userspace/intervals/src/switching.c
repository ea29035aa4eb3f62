// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <futex.h>
#include <external.h>
#include <watch/watch.h>

#include "run_queue.h"
#include "switching.h"

bool ivl_fiber_refill(struct ivl_worker *worker)
{
	worker->free = ivl_stacks_get(worker->runtime->stacks, worker->runtime->fibers_kept);
	return worker->free;
}

void ivl_fiber_put(struct ivl_worker *worker, struct ivl_fiber *fiber)
{
	const unsigned int kept = worker->runtime->fibers_kept;

	fiber->next = worker->free;
	worker->free = fiber;
	if (++worker->returned < kept)
		return;
	worker->returned = 0;
	for (unsigned int i = 1; i < kept && fiber; i++)
		fiber = fiber->next;
	if (fiber && fiber->next) {
		ivl_stacks_put(worker->runtime->stacks, fiber->next);
		fiber->next = NULL;
	}
}

void ivl_fiber_put_all(struct ivl_worker *worker)
{
	if (worker->free)
		ivl_stacks_put(worker->runtime->stacks, worker->free);
	worker->free = NULL;
	worker->returned = 0;
}

void ivl_fiber_put_most(struct ivl_worker *worker)
{
	struct ivl_fiber *last = worker->free;

	if (worker->runtime->fibers_kept == 1) {
		ivl_fiber_put_all(worker);
		return;
	}
	for (unsigned int i = 1; i < IVL_FIBERS_KEPT_OUTSIDE && last; i++)
		last = last->next;
	if (last && last->next) {
		ivl_stacks_put(worker->runtime->stacks, last->next);
		last->next = NULL;
	}
	worker->returned = 0;
}

/* Switch to `next`. The running fiber is left for good, or until it is resumed. */
static void go_on_with(struct ivl_worker *worker, struct ivl_fiber *next)
{
	struct ivl_fiber *left = worker->fiber;

	worker->fiber = next;
	if (ivl_is_watched(worker))
		ivl_watch_switch(worker, left, next);
	ivl_leave_exceptions(worker, left);
	ivl_enter_exceptions(worker, next);
	ivl_fiber_leave(left, next, worker->after.over == left);
	ivl_switch(&left->sp, next->sp, 1);
}

/* After a switch, on the new stack. */
static void switched(void)
{
	for (;;) {
		struct ivl_worker *worker = ivl_self();
		struct ivl_after after = worker->after;

		ivl_fiber_arrive(worker->fiber, false);
		worker->after = (struct ivl_after){ 0 };
		if (after.over) {
			ivl_fiber_over(after.over);
			ivl_fiber_put(worker, after.over);
		}
		/*
		 * Only at the base: waiting fibers switch there. After publish() the fiber may run.
		 */
		if (!after.waits || after.waits->publish(after.waits->awaits, &after.waits->waiter))
			return;
		go_on_with(worker, after.waits);
	}
}

/*
 * The running fiber has ended. Not inlined: AddressSanitizer forgets a stack's frames before a call
 * that does not return.
 */
__attribute__((noinline)) static _Noreturn void end_with(struct ivl_worker *worker,
							  struct ivl_fiber *next)
{
	worker->after.over = worker->fiber;
	go_on_with(worker, next);
	__builtin_unreachable();
}

void ivl_resume(struct ivl_worker *worker, struct ivl_fiber *fiber)
{
	if (worker->fiber != &worker->base)
		end_with(worker, fiber);
	go_on_with(worker, fiber);
	switched();
}

int ivl_work_first(struct ivl_worker *worker, struct ivl_task *task, long (*child_main)(void *))
{
	struct ivl_fiber *spawner = worker->fiber;
	struct ivl_fiber *child = ivl_fiber_get(worker);
	long error;

	if (__builtin_expect(!child, 0))
		return ENOMEM;
	task->context[0] = spawner;
	child->local.interval = spawner->local.interval;
	child->local.finish = spawner->local.finish;
	child->local.task = ivl_task_begins();
	child->local.cells = NULL;
	child->depth = spawner->depth + 1;
	worker->fiber = child;
	ivl_leave_exceptions(worker, spawner);
	ivl_begin_exceptions(worker);
	ivl_fiber_leave(spawner, child, false);
	error = ivl_call_on(ivl_fiber_stack(child), child_main, task, &spawner->sp);
	if (__builtin_expect(error == 1, 0)) {
		/* Resumed by ivl_switch(): the child is elsewhere. */
		switched();
		return 0;
	}
	ivl_fiber_arrive(ivl_self()->fiber, false);
	return (int)error;
}

/*
 * Publish deferred counts; a waiter that becomes ready by that runs before `work` (SLAW, algorithm
 * 1, action 5). It has a stack: in the queue, below what `work` puts there, waiters could pile up
 * (Documentation/design.rst, "Space").
 */
static struct ivl_work *tell_before(struct ivl_worker *worker, struct ivl_work *work)
{
	while (ivl_flush_deferred(worker->deferred, worker, work, true) && work && worker->next) {
		ivl_make_ready(worker->runtime, work, worker->place);
		work = ivl_take_next(worker);
	}
	return work;
}

_Noreturn void ivl_fiber_loop(struct ivl_work *work)
{
	for (;;) {
		struct ivl_worker *worker = ivl_self();

		if (!work && ivl_mail_due(worker)) {
			ivl_stay();
			worker->mail_first = true;
		} else if (!work && !ivl_leaves(worker) && !ivl_returns(worker) &&
			   !ivl_is_restricted(worker)) {
			work = ivl_take_next(worker);
		}
		work = tell_before(worker, work);
		if (!work)
			end_with(worker, &worker->base);
		worker->fiber->local = (struct ivl_local){ 0 };
		/* The depth stays: our spawners may still be in the queue, on their fibers. */
		work->kind->run(work);
		work = NULL;
	}
}

_Noreturn void ivl_end_child(struct ivl_waiter *waiter, struct ivl_work *taken)
{
	struct ivl_worker *worker = ivl_self();

	/* End the slices of the spawner, which has left. */
	if (ivl_is_watched(worker))
		ivl_watch_switch(worker, NULL, worker->fiber);
	if (!waiter)
		ivl_fiber_loop(taken);
	if (taken)
		ivl_make_ready(worker->runtime, taken, worker->place);
	ivl_wake_next(waiter);
	ivl_fiber_loop(NULL);
}

static long fiber_main(void *work)
{
	ivl_fiber_arrive(ivl_self()->fiber, true);
	ivl_fiber_loop(work);
}

void ivl_run_work(struct ivl_worker *worker, struct ivl_work *work)
{
	struct ivl_fiber *fiber;

	ivl_flush_deferred(worker->deferred, worker, work, false);
	if (work->kind->resumes) {
		work->kind->run(work);
		return;
	}
	fiber = ivl_fiber_get(worker);
	if (!fiber) {
		ivl_post_stackless(worker, work);
		return;
	}
	fiber->depth = 0;
	worker->fiber = fiber;
	/* The base of a threadless runtime is the thread's own code, which may handle one. */
	ivl_leave_exceptions(worker, &worker->base);
	ivl_begin_exceptions(worker);
	ivl_fiber_leave(&worker->base, fiber, false);
	ivl_call_on(ivl_fiber_stack(fiber), fiber_main, work, &worker->base.sp);
	switched();
}

struct call {
	struct ivl_worker *by;
	struct ivl_work *work;
};

/*
 * False: the base has gone on meanwhile, because the fiber has waited or was stolen. Another
 * worker's `above` may be what the fiber was in an earlier use.
 */
static bool is_above_base(const struct call *call)
{
	struct ivl_worker *const worker = call->by;
	struct ivl_fiber *const fiber = worker->fiber;

	ivl_fiber_arrive(fiber, true);
	call->work->kind->run(call->work);
	if (ivl_self() != worker || worker->above != fiber)
		return false;
	worker->above = NULL;
	ivl_back_to_spawner(worker, &worker->base);
	return true;
}

/* Returns on the base's stack, which ThreadSanitizer must be told before this function ends. */
__attribute__((no_sanitize_thread)) static long call_main(void *call)
{
	if (!is_above_base(call))
		ivl_fiber_loop(NULL);
	ivl_fiber_leave(NULL, &ivl_self()->base, true);
	return 0;
}

bool ivl_call_work(struct ivl_worker *worker, struct ivl_work *work)
{
	struct ivl_fiber *fiber = ivl_is_watched(worker) || ivl_high_there(worker) ?
		NULL : ivl_fiber_get(worker);
	struct call call = { worker, work };

	if (!fiber)
		return false;
	fiber->depth = 0;
	fiber->local = (struct ivl_local){ 0 };
	worker->fiber = fiber;
	worker->above = fiber;
	ivl_leave_exceptions(worker, &worker->base);
	ivl_begin_exceptions(worker);
	ivl_fiber_leave(&worker->base, fiber, false);
	if (ivl_call_on(ivl_fiber_stack(fiber), call_main, &call, &worker->base.sp)) {
		/* Resumed by ivl_switch(). No other worker can see the fiber before this. */
		worker->above = NULL;
		switched();
	} else {
		ivl_fiber_arrive(&worker->base, false);
	}
	return true;
}

static void resume_waiter(struct ivl_work *work)
{
	ivl_resume(ivl_self(), (struct ivl_fiber *)((char *)work -
						    offsetof(struct ivl_fiber, waiter.work)));
}

static const struct ivl_work_kind waiter_kind = { .run = resume_waiter, .resumes = true };

size_t ivl_waiter_stack_left(const struct ivl_waiter *waiter)
{
	const struct ivl_fiber *fiber = caa_container_of(waiter, struct ivl_fiber, waiter);

	if (!waiter->runtime || waiter->work.kind != &waiter_kind)
		return 0;
	return (size_t)((char *)fiber->sp - fiber->lowest);
}

static void suspend(struct ivl_worker *worker,
		    bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	struct ivl_fiber *fiber = worker->fiber;

	fiber->waiter.work.kind = &waiter_kind;
	fiber->waiter.runtime = worker->runtime;
	fiber->waiter.place = worker->place;
	fiber->waiter.tied = worker->tied;
	fiber->waiter.exclusive = fiber->exclusive;
	ivl_exclusive_wait_begin(worker, fiber);
	fiber->publish = publish;
	fiber->awaits = arg;
	worker->after.waits = fiber;
	go_on_with(worker, &worker->base);
	switched();
	fiber->publish = NULL;
	/* After an exclusive wait the worker is the same. */
	if (__builtin_expect(fiber->exclusive, 0))
		ivl_exclusive_wait_end(worker, fiber);
}

/* A foreign thread. */
static void wait_here(bool (*publish)(void *arg, struct ivl_waiter *waiter), void *arg)
{
	struct ivl_waiter waiter;

	waiter.runtime = NULL;
	waiter.external = NULL;
	waiter.tied = NULL;
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

	if (!worker)
		wait_here(publish, arg);
	else if (worker->fiber == &worker->base)
		ivl_external_wait(worker->external, publish, arg);
	else
		suspend(worker, publish, arg);
}

static void wake_thread(struct ivl_waiter *waiter)
{
	if (waiter->external) {
		ivl_external_call(waiter->external);
		return;
	}
	atomic_store_explicit(&waiter->word, 1, memory_order_release);
	/* The waiter may be gone: then this wakes no thread, or one spuriously. */
	ivl_futex_wake(&waiter->word, 1);
}

void ivl_wake(struct ivl_waiter *waiter)
{
	if (waiter->tied)
		ivl_tied_return(waiter);
	else if (waiter->runtime)
		ivl_make_ready(waiter->runtime, &waiter->work, waiter->place);
	else
		wake_thread(waiter);
}

void ivl_wake_next(struct ivl_waiter *waiter)
{
	if (waiter->tied)
		ivl_tied_return(waiter);
	else if (waiter->runtime)
		ivl_make_ready_next(waiter->runtime, &waiter->work, waiter->place);
	else
		wake_thread(waiter);
}

static bool publish_way(void *arg, struct ivl_waiter *waiter)
{
	(void)arg;
	return !ivl_put(ivl_self(), &waiter->work);
}

/* Other workers could take it from the queue. */
static bool publish_own_way(void *arg, struct ivl_waiter *waiter)
{
	(void)arg;
	ivl_mailbox_put(&waiter->tied->returning, &waiter->work);
	return true;
}

void ivl_give_way(struct ivl_worker *worker)
{
	if (worker->runtime->threadless)
		return;
	worker->mail_first = true;
	ivl_wait(worker->tied ? publish_own_way : publish_way, NULL);
}
