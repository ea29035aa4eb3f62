/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the idempotent LIFO and the idempotent deque share. Their state is one
 * word, the anchor, with a tag in it that put() changes: a thief's CAS of the
 * anchor fails where its slot may have got another element since it was read.
 *
 * Tags do not repeat: the anchor belongs to an array, and when its tags are used up
 * the owner goes on in another array, as it does when the array is full. The papers
 * keep one anchor for ever, and a thief that sleeps while the tag goes round loses
 * an element.
 *
 * An array that was left because of its tags is used again, from the first tag on, when
 * no thief is in it:
 *
 *	thief				owner
 *	thieves + 1	(T1)		ring = another	(O1)
 *	ring is still this?	(T2)	thieves is 0?	(O2)
 *
 * These four are seq_cst. If O2 misses T1, then T2 comes after O1 and sees that the
 * array was left, or that it has come back; and then the thief sees its new anchor.
 */
#ifndef IVL_ANCHORED_H
#define IVL_ANCHORED_H

#include "queue/ring.h"

/* The owner has left this array. */
#define IVL_CLOSED UINT64_MAX

/* The first tag of every array but the first: in the model later, so that it comes back. */
#ifndef IVL_TAG_BEGIN
#define IVL_TAG_BEGIN 0
#endif

struct ivl_anchored {
	struct ivl_ring *own_ring;
	/* Seldom written. */
	_Alignas(IVL_LINE) _Atomic(struct ivl_ring *) ring;
};

static inline struct ivl_anchored *ivl_anchored(const struct ivl_queue_base *queue)
{
	return (struct ivl_anchored *)queue;
}

/* NULL: ENOMEM, also where the capacity is more than `most`. */
struct ivl_queue_base *ivl_anchored_create(size_t capacity, size_t most, int node,
					   uint64_t anchor);
void ivl_anchored_destroy(struct ivl_queue_base *queue);

/*
 * Owner: go on in another array, which has the elements from `begin` to `end`, room
 * for one more, and this anchor. False: ENOMEM, or it had to be larger than `most`.
 */
bool ivl_anchored_change(struct ivl_anchored *queue, uint64_t begin, uint64_t end, size_t most,
			 uint64_t anchor);

/* A thief enters the present array, and leaves it. NULL: it has just been left. */
struct ivl_ring *ivl_anchored_enter(struct ivl_anchored *queue);
void ivl_anchored_leave(struct ivl_ring *ring);

/* The present anchor. Any thread. */
uint64_t ivl_anchored_read(const struct ivl_queue_base *base);

/* Owner. Pairs with the CAS in steal(): thieves have read the slots that are free now. */
#define ivl_anchored_load(queue) \
	atomic_load_explicit(&(queue)->own_ring->anchor, memory_order_acquire)

#endif
