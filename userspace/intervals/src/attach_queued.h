/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a layer above asks for each new task, without a call. Apart from attach.h because it looks
 * into a queue, for which the models have another.
 */
#ifndef IVL_ATTACH_QUEUED_H
#define IVL_ATTACH_QUEUED_H

#include "attach.h"
#include "queue/open_ring.h"
#include "worker.h"

/* As ivl_attached_has_queued(), but false where the queue is of another kind. */
static inline bool ivl_attached_sees_queued(size_t count)
{
	const struct ivl_open_ring *deque = ivl_self()->deque;
	uint64_t tail;

	if (__builtin_expect(!deque, 0))
		return false;
	tail = atomic_load_explicit(&deque->tail, memory_order_relaxed);
	/* What the owner knows is too many: mostly it need not look at what thieves write. */
	return tail - deque->known_head >= count &&
	       tail - atomic_load_explicit(&deque->head, memory_order_relaxed) >= count;
}

#endif /* IVL_ATTACH_QUEUED_H */
