// SPDX-License-Identifier: GPL-2.0
#include "pool.h"

#include <stdlib.h>

int ivl_pool_create(enum ivl_queue kind, size_t capacity, int node, struct ivl_pool **pool)
{
	struct ivl_pool *p = malloc(sizeof(*p));

	if (!p)
		return ENOMEM;
	p->kind = kind;
	p->ops = ivl_queue_kinds[kind];
	p->queue = p->ops->create(capacity, node);
	if (!p->queue) {
		free(p);
		return ENOMEM;
	}
	*pool = p;
	return 0;
}

void ivl_pool_destroy(struct ivl_pool *pool)
{
	pool->ops->destroy(pool->queue);
	free(pool);
}

enum ivl_steal ivl_pool_steal(struct ivl_pool *pool, void **element)
{
	return pool->ops->steal(pool->queue, element);
}

size_t ivl_pool_size(const struct ivl_pool *pool)
{
	return pool->ops->size(pool->queue);
}
