/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lock as a queue: who holds it, and who waits for it in FIFO order. Nobody
 * blocks in it. Who finds the lock held leaves a node behind, and who gives the
 * lock up is told whose it is now. A lock belongs to nobody in particular: another
 * thread than the one that entered may leave.
 *
 * One word holds all that is shared: free, held, or held with the newest waiter,
 * whose `next` is the one before. Who leaves takes this stack as a whole, turned
 * round, as the list of who is next; only the holder touches that list. So enter
 * and leave are lock-free, and each waiter's node is moved once.
 */
#ifndef IVL_GUARD_QUEUE_H
#define IVL_GUARD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "atomics.h"

/* Embedded in who waits, until leave has returned it. */
struct ivl_guard_node {
	IVL_SHARED(struct ivl_guard_node *) next;
};

struct ivl_guard_queue {
	/* IVL_GUARD_FREE, IVL_GUARD_HELD, or the newest of those who wait. */
	_Atomic(struct ivl_guard_node *) newest;
	/* The oldest of those who wait, as far as a holder has seen them. */
	IVL_SHARED(struct ivl_guard_node *) oldest;
};

#define IVL_GUARD_FREE ((struct ivl_guard_node *)0)
#define IVL_GUARD_HELD ((struct ivl_guard_node *)1)

static inline void ivl_guard_queue_init(struct ivl_guard_queue *queue)
{
	atomic_init(&queue->newest, IVL_GUARD_FREE);
	queue->oldest = NULL;
}

/*
 * True: the lock is the caller's, and what its last holder wrote is seen. False: it
 * will be, once ivl_guard_queue_leave() returns this node, which may be at once.
 */
static inline bool ivl_guard_queue_enter(struct ivl_guard_queue *queue, struct ivl_guard_node *node)
{
	struct ivl_guard_node *newest = atomic_load_explicit(&queue->newest, memory_order_relaxed);

	for (;;) {
		if (newest == IVL_GUARD_FREE) {
			/* Acquire, from the release in leave: what the lock protects. */
			if (atomic_compare_exchange_weak_explicit(&queue->newest, &newest,
								  IVL_GUARD_HELD,
								  memory_order_acquire,
								  memory_order_relaxed))
				return true;
		} else {
			node->next = newest == IVL_GUARD_HELD ? NULL : newest;
			/* Release, to the acquire in leave: our node and what it is in. */
			if (atomic_compare_exchange_weak_explicit(&queue->newest, &newest, node,
								  memory_order_release,
								  memory_order_relaxed))
				return false;
		}
	}
}

/* Take the lock if it is free. */
static inline bool ivl_guard_queue_try(struct ivl_guard_queue *queue)
{
	struct ivl_guard_node *newest = IVL_GUARD_FREE;

	/* Acquire, as in enter. */
	return atomic_compare_exchange_strong_explicit(&queue->newest, &newest, IVL_GUARD_HELD,
						       memory_order_acquire, memory_order_relaxed);
}

/* Was it free a moment ago? Acquire, where it was: its last holder does no more with it. */
static inline bool ivl_guard_queue_free(struct ivl_guard_queue *queue)
{
	return atomic_load_explicit(&queue->newest, memory_order_acquire) == IVL_GUARD_FREE;
}

/* Only by the holder: does anybody wait? */
static inline bool ivl_guard_queue_contended(struct ivl_guard_queue *queue)
{
	return queue->oldest ||
	       atomic_load_explicit(&queue->newest, memory_order_relaxed) != IVL_GUARD_HELD;
}

/*
 * Only by the holder. Returns the node of the next holder, NULL for none. Who tells
 * the next one must do it with a release (ivl_submit() and ivl_wake() are): that
 * shows it what was written under the lock.
 */
static inline struct ivl_guard_node *ivl_guard_queue_leave(struct ivl_guard_queue *queue)
{
	struct ivl_guard_node *next = queue->oldest, *newest = IVL_GUARD_HELD;

	if (!next) {
		/* Release, to the acquire in enter and try: what the lock protects. */
		if (atomic_compare_exchange_strong_explicit(&queue->newest, &newest,
							    IVL_GUARD_FREE, memory_order_release,
							    memory_order_relaxed))
			return NULL;
		/* Acquire, from the release in enter: the waiters' nodes. */
		newest = atomic_exchange_explicit(&queue->newest, IVL_GUARD_HELD,
						  memory_order_acquire);
		while (newest) {
			struct ivl_guard_node *before = newest->next;

			newest->next = next;
			next = newest;
			newest = before;
		}
	}
	queue->oldest = next->next;
	return next;
}

#endif
