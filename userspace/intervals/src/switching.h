/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a worker goes on from fiber to fiber: spawned, waiting, over. */
#ifndef IVL_SWITCHING_H
#define IVL_SWITCHING_H

#include "worker.h"

/*
 * A worker's free fibers.
 */

/* False: none is left, or ENOMEM. */
bool ivl_fiber_refill(struct ivl_worker *worker);

/* Is a fiber there? Then it stays so until the worker takes it. */
static inline bool ivl_fiber_there(struct ivl_worker *worker)
{
	return __builtin_expect(worker->free != NULL, 1) || ivl_fiber_refill(worker);
}

/* A fiber; NULL: as above. */
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

/* All that it keeps, for others. */
void ivl_fiber_put_all(struct ivl_worker *worker);

/*
 * Switching.
 */

/* Go on with a fiber that waits for nothing more, from the base or a fiber that is over. */
void ivl_resume(struct ivl_worker *worker, struct ivl_fiber *fiber);

/*
 * On a fiber whose work is over: run `work`, if any, then what is in the worker's
 * queue, until there is nothing.
 */
_Noreturn void ivl_fiber_loop(struct ivl_work *work);

/* A child has ended without its spawner: `waiter`, if it was the last, goes on; else `taken`. */
_Noreturn void ivl_end_child(struct ivl_waiter *waiter, struct ivl_work *taken);

/*
 * At the base: run `work` on a fiber, and all that follows from it; or keep it until there
 * is a stack for it.
 */
void ivl_run_work(struct ivl_worker *worker, struct ivl_work *work);

/* The running fiber into the queue, as if it had spawned; mail comes first. */
void ivl_give_way(struct ivl_worker *worker);

/*
 * Call child_main(task) on a fiber of its own, which puts task's work, the caller,
 * into the queue. Returns when that is taken: by child_main(), which then calls
 * ivl_back_to_spawner() and returns, or by others (ivl_resume()). ENOMEM: no
 * fiber, or what child_main() returned. context[0] is the caller's fiber.
 */
int ivl_work_first(struct ivl_worker *worker, struct ivl_task *task,
		   long (*child_main)(void *task));

/*
 * Around a wait: as ivl_attached_exclusive() has said of the fiber.
 */
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

/* Exceptions belong to the fiber: the running one's away, and those of the next there. */
static inline void ivl_leave_exceptions(struct ivl_worker *worker, struct ivl_fiber *fiber)
{
	if (__builtin_expect(worker->exceptions != NULL, 0))
		fiber->exceptions = *worker->exceptions;
}

/* What begins on a stack handles none. */
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
	/* Nearly always the list is as when the child was taken from it. */
	if (__builtin_expect(child->next == worker->free, 1))
		worker->free = child;
	else
		ivl_fiber_put(worker, child);
}

#endif
