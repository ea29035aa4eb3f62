/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The circular array of the queues. Positions increase and wrap at 2^64; only their differences
 * matter.
 *
 * A replaced array stays with its queue if thieves read it without a lock. Each new array is twice
 * as large, so all arrays of a queue take at most twice the last one's memory. To free one earlier,
 * put() would have to wait for thieves.
 */
#ifndef IVL_RING_H
#define IVL_RING_H

#include <stdint.h>

#include "atomics.h"
#include "queue.h"

/* First position: just below the wrap, so that each run wraps. */
#define IVL_FIRST_POSITION ((uint64_t)-3)

struct ivl_ring {
	struct ivl_ring *older;		/* the queue's previous array, or NULL */
	uint64_t mask;			/* capacity, a power of two, minus 1 */
	int node;
	/* For queues whose thieves must see array and state together (anchored.h). */
	_Alignas(IVL_LINE) _Atomic(uint64_t) anchor;
	_Atomic(unsigned int) thieves;
	_Alignas(IVL_LINE) _Atomic(void *) slots[];
};

/* At least `capacity` slots on a NUMA node; NULL: ENOMEM. */
struct ivl_ring *ivl_ring_create(size_t capacity, int node);
/* Memory for a queue of `bytes`, and its first ring; NULL: ENOMEM. */
void *ivl_ring_queue_create(size_t bytes, size_t capacity, int node, struct ivl_ring **ring);
/* Frees `ring` and all older ones, too. */
void ivl_ring_queue_destroy(void *queue, size_t bytes, struct ivl_ring *ring);
/*
 * A copy with the elements from `begin` to `end` and room for at least one more: twice as large if
 * the ring is full. NULL: ENOMEM.
 */
struct ivl_ring *ivl_ring_copy(struct ivl_ring *ring, uint64_t begin, uint64_t end);
void ivl_ring_copy_slots(struct ivl_ring *to, struct ivl_ring *from, uint64_t begin, uint64_t end);
/* No thread uses it, and it is not an older array of another. */
void ivl_ring_free(struct ivl_ring *ring);

static inline _Atomic(void *) *ivl_ring_slot(struct ivl_ring *ring, uint64_t position)
{
	return &ring->slots[position & ring->mask];
}

/* 0 if `end` is not later than `begin`. */
static inline size_t ivl_ring_length(uint64_t begin, uint64_t end)
{
	return (int64_t)(end - begin) > 0 ? (size_t)(end - begin) : 0;
}

#endif
