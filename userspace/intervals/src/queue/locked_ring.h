/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The head of queues whose thieves hold a lock; first member of a queue. The tail is the queue's
 * own, on a line of its own if the owner needs no lock.
 */
#ifndef IVL_LOCKED_RING_H
#define IVL_LOCKED_RING_H

#include <pthread.h>

#include "queue/ring.h"

struct ivl_locked_ring {
	/* Protected by the lock. The owner, if any, is the only thread to change the ring. */
	pthread_mutex_t lock;
	_Atomic(uint64_t) head;
	struct ivl_ring *ring;
	size_t bytes;			/* of the queue */
};

/* A queue of `bytes`; the caller initialises its tail to IVL_FIRST_POSITION. NULL: ENOMEM. */
void *ivl_locked_ring_create(size_t bytes, size_t capacity, int node);
void ivl_locked_ring_destroy(struct ivl_queue_base *queue);

/* With the lock: make room for one more at the tail; false: ENOMEM. */
bool ivl_locked_ring_make_room(struct ivl_locked_ring *queue, uint64_t head, uint64_t tail);

/* Any thread; the number may be out of date. */
static inline size_t ivl_locked_ring_length(const struct ivl_locked_ring *queue,
					    const _Atomic(uint64_t) *tail)
{
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	return ivl_ring_length(head, atomic_load_explicit(tail, memory_order_relaxed));
}

#endif
