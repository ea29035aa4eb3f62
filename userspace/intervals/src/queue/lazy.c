// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lazy deque of Matsakis (thesis, section 9.2): the owner learns of thieves only from an empty
 * slot. The thread that exchanges a slot for NULL gets the element, so no order between slots
 * matters. Thieves, and an owner that makes room, hold a lock; a thief that does not get it goes
 * elsewhere.
 */
#include <errno.h>

#include "queue/locked_ring.h"

/* False: ENOMEM. */
static bool make_room(struct ivl_locked_ring *lazy, uint64_t tail)
{
	bool there_is;

	pthread_mutex_lock(&lazy->lock);
	lazy->known_head = atomic_load_explicit(&lazy->head, memory_order_relaxed);
	there_is = ivl_locked_ring_make_room(lazy, lazy->known_head, tail);
	pthread_mutex_unlock(&lazy->lock);
	return there_is;
}

static int put(struct ivl_queue_base *queue, void *element)
{
	struct ivl_locked_ring *lazy = ivl_locked_ring(queue);
	uint64_t tail = atomic_load_explicit(&lazy->tail, memory_order_relaxed);

	if (tail - lazy->known_head > lazy->ring->mask && !make_room(lazy, tail))
		return ENOMEM;
	/* Pairs with the exchange in steal(): the element. */
	atomic_store_explicit(ivl_ring_slot(lazy->ring, tail), element,
			      memory_order_release);
	atomic_store_explicit(&lazy->tail, tail + 1, memory_order_relaxed);
	return 0;
}

static void *take(struct ivl_queue_base *queue)
{
	struct ivl_locked_ring *lazy = ivl_locked_ring(queue);
	uint64_t tail = atomic_load_explicit(&lazy->tail, memory_order_relaxed);
	void *element;

	if (lazy->known_head == tail)
		return NULL;
	/* Pairs with the exchange in steal(): thieves are done with all slots up to here. */
	element = atomic_exchange_explicit(ivl_ring_slot(lazy->ring, tail - 1), NULL,
					   memory_order_acquire);
	if (element)
		atomic_store_explicit(&lazy->tail, tail - 1, memory_order_relaxed);
	else
		/* Thieves go forward, so they have stolen all before it, too. */
		lazy->known_head = tail;
	return element;
}

static enum ivl_steal steal(struct ivl_queue_base *queue, void **element)
{
	struct ivl_locked_ring *lazy = ivl_locked_ring(queue);
	_Atomic(void *) *slot;
	uint64_t head;

	if (pthread_mutex_trylock(&lazy->lock))
		return IVL_LOST;
	head = atomic_load_explicit(&lazy->head, memory_order_relaxed);
	slot = ivl_ring_slot(lazy->ring, head);
	/* Look first: an exchange takes the line from the owner. */
	*element = atomic_load_explicit(slot, memory_order_relaxed);
	if (*element)
		/* Pairs with the store in put() and the exchange in take(). */
		*element = atomic_exchange_explicit(slot, NULL, memory_order_acq_rel);
	if (*element)
		atomic_store_explicit(&lazy->head, head + 1, memory_order_relaxed);
	pthread_mutex_unlock(&lazy->lock);
	return *element ? IVL_STOLEN : IVL_EMPTY;
}

const struct ivl_queue_ops ivl_lazy_ops = {
	.name = "lazy",
	.create = ivl_locked_ring_create,
	.destroy = ivl_locked_ring_destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = ivl_locked_ring_size,
};
