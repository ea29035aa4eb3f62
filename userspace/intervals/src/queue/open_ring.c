// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue/open_ring.h"

struct ivl_queue_base *ivl_open_ring_create(size_t capacity, int node)
{
	struct ivl_ring *ring;
	struct ivl_open_ring *queue = ivl_ring_queue_create(sizeof(*queue), capacity, node, &ring);

	if (!queue)
		return NULL;
	queue->own_ring = ring;
	queue->known_head = IVL_FIRST_POSITION;
	atomic_init(&queue->tail, IVL_FIRST_POSITION);
	atomic_init(&queue->head, IVL_FIRST_POSITION);
	atomic_init(&queue->ring, ring);
	return (struct ivl_queue_base *)queue;
}

void ivl_open_ring_destroy(struct ivl_queue_base *base)
{
	struct ivl_open_ring *queue = ivl_open_ring(base);

	ivl_ring_queue_destroy(queue, sizeof(*queue), queue->own_ring);
}

size_t ivl_open_ring_size(const struct ivl_queue_base *base)
{
	struct ivl_open_ring *queue = ivl_open_ring(base);
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	return ivl_ring_length(head, atomic_load_explicit(&queue->tail, memory_order_relaxed));
}

bool ivl_open_ring_make_room(struct ivl_open_ring *queue, uint64_t tail)
{
	struct ivl_ring *ring = queue->own_ring, *larger;

	/*
	 * Pairs with the CAS in steal(): thieves have read the slots below the head, which may now
	 * be overwritten.
	 */
	queue->known_head = atomic_load_explicit(&queue->head, memory_order_acquire);
	if (tail - queue->known_head <= ring->mask)
		return true;
	larger = ivl_ring_copy(ring, queue->known_head, tail);
	if (!larger)
		return false;
	larger->older = ring;
	queue->own_ring = larger;
	/* Pairs with the load in steal(): the slots. */
	atomic_store_explicit(&queue->ring, larger, memory_order_release);
	return true;
}
