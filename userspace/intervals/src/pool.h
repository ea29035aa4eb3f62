/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scheduler's view of a queue: each element comes out exactly once. The default kind is
 * compiled into the caller. Other kinds go through their table, and kinds that may deliver an
 * element twice through tickets. Included in angle brackets, as futex.h is.
 */
#ifndef IVL_POOL_H
#define IVL_POOL_H

#include "queue.h"
#include "queue/chase_lev.h"
#include "ticket.h"

struct ivl_pool {
	enum ivl_queue kind;
	int node;
	struct ivl_queue_base *queue;
	const struct ivl_queue_ops *ops;
	struct ivl_tickets *tickets;	/* NULL: the queue delivers exactly once */
};

/* 0 or ENOMEM. Arguments as in struct ivl_queue_ops. */
int ivl_pool_create(enum ivl_queue kind, size_t capacity, int node, struct ivl_pool **pool);
/* No other thread may use it any more. */
void ivl_pool_destroy(struct ivl_pool *pool);

int ivl_pool_put_ticket(struct ivl_pool *pool, void *element);
void *ivl_pool_take_ticket(struct ivl_pool *pool);

/* Owner; for IVL_QUEUE_SHARED any thread. 0, or ENOMEM with nothing changed. */
static inline int ivl_pool_put(struct ivl_pool *pool, void *element)
{
	if (__builtin_expect(pool->kind == IVL_QUEUE_CHASE_LEV, 1))
		return ivl_chase_lev_put((struct ivl_open_ring *)pool->queue, element);
	return pool->tickets ? ivl_pool_put_ticket(pool, element) :
			       pool->ops->put(pool->queue, element);
}

/* Owner; for IVL_QUEUE_SHARED any thread. NULL: empty. */
static inline void *ivl_pool_take(struct ivl_pool *pool)
{
	if (__builtin_expect(pool->kind == IVL_QUEUE_CHASE_LEV, 1))
		return ivl_chase_lev_take((struct ivl_open_ring *)pool->queue);
	return pool->tickets ? ivl_pool_take_ticket(pool) : pool->ops->take(pool->queue);
}

/* Any thread. */
enum ivl_steal ivl_pool_steal(struct ivl_pool *pool, void **element);

/* Any thread; the number may be out of date. */
size_t ivl_pool_size(const struct ivl_pool *pool);

#endif
