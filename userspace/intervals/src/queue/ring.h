/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The circular array of the queues. Positions count up for ever and wrap at 2^64;
 * only their differences mean anything. An array that thieves read without a lock
 * and that was replaced lives until none can see it: they are inside RCU read-side
 * critical sections.
 */
#ifndef IVL_RING_H
#define IVL_RING_H

#include <stdint.h>
#include <urcu/urcu-memb.h>

#include "atomics.h"
#include "queue.h"

/* Where positions start: just below the wrap, so that every run goes over it. */
#define IVL_FIRST_POSITION ((uint64_t)-3)

struct ivl_ring {
	struct rcu_head rcu;
	uint64_t mask;			/* its capacity, a power of two, minus 1 */
	int node;
	/* Of the queues whose thieves must see array and state as one (idempotent_*.c). */
	_Alignas(IVL_LINE) _Atomic(uint64_t) anchor;
	_Alignas(IVL_LINE) _Atomic(void *) slots[];
};

/* At least `capacity` slots on a NUMA node; NULL: ENOMEM. */
struct ivl_ring *ivl_ring_create(size_t capacity, int node);
/* Memory for a queue of `bytes`, and its first ring; NULL: ENOMEM. */
void *ivl_ring_queue_create(size_t bytes, size_t capacity, int node, struct ivl_ring **ring);
/* With its last. */
void ivl_ring_queue_destroy(void *queue, size_t bytes, struct ivl_ring *ring);
/*
 * Another one with the same elements from `begin` to `end` and room for at least one
 * more: twice as large where they fill this one. NULL: ENOMEM.
 */
struct ivl_ring *ivl_ring_copy(struct ivl_ring *ring, uint64_t begin, uint64_t end);
/* Now: nobody else sees it. */
void ivl_ring_free(struct ivl_ring *ring);
/* When the thieves that may see it have gone. The caller is registered with RCU. */
void ivl_ring_retire(struct ivl_ring *ring);

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
