// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lazy deque of Matsakis (thesis, section 9.2): the owner learns only from an
 * empty slot that thieves were there. An element belongs to whoever exchanges its
 * slot for NULL, so that no order between slots matters. Thieves, and the owner
 * when it makes room, hold a lock; a thief that does not get it goes elsewhere.
 */
#include <errno.h>
#include <pthread.h>

#include "queue/ring.h"

struct lazy {
	/* Of the owner. */
	_Alignas(IVL_LINE) _Atomic(uint64_t) tail;
	uint64_t known_head;		/* thieves have been that far, or farther */
	/* Of who holds the lock; the ring is changed by the owner alone. */
	_Alignas(IVL_LINE) pthread_mutex_t lock;
	_Atomic(uint64_t) head;
	struct ivl_ring *ring;
};

static struct lazy *lazy_of(struct ivl_queue_base *queue)
{
	return (struct lazy *)queue;
}

static struct ivl_queue_base *create(size_t capacity, int node)
{
	struct ivl_ring *ring;
	struct lazy *lazy = ivl_ring_queue_create(sizeof(*lazy), capacity, node, &ring);

	if (!lazy)
		return NULL;
	lazy->ring = ring;
	pthread_mutex_init(&lazy->lock, NULL);
	lazy->known_head = IVL_FIRST_POSITION;
	atomic_init(&lazy->tail, IVL_FIRST_POSITION);
	atomic_init(&lazy->head, IVL_FIRST_POSITION);
	return (struct ivl_queue_base *)lazy;
}

static void destroy(struct ivl_queue_base *queue)
{
	struct lazy *lazy = lazy_of(queue);

	pthread_mutex_destroy(&lazy->lock);
	ivl_ring_queue_destroy(lazy, sizeof(*lazy), lazy->ring);
}

/* False: ENOMEM. */
static bool make_room(struct lazy *lazy, uint64_t tail)
{
	struct ivl_ring *ring = lazy->ring, *larger = ring;

	pthread_mutex_lock(&lazy->lock);
	lazy->known_head = atomic_load_explicit(&lazy->head, memory_order_relaxed);
	if (tail - lazy->known_head > ring->mask)
		larger = ivl_ring_copy(ring, lazy->known_head, tail);
	if (larger)
		lazy->ring = larger;
	pthread_mutex_unlock(&lazy->lock);
	if (larger && larger != ring)
		ivl_ring_free(ring);
	return larger != NULL;
}

static int put(struct ivl_queue_base *queue, void *element)
{
	struct lazy *lazy = lazy_of(queue);
	uint64_t tail = atomic_load_explicit(&lazy->tail, memory_order_relaxed);

	if (tail - lazy->known_head > lazy->ring->mask && !make_room(lazy, tail))
		return ENOMEM;
	/* Pairs with the exchange in steal(): the thief sees the element. */
	atomic_store_explicit(ivl_ring_slot(lazy->ring, tail), element, memory_order_release);
	atomic_store_explicit(&lazy->tail, tail + 1, memory_order_relaxed);
	return 0;
}

static void *take(struct ivl_queue_base *queue)
{
	struct lazy *lazy = lazy_of(queue);
	uint64_t tail = atomic_load_explicit(&lazy->tail, memory_order_relaxed);
	void *element;

	if (lazy->known_head == tail)
		return NULL;
	/* Pairs with the exchange in steal(): thieves are done with all slots up to here. */
	element = atomic_exchange_explicit(ivl_ring_slot(lazy->ring, tail - 1), NULL,
					   memory_order_acquire);
	if (element)
		atomic_store_explicit(&lazy->tail, tail - 1, memory_order_relaxed);
	else
		/* Thieves go forward: they have stolen all before it, too. */
		lazy->known_head = tail;
	return element;
}

static enum ivl_steal steal(struct ivl_queue_base *queue, void **element)
{
	struct lazy *lazy = lazy_of(queue);
	_Atomic(void *) *slot;
	uint64_t head;

	if (pthread_mutex_trylock(&lazy->lock))
		return IVL_LOST;
	head = atomic_load_explicit(&lazy->head, memory_order_relaxed);
	slot = ivl_ring_slot(lazy->ring, head);
	/* Look first: an exchange takes the cache line from the owner. */
	*element = atomic_load_explicit(slot, memory_order_relaxed);
	if (*element)
		/* Pairs with the store in put() and the exchange in take(). */
		*element = atomic_exchange_explicit(slot, NULL, memory_order_acq_rel);
	if (*element)
		atomic_store_explicit(&lazy->head, head + 1, memory_order_relaxed);
	pthread_mutex_unlock(&lazy->lock);
	return *element ? IVL_STOLEN : IVL_EMPTY;
}

static size_t size(const struct ivl_queue_base *queue)
{
	struct lazy *lazy = lazy_of((struct ivl_queue_base *)queue);
	uint64_t head = atomic_load_explicit(&lazy->head, memory_order_relaxed);

	return ivl_ring_length(head, atomic_load_explicit(&lazy->tail, memory_order_relaxed));
}

const struct ivl_queue_ops ivl_lazy_ops = {
	.name = "lazy",
	.create = create,
	.destroy = destroy,
	.put = put,
	.take = take,
	.steal = steal,
	.size = size,
};
