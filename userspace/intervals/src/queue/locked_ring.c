// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue/locked_ring.h"

struct ivl_queue_base *ivl_locked_ring_create(size_t capacity, int node)
{
	struct ivl_ring *ring;
	struct ivl_locked_ring *queue = ivl_ring_queue_create(sizeof(*queue), capacity, node,
							      &ring);

	if (!queue)
		return NULL;
	pthread_mutex_init(&queue->lock, NULL);
	atomic_init(&queue->head, IVL_FIRST_POSITION);
	atomic_init(&queue->tail, IVL_FIRST_POSITION);
	queue->known_head = IVL_FIRST_POSITION;
	queue->has_lowest = false;
	queue->ring = ring;
	return (struct ivl_queue_base *)queue;
}

void ivl_locked_ring_destroy(struct ivl_queue_base *base)
{
	struct ivl_locked_ring *queue = ivl_locked_ring(base);

	pthread_mutex_destroy(&queue->lock);
	ivl_ring_queue_destroy(queue, sizeof(*queue), queue->ring);
}

size_t ivl_locked_ring_size(const struct ivl_queue_base *base)
{
	const struct ivl_locked_ring *queue = ivl_locked_ring(base);
	const uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	return ivl_ring_length(head, atomic_load_explicit(&queue->tail, memory_order_relaxed));
}

bool ivl_locked_ring_make_room(struct ivl_locked_ring *queue, uint64_t head, uint64_t tail)
{
	struct ivl_ring *ring = queue->ring, *larger;

	if (tail - head <= ring->mask)
		return true;
	larger = ivl_ring_copy(ring, head, tail);
	if (!larger)
		return false;
	queue->ring = larger;
	ivl_ring_free(ring);
	return true;
}
