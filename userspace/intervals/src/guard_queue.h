/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue of a guard: who holds it and who waits for it, in FIFO order. Nobody
 * blocks in it: who finds the guard taken leaves a node behind, and who gives the
 * guard up is told whose it is now. This is the queue of the MCS lock
 * (Mellor-Crummey and Scott, 1991) with the spinning taken out.
 *
 * The holder's node is the queue's head; its next is who gets the guard next.
 */
#ifndef IVL_GUARD_QUEUE_H
#define IVL_GUARD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "atomics.h"
#include "relax.h"

/* Embedded in who waits; must stay where it is from enter to the return of leave. */
struct ivl_guard_node {
	_Atomic(struct ivl_guard_node *) next;
};

struct ivl_guard_queue {
	/* The last of the queue; NULL: the guard is free. */
	_Atomic(struct ivl_guard_node *) tail;
};

static inline void ivl_guard_queue_init(struct ivl_guard_queue *queue)
{
	atomic_init(&queue->tail, NULL);
}

/*
 * True: the guard is the caller's, and what its last holder wrote is seen. False: it
 * will be, once ivl_guard_queue_leave() returns this node, which may be at once.
 */
static inline bool ivl_guard_queue_enter(struct ivl_guard_queue *queue, struct ivl_guard_node *node)
{
	struct ivl_guard_node *before;

	atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
	/*
	 * Release, to the acquire of who comes next: our next is NULL before it is
	 * linked there. Acquire, also from the release in leave: the guard's data.
	 */
	before = atomic_exchange_explicit(&queue->tail, node, memory_order_acq_rel);
	if (!before)
		return true;
	/* Release, to the acquire loads in leave: what our node is embedded in. */
	atomic_store_explicit(&before->next, node, memory_order_release);
	return false;
}

/*
 * Only by the holder. Returns the node of the next holder, NULL for none. Who hands
 * the guard on with a release (ivl_submit() is one) shows what it wrote. Waits only
 * for a newcomer between its two instructions in enter.
 */
static inline struct ivl_guard_node *ivl_guard_queue_leave(struct ivl_guard_queue *queue,
							   struct ivl_guard_node *node)
{
	struct ivl_guard_node *next = atomic_load_explicit(&node->next, memory_order_acquire);
	struct ivl_guard_node *last = node;
	unsigned int tries = 0;

	if (next)
		return next;
	/* Release, to the acquire in enter: what was written under the guard. */
	if (atomic_compare_exchange_strong_explicit(&queue->tail, &last, NULL,
						    memory_order_release, memory_order_relaxed))
		return NULL;
	while (!(next = atomic_load_explicit(&node->next, memory_order_acquire)))
		ivl_relax(tries++);
	return next;
}

#endif
