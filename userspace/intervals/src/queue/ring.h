/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The circular array of the queues. Positions count up for ever and wrap at 2^64;
 * only their differences mean anything.
 *
 * An array that thieves read without a lock and that was replaced stays with its
 * queue: the new one is twice as large, so that all of a queue's arrays together are
 * at most twice its last. Freeing one earlier would have to wait for the thieves, and
 * who waits in put() could neither promise memory nor an end.
 */
#ifndef IVL_RING_H
#define IVL_RING_H

#include <stdint.h>

#include "atomics.h"
#include "queue.h"

/* Where positions start: just below the wrap, so that every run goes over it. */
#define IVL_FIRST_POSITION ((uint64_t)-3)

struct ivl_ring {
	struct ivl_ring *older;		/* that the queue had before; or NULL */
	uint64_t mask;			/* its capacity, a power of two, minus 1 */
	int node;
	/* Of the queues whose thieves must see array and state as one (anchored.h). */
	_Alignas(IVL_LINE) _Atomic(uint64_t) anchor;
	_Atomic(unsigned int) thieves;
	_Alignas(IVL_LINE) _Atomic(void *) slots[];
};

/* At least `capacity` slots on a NUMA node; NULL: ENOMEM. */
struct ivl_ring *ivl_ring_create(size_t capacity, int node);
/* Memory for a queue of `bytes`, and its first ring; NULL: ENOMEM. */
void *ivl_ring_queue_create(size_t bytes, size_t capacity, int node, struct ivl_ring **ring);
/* With its last, and all before. */
void ivl_ring_queue_destroy(void *queue, size_t bytes, struct ivl_ring *ring);
/*
 * Another one with the same elements from `begin` to `end` and room for at least one
 * more: twice as large where they fill this one. NULL: ENOMEM.
 */
struct ivl_ring *ivl_ring_copy(struct ivl_ring *ring, uint64_t begin, uint64_t end);
/* Its elements, into one with room for them. */
void ivl_ring_copy_slots(struct ivl_ring *to, struct ivl_ring *from, uint64_t begin, uint64_t end);
/* Nobody else sees it, and it is no other's `older`. */
void ivl_ring_free(struct ivl_ring *ring);

static inline _Atomic(void *) *ivl_ring_slot(struct ivl_ring *ring, uint64_t position)
{
	return &ring->slots[position & ring->mask];
}

/* How many from one position to a later one, 0 where it is not later. */
static inline size_t ivl_ring_length(uint64_t begin, uint64_t end)
{
	return (int64_t)(end - begin) > 0 ? (size_t)(end - begin) : 0;
}

#endif
