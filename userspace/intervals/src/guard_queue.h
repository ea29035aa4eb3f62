/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lock as a queue: its holder, and waiters in FIFO order. No call blocks: enter leaves a node
 * behind if the lock is held, and leave returns the next holder's node. Any thread may leave.
 *
 * The one shared word is free, held, or points to the newest waiter, whose `next` is the waiter
 * before it. Leave takes the whole stack and reverses it into a list that only the holder touches.
 * So enter and leave are lock-free, and each node is moved once.
 */
#ifndef IVL_GUARD_QUEUE_H
#define IVL_GUARD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "atomics.h"

/* Embedded in the waiter until leave returns it. */
struct ivl_guard_node {
	IVL_SHARED(struct ivl_guard_node *) next;
};

struct ivl_guard_queue {
	/* IVL_GUARD_FREE, IVL_GUARD_HELD, or the newest waiter. */
	_Atomic(struct ivl_guard_node *) newest;
	/* The oldest waiter that a holder has seen. */
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
 * True: the caller has the lock and sees what its last holder wrote. False: the caller has it when
 * ivl_guard_queue_leave() returns this node, maybe at once.
 */
static inline bool ivl_guard_queue_enter(struct ivl_guard_queue *queue, struct ivl_guard_node *node)
{
	struct ivl_guard_node *newest = atomic_load_explicit(&queue->newest, memory_order_relaxed);

	for (;;) {
		if (newest == IVL_GUARD_FREE) {
			/* Acquire, from leave: what the lock protects. */
			if (atomic_compare_exchange_weak_explicit(&queue->newest, &newest,
								  IVL_GUARD_HELD,
								  memory_order_acquire,
								  memory_order_relaxed))
				return true;
		} else {
			node->next = newest == IVL_GUARD_HELD ? NULL : newest;
			/* Release, to leave: our node and its container. */
			if (atomic_compare_exchange_weak_explicit(&queue->newest, &newest, node,
								  memory_order_release,
								  memory_order_relaxed))
				return false;
		}
	}
}

static inline bool ivl_guard_queue_try(struct ivl_guard_queue *queue)
{
	struct ivl_guard_node *newest = IVL_GUARD_FREE;

	/* Acquire, as in enter. */
	return atomic_compare_exchange_strong_explicit(&queue->newest, &newest, IVL_GUARD_HELD,
						       memory_order_acquire, memory_order_relaxed);
}

/* Was it free a moment ago? Acquire: then its last holder no longer touches it. */
static inline bool ivl_guard_queue_free(struct ivl_guard_queue *queue)
{
	return atomic_load_explicit(&queue->newest, memory_order_acquire) == IVL_GUARD_FREE;
}

/* By the holder. */
static inline bool ivl_guard_queue_contended(struct ivl_guard_queue *queue)
{
	return queue->oldest ||
	       atomic_load_explicit(&queue->newest, memory_order_relaxed) != IVL_GUARD_HELD;
}

/*
 * By the holder. Returns the node of the next holder, or NULL. The next holder must be told with a
 * release (as ivl_make_ready() and ivl_wake() do), to see what was written under the lock.
 */
static inline struct ivl_guard_node *ivl_guard_queue_leave(struct ivl_guard_queue *queue)
{
	struct ivl_guard_node *next = queue->oldest, *newest = IVL_GUARD_HELD;

	if (!next) {
		/* Release, to enter and try: what the lock protects. */
		if (atomic_compare_exchange_strong_explicit(&queue->newest, &newest,
							    IVL_GUARD_FREE, memory_order_release,
							    memory_order_relaxed))
			return NULL;
		/* Acquire, from enter: the waiters' nodes. */
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
