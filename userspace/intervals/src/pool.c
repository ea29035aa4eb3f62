// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pool.h"

#include "place.h"

int ivl_pool_create(enum ivl_queue kind, size_t capacity, int node, struct ivl_pool **pool)
{
	struct ivl_pool *p = ivl_node_alloc(sizeof(*p), node);

	if (!p)
		return ENOMEM;
	p->kind = kind;
	p->ops = ivl_queue_kinds[kind];
	p->node = node;
	p->tickets = p->ops->at_least_once ? ivl_tickets_create(node) : NULL;
	p->queue = p->tickets || !p->ops->at_least_once ? p->ops->create(capacity, node) : NULL;
	if (!p->queue) {
		if (p->tickets)
			ivl_tickets_destroy(p->tickets);
		ivl_node_free(p, sizeof(*p), node);
		return ENOMEM;
	}
	*pool = p;
	return 0;
}

void ivl_pool_destroy(struct ivl_pool *pool)
{
	pool->ops->destroy(pool->queue);
	if (pool->tickets)
		ivl_tickets_destroy(pool->tickets);
	ivl_node_free(pool, sizeof(*pool), pool->node);
}

int ivl_pool_put_ticket(struct ivl_pool *pool, void *element)
{
	struct ivl_ticket *ticket = ivl_ticket_write(pool->tickets, element);

	if (!ticket)
		return ENOMEM;
	if (!pool->ops->put(pool->queue, ticket))
		return 0;
	/* A thief with an old copy of this ticket may have taken the element: then it was put. */
	return ivl_ticket_take(pool->tickets, ticket) ? ENOMEM : 0;
}

void *ivl_pool_take_ticket(struct ivl_pool *pool)
{
	struct ivl_ticket *ticket;
	void *element;

	while ((ticket = pool->ops->take(pool->queue))) {
		element = ivl_ticket_take(pool->tickets, ticket);
		if (element)
			return element;
	}
	return NULL;
}

enum ivl_steal ivl_pool_steal(struct ivl_pool *pool, void **element)
{
	enum ivl_steal result = pool->ops->steal(pool->queue, element);

	if (result != IVL_STOLEN || !pool->tickets)
		return result;
	*element = ivl_ticket_steal(pool->tickets, *element);
	return *element ? IVL_STOLEN : IVL_LOST;
}

size_t ivl_pool_size(const struct ivl_pool *pool)
{
	return pool->ops->size(pool->queue);
}
