// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue/chase_lev.h"

static struct ivl_chase_lev *deque_of(struct ivl_queue_base *queue)
{
	return (struct ivl_chase_lev *)queue;
}

static struct ivl_queue_base *create(size_t capacity, int node)
{
	struct ivl_ring *ring;
	struct ivl_chase_lev *deque = ivl_ring_queue_create(sizeof(*deque), capacity, node, &ring);

	if (!deque)
		return NULL;
	deque->own_ring = ring;
	deque->known_top = IVL_FIRST_POSITION;
	atomic_init(&deque->bottom, IVL_FIRST_POSITION);
	atomic_init(&deque->top, IVL_FIRST_POSITION);
	atomic_init(&deque->ring, deque->own_ring);
	return (struct ivl_queue_base *)deque;
}

static void destroy(struct ivl_queue_base *queue)
{
	struct ivl_chase_lev *deque = deque_of(queue);

	ivl_ring_queue_destroy(deque, sizeof(*deque), deque->own_ring);
}

bool ivl_chase_lev_make_room(struct ivl_chase_lev *deque, uint64_t bottom)
{
	struct ivl_ring *ring = deque->own_ring, *larger;
	/*
	 * Pairs with the CAS in steal(): thieves have read the slots below top, which
	 * the owner may overwrite from now on.
	 */
	uint64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);

	if (bottom - top <= ring->mask) {
		deque->known_top = top;
		return true;
	}
	larger = ivl_ring_copy(ring, top, bottom);
	if (!larger)
		return false;
	larger->older = ring;
	deque->known_top = top;
	deque->own_ring = larger;
	/* Pairs with the load in steal(): the thief sees the slots. */
	atomic_store_explicit(&deque->ring, larger, memory_order_release);
	return true;
}

static int put(struct ivl_queue_base *queue, void *element)
{
	return ivl_chase_lev_put(deque_of(queue), element);
}

static void *take(struct ivl_queue_base *queue)
{
	return ivl_chase_lev_take(deque_of(queue));
}

static enum ivl_steal steal(struct ivl_queue_base *queue, void **element)
{
	struct ivl_chase_lev *deque = deque_of(queue);
	uint64_t t = atomic_load_explicit(&deque->top, memory_order_seq_cst);	/* T1 */
	struct ivl_ring *ring;
	uint64_t b;

	/* T2. An acquire too: pairs with the store in put(). */
	b = atomic_load_explicit(&deque->bottom, memory_order_seq_cst);
	if ((int64_t)(b - t) <= 0)
		return IVL_EMPTY;
	/* Pairs with the store in make_room(): the array may be newer than bottom. */
	ring = atomic_load_explicit(&deque->ring, memory_order_acquire);
	*element = atomic_load_explicit(ivl_ring_slot(ring, t), memory_order_relaxed);
	/* T3. A release too: make_room() sees that the slot is read before it is overwritten. */
	return atomic_compare_exchange_strong_explicit(&deque->top, &t, t + 1, memory_order_seq_cst,
						       memory_order_relaxed) ?
		IVL_STOLEN : IVL_LOST;
}

static size_t size(const struct ivl_queue_base *queue)
{
	struct ivl_chase_lev *deque = deque_of((struct ivl_queue_base *)queue);
	uint64_t t = atomic_load_explicit(&deque->top, memory_order_relaxed);

	return ivl_ring_length(t, atomic_load_explicit(&deque->bottom, memory_order_relaxed));
}

const struct ivl_queue_ops ivl_chase_lev_ops = {
	.name = "chase-lev",
	.create = create,
	.destroy = destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
