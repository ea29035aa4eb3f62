// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The duplicating queue of the Task Parallel Library (Leijen, Schulte and Burckhardt,
 * OOPSLA 2009; thesis, section 10.3.2). Thieves steal at the head under a lock. The
 * owner takes at the tail with neither lock, CAS nor fence, so that a thief may not
 * yet see that elements were taken: it steals them again, and the head goes too far.
 *
 * The owner remembers how far down it has been, `lowest`. What it puts from there on
 * is safe however far the head went: as soon as it sees the head beyond, it sets it
 * back, under the lock, where thieves see all that it did.
 */
#include <errno.h>
#include <pthread.h>

#include "queue/ring.h"

struct duplicating {
	/* Of the owner; thieves read tail. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) tail;
	uint64_t lowest;		/* while has_lowest */
	bool has_lowest;
	/* Written by who holds the lock; the ring is changed by the owner alone. */
	_Alignas(IVL_LINE) pthread_mutex_t lock;
	_Atomic(uint64_t) head;
	struct ivl_ring *ring;
};

static struct duplicating *duplicating_of(struct ivl_queue_base *queue)
{
	return (struct duplicating *)queue;
}

static struct ivl_queue_base *create(size_t capacity, int node)
{
	struct ivl_ring *ring;
	struct duplicating *queue = ivl_ring_queue_create(sizeof(*queue), capacity, node, &ring);

	if (!queue)
		return NULL;
	queue->ring = ring;
	queue->has_lowest = false;
	pthread_mutex_init(&queue->lock, NULL);
	atomic_init(&queue->tail, IVL_FIRST_POSITION);
	atomic_init(&queue->head, IVL_FIRST_POSITION);
	return (struct ivl_queue_base *)queue;
}

static void destroy(struct ivl_queue_base *base)
{
	struct duplicating *queue = duplicating_of(base);

	pthread_mutex_destroy(&queue->lock);
	ivl_ring_queue_destroy(queue, sizeof(*queue), queue->ring);
}

/* Is the position above where the owner has been since the head was right? */
static bool too_far(const struct duplicating *queue, uint64_t position)
{
	return queue->has_lowest && (int64_t)(position - queue->lowest) > 0;
}

/* The owner, with the lock: set a head back that went too far; returns the head. */
static uint64_t set_back(struct duplicating *queue)
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
static bool make_room(struct duplicating *queue, uint64_t tail)
{
	struct ivl_ring *ring = queue->ring, *larger = ring;
	uint64_t head;

	pthread_mutex_lock(&queue->lock);
	head = set_back(queue);
	if (tail - head > ring->mask)
		larger = ivl_ring_copy(ring, head, tail);
	if (larger)
		queue->ring = larger;
	pthread_mutex_unlock(&queue->lock);
	if (larger && larger != ring)
		ivl_ring_free(ring);
	return larger != NULL;
}

static int put(struct ivl_queue_base *base, void *element)
{
	struct duplicating *queue = duplicating_of(base);
	uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
	/* Pairs with the store in steal(): the thief has read the slots below. */
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);

	if ((too_far(queue, head) || tail - head > queue->ring->mask) && !make_room(queue, tail))
		return ENOMEM;
	/*
	 * Pairs with the load of the slot in steal(): a thief that does not know yet that
	 * what was there before is taken may steal this, and must see it.
	 */
	atomic_store_explicit(ivl_ring_slot(queue->ring, tail), element, memory_order_release);
	/* Pairs with the load of tail in steal(): the thief sees the slot. */
	atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
	return 0;
}

static void *take(struct ivl_queue_base *base)
{
	struct duplicating *queue = duplicating_of(base);
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
		return atomic_load_explicit(ivl_ring_slot(queue->ring, tail), memory_order_relaxed);
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
	struct duplicating *queue = duplicating_of(base);
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
		/* Pairs with the load of head in put(): the slot is read before it is used again. */
		atomic_store_explicit(&queue->head, head + 1, memory_order_release);
		result = IVL_STOLEN;
	}
	pthread_mutex_unlock(&queue->lock);
	return result;
}

static size_t size(const struct ivl_queue_base *base)
{
	struct duplicating *queue = duplicating_of((struct ivl_queue_base *)base);
	uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);

	return ivl_ring_length(head, atomic_load_explicit(&queue->tail, memory_order_relaxed));
}

const struct ivl_queue_ops ivl_duplicating_ops = {
	.name = "duplicating",
	.at_least_once = true,
	.create = create,
	.destroy = destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
