/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the idempotent LIFO and deque. Their state is one word, the anchor, with a tag that
 * put() changes: a thief's CAS fails if its slot may have got another element since it was read.
 *
 * Tags do not repeat. The anchor belongs to an array, and when its tags are used up the owner moves
 * to another array, as when the array is full. (The papers keep one anchor, and a thief that sleeps
 * until the tag wraps loses an element.)
 *
 * An array left because of its tags is reused, from the first tag on, when it contains no thief:
 *
 *	thief				owner
 *	thieves + 1	(T1)		ring = another	(O1)
 *	ring is still this?	(T2)	thieves is 0?	(O2)
 *
 * These four are seq_cst. If O2 misses T1, then T2 comes after O1 and sees that the array was left,
 * or that it is in use again; then the thief sees its new anchor.
 */
#ifndef IVL_ANCHORED_H
#define IVL_ANCHORED_H

#include "queue/ring.h"

/* The owner has left this array. */
#define IVL_CLOSED UINT64_MAX

/* First tag of all arrays but the first; in the model late, so that arrays are reused. */
#ifndef IVL_TAG_BEGIN
#define IVL_TAG_BEGIN 0
#endif

struct ivl_anchored {
	struct ivl_ring *own_ring;
	/* Rarely written. */
	_Alignas(IVL_LINE) _Atomic(struct ivl_ring *) ring;
};

static inline struct ivl_anchored *ivl_anchored(const struct ivl_queue_base *queue)
{
	return (struct ivl_anchored *)queue;
}

/* NULL: ENOMEM, or the capacity exceeds `most`. */
struct ivl_queue_base *ivl_anchored_create(size_t capacity, size_t most, int node,
					   uint64_t anchor);
void ivl_anchored_destroy(struct ivl_queue_base *queue);

/*
 * Owner: move to another array with the elements from `begin` to `end`, room for one more, and this
 * anchor. False: ENOMEM, or it would exceed `most`.
 */
bool ivl_anchored_change(struct ivl_anchored *queue, uint64_t begin, uint64_t end, size_t most,
			 uint64_t anchor);

/* By a thief. NULL: the owner has just left the array. */
struct ivl_ring *ivl_anchored_enter(struct ivl_anchored *queue);
void ivl_anchored_leave(struct ivl_ring *ring);

/* Any thread. */
uint64_t ivl_anchored_read(const struct ivl_queue_base *base);

/* Owner. Pairs with the CAS in steal(): thieves have read the slots that are free now. */
#define ivl_anchored_load(queue) \
	atomic_load_explicit(&(queue)->own_ring->anchor, memory_order_acquire)

#endif
