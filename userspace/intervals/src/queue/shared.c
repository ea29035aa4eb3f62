// SPDX-License-Identifier: LGPL-2.1-or-later
/* One queue of all workers, first in first out, under a lock (thesis, chapter 11). */
#include <errno.h>
#include <pthread.h>

#include "queue/ring.h"

struct shared {
	pthread_mutex_t lock;
	struct ivl_ring *ring;
	/* Written under the lock, read without it by size(). */
	_Atomic(uint64_t) head, tail;
};

static struct shared *shared_of(struct ivl_queue_base *queue)
{
	return (struct shared *)queue;
}

static struct ivl_queue_base *create(size_t capacity, int node)
{
	struct ivl_ring *ring;
	struct shared *shared = ivl_ring_queue_create(sizeof(*shared), capacity, node, &ring);

	if (!shared)
		return NULL;
	shared->ring = ring;
	pthread_mutex_init(&shared->lock, NULL);
	atomic_init(&shared->head, IVL_FIRST_POSITION);
	atomic_init(&shared->tail, IVL_FIRST_POSITION);
	return (struct ivl_queue_base *)shared;
}

static void destroy(struct ivl_queue_base *queue)
{
	struct shared *shared = shared_of(queue);

	pthread_mutex_destroy(&shared->lock);
	ivl_ring_queue_destroy(shared, sizeof(*shared), shared->ring);
}

static int put(struct ivl_queue_base *queue, void *element)
{
	struct shared *shared = shared_of(queue);
	struct ivl_ring *old = NULL;
	uint64_t head, tail;
	int error = 0;

	pthread_mutex_lock(&shared->lock);
	head = atomic_load_explicit(&shared->head, memory_order_relaxed);
	tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);
	if (tail - head > shared->ring->mask) {
		struct ivl_ring *larger = ivl_ring_copy(shared->ring, head, tail);

		if (larger) {
			old = shared->ring;
			shared->ring = larger;
		} else {
			error = ENOMEM;
		}
	}
	if (!error) {
		atomic_store_explicit(ivl_ring_slot(shared->ring, tail), element,
				      memory_order_relaxed);
		atomic_store_explicit(&shared->tail, tail + 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&shared->lock);
	if (old)
		ivl_ring_free(old);
	return error;
}

static size_t size(const struct ivl_queue_base *queue)
{
	struct shared *shared = shared_of((struct ivl_queue_base *)queue);
	uint64_t head = atomic_load_explicit(&shared->head, memory_order_relaxed);

	return ivl_ring_length(head, atomic_load_explicit(&shared->tail, memory_order_relaxed));
}

static void *take(struct ivl_queue_base *queue)
{
	struct shared *shared = shared_of(queue);
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
	.create = create,
	.destroy = destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
