/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cohort lock (Dice, Marathe and Shavit, PPoPP 2012), of queues with parked waiters. The holder
 * of a node's queue may wait for the global queue, which then belongs to the node until the node
 * gives it up.
 */
#ifndef IVL_COHORT_H
#define IVL_COHORT_H

#include "guard_queue.h"
#include "sync/parker.h"

/* A waiter in a queue. */
struct ivl_sleeper {
	struct ivl_guard_node node;	/* first: ivl_fifo_unlock() casts it back */
	struct ivl_parker parker;
};

static inline void ivl_fifo_lock(struct ivl_guard_queue *queue)
{
	struct ivl_sleeper me;

	ivl_parker_init(&me.parker);
	if (!ivl_guard_queue_enter(queue, &me.node))
		ivl_park(&me.parker);
}

static inline void ivl_fifo_unlock(struct ivl_guard_queue *queue)
{
	struct ivl_guard_node *next = ivl_guard_queue_leave(queue);

	if (next)
		ivl_unpark(&((struct ivl_sleeper *)next)->parker);
}

/* One node's part, protected by `queue`. */
struct ivl_cohort {
	struct ivl_guard_queue queue;
	IVL_SHARED(bool) has_global;
	IVL_SHARED(unsigned int) passes;	/* since it has the global queue */
};

struct ivl_cohort_lock {
	struct ivl_guard_queue global;
	/* The present holder's cohort: the owner may unlock on another node. */
	IVL_SHARED(struct ivl_cohort *) holder;
	bool one_node;				/* that has the global queue for ever */
	unsigned int local_passes;		/* at most, while another node waits */
};

static inline void ivl_cohort_lock_init(struct ivl_cohort_lock *lock, bool one_node,
					unsigned int local_passes)
{
	ivl_guard_queue_init(&lock->global);
	lock->holder = NULL;
	lock->one_node = one_node;
	lock->local_passes = local_passes;
}

static inline void ivl_cohort_init(struct ivl_cohort *cohort, bool one_node)
{
	ivl_guard_queue_init(&cohort->queue);
	cohort->has_global = one_node;
	cohort->passes = 0;
}

static inline void ivl_cohort_own(struct ivl_cohort_lock *lock, struct ivl_cohort *cohort)
{
	if (!cohort->has_global) {
		cohort->has_global = true;
		cohort->passes = 0;
	}
	lock->holder = cohort;
}

/* The caller has the cohort's queue; get the lock. */
static inline void ivl_cohort_enter(struct ivl_cohort_lock *lock, struct ivl_cohort *cohort)
{
	if (!cohort->has_global)
		ivl_fifo_lock(&lock->global);
	ivl_cohort_own(lock, cohort);
}

static inline void ivl_cohort_lock(struct ivl_cohort_lock *lock, struct ivl_cohort *cohort)
{
	ivl_fifo_lock(&cohort->queue);
	ivl_cohort_enter(lock, cohort);
}

static inline bool ivl_cohort_trylock(struct ivl_cohort_lock *lock, struct ivl_cohort *cohort)
{
	if (!ivl_guard_queue_try(&cohort->queue))
		return false;
	if (!cohort->has_global && !ivl_guard_queue_try(&lock->global)) {
		ivl_fifo_unlock(&cohort->queue);
		return false;
	}
	ivl_cohort_own(lock, cohort);
	return true;
}

/* May the lock stay on the node? Only so often while another node waits. */
static inline bool ivl_cohort_may_pass(struct ivl_cohort_lock *lock, struct ivl_cohort *cohort)
{
	return ivl_guard_queue_contended(&cohort->queue) &&
	       (cohort->passes < lock->local_passes || !ivl_guard_queue_contended(&lock->global));
}

static inline void ivl_cohort_unlock(struct ivl_cohort_lock *lock)
{
	struct ivl_cohort *cohort = lock->holder;

	if (!lock->one_node) {
		if (ivl_cohort_may_pass(lock, cohort)) {
			cohort->passes = cohort->passes + 1;
		} else {
			/* Before the node's own queue, whose next holder asks for it again. */
			cohort->has_global = false;
			ivl_fifo_unlock(&lock->global);
		}
	}
	ivl_fifo_unlock(&cohort->queue);
}

#endif
