// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue/locked_ring.h"

void *ivl_locked_ring_create(size_t bytes, size_t capacity, int node)
{
	struct ivl_ring *ring;
	struct ivl_locked_ring *queue = ivl_ring_queue_create(bytes, capacity, node, &ring);

	if (!queue)
		return NULL;
	pthread_mutex_init(&queue->lock, NULL);
	atomic_init(&queue->head, IVL_FIRST_POSITION);
	queue->ring = ring;
	queue->bytes = bytes;
	return queue;
}

void ivl_locked_ring_destroy(struct ivl_queue_base *base)
{
	struct ivl_locked_ring *queue = (struct ivl_locked_ring *)base;

	pthread_mutex_destroy(&queue->lock);
	ivl_ring_queue_destroy(queue, queue->bytes, queue->ring);
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
