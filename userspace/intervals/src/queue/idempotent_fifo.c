// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The idempotent FIFO of Michael, Vechev and Saraswat (PPoPP 2009): all take at the head. The owner
 * uses neither CAS nor fence; it may move the head back over recent steals, and those elements come
 * out again.
 *
 * The head never goes back beyond what the owner saw last, and slots are reused only below that.
 */
#include <errno.h>

#include "queue/open_ring.h"

static int put(struct ivl_queue_base *queue, void *element)
{
	struct ivl_open_ring *fifo = ivl_open_ring(queue);
	uint64_t tail = atomic_load_explicit(&fifo->tail, memory_order_relaxed);

	if (tail - fifo->known_head > fifo->own_ring->mask && !ivl_open_ring_make_room(fifo, tail))
		return ENOMEM;
	atomic_store_explicit(ivl_ring_slot(fifo->own_ring, tail), element, memory_order_relaxed);
	/* Pairs with the load of tail in steal(): the slot and the element. */
	atomic_store_explicit(&fifo->tail, tail + 1, memory_order_release);
	return 0;
}

static void *take(struct ivl_queue_base *queue)
{
	struct ivl_open_ring *fifo = ivl_open_ring(queue);
	/*
	 * Pairs with the CAS in steal(), as in ivl_open_ring_make_room(), which may read what is
	 * stored here.
	 */
	uint64_t head = atomic_load_explicit(&fifo->head, memory_order_acquire);
	void *element;

	if (head == atomic_load_explicit(&fifo->tail, memory_order_relaxed))
		return NULL;
	element = atomic_load_explicit(ivl_ring_slot(fifo->own_ring, head), memory_order_relaxed);
	atomic_store_explicit(&fifo->head, head + 1, memory_order_relaxed);
	return element;
}

static enum ivl_steal steal(struct ivl_queue_base *queue, void **element)
{
	struct ivl_open_ring *fifo = ivl_open_ring(queue);
	uint64_t head = atomic_load_explicit(&fifo->head, memory_order_relaxed);
	/* Pairs with the store in put(). */
	uint64_t tail = atomic_load_explicit(&fifo->tail, memory_order_acquire);
	struct ivl_ring *ring;

	if ((int64_t)(tail - head) <= 0)
		return IVL_EMPTY;
	/* Pairs with the store in ivl_open_ring_make_room(): the array may be newer than tail. */
	ring = atomic_load_explicit(&fifo->ring, memory_order_acquire);
	*element = atomic_load_explicit(ivl_ring_slot(ring, head), memory_order_relaxed);
	/* Pairs with the loads of head in make_room() and take(). */
	return atomic_compare_exchange_strong_explicit(&fifo->head, &head, head + 1,
						       memory_order_release,
						       memory_order_relaxed) ?
		IVL_STOLEN : IVL_LOST;
}

const struct ivl_queue_ops ivl_idempotent_fifo_ops = {
	.name = "idempotent-fifo",
	.at_least_once = true,
	.create = ivl_open_ring_create,
	.destroy = ivl_open_ring_destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = ivl_open_ring_size,
};
