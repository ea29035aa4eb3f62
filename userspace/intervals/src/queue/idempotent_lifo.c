// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The idempotent LIFO of Michael, Vechev and Saraswat (PPoPP 2009): all take at the tail. The owner
 * uses neither CAS nor fence; its plain store may undo steals, and those elements come out again.
 */
#include <errno.h>

#include "queue/anchored.h"

/* The anchor: tag (upper bits), tail, which is the number of elements (lower bits). */
#define TAIL_BITS 32
#define TAIL_MASK ((UINT64_C(1) << TAIL_BITS) - 1)
#define TAG_ONE (UINT64_C(1) << TAIL_BITS)
#define LAST_TAG (UINT64_MAX >> TAIL_BITS)
#define MOST_SLOTS ((size_t)1 << (TAIL_BITS - 1))

/* Of the first array, so that each run changes arrays for the tag. */
#define FIRST_TAG (LAST_TAG - 5)

static struct ivl_queue_base *create(size_t capacity, int node)
{
	return ivl_anchored_create(capacity, MOST_SLOTS, node, FIRST_TAG << TAIL_BITS);
}

static int put(struct ivl_queue_base *base, void *element)
{
	struct ivl_anchored *queue = ivl_anchored(base);
	uint64_t anchor = ivl_anchored_load(queue);
	uint64_t tail = anchor & TAIL_MASK;

	if (tail > queue->own_ring->mask || anchor >> TAIL_BITS == LAST_TAG) {
		anchor = (uint64_t)IVL_TAG_BEGIN << TAIL_BITS | tail;
		if (!ivl_anchored_change(queue, 0, tail, MOST_SLOTS, anchor))
			return ENOMEM;
	}
	atomic_store_explicit(ivl_ring_slot(queue->own_ring, tail), element, memory_order_relaxed);
	/* Pairs with the load in steal(): the slot and the element. */
	atomic_store_explicit(&queue->own_ring->anchor, anchor + TAG_ONE + 1,
			      memory_order_release);
	return 0;
}

static void *take(struct ivl_queue_base *base)
{
	struct ivl_anchored *queue = ivl_anchored(base);
	uint64_t anchor = ivl_anchored_load(queue);
	uint64_t tail = anchor & TAIL_MASK;
	void *element;

	if (!tail)
		return NULL;
	element = atomic_load_explicit(ivl_ring_slot(queue->own_ring, tail - 1),
				       memory_order_relaxed);
	/* Pairs with the load in steal(): the slots below. */
	atomic_store_explicit(&queue->own_ring->anchor, anchor - 1, memory_order_release);
	return element;
}

static enum ivl_steal steal(struct ivl_queue_base *base, void **element)
{
	struct ivl_ring *ring = ivl_anchored_enter(ivl_anchored(base));
	enum ivl_steal result = IVL_LOST;
	uint64_t anchor;

	if (!ring)
		return IVL_LOST;
	/* Pairs with the stores in put() and take(). */
	anchor = atomic_load_explicit(&ring->anchor, memory_order_acquire);
	if (anchor != IVL_CLOSED && !(anchor & TAIL_MASK)) {
		result = IVL_EMPTY;
	} else if (anchor != IVL_CLOSED) {
		*element = atomic_load_explicit(ivl_ring_slot(ring, (anchor & TAIL_MASK) - 1),
						memory_order_relaxed);
		/* Pairs with ivl_anchored_load(): the slot is read before it is reused. */
		if (atomic_compare_exchange_strong_explicit(&ring->anchor, &anchor, anchor - 1,
							    memory_order_release,
							    memory_order_relaxed))
			result = IVL_STOLEN;
	}
	ivl_anchored_leave(ring);
	return result;
}

static size_t size(const struct ivl_queue_base *base)
{
	return ivl_anchored_read(base) & TAIL_MASK;
}

const struct ivl_queue_ops ivl_idempotent_lifo_ops = {
	.name = "idempotent-lifo",
	.at_least_once = true,
	.create = create,
	.destroy = ivl_anchored_destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
