/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the scheduler sees of a queue: each element comes out exactly once, of
 * every kind. The default kind is compiled into the caller; others go through
 * their table, and those that may give an element twice through tickets.
 * Included as futex.h is.
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
	struct ivl_tickets *tickets;	/* NULL: each element comes out once anyway */
};

/* 0, or ENOMEM. For the arguments see struct ivl_queue_ops. */
int ivl_pool_create(enum ivl_queue kind, size_t capacity, int node, struct ivl_pool **pool);
/* Nobody else may use it any more. */
void ivl_pool_destroy(struct ivl_pool *pool);

int ivl_pool_put_ticket(struct ivl_pool *pool, void *element);
void *ivl_pool_take_ticket(struct ivl_pool *pool);

/* Owner; of IVL_QUEUE_SHARED anybody. 0 or ENOMEM; then nothing has changed. */
static inline int ivl_pool_put(struct ivl_pool *pool, void *element)
{
	if (__builtin_expect(pool->kind == IVL_QUEUE_CHASE_LEV, 1))
		return ivl_chase_lev_put((struct ivl_open_ring *)pool->queue, element);
	return pool->tickets ? ivl_pool_put_ticket(pool, element) :
			       pool->ops->put(pool->queue, element);
}

/* Owner; of IVL_QUEUE_SHARED anybody. NULL: empty. */
static inline void *ivl_pool_take(struct ivl_pool *pool)
{
	if (__builtin_expect(pool->kind == IVL_QUEUE_CHASE_LEV, 1))
		return ivl_chase_lev_take((struct ivl_open_ring *)pool->queue);
	return pool->tickets ? ivl_pool_take_ticket(pool) : pool->ops->take(pool->queue);
}

/* Any thread. */
enum ivl_steal ivl_pool_steal(struct ivl_pool *pool, void **element);

/* Any thread: how many elements there are, or were a moment ago. */
size_t ivl_pool_size(const struct ivl_pool *pool);

#endif
