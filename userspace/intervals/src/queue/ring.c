// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue/ring.h"

#include "place.h"

static size_t ring_bytes(uint64_t mask)
{
	return sizeof(struct ivl_ring) + (mask + 1) * sizeof(_Atomic(void *));
}

struct ivl_ring *ivl_ring_create(size_t capacity, int node)
{
	struct ivl_ring *ring;
	uint64_t mask = 1;

	if (capacity > SIZE_MAX / 4 / sizeof(_Atomic(void *)))
		return NULL;
	while (mask + 1 < capacity)
		mask = 2 * mask + 1;
	ring = ivl_node_alloc(ring_bytes(mask), node);
	if (!ring)
		return NULL;
	ring->mask = mask;
	ring->node = node;
	ring->older = NULL;
	for (uint64_t i = 0; i <= mask; i++)
		atomic_init(&ring->slots[i], NULL);
	return ring;
}

void ivl_ring_copy_slots(struct ivl_ring *to, struct ivl_ring *from, uint64_t begin, uint64_t end)
{
	for (uint64_t i = begin; i != end; i++)
		atomic_store_explicit(ivl_ring_slot(to, i),
				      atomic_load_explicit(ivl_ring_slot(from, i),
							   memory_order_relaxed),
				      memory_order_relaxed);
}

struct ivl_ring *ivl_ring_copy(struct ivl_ring *ring, uint64_t begin, uint64_t end)
{
	uint64_t capacity = ring->mask + 1;
	struct ivl_ring *copy;

	copy = ivl_ring_create(end - begin < capacity ? capacity : 2 * capacity, ring->node);
	if (copy)
		ivl_ring_copy_slots(copy, ring, begin, end);
	return copy;
}

void ivl_ring_free(struct ivl_ring *ring)
{
	ivl_node_free(ring, ring_bytes(ring->mask), ring->node);
}

void *ivl_ring_queue_create(size_t bytes, size_t capacity, int node, struct ivl_ring **ring)
{
	void *queue = ivl_node_alloc(bytes, node);

	if (!queue)
		return NULL;
	*ring = ivl_ring_create(capacity, node);
	if (!*ring) {
		ivl_node_free(queue, bytes, node);
		return NULL;
	}
	return queue;
}

void ivl_ring_queue_destroy(void *queue, size_t bytes, struct ivl_ring *ring)
{
	int node = ring->node;

	while (ring) {
		struct ivl_ring *older = ring->older;

		ivl_ring_free(ring);
		ring = older;
	}
	ivl_node_free(queue, bytes, node);
}
