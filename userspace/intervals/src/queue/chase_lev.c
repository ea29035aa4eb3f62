// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue/chase_lev.h"

static int put(struct ivl_queue_base *queue, void *element)
{
	return ivl_chase_lev_put(ivl_open_ring(queue), element);
}

static void *take(struct ivl_queue_base *queue)
{
	return ivl_chase_lev_take(ivl_open_ring(queue));
}

static enum ivl_steal steal(struct ivl_queue_base *queue, void **element)
{
	struct ivl_open_ring *deque = ivl_open_ring(queue);
	uint64_t t = atomic_load_explicit(&deque->head, memory_order_seq_cst);	/* T1 */
	struct ivl_ring *ring;
	uint64_t b;

	/* T2. An acquire too: pairs with the store in put(). */
	b = atomic_load_explicit(&deque->tail, memory_order_seq_cst);
	if ((int64_t)(b - t) <= 0)
		return IVL_EMPTY;
	/* Pairs with the store in ivl_open_ring_make_room(): the array may be newer than bottom. */
	ring = atomic_load_explicit(&deque->ring, memory_order_acquire);
	*element = atomic_load_explicit(ivl_ring_slot(ring, t), memory_order_relaxed);
	/* T3. Also a release: make_room() sees that the slot was read before it is overwritten. */
	return atomic_compare_exchange_strong_explicit(&deque->head, &t, t + 1,
						       memory_order_seq_cst,
						       memory_order_relaxed) ?
		IVL_STOLEN : IVL_LOST;
}

const struct ivl_queue_ops ivl_chase_lev_ops = {
	.name = "chase-lev",
	.create = ivl_open_ring_create,
	.destroy = ivl_open_ring_destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = ivl_open_ring_size,
};
