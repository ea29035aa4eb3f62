// SPDX-License-Identifier: LGPL-2.1-or-later
/* One FIFO queue for all workers, under a lock (thesis, chapter 11). */
#include <errno.h>

#include "queue/locked_ring.h"

struct shared {
	struct ivl_locked_ring all;
	/* Written under the lock; like the head, size() reads it without. */
	_Atomic(uint64_t) tail;
};

static struct shared *shared_of(const struct ivl_queue_base *queue)
{
	return (struct shared *)queue;
}

static struct ivl_queue_base *create(size_t capacity, int node)
{
	struct shared *shared = ivl_locked_ring_create(sizeof(*shared), capacity, node);

	if (shared)
		atomic_init(&shared->tail, IVL_FIRST_POSITION);
	return (struct ivl_queue_base *)shared;
}

static int put(struct ivl_queue_base *queue, void *element)
{
	struct shared *shared = shared_of(queue);
	uint64_t head, tail;
	int error = ENOMEM;

	pthread_mutex_lock(&shared->all.lock);
	head = atomic_load_explicit(&shared->all.head, memory_order_relaxed);
	tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);
	if (ivl_locked_ring_make_room(&shared->all, head, tail)) {
		atomic_store_explicit(ivl_ring_slot(shared->all.ring, tail), element,
				      memory_order_relaxed);
		atomic_store_explicit(&shared->tail, tail + 1, memory_order_relaxed);
		error = 0;
	}
	pthread_mutex_unlock(&shared->all.lock);
	return error;
}

static size_t size(const struct ivl_queue_base *queue)
{
	struct shared *shared = shared_of(queue);

	return ivl_locked_ring_length(&shared->all, &shared->tail);
}

static void *take(struct ivl_queue_base *queue)
{
	struct shared *shared = shared_of(queue);
	void *element = NULL;
	uint64_t head;

	pthread_mutex_lock(&shared->all.lock);
	head = atomic_load_explicit(&shared->all.head, memory_order_relaxed);
	if (head != atomic_load_explicit(&shared->tail, memory_order_relaxed)) {
		element = atomic_load_explicit(ivl_ring_slot(shared->all.ring, head),
					       memory_order_relaxed);
		atomic_store_explicit(&shared->all.head, head + 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&shared->all.lock);
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
	.create = create,
	.destroy = ivl_locked_ring_destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
