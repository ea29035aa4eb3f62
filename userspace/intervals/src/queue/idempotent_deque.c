// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The idempotent deque of Michael, Vechev and Saraswat (PPoPP 2009; thesis, section 10.2): the
 * owner takes at the tail, thieves at the head. The owner uses neither CAS nor fence; its plain
 * store may undo steals, and those elements come out again.
 */
#include <errno.h>

#include "queue/anchored.h"

/*
 * The anchor: tag (upper bits), head slot, number of elements (lower bits). Changing arrays for the
 * tag copies at most MOST_SLOTS elements after at least as many puts.
 */
#define SIZE_BITS 22
#define HEAD_BITS 21
#define TAG_BITS 21
#define MOST_SLOTS ((size_t)1 << HEAD_BITS)
#define LAST_TAG ((UINT64_C(1) << TAG_BITS) - 1)

_Static_assert(SIZE_BITS + HEAD_BITS + TAG_BITS == 64, "the anchor is one word");
_Static_assert(MOST_SLOTS < (1u << SIZE_BITS), "a full array has a size");

/* Of the first array, so that each run changes arrays for the tag. */
#define FIRST_TAG (LAST_TAG - 5)

static uint64_t pack(uint64_t tag, uint64_t head, uint64_t size)
{
	return tag << (HEAD_BITS + SIZE_BITS) | head << SIZE_BITS | size;
}

static uint64_t tag_of(uint64_t anchor)
{
	return anchor >> (HEAD_BITS + SIZE_BITS);
}

static uint64_t head_of(uint64_t anchor)
{
	return anchor >> SIZE_BITS & ((1u << HEAD_BITS) - 1);
}

static uint64_t size_of(uint64_t anchor)
{
	return anchor & ((1u << SIZE_BITS) - 1);
}

static struct ivl_queue_base *create(size_t capacity, int node)
{
	return ivl_anchored_create(capacity, MOST_SLOTS, node, pack(FIRST_TAG, 0, 0));
}

static int put(struct ivl_queue_base *base, void *element)
{
	struct ivl_anchored *queue = ivl_anchored(base);
	uint64_t anchor = ivl_anchored_load(queue);
	uint64_t tag = tag_of(anchor), head = head_of(anchor), size = size_of(anchor);

	if (size > queue->own_ring->mask || tag == LAST_TAG) {
		tag = IVL_TAG_BEGIN;
		if (!ivl_anchored_change(queue, head, head + size, MOST_SLOTS,
					 pack(tag, head, size)))
			return ENOMEM;
	}
	atomic_store_explicit(ivl_ring_slot(queue->own_ring, head + size), element,
			      memory_order_relaxed);
	/* Pairs with the load in steal(): the slot and the element. */
	atomic_store_explicit(&queue->own_ring->anchor, pack(tag + 1, head, size + 1),
			      memory_order_release);
	return 0;
}

static void *take(struct ivl_queue_base *base)
{
	struct ivl_anchored *queue = ivl_anchored(base);
	uint64_t anchor = ivl_anchored_load(queue);
	uint64_t last = head_of(anchor) + size_of(anchor) - 1;
	void *element;

	if (!size_of(anchor))
		return NULL;
	element = atomic_load_explicit(ivl_ring_slot(queue->own_ring, last), memory_order_relaxed);
	/* Pairs with the load in steal(): the slots below. */
	atomic_store_explicit(&queue->own_ring->anchor, anchor - 1, memory_order_release);
	return element;
}

static enum ivl_steal steal(struct ivl_queue_base *base, void **element)
{
	struct ivl_ring *ring = ivl_anchored_enter(ivl_anchored(base));
	enum ivl_steal result = IVL_LOST;
	uint64_t anchor, head, next;

	if (!ring)
		return IVL_LOST;
	/* Pairs with the stores in put() and take(). */
	anchor = atomic_load_explicit(&ring->anchor, memory_order_acquire);
	head = head_of(anchor);
	next = pack(tag_of(anchor), (head + 1) & ring->mask, size_of(anchor) - 1);
	if (anchor != IVL_CLOSED && !size_of(anchor)) {
		result = IVL_EMPTY;
	} else if (anchor != IVL_CLOSED) {
		*element = atomic_load_explicit(ivl_ring_slot(ring, head), memory_order_relaxed);
		/* Pairs with ivl_anchored_load(): the slot is read before it is reused. */
		if (atomic_compare_exchange_strong_explicit(&ring->anchor, &anchor, next,
							    memory_order_release,
							    memory_order_relaxed))
			result = IVL_STOLEN;
	}
	ivl_anchored_leave(ring);
	return result;
}

static size_t size(const struct ivl_queue_base *base)
{
	return size_of(ivl_anchored_read(base));
}

const struct ivl_queue_ops ivl_idempotent_deque_ops = {
	.name = "idempotent-deque",
	.at_least_once = true,
	.create = create,
	.destroy = ivl_anchored_destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
