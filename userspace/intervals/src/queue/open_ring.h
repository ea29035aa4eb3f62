/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The head of queues whose thieves read the ring without a lock. The owner puts at the tail;
 * thieves steal at the head, which never goes back beyond what the owner has seen. Each queue has
 * its own orderings.
 */
#ifndef IVL_OPEN_RING_H
#define IVL_OPEN_RING_H

#include "queue/ring.h"

struct ivl_open_ring {
	/* Owner's; thieves read tail. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) tail;
	uint64_t known_head;		/* lower bound of the head */
	struct ivl_ring *own_ring;
	/* Thieves'. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) head;
	/* Rarely written. */
	_Alignas(IVL_LINE) _Atomic(struct ivl_ring *) ring;
};

static inline struct ivl_open_ring *ivl_open_ring(const struct ivl_queue_base *queue)
{
	return (struct ivl_open_ring *)queue;
}

struct ivl_queue_base *ivl_open_ring_create(size_t capacity, int node);
void ivl_open_ring_destroy(struct ivl_queue_base *queue);
size_t ivl_open_ring_size(const struct ivl_queue_base *queue);

/* Owner: make room for one more at the tail; false: ENOMEM. */
bool ivl_open_ring_make_room(struct ivl_open_ring *queue, uint64_t tail);

#endif
