// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The idempotent FIFO of Michael, Vechev and Saraswat (PPoPP 2009): all take at the
 * head. The owner has neither a CAS nor a fence; it may move the head back over
 * what thieves have just stolen, and those elements come out again.
 *
 * It never goes back farther than what the owner saw last, which is what makes
 * overwriting safe: a slot is used again only below that.
 */
#include <errno.h>

#include "queue/ring.h"

struct fifo {
	/* Of the owner; thieves read tail. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) tail;
	uint64_t known_head;		/* the head is here or farther, now and later */
	struct ivl_ring *own_ring;
	/* Of everybody. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) head;
	/* Seldom written. */
	_Alignas(IVL_LINE) _Atomic(struct ivl_ring *) ring;
};

static struct fifo *fifo_of(struct ivl_queue_base *queue)
{
	return (struct fifo *)queue;
}

static struct ivl_queue_base *create(size_t capacity, int node)
{
	struct ivl_ring *ring;
	struct fifo *fifo = ivl_ring_queue_create(sizeof(*fifo), capacity, node, &ring);

	if (!fifo)
		return NULL;
	fifo->own_ring = ring;
	fifo->known_head = IVL_FIRST_POSITION;
	atomic_init(&fifo->tail, IVL_FIRST_POSITION);
	atomic_init(&fifo->head, IVL_FIRST_POSITION);
	atomic_init(&fifo->ring, fifo->own_ring);
	return (struct ivl_queue_base *)fifo;
}

static void destroy(struct ivl_queue_base *queue)
{
	struct fifo *fifo = fifo_of(queue);

	ivl_ring_queue_destroy(fifo, sizeof(*fifo), fifo->own_ring);
}

/* False: ENOMEM. */
static bool make_room(struct fifo *fifo, uint64_t tail)
{
	struct ivl_ring *ring = fifo->own_ring, *larger;

	/* Pairs with the CAS in steal(): thieves have read the slots below. */
	fifo->known_head = atomic_load_explicit(&fifo->head, memory_order_acquire);
	if (tail - fifo->known_head <= ring->mask)
		return true;
	larger = ivl_ring_copy(ring, fifo->known_head, tail);
	if (!larger)
		return false;
	larger->older = ring;
	fifo->own_ring = larger;
	/* Pairs with the load in steal(): the thief sees the slots. */
	atomic_store_explicit(&fifo->ring, larger, memory_order_release);
	return true;
}

static int put(struct ivl_queue_base *queue, void *element)
{
	struct fifo *fifo = fifo_of(queue);
	uint64_t tail = atomic_load_explicit(&fifo->tail, memory_order_relaxed);

	if (tail - fifo->known_head > fifo->own_ring->mask && !make_room(fifo, tail))
		return ENOMEM;
	atomic_store_explicit(ivl_ring_slot(fifo->own_ring, tail), element, memory_order_relaxed);
	/* Pairs with the load of tail in steal(): the thief sees the slot and the element. */
	atomic_store_explicit(&fifo->tail, tail + 1, memory_order_release);
	return 0;
}

static void *take(struct ivl_queue_base *queue)
{
	struct fifo *fifo = fifo_of(queue);
	/* Pairs with the CAS in steal(), as in make_room(), which may read what is stored here. */
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
	struct fifo *fifo = fifo_of(queue);
	uint64_t head = atomic_load_explicit(&fifo->head, memory_order_relaxed);
	/* Pairs with the store in put(). */
	uint64_t tail = atomic_load_explicit(&fifo->tail, memory_order_acquire);
	struct ivl_ring *ring;

	if ((int64_t)(tail - head) <= 0)
		return IVL_EMPTY;
	/* Pairs with the store in make_room(): the array may be newer than tail. */
	ring = atomic_load_explicit(&fifo->ring, memory_order_acquire);
	*element = atomic_load_explicit(ivl_ring_slot(ring, head), memory_order_relaxed);
	/* Pairs with the loads of head in make_room() and take(). */
	return atomic_compare_exchange_strong_explicit(&fifo->head, &head, head + 1,
						       memory_order_release,
						       memory_order_relaxed) ?
		IVL_STOLEN : IVL_LOST;
}

static size_t size(const struct ivl_queue_base *queue)
{
	struct fifo *fifo = fifo_of((struct ivl_queue_base *)queue);
	uint64_t head = atomic_load_explicit(&fifo->head, memory_order_relaxed);

	return ivl_ring_length(head, atomic_load_explicit(&fifo->tail, memory_order_relaxed));
}

const struct ivl_queue_ops ivl_idempotent_fifo_ops = {
	.name = "idempotent-fifo",
	.at_least_once = true,
	.create = create,
	.destroy = destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
