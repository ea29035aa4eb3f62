/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The head of the queues whose thieves read the ring without a lock, between two
 * positions: the owner puts at the tail, thieves steal at the head, which never goes back
 * farther than what the owner has seen of it. The orderings in between are each queue's own.
 */
#ifndef IVL_OPEN_RING_H
#define IVL_OPEN_RING_H

#include "queue/ring.h"

struct ivl_open_ring {
	/* Of the owner; thieves read tail. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) tail;
	uint64_t known_head;		/* the head is here or farther, now and later */
	struct ivl_ring *own_ring;
	/* Of thieves. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) head;
	/* Seldom written. */
	_Alignas(IVL_LINE) _Atomic(struct ivl_ring *) ring;
};

static inline struct ivl_open_ring *ivl_open_ring(const struct ivl_queue_base *queue)
{
	return (struct ivl_open_ring *)queue;
}

/* As in struct ivl_queue_ops. */
struct ivl_queue_base *ivl_open_ring_create(size_t capacity, int node);
void ivl_open_ring_destroy(struct ivl_queue_base *queue);
size_t ivl_open_ring_size(const struct ivl_queue_base *queue);

/* Owner: make room for one more at the tail; false: ENOMEM. */
bool ivl_open_ring_make_room(struct ivl_open_ring *queue, uint64_t tail);

#endif
