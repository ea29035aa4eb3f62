// SPDX-License-Identifier: LGPL-2.1-or-later
/* One FIFO queue for all workers, under a lock (thesis, chapter 11). */
#include <errno.h>

#include "queue/locked_ring.h"

static int put(struct ivl_queue_base *queue, void *element)
{
	struct ivl_locked_ring *shared = ivl_locked_ring(queue);
	uint64_t head, tail;
	int error = ENOMEM;

	pthread_mutex_lock(&shared->lock);
	head = atomic_load_explicit(&shared->head, memory_order_relaxed);
	tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);
	if (ivl_locked_ring_make_room(shared, head, tail)) {
		atomic_store_explicit(ivl_ring_slot(shared->ring, tail), element,
				      memory_order_relaxed);
		atomic_store_explicit(&shared->tail, tail + 1, memory_order_relaxed);
		error = 0;
	}
	pthread_mutex_unlock(&shared->lock);
	return error;
}

static void *take(struct ivl_queue_base *queue)
{
	struct ivl_locked_ring *shared = ivl_locked_ring(queue);
	void *element = NULL;
	uint64_t head;

	pthread_mutex_lock(&shared->lock);
	head = atomic_load_explicit(&shared->head, memory_order_relaxed);
	if (head != atomic_load_explicit(&shared->tail, memory_order_relaxed)) {
		element = atomic_load_explicit(ivl_ring_slot(shared->ring, head),
					       memory_order_relaxed);
		atomic_store_explicit(&shared->head, head + 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&shared->lock);
	return element;
}

static enum ivl_steal steal(struct ivl_queue_base *queue, void **element)
{
	*element = take(queue);
	return *element ? IVL_STOLEN : IVL_EMPTY;
}

const struct ivl_queue_ops ivl_shared_ops = {
	.name = "shared",
	.shared = true,
	.create = ivl_locked_ring_create,
	.destroy = ivl_locked_ring_destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = ivl_locked_ring_size,
};
