// SPDX-License-Identifier: GPL-2.0
#include "queue/anchored.h"

#include "tsan.h"

struct ivl_queue_base *ivl_anchored_create(size_t capacity, size_t most, int node,
					   uint64_t anchor)
{
	struct ivl_anchored *queue;
	struct ivl_ring *ring;

	if (capacity > most)
		return NULL;
	queue = ivl_ring_queue_create(sizeof(*queue), capacity, node, &ring);
	if (!queue)
		return NULL;
	queue->own_ring = ring;
	atomic_init(&queue->own_ring->anchor, anchor);
	atomic_init(&queue->ring, queue->own_ring);
	return (struct ivl_queue_base *)queue;
}

void ivl_anchored_destroy(struct ivl_queue_base *base)
{
	struct ivl_anchored *queue = ivl_anchored(base);

	ivl_ring_queue_destroy(queue, sizeof(*queue), queue->own_ring);
}

bool ivl_anchored_change(struct ivl_anchored *queue, uint64_t begin, uint64_t end, size_t most,
			 uint64_t anchor)
{
	struct ivl_ring *old = queue->own_ring, *ring;

	if (end - begin >= most)
		return false;
	ring = ivl_ring_copy(old, begin, end);
	if (!ring)
		return false;
	atomic_init(&ring->anchor, anchor);
	queue->own_ring = ring;
	/* Pairs with the loads in steal() and read(): the thief sees the anchor and the slots. */
	atomic_store_explicit(&queue->ring, ring, memory_order_release);
	/* What thieves still steal there comes out again here. */
	atomic_store_explicit(&old->anchor, IVL_CLOSED, memory_order_relaxed);
	ivl_ring_retire(old);
	return true;
}

uint64_t ivl_anchored_read(const struct ivl_queue_base *base)
{
	struct ivl_anchored *queue = ivl_anchored(base);
	struct ivl_ring *ring;
	uint64_t anchor;

	urcu_memb_read_lock();
	do {
		/* Pairs with the store in ivl_anchored_change(). */
		ring = atomic_load_explicit(&queue->ring, memory_order_acquire);
		anchor = atomic_load_explicit(&ring->anchor, memory_order_relaxed);
		ivl_tsan_release(ring);
	} while (anchor == IVL_CLOSED);
	urcu_memb_read_unlock();
	return anchor;
}
