/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Switching between fibers. */
#ifndef IVL_SWITCHING_H
#define IVL_SWITCHING_H

#include "worker.h"

/* Refill the free list. False: none is left, or ENOMEM. */
bool ivl_fiber_refill(struct ivl_worker *worker);

/* If true, the next ivl_fiber_get() succeeds. */
static inline bool ivl_fiber_there(struct ivl_worker *worker)
{
	return __builtin_expect(worker->free != NULL, 1) || ivl_fiber_refill(worker);
}

/* NULL: as above. */
static inline struct ivl_fiber *ivl_fiber_get(struct ivl_worker *worker)
{
	struct ivl_fiber *fiber;

	if (!ivl_fiber_there(worker))
		return NULL;
	fiber = worker->free;
	worker->free = fiber->next;
	return fiber;
}

void ivl_fiber_put(struct ivl_worker *worker, struct ivl_fiber *fiber);

/* Give all of the worker's free fibers back. */
void ivl_fiber_put_all(struct ivl_worker *worker);

/* The same, except for a few that the worker's next thread begins with. */
void ivl_fiber_put_most(struct ivl_worker *worker);

/* Resume a ready fiber, from the base or from a fiber that has ended. */
void ivl_resume(struct ivl_worker *worker, struct ivl_fiber *fiber);

/* On a fiber without work: run `work`, if any, then the worker's queue until it is empty. */
_Noreturn void ivl_fiber_loop(struct ivl_work *work);

/*
 * A child has ended after its spawner was taken: resume `waiter` if it was the last, else run
 * `taken`.
 */
_Noreturn void ivl_end_child(struct ivl_waiter *waiter, struct ivl_work *taken);

/* At the base: run `work` on a fiber, and what follows; without a stack, post it as stackless. */
void ivl_run_work(struct ivl_worker *worker, struct ivl_work *work);

/*
 * By an external worker's thread that has just entered: call work's run() on a fiber. Returns when
 * that has returned or waits; false: the work must be submitted.
 */
bool ivl_call_work(struct ivl_worker *worker, struct ivl_work *work);

/* Bytes left on the stack of a fiber that waits; 0: the waiter is none. */
size_t ivl_waiter_stack_left(const struct ivl_waiter *waiter);

/* Put the running fiber into the queue, and take mail first. */
void ivl_give_way(struct ivl_worker *worker);

/*
 * Call child_main(task) on a fiber of its own. It queues task's work, the suspended caller, and
 * finally calls ivl_back_to_spawner() and returns; or another worker takes the caller and resumes
 * it. Returns ENOMEM without a fiber, else what child_main() returned. context[0] is the caller's
 * fiber.
 */
int ivl_work_first(struct ivl_worker *worker, struct ivl_task *task,
		   long (*child_main)(void *task));

/* Around a wait: account for an exclusive fiber (ivl_attached_exclusive()). */
static inline void ivl_exclusive_wait_begin(struct ivl_worker *worker, const struct ivl_fiber *fiber)
{
	if (__builtin_expect(!fiber->exclusive, 1))
		return;
	worker->exclusive++;
	worker->exclusion_lifted = false;
}

static inline void ivl_exclusive_wait_end(struct ivl_worker *worker, const struct ivl_fiber *fiber)
{
	worker->exclusive -= fiber->exclusive;
}

/* Exceptions belong to the fiber: save those of the one that stops, restore those of the next. */
static inline void ivl_leave_exceptions(struct ivl_worker *worker, struct ivl_fiber *fiber)
{
	if (__builtin_expect(worker->exceptions != NULL, 0))
		fiber->exceptions = *worker->exceptions;
}

/* A new stack begins without exceptions. */
static inline void ivl_begin_exceptions(struct ivl_worker *worker)
{
	if (__builtin_expect(worker->exceptions != NULL, 0))
		*worker->exceptions = (struct ivl_exceptions){ NULL, 0 };
}

static inline void ivl_enter_exceptions(struct ivl_worker *worker, const struct ivl_fiber *fiber)
{
	if (__builtin_expect(worker->exceptions != NULL, 0))
		*worker->exceptions = fiber->exceptions;
}

static inline void ivl_back_to_spawner(struct ivl_worker *worker, struct ivl_fiber *spawner)
{
	struct ivl_fiber *child = worker->fiber;

	worker->fiber = spawner;
	ivl_enter_exceptions(worker, spawner);
	/* Mostly the list is as it was when the child was taken. */
	if (__builtin_expect(child->next == worker->free, 1))
		worker->free = child;
	else
		ivl_fiber_put(worker, child);
}

#endif
