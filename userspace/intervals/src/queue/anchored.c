// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue/anchored.h"

static void init(struct ivl_ring *ring, uint64_t anchor)
{
	atomic_init(&ring->anchor, anchor);
	atomic_init(&ring->thieves, 0);
}

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
	init(ring, anchor);
	queue->own_ring = ring;
	atomic_init(&queue->ring, ring);
	return (struct ivl_queue_base *)queue;
}

void ivl_anchored_destroy(struct ivl_queue_base *base)
{
	struct ivl_anchored *queue = ivl_anchored(base);

	ivl_ring_queue_destroy(queue, sizeof(*queue), queue->own_ring);
}

/* Unlink an older array of that size without thieves; NULL: none. */
static struct ivl_ring *take_older(struct ivl_ring *ring, uint64_t mask)
{
	struct ivl_ring **place = &ring->older, *older;

	for (; (older = *place); place = &older->older) {
		/* O2 */
		if (older->mask == mask &&
		    !atomic_load_explicit(&older->thieves, memory_order_seq_cst)) {
			*place = older->older;
			break;
		}
	}
	return older;
}

bool ivl_anchored_change(struct ivl_anchored *queue, uint64_t begin, uint64_t end, size_t most,
			 uint64_t anchor)
{
	struct ivl_ring *old = queue->own_ring, *ring;

	if (end - begin >= most)
		return false;
	ring = take_older(old, end - begin > old->mask ? 2 * old->mask + 1 : old->mask);
	if (ring) {
		ivl_ring_copy_slots(ring, old, begin, end);
		atomic_store_explicit(&ring->anchor, anchor, memory_order_relaxed);
	} else {
		ring = ivl_ring_copy(old, begin, end);
		if (!ring)
			return false;
		init(ring, anchor);
	}
	ring->older = old;
	queue->own_ring = ring;
	/* O1. Also a release, to T2 and ivl_anchored_read(): the anchor and the slots. */
	atomic_store_explicit(&queue->ring, ring, memory_order_seq_cst);
	/* Elements that thieves still steal there come out again here. */
	atomic_store_explicit(&old->anchor, IVL_CLOSED, memory_order_relaxed);
	return true;
}

struct ivl_ring *ivl_anchored_enter(struct ivl_anchored *queue)
{
	/* Acquire, from O1: the array. */
	struct ivl_ring *ring = atomic_load_explicit(&queue->ring, memory_order_acquire);

	/* T1 */
	atomic_fetch_add_explicit(&ring->thieves, 1, memory_order_seq_cst);
	/* T2 */
	if (atomic_load_explicit(&queue->ring, memory_order_seq_cst) == ring)
		return ring;
	ivl_anchored_leave(ring);
	return NULL;
}

void ivl_anchored_leave(struct ivl_ring *ring)
{
	/* Release, to O2: our CAS has not seen the anchor with which the array is reused. */
	atomic_fetch_sub_explicit(&ring->thieves, 1, memory_order_release);
}

uint64_t ivl_anchored_read(const struct ivl_queue_base *base)
{
	struct ivl_anchored *queue = ivl_anchored(base);
	struct ivl_ring *ring;
	uint64_t anchor;

	do {
		/* Acquire, from O1. */
		ring = atomic_load_explicit(&queue->ring, memory_order_acquire);
		anchor = atomic_load_explicit(&ring->anchor, memory_order_relaxed);
	} while (anchor == IVL_CLOSED);
	return anchor;
}
