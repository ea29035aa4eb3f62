// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The duplicating queue of the Task Parallel Library (Leijen, Schulte and Burckhardt, OOPSLA 2009;
 * thesis, section 10.3.2). Thieves steal at the head under a lock. The owner takes at the tail
 * without lock, CAS or fence, so a thief may miss that elements were taken, steal them again, and
 * move the head too far.
 *
 * The owner remembers how far down it has been, `lowest`. Elements that it puts from there on are
 * safe: when it sees the head beyond, it sets it back under the lock.
 */
#include <errno.h>

#include "queue/locked_ring.h"

/* Is the position beyond where the owner has been since the head was right? */
static bool too_far(const struct ivl_locked_ring *queue, uint64_t position)
{
	return queue->has_lowest && (int64_t)(position - queue->lowest) > 0;
}

/* Owner, with the lock: set back a head that went too far; returns the head. */
static uint64_t set_back(struct ivl_locked_ring *queue)
{
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	if (too_far(queue, head)) {
		head = queue->lowest;
		atomic_store_explicit(&queue->head, head, memory_order_relaxed);
	}
	queue->has_lowest = false;
	return head;
}

/* False: ENOMEM. */
static bool make_room(struct ivl_locked_ring *queue, uint64_t tail)
{
	bool there_is;

	pthread_mutex_lock(&queue->lock);
	there_is = ivl_locked_ring_make_room(queue, set_back(queue), tail);
	pthread_mutex_unlock(&queue->lock);
	return there_is;
}

static int put(struct ivl_queue_base *base, void *element)
{
	struct ivl_locked_ring *queue = ivl_locked_ring(base);
	uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
	/* Pairs with the store in steal(): the thief has read the slots below. */
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);

	if ((too_far(queue, head) || tail - head > queue->ring->mask) &&
	    !make_room(queue, tail))
		return ENOMEM;
	/*
	 * Pairs with the load of the slot in steal(): a thief that has missed a take may steal this
	 * element, and must see it.
	 */
	atomic_store_explicit(ivl_ring_slot(queue->ring, tail), element,
			      memory_order_release);
	/* Pairs with the load of tail in steal(): the slot. */
	atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
	return 0;
}

static void *take(struct ivl_queue_base *base)
{
	struct ivl_locked_ring *queue = ivl_locked_ring(base);
	uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed) - 1;
	uint64_t lowest = tail, head;
	void *element = NULL;

	atomic_store_explicit(&queue->tail, tail, memory_order_relaxed);
	head = atomic_load_explicit(&queue->head, memory_order_relaxed);
	if (too_far(queue, tail))
		lowest = queue->lowest;
	if ((int64_t)(head - lowest) <= 0) {
		queue->lowest = lowest;
		queue->has_lowest = true;
		return atomic_load_explicit(ivl_ring_slot(queue->ring, tail),
					    memory_order_relaxed);
	}

	pthread_mutex_lock(&queue->lock);
	if ((int64_t)(set_back(queue) - tail) <= 0)
		element = atomic_load_explicit(ivl_ring_slot(queue->ring, tail),
					       memory_order_relaxed);
	else
		atomic_store_explicit(&queue->tail, tail + 1, memory_order_relaxed);
	pthread_mutex_unlock(&queue->lock);
	return element;
}

static enum ivl_steal steal(struct ivl_queue_base *base, void **element)
{
	struct ivl_locked_ring *queue = ivl_locked_ring(base);
	enum ivl_steal result = IVL_EMPTY;
	uint64_t head, tail;

	if (pthread_mutex_trylock(&queue->lock))
		return IVL_LOST;
	head = atomic_load_explicit(&queue->head, memory_order_relaxed);
	/* Pairs with the store of tail in put(). */
	tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
	if ((int64_t)(tail - head) > 0) {
		/* Pairs with the store of the slot in put(). */
		*element = atomic_load_explicit(ivl_ring_slot(queue->ring, head),
						memory_order_acquire);
		/* Pairs with the load of head in put(): the slot is read before it is reused. */
		atomic_store_explicit(&queue->head, head + 1, memory_order_release);
		result = IVL_STOLEN;
	}
	pthread_mutex_unlock(&queue->lock);
	return result;
}

const struct ivl_queue_ops ivl_duplicating_ops = {
	.name = "duplicating",
	.at_least_once = true,
	.create = ivl_locked_ring_create,
	.destroy = ivl_locked_ring_destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = ivl_locked_ring_size,
};
