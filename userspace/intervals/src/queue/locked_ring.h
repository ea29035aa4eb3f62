/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring of queues whose thieves hold a lock: lazy, duplicating and shared. The tail is on another
 * line than the head, since the first two have an owner, which needs no lock.
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
	/* Owner's; thieves, and ivl_locked_ring_size(), read tail. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) tail;
	uint64_t known_head;		/* lazy: thieves have been here, or farther */
	uint64_t lowest;		/* duplicating: valid if has_lowest */
	bool has_lowest;
};

static inline struct ivl_locked_ring *ivl_locked_ring(const struct ivl_queue_base *queue)
{
	return (struct ivl_locked_ring *)queue;
}

/* For struct ivl_queue_ops. */
struct ivl_queue_base *ivl_locked_ring_create(size_t capacity, int node);
void ivl_locked_ring_destroy(struct ivl_queue_base *queue);
size_t ivl_locked_ring_size(const struct ivl_queue_base *queue);

/* With the lock: make room for one more at the tail; false: ENOMEM. */
bool ivl_locked_ring_make_room(struct ivl_locked_ring *queue, uint64_t head, uint64_t tail);

#endif
