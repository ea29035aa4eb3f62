/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What OpenMP asks for each new task, without a call. Not in attach.h, because the models replace
 * the queue.
 */
#ifndef IVL_ATTACH_QUEUED_H
#define IVL_ATTACH_QUEUED_H

#include "attach.h"
#include "queue/open_ring.h"
#include "worker.h"

/* Like ivl_attached_has_queued(), but false for all other kinds of queue. */
static inline bool ivl_attached_sees_queued(size_t count)
{
	const struct ivl_open_ring *deque = ivl_self()->deque;
	uint64_t tail;

	if (__builtin_expect(!deque, 0))
		return false;
	tail = atomic_load_explicit(&deque->tail, memory_order_relaxed);
	/* The owner's view counts too many: mostly that saves reading the thieves' line. */
	return tail - deque->known_head >= count &&
	       tail - atomic_load_explicit(&deque->head, memory_order_relaxed) >= count;
}

#endif /* IVL_ATTACH_QUEUED_H */
